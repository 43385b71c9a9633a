"""Several processes on one queue: they share the work, and when one is killed the others lose nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kits.forked import ready
from kits.service_kit import Clock, drain, open_pipeline

from core.pipeline.service import Pipeline

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[3]
MEMORIES = 24


@contextmanager
def worker(home: Path, name: str, now: int, *flags: str) -> Iterator[subprocess.Popen[str]]:
    """A worker that is ready, and begins when it is sent a line; it does not outlive the test."""
    paths = os.pathsep.join((str(TESTS), str(TESTS.parent)))
    words = [sys.executable, str(TESTS / "kits" / "worker_process.py"), str(home), name, str(now), *flags]
    with ready(words, env={**os.environ, "PYTHONPATH": paths}) as process:
        yield process


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def submit(pipeline: Pipeline, count: int = MEMORIES) -> set[str]:
    return {
        pipeline.ingest(f"Server number {number} stands in rack {number * 7 + 3}.").raw_id
        for number in range(count)
    }


def texts(pipeline: Pipeline) -> Counter[str]:
    pipeline.memory.refresh()
    return Counter(note.content for note in pipeline.memory.snapshot.notes)


def test_processes_share_the_work_and_none_of_it_is_done_twice(tmp_path: Path) -> None:
    clock = Clock()
    with open_pipeline(tmp_path, clock=clock) as pipeline:
        raws = submit(pipeline)
        with worker(tmp_path, "one", clock.ms) as one, worker(tmp_path, "two", clock.ms) as two:
            begin(one)
            begin(two)
            done = [each.communicate(timeout=100)[0].split() for each in (one, two)]
            assert (one.returncode, two.returncode) == (0, 0)
        drain(pipeline)
        assert Counter(done[0] + done[1]) == Counter(raws)
        assert {job.attempts for job in pipeline.jobs() if job.type == "extract"} == {1}
        assert sum(texts(pipeline).values()) == len(texts(pipeline)) == MEMORIES


def test_a_job_whose_worker_was_killed_is_done_by_another_once_its_lease_is_over(tmp_path: Path) -> None:
    clock = Clock()
    with open_pipeline(tmp_path, clock=clock) as pipeline:
        (raw_id,) = submit(pipeline, 1)
        with worker(tmp_path, "killed", clock.ms, "--hang") as killed:
            begin(killed)
            assert line(killed) == "asked"
        assert pipeline.jobs("leased")[0].leased_by == "killed"
        clock.forward(seconds=299)
        drain(pipeline)
        assert pipeline.raw(raw_id).status == "queued"
        clock.forward(seconds=2)
        drain(pipeline)
        assert pipeline.raw(raw_id).status == "extracted"
        assert list(texts(pipeline).values()) == [1]
        assert pipeline.jobs("completed")[-1].attempts == 2
