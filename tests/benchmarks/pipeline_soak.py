"""The soak: texts through two hours without the provider and a tenth of calls failing, with a clock moved by hand."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from kits.soak import OUTAGE_SECONDS, server, soak


def run(count: int) -> str:
    """Prints what became of `count` jobs, two for each text; what missed its bar, or ""."""
    count //= 2
    with tempfile.TemporaryDirectory() as name:
        began = time.perf_counter()
        done = soak(Path(name), count)
        spent = time.perf_counter() - began
    jobs = sum(done.status.jobs.values())
    print(
        f"soak: {count:,} texts, {jobs:,} jobs, {done.seconds / 3600:.1f} hours of the clock in {spent:.0f} s"
    )
    print(
        f"calls: {dict(done.outcomes)}; {done.away_calls} of them in {OUTAGE_SECONDS // 3600} hours of outage"
    )
    print(
        f"jobs: {done.status.jobs}; status: {done.status.light.value}, {done.status.why}; {len(done.notes):,} notes"
    )
    print(
        f"of them {dict(done.types)}; {done.hinted:,} notes with hints, {done.embedded:.0%} with vectors; health"
        f" {done.health.status} {done.health.score}, and {done.later.status} {done.later.score} when"
        f" {done.swept:,} old rows were gone"
    )
    missed = {
        "jobs that are not done": set(done.status.jobs) != {"completed"},
        "facts that are no notes": sorted(done.notes) != sorted(map(server, range(count))),
        "a status that is not idle": done.status.light.value != "idle",
        "database and notes that differ": bool(done.findings),
        "a health that is not green": any(not one.healthy for one in (done.health, done.later)),
        "a domain that is unhealthy": any(
            domain.status == "unhealthy" for one in (done.health, done.later) for domain in one.domains
        ),
        "notes without hints": done.hinted != count,
        "notes without vectors": done.embedded < 1.0,
        "old jobs that are kept": done.swept < jobs,
    }
    return (
        "the soak left " + ", ".join(name for name, is_so in missed.items() if is_so)
        if any(missed.values())
        else ""
    )
