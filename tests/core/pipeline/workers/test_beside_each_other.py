"""Workers beside each other: lost leases, renewals, pauses, turns, and what an end leaves behind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from kits.scripted_model import NamedModel, ScriptedModel
from kits.service_kit import Clock, Opened, drain, note_texts, only_job
from kits.writes_kit import decision, found, parrot

from core.pipeline.models.provider import Answer, Schema
from core.pipeline.records import Job, PipelineState

TEXT = "Anna moved the billing service to PostgreSQL."


class Meanwhile(NamedModel):
    """A model while whose answer something happens."""

    def __init__(self, happens: Callable[[], Any]) -> None:
        self.happens = happens
        self.inner = parrot()

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        self.happens()
        return self.inner.generate(prompt, schema, deadline)


def test_a_worker_that_lost_its_lease_writes_nothing(opened: Opened, clock: Clock) -> None:
    other = opened(name="other")

    def other_takes_over() -> None:
        clock.forward(minutes=6)
        assert other.tick().reaped == 1

    slow = opened(Meanwhile(other_takes_over), name="slow")
    slow.ingest(TEXT)
    ticked = slow.tick()
    assert any("another worker has taken over" in warning for warning in ticked.warnings)
    drain(other)
    assert note_texts(other) == [TEXT]
    assert len(other.history(other.jobs()[0].target)) == len(
        {row.id for row in other.history(other.jobs()[0].target)}
    )
    assert other.status().facts == 1


def test_a_job_that_takes_long_keeps_its_lease_by_renewing_it(opened: Opened, clock: Clock) -> None:
    opened().ingest(TEXT)
    drain(opened())
    model = ScriptedModel(
        [
            found("Anna moved the billing service to MySQL.", "The billing service belongs to Anna."),
            "no JSON at all", decision("add"), decision("add"),
        ]
    )  # fmt: skip
    slow = opened(model, "[pipeline.worker]\nleaseTimeoutMs = 100000")
    other = opened(name="other")
    expiries: list[int | None] = []
    generate = model.generate

    def slowly(prompt: str, schema: Schema | None, deadline: float) -> Answer:
        clock.forward(seconds=60)
        expiries.append(slow.jobs("leased")[0].lease_expires_at)
        with other.database.write() as writer:
            assert writer.jobs.reap(clock.ms) == 0
        return generate(prompt, schema, deadline)

    model.generate = slowly  # type: ignore[method-assign]
    slow.ingest("Anna moved the billing service to MySQL. The billing service belongs to Anna.")
    ticked = slow.tick()
    assert ticked.job is not None
    assert ticked.job.status == "completed"
    assert len(set(expiries)) == len(expiries) == 4


def test_pausing_keeps_every_process_from_taking_another_job(opened: Opened) -> None:
    one, other = opened(name="one"), opened(name="other")
    one.ingest(TEXT)
    assert one.pause(0) == ()
    drain(other)
    assert other.paused
    assert only_job(other).status == "pending"
    assert other.status().light is PipelineState.PAUSED
    other.resume()
    drain(one)
    assert note_texts(one) == [TEXT]


def test_a_pause_tells_which_jobs_run_on(opened: Opened) -> None:
    seen: list[tuple[Job, ...]] = []
    other = opened(name="other")
    one = opened(Meanwhile(lambda: seen.append(other.pause(0))))
    one.ingest(TEXT)
    drain(one)
    assert [job.leased_by for job in seen[0]] == ["worker"]
    assert other.pause(0) == ()


@pytest.mark.slow
def test_types_of_jobs_take_turns(opened: Opened) -> None:
    pipeline = opened()
    for number in range(4):
        pipeline.ingest(f"Server number {number} stands in rack {number * 7 + 3}.")
    with pipeline.database.write() as writer:
        for number in range(2):
            writer.jobs.enqueue(type="structural_classify", target=str(900 + number), max_attempts=3, now=0)
    done = [ticked.job.type for ticked in drain(pipeline) if ticked.job]
    assert done[:4].count("structural_classify") == 2


# Ending


def test_a_worker_that_is_ended_by_a_signal_gives_its_job_back(opened: Opened) -> None:
    class EndedError(BaseException):
        pass

    pipeline = opened(ScriptedModel(always=EndedError()))
    pipeline.ingest(TEXT)
    with pytest.raises(EndedError):
        pipeline.tick()
    assert (only_job(pipeline).status, only_job(pipeline).attempts) == ("pending", 0)


def test_stopping_waits_for_the_job_in_flight_and_then_gives_it_back(opened: Opened) -> None:
    asked, answer = threading.Event(), threading.Event()

    def wait() -> None:
        asked.set()
        assert answer.wait(60)

    pipeline = opened(Meanwhile(wait))
    pipeline.ingest(TEXT)
    pipeline.start()
    assert asked.wait(60)
    assert not pipeline.stop(0)
    assert (only_job(pipeline).status, only_job(pipeline).attempts) == ("pending", 0)
    thread = next(one for one in threading.enumerate() if one.name == "nuggets-pipeline")
    answer.set()
    thread.join(60)
    # What it found out after that was not written.
    assert only_job(pipeline).status == "pending"
    assert pipeline.status().facts == 0
    pipeline.start()
    asked.clear()
    assert asked.wait(60)
    assert pipeline.stop(60)
    assert only_job(pipeline).status == "completed"
