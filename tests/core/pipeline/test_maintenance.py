"""Maintenance: looks once an interval, runs what is recommended within its limits, and not again what did not help."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kits.health_kit import job_statuses, kill_jobs
from kits.service_kit import Clock, configure, open_pipeline

from core.model.change import Author
from core.pipeline.health import Gate, MaintenanceAction, MaintenancePlan
from core.pipeline.maintenance import ITSELF, REPAIRS, RepairContext, begin_run
from core.pipeline.service import Pipeline

VECTORS = json.loads((Path(__file__).parent / "vectors" / "maintenance.json").read_text(encoding="utf-8"))
BY_ID = {one["id"]: one for one in VECTORS["maintenance"]}
INTERVAL = {"milliseconds": 1_800_000}
REQUEUE = MaintenanceAction.REQUEUE
# Texts stay as they are: nothing leases a job meanwhile.
OFF = "enabled = false\n"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return configure(tmp_path, OFF)


@pytest.fixture
def pipeline(home: Path, clock: Clock) -> Iterator[Pipeline]:
    with closing(open_pipeline(home, clock=clock)) as opened:
        opened.tick()
        yield opened


def settle(home: Path, lines: str) -> None:
    configure(home, f"{OFF}[pipeline.autonomous]\n{lines}")


def runs(pipeline: Pipeline) -> list[tuple[str, str]]:
    return [(run.action, run.status) for run in reversed(pipeline.diagnose().runs)]


def fail_to_better(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the requeueing of jobs do nothing at all."""
    monkeypatch.setitem(REPAIRS, REQUEUE, lambda _: MaintenancePlan(REQUEUE, (), ""))  # type: ignore[arg-type]


def test_nothing_runs_before_the_first_interval_is_over(pipeline: Pipeline, clock: Clock) -> None:
    kill_jobs(pipeline, clock)
    clock.forward(milliseconds=1_799_999)
    pipeline.tick()
    assert job_statuses(pipeline) == ["dead"] * 3
    clock.forward(seconds=31)
    assert pipeline.tick().repaired == 3
    assert job_statuses(pipeline) == ["pending"] * 3


def test_observing_recommends_and_leaves_everything_as_it_is(
    home: Path, pipeline: Pipeline, clock: Clock
) -> None:
    settle(home, 'maintenance_mode = "observe"')
    kill_jobs(pipeline, clock)
    for _ in range(3):
        clock.forward(**INTERVAL)
        assert pipeline.tick().repaired == 0
    assert BY_ID["maintenance.09"]["expected"]["executed"] == []
    assert job_statuses(pipeline) == ["dead"] * 3
    # Said once, not at every look.
    assert runs(pipeline) == [("requeueDeadJobs", "recommended")]
    assert pipeline.diagnose().mode == "observe"


def test_executing_does_what_is_recommended_and_diagnoses_anew(pipeline: Pipeline, clock: Clock) -> None:
    kill_jobs(pipeline, clock)
    before = pipeline.diagnose()
    assert [one.action for one in before.recommendations] == [REQUEUE]
    clock.forward(**INTERVAL)
    pipeline.tick()
    (run,) = pipeline.diagnose().runs
    assert (run.action, run.by, run.status, run.did, run.left) == (REQUEUE, ITSELF, "done", 3, 0)
    assert run.improved
    assert pipeline.diagnose().recommendations == ()


@pytest.mark.parametrize("lines", ["frozen = true", "enabled = false"])
def test_frozen_or_switched_off_nothing_runs_by_itself(
    home: Path, pipeline: Pipeline, clock: Clock, lines: str
) -> None:
    settle(home, lines)
    kill_jobs(pipeline, clock)
    clock.forward(days=1)
    pipeline.tick()
    assert job_statuses(pipeline) == ["dead"] * 3
    (run,) = pipeline.maintain([REQUEUE])
    frozen = lines.startswith("frozen")
    assert (run.status, run.gate) == (("denied", Gate.FROZEN) if frozen else ("done", Gate.OPEN))
    assert pipeline.diagnose().mode == "off"


def test_an_agent_may_repair_nothing_while_maintenance_is_switched_off(home: Path, clock: Clock) -> None:
    settle(home, "enabled = false")
    with closing(Pipeline.open(home, author=Author("agent", "claude"), clock=clock)) as pipeline:
        (run,) = pipeline.maintain([REQUEUE], force=True)
        assert run.gate is Gate.DISABLED


def test_a_frozen_or_paused_pipeline_is_left_alone(home: Path, pipeline: Pipeline, clock: Clock) -> None:
    kill_jobs(pipeline, clock)
    pipeline.pause(0)
    clock.forward(days=1)
    pipeline.tick()
    assert job_statuses(pipeline) == ["dead"] * 3
    pipeline.resume()
    clock.forward(seconds=31)
    assert pipeline.tick().repaired == 3


def test_two_processes_share_the_interval_the_cooldown_and_the_budget(home: Path, clock: Clock) -> None:
    with (
        closing(open_pipeline(home, clock=clock, name="one")) as one,
        closing(open_pipeline(home, clock=clock, name="two")) as two,
    ):
        one.tick()
        kill_jobs(one, clock, count=1)
        clock.forward(**INTERVAL)
        assert (two.tick().repaired, one.tick().repaired) == (1, 0)
        kill_jobs(one, clock, count=1, error_class="timeout")
        (denied,) = one.maintain([REQUEUE])
        assert denied.gate is Gate.COOLDOWN
        assert denied.until == clock.ms + 60_000
        clock.forward(milliseconds=60_000)
        assert one.maintain([REQUEUE])[0].status == "done"
    configure(home, f"{OFF}[pipeline.repair]\nrequeue_hourly_budget = 2")
    with closing(open_pipeline(home, clock=clock)) as third:
        clock.forward(minutes=5)
        (denied,) = third.maintain([REQUEUE])
        assert denied.gate is Gate.BUDGET
        assert third.maintain([REQUEUE], force=True)[0].status == "done"


def test_a_repair_that_did_not_help_is_tried_again_after_a_day_or_once_nothing_was_recommended(
    pipeline: Pipeline, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_jobs(pipeline, clock)
    fail_to_better(monkeypatch)
    with closing(open_pipeline(pipeline.home, clock=clock)) as stubborn:
        for _ in range(4):
            clock.forward(**INTERVAL)
            stubborn.tick()
        assert runs(stubborn) == [("requeueDeadJobs", "done")]
        (recommended,) = stubborn.diagnose().recommendations
        assert recommended.gate is Gate.TRIED
        clock.forward(days=1)
        stubborn.tick()
        assert runs(stubborn) == [("requeueDeadJobs", "done")] * 2
    monkeypatch.undo()
    # A new process finds it tried, too.
    with closing(open_pipeline(pipeline.home, clock=clock)) as other:
        assert other.maintain([REQUEUE])[0].gate is Gate.TRIED
        other.retry_dead()
        clock.forward(**INTERVAL)
        other.tick()
        assert BY_ID["maintenance.13"]["expected"]["halted"] is False
        kill_jobs(other, clock, error_class="timeout")
        assert other.maintain([REQUEUE])[0].status == "done"


def test_a_repair_is_judged_by_its_own_domain(pipeline: Pipeline, clock: Clock) -> None:
    ids = kill_jobs(pipeline, clock)
    with pipeline.database.write() as writer:
        # The queue is cured, and meanwhile the calls to the model begin to fail.
        for _ in range(20):
            call = writer.calls.begin(at=1, day="d", provider="p", model="m", purpose="extract", raw_id="")
            writer.calls.finish(call, latency_ms=1, outcome="timeout")
    (run,) = pipeline.maintain([REQUEUE])
    assert run.improved
    assert run.did == len(ids)


def test_what_keeps_a_repair_from_being_done_is_said_and_stops_nothing(
    pipeline: Pipeline, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_jobs(pipeline, clock)

    def broken(_: RepairContext) -> MaintenancePlan:
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(REPAIRS, REQUEUE, broken)  # type: ignore[arg-type]
    with closing(open_pipeline(pipeline.home, clock=clock)) as unlucky:
        clock.forward(**INTERVAL)
        ticked = unlucky.tick()
        assert any("No space left" in line for line in ticked.warnings)
        (run,) = unlucky.diagnose().runs
        assert run.status == "failed"
        assert "No space left" in run.error
        assert run.improved is False


def test_a_run_that_never_ended_holds_the_next_one_up_for_the_cooldown_and_counts_for_nothing(
    pipeline: Pipeline, clock: Clock
) -> None:
    kill_jobs(pipeline, clock)
    with pipeline.database.write() as writer:
        begin_run(writer, REQUEUE, clock.ms, "killed")
    assert pipeline.maintain([REQUEUE])[0].gate is Gate.COOLDOWN
    clock.forward(minutes=1)
    assert pipeline.maintain([REQUEUE])[0].did == 3
    assert runs(pipeline) == [("requeueDeadJobs", "interrupted"), ("requeueDeadJobs", "done")]


def test_a_look_writes_nothing(pipeline: Pipeline, clock: Clock) -> None:
    kill_jobs(pipeline, clock)
    reader = pipeline.database.reading.connection
    before = reader.execute("PRAGMA data_version").fetchone()[0]
    pipeline.diagnose()
    for action in MaintenanceAction:
        pipeline.maintenance_plan(action)
    assert reader.execute("PRAGMA data_version").fetchone()[0] == before


def remove_texts(pipeline: Pipeline) -> None:
    """Texts of which half is removed, and longer ago than it is kept."""
    for number in range(4):
        pipeline.ingest(f"Server {number} stands in rack {number * 7 + 3}.")
    for one in pipeline.jobs()[:2]:
        pipeline.remove_text(one.target)


def test_what_is_removed_and_past_its_time_is_deleted_by_maintenance_unless_retention_is_off(
    home: Path, clock: Clock
) -> None:
    configure(home, f"{OFF}[pipeline.retention]\nenabled = false")
    with closing(open_pipeline(home, clock=clock)) as pipeline:
        pipeline.tick()
        remove_texts(pipeline)
        clock.forward(days=31)
        pipeline.tick()
        assert MaintenanceAction.SWEEP in [one.action for one in pipeline.diagnose().recommendations]
        assert runs(pipeline) == []
        planned = pipeline.maintenance_plan(MaintenanceAction.SWEEP)
        assert {"texts", "mentions"} & {one.target for one in planned.repairs}
        (run,) = pipeline.maintain([MaintenanceAction.SWEEP])
        assert run.did == planned.count > 0
        assert run.left == 0


def test_without_a_model_for_embeddings_there_is_none_to_make(pipeline: Pipeline) -> None:
    plan = pipeline.maintenance_plan(MaintenanceAction.REEMBED)
    assert plan.repairs == ()
    assert "No model for embeddings" in plan.said
    (run,) = pipeline.maintain([MaintenanceAction.REEMBED])
    assert (run.status, run.did, run.improved) == ("done", 0, None)
