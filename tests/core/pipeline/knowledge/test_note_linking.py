"""Several processes follow the notes of one memory: what one of them read stands, and all come to rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from kits.service_kit import Clock, configure, drain, open_pipeline

from core.graph.edits import create_note, edit_note, hide_note
from core.pipeline.service import Pipeline

HINT = "Who keeps the backups?"


def notes_read(pipeline: Pipeline) -> set[str]:
    return set(pipeline.database.reading.note_names.hashes())


@pytest.fixture
def two(tmp_path: Path) -> Iterator[list[Pipeline]]:
    """Two processes' pipelines on one memory, each with a memory of its own, that have read all notes of it."""
    clock = Clock()
    with ExitStack() as stack:
        opened = [
            stack.enter_context(open_pipeline(configure(tmp_path), clock=clock, name=name)) for name in "ab"
        ]
        opened[0].memory.change("first", lambda draft: create_note(draft, "ops", "Disk", "The disk is full."))
        for pipeline in opened:
            drain(pipeline)
        yield opened


def written(pipeline: Pipeline) -> str:
    """A note that this pipeline wrote and read, with a hint, and that no other has seen."""
    note, _ = pipeline.memory.change(
        "second", lambda draft: create_note(draft, "ops", "Backups", "Anna keeps the backups of PostgreSQL.")
    )
    drain(pipeline)
    with pipeline.database.write() as writer:
        writer.hints.put(note.id, (HINT,))
    return note.id


def test_a_note_that_another_process_wrote_is_not_taken_for_one_that_is_gone(two: list[Pipeline]) -> None:
    note = written(two[0])
    for pipeline in (*two, *two):
        assert sum(done.linked for done in drain(pipeline)) == 0
        assert note in notes_read(pipeline)
    assert two[0].database.reading.hints.of_note(note) == (HINT,)


def test_what_another_process_read_of_the_same_text_is_not_read_anew(two: list[Pipeline]) -> None:
    ours, theirs = two
    note = written(ours)
    with ours.database.write() as writer:
        # As many as before: the other does not see that there are others.
        writer.note_names.remove(id for id in notes_read(ours) if id != note)
    theirs.clock.forward(seconds=61)  # type: ignore[attr-defined]
    drain(theirs)
    assert ours.database.reading.hints.of_note(note) == (HINT,)


def test_processes_that_see_the_notes_change_come_to_rest_with_what_the_notes_are(
    two: list[Pipeline],
) -> None:
    ours, theirs = two
    note = written(ours)
    drain(theirs)
    theirs.memory.refresh()
    theirs.memory.change("edited", lambda draft: edit_note(draft, note, content="Berta keeps them."))
    for _ in range(2):
        for pipeline in two:
            drain(pipeline)
    named = "SELECT canonical_name FROM mentions JOIN entities ON id = entity_id WHERE target = ?"
    assert "berta" in ours.database.reading.column(named, note)
    theirs.memory.change("hidden", lambda draft: hide_note(draft, note))
    ours.clock.forward(seconds=61)  # type: ignore[attr-defined]
    for pipeline in (*two, *two):
        drain(pipeline)
    assert note not in notes_read(ours)


def test_while_the_files_cannot_be_read_no_note_is_forgotten(two: list[Pipeline], tmp_path: Path) -> None:
    note = written(two[0])
    path = tmp_path / "graph" / "graph.json"
    before = path.read_bytes()
    path.write_bytes(b"{")
    drain(two[1])
    assert note in notes_read(two[1])
    path.write_bytes(before)
    drain(two[1])
    assert note in notes_read(two[1])
