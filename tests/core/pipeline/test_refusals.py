"""Refused proposals: each refusal is an entry of the log that undo takes back and redo repeats."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kits.service_kit import Clock, configure, drain, open_pipeline

from core.errors import InvalidInputError, StorageError
from core.memory import Memory
from core.model.change import PERSON
from core.pipeline.service import Pipeline
from core.storage.journal.journal import Journal

TEXT = "The office is in Berlin. The team meets on Monday."


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pipeline(tmp_path: Path, clock: Clock) -> Iterator[Pipeline]:
    with open_pipeline(configure(tmp_path / "home", "shadowMode = true"), clock=clock) as opened:
        opened.ingest(TEXT)
        drain(opened)
        yield opened


def stands(pipeline: Pipeline) -> list[tuple[str, str, str]]:
    """How each proposal stands, and why."""
    return sorted((one.content, one.status, one.reason) for one in pipeline.proposals(all=True))


def test_a_refusal_is_undone_and_redone_and_each_proposal_waits_as_it_did(pipeline: Pipeline) -> None:
    before = stands(pipeline)
    ids = [one.id for one in pipeline.proposals()]
    done = pipeline.refuse(ids)
    assert done == len(ids) == 2
    assert done.change_set is not None
    assert pipeline.proposals() == ()
    refused = stands(pipeline)
    for _ in range(2):
        assert pipeline.memory.history.undo().about == done.change_set.id
        assert (pipeline.follow_undo(), pipeline.follow_undo()) == (2, 0)
        assert stands(pipeline) == before
        pipeline.memory.history.redo()
        assert (pipeline.follow_undo(), pipeline.follow_undo()) == (2, 0)
        assert stands(pipeline) == refused
    events = [row.event for row in pipeline.history(ids[0])]
    assert events[-5:] == ["refused", "reopened", "refused", "reopened", "refused"]


def test_a_refusal_is_undone_by_its_id_after_a_restart_and_only_once(pipeline: Pipeline) -> None:
    done = pipeline.refuse([pipeline.proposals()[0].id])
    assert done.change_set is not None
    with closing(Memory.open(pipeline.home, author=PERSON)) as again:
        again.history.undo(done.change_set.id)
        with pytest.raises(InvalidInputError, match="already undone"):
            again.history.undo(done.change_set.id)
        assert pipeline.follow_undo() == 1
        assert len(pipeline.proposals()) == 2
        again.history.redo(done.change_set.id)
        with pytest.raises(InvalidInputError, match="not undone"):
            again.history.redo(done.change_set.id)
    assert pipeline.follow_undo() == 1


def test_of_several_the_last_refusal_is_undone_first(pipeline: Pipeline) -> None:
    first, second = pipeline.proposals()
    pipeline.refuse([first.id])
    pipeline.refuse([second.id])
    for wanted in (second, first):
        pipeline.memory.history.undo()
        pipeline.follow_undo()
        assert wanted.id in {one.id for one in pipeline.proposals()}


def test_what_was_decided_since_an_undo_is_not_refused_by_redoing_it(pipeline: Pipeline) -> None:
    one = pipeline.proposals()[0]
    refused = pipeline.refuse([one.id])
    pipeline.memory.history.undo()
    pipeline.follow_undo()
    pipeline.accept([one.id])
    assert refused.change_set is not None
    pipeline.memory.history.redo(refused.change_set.id)
    assert pipeline.follow_undo() == 0
    assert (one.content, "applied", "") in stands(pipeline)


def test_where_the_log_cannot_be_written_nothing_is_refused(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise StorageError("no space left")

    before = stands(pipeline)
    with monkeypatch.context() as broken_log:
        broken_log.setattr(Journal, "record", broken)
        with pytest.raises(StorageError):
            pipeline.refuse([pipeline.proposals()[0].id])
    assert stands(pipeline) == before
    assert pipeline.refuse([pipeline.proposals()[0].id]) == 1


def test_a_refusal_of_nothing_leaves_no_entry(pipeline: Pipeline) -> None:
    assert pipeline.refuse([]) == 0
    assert pipeline.refuse(["proposal-0"]).change_set is None
    assert pipeline.memory.history.log() == ()
