"""Several processes that maintain one pipeline, and one that is killed in the middle of a repair."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from kits.forked import Forked, ready
from kits.health_kit import drop_from_index, kill_jobs, measured
from kits.service_kit import BEGIN, Clock, configure, open_pipeline

from core.pipeline.health import MaintenanceAction
from core.pipeline.service import Pipeline

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[2]
REQUEUE = MaintenanceAction.REQUEUE
# Repairs at a time that it is told, so many times, and says what came of each.
RUNNER = """
import json, sys
from datetime import datetime, timedelta
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from core.pipeline.health import MaintenanceAction
from kits.service_kit import Clock, open_pipeline
clock = Clock(datetime.fromisoformat(sys.argv[3]))
with open_pipeline(Path(sys.argv[2]), clock=clock) as pipeline:
    print("ready", flush=True)
    sys.stdin.readline()
    found = []
    for _ in range(int(sys.argv[4])):
        (run,) = pipeline.maintain([MaintenanceAction.REQUEUE])
        found.append(str(run.gate))
        clock.forward(minutes=2)
    print(json.dumps(found), flush=True)
"""
# Is killed before so many transactions of its repair.
KILLED = """
import os, signal, sys
from datetime import datetime
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from core.pipeline.database.connection import Database
from core.pipeline.health import MaintenanceAction
from kits.service_kit import Clock, open_pipeline
left, write = int(sys.argv[4]), Database.write
def counted(self, **given):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return write(self, **given)
with open_pipeline(Path(sys.argv[2]), clock=Clock(datetime.fromisoformat(sys.argv[3]))) as pipeline:
    Database.write = counted
    pipeline.maintain([MaintenanceAction(sys.argv[5])])
"""


@contextmanager
def runner(home: Path, times: int) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-c", RUNNER, str(TESTS), str(home), BEGIN.isoformat(), str(times)]
    with ready(words, cwd=TESTS.parent) as process:
        yield process


def killed(home: Path, transactions: int, action: MaintenanceAction) -> int:
    """Runs a repair in a process that is killed before so many transactions; how it ended."""
    process = Forked(
        [sys.executable, "-c", KILLED, str(TESTS), str(home), BEGIN.isoformat(), str(transactions), str(action)],
        cwd=TESTS.parent,
    )  # fmt: skip
    return process.wait()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return configure(tmp_path, "enabled = false\n[pipeline.repair]\nrequeue_hourly_budget = 4")


def test_processes_that_repair_at_once_share_cooldown_and_budget(home: Path) -> None:
    with closing(open_pipeline(home, clock=Clock())) as pipeline:
        kill_jobs(pipeline, Clock())
    with runner(home, 6) as one, runner(home, 6) as two:
        for process in (one, two):
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        gates = Counter(gate for each in (one, two) for gate in json.loads(each.communicate()[0]))
    # Whoever came first: four runs in the hour of both, each two minutes after the other.
    assert gates[""] == 4
    assert set(gates) <= {"", "cooldown", "budget"}
    with closing(open_pipeline(home, clock=Clock())) as pipeline:
        rows = pipeline.diagnose().runs
        assert [run.status for run in rows] == ["done"] * 4
        times = sorted(run.at for run in rows)
        assert all(later - earlier >= 60_000 for earlier, later in pairwise(times))


@pytest.mark.parametrize("transactions", [0, 1, 2, 3])
def test_a_repair_that_is_killed_loses_no_job_and_the_next_one_finishes_it(
    home: Path, transactions: int
) -> None:
    clock = Clock()
    with closing(open_pipeline(home, clock=clock)) as pipeline:
        ids = kill_jobs(pipeline, clock, count=120)
        with pipeline.database.write() as writer:
            before = sorted(row[0] for row in writer.connection.execute("SELECT target FROM jobs"))
    assert killed(home, transactions, REQUEUE) == -9
    clock.forward(minutes=6)
    with closing(open_pipeline(home, clock=clock)) as pipeline:
        done = max(0, transactions - 1) * 50
        assert Counter(statuses(pipeline)) == Counter(pending=min(done, 120), dead=120 - min(done, 120))
        (run,) = pipeline.maintain([REQUEUE])
        assert (run.status, run.did) == ("done", 120 - min(done, 120))
        assert Counter(statuses(pipeline)) == Counter(pending=120)
        # One row of the audit for each job, and none requeued twice.
        rows = pipeline.database.reading.history.events(("requeued",), 500)
        assert sorted(row.metadata["job"] for row in rows) == ids  # type: ignore[type-var]
        assert sorted(job.target for job in pipeline.jobs(most=500)) == before
        expected = ["done"] if transactions == 0 else ["done", "interrupted"]
        assert [one.status for one in pipeline.diagnose().runs] == expected


def test_a_killed_repair_of_an_index_is_finished_by_the_next_one(home: Path) -> None:
    configure(home)
    clock = Clock()
    with closing(open_pipeline(home, clock=clock)) as pipeline:
        pipeline.ingest(" ".join(f"Server {number} stands in rack {number * 7 + 3}." for number in range(9)))
        while pipeline.tick().did_something:
            pass
        with pipeline.database.write() as writer:
            drop_from_index(writer, 5)
    assert killed(home, 2, MaintenanceAction.INDEXES) == -9
    clock.forward(minutes=6)
    with closing(open_pipeline(home, clock=clock)) as pipeline:
        pipeline.maintain([MaintenanceAction.INDEXES])
        found = measured(pipeline, clock)
        assert (found.missing, found.extra) == (0, 0)


def statuses(pipeline: Pipeline) -> list[str]:
    return [str(job.status) for job in pipeline.jobs(most=500)]
