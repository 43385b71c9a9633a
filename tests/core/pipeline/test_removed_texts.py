"""A person removes a submitted text: its notes are hidden with it, nothing is lost, and all comes back for a while."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.scripted_model import ScriptedModel
from kits.service_kit import Clock, configure, drain, note_texts, open_pipeline
from kits.writes_kit import fact, found

from core.errors import ConflictError, NotFoundError
from core.pipeline.database.jobs import Jobs
from core.pipeline.retention import Kind
from core.pipeline.service import Pipeline
from core.pipeline.writes.following import drift

FIRST, SECOND = "Anna moved billing to PostgreSQL.", "The build takes four minutes."


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pipeline(tmp_path: Path, clock: Clock) -> Iterator[Pipeline]:
    with open_pipeline(configure(tmp_path), clock=clock) as opened:
        yield opened


def read(pipeline: Pipeline, text: str) -> str:
    """The id of a text that is read, and whose notes are written."""
    raw_id = pipeline.ingest(text).raw_id
    drain(pipeline)
    return raw_id


def is_removed(pipeline: Pipeline, raw_id: str) -> bool:
    return pipeline.raw(raw_id).removed_at is not None


def test_its_notes_are_hidden_and_shown_again_each_as_one_change(pipeline: Pipeline) -> None:
    raw_id = read(pipeline, f"{FIRST} {SECOND}")
    other = read(pipeline, "Kafka carries the events.")
    done = pipeline.remove_text(raw_id)
    assert len(done.notes) == 2
    assert note_texts(pipeline) == ["Kafka carries the events."]
    assert pipeline.raw(raw_id).content == f"{FIRST} {SECOND}"
    assert drift(pipeline.memory) == ()
    pipeline.restore_text(raw_id)
    assert note_texts(pipeline) == [FIRST, SECOND, "Kafka carries the events."]
    assert [row.event for row in pipeline.history(raw_id)][-2:] == ["text_removed", "text_restored"]
    assert not is_removed(pipeline, other)
    assert drift(pipeline.memory) == ()


def test_what_a_removal_is_said_to_do_is_what_it_does_and_saying_it_changes_nothing(
    pipeline: Pipeline,
) -> None:
    read_one, waiting = (
        read(pipeline, f"{FIRST} {SECOND}"),
        pipeline.ingest("Kafka carries the events.").raw_id,
    )
    before = pipeline.memory.snapshot
    for raw_id, waits in ((read_one, False), (waiting, True)):
        planned = pipeline.plan_removal(raw_id)
        assert (planned.waits, planned.days) == (waits, 30)
        assert not is_removed(pipeline, raw_id)
        assert pipeline.plan_removal(raw_id) == planned
        assert pipeline.memory.snapshot is before
        done = pipeline.remove_text(raw_id)
        assert (done.raw_id, done.notes) == (planned.raw_id, planned.notes)
        before = pipeline.memory.snapshot
        with pytest.raises(NotFoundError, match="removed already"):
            pipeline.plan_removal(raw_id)


def test_undo_of_the_change_brings_the_text_back_as_well(pipeline: Pipeline, clock: Clock) -> None:
    raw_id = read(pipeline, FIRST)
    done = pipeline.remove_text(raw_id)
    assert done.change_set is not None
    pipeline.memory.history.undo(done.change_set.id)
    pipeline.follow_undo()
    assert not is_removed(pipeline, raw_id)
    clock.forward(days=40)
    assert pipeline.sweep().counts[Kind.TEXTS] == 0
    assert pipeline.raw(raw_id).content == FIRST
    # Said again, it is known, as before.
    assert pipeline.ingest(FIRST).duplicate_of == raw_id


def test_a_note_that_was_shown_again_behind_its_back_keeps_the_text(pipeline: Pipeline, clock: Clock) -> None:
    raw_id = read(pipeline, FIRST)
    (note,) = pipeline.remove_text(raw_id).notes
    clock.forward(days=40)
    from core.graph.edits import unhide_note

    pipeline.memory.change("shown", lambda draft: unhide_note(draft, note))
    assert pipeline.sweep().counts[Kind.TEXTS] == 0
    pipeline.follow_undo()
    assert pipeline.raw(raw_id).content == FIRST
    assert not is_removed(pipeline, raw_id)
    assert drift(pipeline.memory) == ()


def test_deleted_it_leaves_its_notes_hidden_with_every_word_and_says_when(
    pipeline: Pipeline, clock: Clock
) -> None:
    raw_id = read(pipeline, FIRST)
    (note,) = pipeline.remove_text(raw_id).notes
    before = pipeline.memory.snapshot.by_id[note]
    clock.forward(days=31)
    assert pipeline.sweep().counts[Kind.TEXTS] == 1
    pipeline.memory.refresh()
    assert pipeline.memory.snapshot.by_id[note] == before
    origin = pipeline.origin(note)
    assert origin is not None
    assert (origin.fact, origin.content, origin.deleted_at) == (FIRST, "", clock.ms)
    trail = pipeline.text(raw_id)
    assert (trail.raw.content, trail.raw.gone_at) == ("", clock.ms)
    with pytest.raises(ConflictError, match="retention deleted it on 2026-12-23"):
        pipeline.restore_text(raw_id)
    assert drift(pipeline.memory) == ()
    assert pipeline.memory.snapshot.problems == ()


def test_of_a_text_that_nothing_came_of_its_id_says_when_it_went(tmp_path: Path, clock: Clock) -> None:
    with open_pipeline(configure(tmp_path), ScriptedModel([found()]), clock) as pipeline:
        raw_id = read(pipeline, "Nothing to learn from this one here.")
        pipeline.remove_text(raw_id)
        clock.forward(days=31)
        pipeline.sweep()
        trail = pipeline.text(raw_id)
        assert (trail.raw.content, trail.raw.gone_at, trail.proposals) == ("", clock.ms, ())


def test_submitted_again_a_removed_text_is_read_anew(pipeline: Pipeline) -> None:
    raw_id = read(pipeline, FIRST)
    pipeline.remove_text(raw_id)
    again = pipeline.ingest(FIRST)
    assert (again.status, again.duplicate_of) == ("queued", "")
    drain(pipeline)
    assert note_texts(pipeline) == [FIRST]
    # Of two that say the same one stands.
    back = pipeline.restore_text(raw_id)
    assert (back.notes, back.change_set, len(back.left)) == ((), None, 1)
    assert note_texts(pipeline) == [FIRST]
    assert pipeline.raw(raw_id).duplicate_of == again.raw_id
    assert drift(pipeline.memory) == ()
    # Removed and said once more, it is learned once more.
    pipeline.remove_text(again.raw_id)
    assert note_texts(pipeline) == []
    read(pipeline, FIRST)
    assert note_texts(pipeline) == [FIRST]


def test_a_text_that_is_back_shows_what_nobody_has_said_again_and_nothing_twice(pipeline: Pipeline) -> None:
    raw_id = read(pipeline, f"{FIRST} {SECOND}")
    pipeline.remove_text(raw_id)
    read(pipeline, f"{FIRST} Kafka carries the events.")
    back = pipeline.restore_text(raw_id)
    assert (len(back.notes), len(back.left)) == (1, 1)
    assert sorted(note_texts(pipeline)) == [FIRST, "Kafka carries the events.", SECOND]
    # It holds something of its own.
    assert pipeline.raw(raw_id).duplicate_of == ""
    assert drift(pipeline.memory) == ()


def test_of_two_texts_that_wait_and_say_the_same_one_is_read(pipeline: Pipeline) -> None:
    raw_id = pipeline.ingest(FIRST).raw_id
    pipeline.remove_text(raw_id)
    again = pipeline.ingest(FIRST).raw_id
    pipeline.restore_text(raw_id)
    assert [one.target for one in pipeline.jobs("pending")] == [again]
    drain(pipeline)
    assert note_texts(pipeline) == [FIRST]


def test_what_a_person_had_hidden_stays_hidden_and_is_not_learned_again(
    pipeline: Pipeline, clock: Clock
) -> None:
    from core.graph.edits import hide_note

    raw_id = read(pipeline, f"{FIRST} {SECOND}")
    own = next(note.id for note in pipeline.memory.snapshot.notes if note.content == SECOND)
    pipeline.memory.change("hidden", lambda draft: hide_note(draft, own))
    clock.forward(minutes=2)
    drain(pipeline)
    pipeline.remove_text(raw_id)
    pipeline.restore_text(raw_id)
    assert note_texts(pipeline) == [FIRST]
    pipeline.remove_text(raw_id)
    clock.forward(days=31)
    pipeline.sweep()
    read(pipeline, f"{SECOND} {FIRST}")
    assert note_texts(pipeline) == [FIRST]


def test_a_refused_proposal_is_not_proposed_again_after_its_text_is_deleted(
    tmp_path: Path, clock: Clock
) -> None:
    with open_pipeline(configure(tmp_path, "shadow_mode = true"), clock=clock) as pipeline:
        raw_id = read(pipeline, FIRST)
        pipeline.refuse(pipeline.resolve_ids([one.id for one in pipeline.proposals()]))
        pipeline.remove_text(raw_id)
        clock.forward(days=31)
        assert pipeline.sweep().counts[Kind.TEXTS] == 1
        read(pipeline, f"Once more. {FIRST}")
        assert FIRST not in [one.content for one in pipeline.proposals()]


def test_an_open_proposal_keeps_its_removed_text(tmp_path: Path, clock: Clock) -> None:
    with open_pipeline(configure(tmp_path, "shadow_mode = true"), clock=clock) as pipeline:
        raw_id = read(pipeline, FIRST)
        pipeline.remove_text(raw_id)
        clock.forward(days=400)
        pipeline.sweep()
        (proposal,) = pipeline.proposals()
        assert pipeline.raw(raw_id).content == FIRST
        assert pipeline.accept([proposal.id]).written == (proposal.id,)
        assert note_texts(pipeline) == [FIRST]
        pipeline.follow_undo()
        assert not is_removed(pipeline, raw_id)


def test_a_text_that_waits_is_not_read_once_it_is_removed_and_waits_again_when_it_is_back(
    tmp_path: Path, clock: Clock
) -> None:
    home = configure(tmp_path, "mutations_frozen = true")
    with open_pipeline(home, ScriptedModel([found(fact(FIRST, 0.9))]), clock) as pipeline:
        held = pipeline.ingest(FIRST)
        assert held.status == "held"
        pipeline.remove_text(held.raw_id)
        configure(home)
        clock.forward(seconds=5)
        drain(pipeline)
        assert note_texts(pipeline) == []
        pipeline.restore_text(held.raw_id)
        drain(pipeline)
        assert note_texts(pipeline) == [FIRST]


def test_a_failed_text_that_was_removed_is_not_tried_again(tmp_path: Path, clock: Clock) -> None:

    from core.pipeline.models.provider import ModelHttpError

    with open_pipeline(
        configure(tmp_path), ScriptedModel(always=ModelHttpError("Ollama HTTP 400: bad", status=400)), clock
    ) as pipeline:
        raw_id = read(pipeline, FIRST)
        pipeline.remove_text(raw_id)
        assert pipeline.retry_dead() == 0
        pipeline.restore_text(raw_id)
        assert pipeline.retry_dead() == 1


def test_a_text_that_is_just_being_read_is_left_alone(pipeline: Pipeline) -> None:
    raw_id = pipeline.ingest(FIRST).raw_id
    with pipeline.database.write() as writer:
        writer.connection.execute("UPDATE jobs SET status = 'leased', lease_token = 't'")
    with pytest.raises(ConflictError, match="just being read"):
        pipeline.remove_text(raw_id)
    assert not is_removed(pipeline, raw_id)


def test_a_removal_that_ends_before_the_text_is_marked_leaves_text_and_notes(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw_id = read(pipeline, FIRST)
    drain(pipeline)
    with monkeypatch.context() as patched:
        patched.setattr(Jobs, "withdraw", _killed)
        with pytest.raises(KeyboardInterrupt):
            pipeline.remove_text(raw_id)
    assert note_texts(pipeline) == [FIRST]
    assert not is_removed(pipeline, raw_id)


def _killed(*_: object) -> bool:
    raise KeyboardInterrupt


def test_undo_of_a_removal_lets_a_text_wait_again_that_waited(pipeline: Pipeline) -> None:
    raw_id = read(pipeline, FIRST)
    drain(pipeline)
    with pipeline.database.write() as writer:
        # As after a part of it was read.
        writer.connection.execute("UPDATE jobs SET status = 'pending', completed_at = NULL")
        writer.raw.set_status(raw_id, "queued")
    pipeline.remove_text(raw_id)
    assert pipeline.raw(raw_id).status == "skipped"
    pipeline.memory.history.undo()
    pipeline.follow_undo()
    assert not is_removed(pipeline, raw_id)
    assert pipeline.raw(raw_id).status == "queued"
    assert [one.status for one in pipeline.jobs("pending")] == ["pending"]
