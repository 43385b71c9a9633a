"""How long diagnosing a large pipeline takes, and what search takes while it is maintained in another thread."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from core.memory import Memory
from core.model.change import PERSON
from core.model.snapshot import Snapshot
from core.pipeline.health import MaintenanceAction, measure
from core.pipeline.service import Pipeline
from core.pipeline.statements import words_hash
from core.search import SearchIndex

DIAGNOSE_BAR_S = 0.5
# A search beside maintenance may take so many times as long as alone, or the bar of a search, whichever is more.
SLOWER_BAR = 3.0
QUERY_BAR_MS = 80.0
NOW = 1_790_000_000_000
SEARCHES = 60


def fill(pipeline: Pipeline, count: int) -> None:
    """Rows of `count` memories that were read: texts, jobs, facts, history, calls; a tenth of the facts said twice."""
    said = (place % (count - count // 10) for place in range(count))
    facts = [f"server {place} stands in rack {place % 97} of hall {place % 31}" for place in said]
    with pipeline.database.write(lasting=False) as writer:
        put = writer.connection.executemany
        for statement, row in _ROWS:
            put(statement, (row(place, facts[place]) for place in range(count)))
        # What dies and what nobody finds: so that each repair has something to do.
        writer.connection.execute("UPDATE jobs SET status = 'dead', error_class = 'parse' WHERE id % 50 = 0")
        lost = writer.connection.execute("SELECT rowid, content FROM facts WHERE rowid % 100 = 0").fetchall()
        put(
            "INSERT INTO facts_fts (facts_fts, rowid, content) VALUES ('delete', ?, ?)",
            [tuple(row) for row in lost],
        )


_ROWS: tuple[tuple[str, Callable[[int, str], tuple[Any, ...]]], ...] = (
    (
        "INSERT INTO raw_memories (id, content, content_hash, source_type, source_id, project, nugget,"
        " author, status, created_at) VALUES (?, ?, ?, 'text', '', '', 'memory', 'person', 'extracted', ?)",
        lambda place, said: (f"raw-{place:016x}", said, f"r{place}", NOW),
    ),
    (
        "INSERT INTO jobs (type, target, status, max_attempts, attempts, run_after, created_at, updated_at,"
        " completed_at) VALUES ('extract', ?, 'completed', 3, 1, ?2, ?2, ?2, ?2)",
        lambda place, _: (f"raw-{place:016x}", NOW),
    ),
    (
        "INSERT INTO facts (id, raw_id, proposal_id, nugget, content, normalised_content, content_hash,"
        " type, confidence, note_id, status, model, prompt_version, created_at, words_hash)"
        " VALUES (?1, ?2, ?3, 'memory', ?4, ?4, ?5, 'fact', 0.9, ?6, 'active', 'm', 'p', ?7, ?8)",
        lambda place, said: (
            f"fact-{place:016x}", f"raw-{place:016x}", f"proposal-{place:016x}", said, f"h{place}",
            f"note-memory-{place:08x}", NOW + place, words_hash(said),
        ),
    ),
    (
        "INSERT INTO history (at, event, changed_by, reason, raw_id, proposal_id, fact_id, note_id, old_content,"
        " new_content, model, prompt_version, metadata)"
        " VALUES (?, 'created', 'pipeline-v2', '', ?, '', '', '', '', ?, 'm', 'p', '{}')",
        lambda place, said: (NOW, f"raw-{place:016x}", said),
    ),
    (
        "INSERT INTO llm_calls (at, day, provider, model, purpose, raw_id, latency_ms, outcome, error)"
        " VALUES (?, 'd', 'p', 'm', 'extract', ?, 900, 'ok', '')",
        lambda place, _: (NOW, f"raw-{place:016x}"),
    ),
)  # fmt: skip


def seconds_of(work: Callable[[], object]) -> tuple[float, float, object]:
    """Wall and processor seconds of this thread, and what came of it."""
    wall, own = time.perf_counter(), time.thread_time()
    done = work()
    return time.perf_counter() - wall, time.thread_time() - own, done


def search_times(index: SearchIndex, queries: list[str], stop: Callable[[], bool]) -> Iterator[float]:
    """Milliseconds of one search after another, until it is told to stop, at least `SEARCHES`."""
    made = 0
    while made < SEARCHES or not stop():
        began = time.perf_counter()
        index.result(queries[made % len(queries)], 10)
        yield (time.perf_counter() - began) * 1000
        made += 1


def run(count: int) -> str:
    """Prints what diagnosing and each repair take with `count` memories, and searches beside them."""
    from benchmarks.search import notes_and_queries

    missed = []
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        with (
            closing(Memory.open(home, author=PERSON)) as memory,
            closing(Pipeline.open(home, memory=memory, author=PERSON)) as pipeline,
        ):
            fill(pipeline, count)
            diagnosed = [seconds_of(pipeline.diagnose) for _ in range(3)]
            wall, own = (min(one[place] for one in diagnosed) for place in (0, 1))
            print(
                f"diagnose, {count:,} memories: {wall:.2f} s ({own:.2f} s of the processor), bar {DIAGNOSE_BAR_S} s"
            )
            report = pipeline.diagnose()
            print(
                f"  {report.status} {report.score}: {', '.join(one.action for one in report.recommendations)}"
            )
            # Of the processor, as on an idle machine.
            if own > DIAGNOSE_BAR_S:
                missed.append("diagnosing takes too long")
            for domain in ("queue", "storage", "index", "provider", "mutation", "duplicate"):
                wall, own, _ = seconds_of(
                    lambda: measure(pipeline.database.reading, pipeline.configuration, NOW, domain)  # noqa: B023
                )
                print(f"  {domain:10} {wall * 1000:7.1f} ms")
            notes, kinds = notes_and_queries(count)
            index = SearchIndex()
            index.update(Snapshot(notes=tuple(notes)))
            queries = [query for each in kinds.values() for query in each]
            alone = list(search_times(index, queries, lambda: True))
            working = threading.Thread(target=_maintain, args=(pipeline,))
            working.start()
            beside = list(search_times(index, queries, lambda: not working.is_alive()))
            working.join()
            before, after = statistics.median(alone), statistics.median(beside)
            print(
                f"search, {count:,} notes: median {before:.1f} ms alone, {after:.1f} ms while maintained"
                f" ({len(beside)} searches; worst {max(alone):.0f} and {max(beside):.0f} ms)"
            )
            if after > max(SLOWER_BAR * before, QUERY_BAR_MS):
                missed.append("search is slow while the pipeline is maintained")
    return "; ".join(missed)


def _maintain(pipeline: Pipeline) -> None:
    """Plans and runs every repair, with how long each takes."""
    for action in MaintenanceAction:
        looked, _, _ = seconds_of(lambda: pipeline.maintenance_plan(action))  # noqa: B023
        ran, _, runs = seconds_of(lambda: pipeline.maintain([action]))  # noqa: B023
        print(f"  {action}: plan {looked:.2f} s, run {ran:.2f} s, {runs[0].did:,} put right")  # type: ignore[index]
