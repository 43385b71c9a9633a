"""A long run with failing calls and two hours without the provider: no job is lost, none is stuck."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kits.soak import OUTAGE_SECONDS, server, soak

from core.pipeline.records import PipelineState

# Texts, each of which makes two jobs. NUGGETS_SOAK=5000: the whole run, which takes minutes.
COUNT = int(os.environ.get("NUGGETS_SOAK", "40"))


@pytest.mark.slow
def test_two_hours_of_outage_and_a_tenth_of_calls_failing_lose_no_job_and_leave_none_stuck(
    tmp_path: Path,
) -> None:
    done = soak(tmp_path, COUNT)
    assert set(done.status.jobs) == {"completed"}
    assert sorted(done.notes) == sorted(server(number) for number in range(COUNT))
    assert (done.status.light, done.findings) == (PipelineState.IDLE, [])
    assert done.seconds > OUTAGE_SECONDS
    assert sum(done.outcomes.values()) > done.outcomes["ok"] > COUNT
    # The provider is left alone meanwhile: a call in some minutes, not one for each job.
    assert done.away_calls < 120
    assert set(done.types) == {"extract", "structural_classify", "document_ingest", "session_end", "hints"}
    assert (done.hinted, done.embedded) == (COUNT, 1.0)
    for report in (done.health, done.later):
        assert (report.status, report.recommendations) == ("healthy", ()), report
        assert not [one.name for one in report.domains if one.status == "unhealthy"], report
    assert done.swept >= sum(done.types.values())
