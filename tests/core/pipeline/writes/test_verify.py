"""Holding the pipeline's facts against the notes: what differs, and what repairing does about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.memory_files import note_object, notes_of, write_graph
from kits.writes_kit import Writes

from core.folder import DATABASE_FILE
from core.graph.edits import delete_note, edit_note, hide_note, unhide_note
from core.memory import Memory
from core.pipeline.database.connection import Database
from core.pipeline.writes.following import drift, repair_drift
from core.verify import Finding

DARK = "Anna prefers dark mode."
FRIDAY = "Deploys run on Friday."
GREEN = "The kitchen is painted green."


@pytest.fixture
def writes(tmp_path: Path) -> Iterator[Writes]:
    write_graph(tmp_path, [note_object(0)])
    with Writes(tmp_path) as opened:
        yield opened


def _kinds(found: tuple[Finding, ...]) -> list[tuple[str, bool]]:
    return [(one.kind, bool(one.repair)) for one in found]


def test_a_memory_without_the_pipeline_has_nothing_to_tell_and_gets_no_tables(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(0)])
    memory = Memory.open(tmp_path)
    assert drift(memory) == ()
    assert repair_drift(memory, now=1) == ()
    assert not Database.exists(memory.home)


def test_notes_that_were_removed_hidden_or_shown_are_told_and_taken_over(writes: Writes) -> None:
    gone, away, reworded = writes.known(DARK, FRIDAY, GREEN)
    memory, status = writes.memory, writes.database.reading.facts.of_note
    assert drift(memory) == ()
    memory.change("out", lambda draft: delete_note(draft, gone))
    memory.change("away", lambda draft: hide_note(draft, away))
    memory.change("mine", lambda draft: edit_note(draft, reworded, content="The kitchen is blue."))
    assert _kinds(drift(memory)) == [("fact-gone", True), ("fact-hidden", True)]
    assert _kinds(drift(memory, faults_only=True)) == [("fact-gone", True)]
    assert repair_drift(memory, now=writes.now) == ()
    assert drift(memory) == ()
    memory.change("back", lambda draft: unhide_note(draft, away))
    assert _kinds(drift(memory)) == [("fact-back", True)]
    repair_drift(memory, now=writes.now)
    assert drift(memory) == ()
    assert [found.status for one in (gone, away, reworded) if (found := status(one))] == [
        "retracted", "active", "active",
    ]  # fmt: skip


def test_notes_of_facts_that_the_database_never_had_are_told_once_and_lose_their_trail(
    writes: Writes,
) -> None:
    writes.known(DARK, FRIDAY)
    writes.database.close()
    memory = writes.memory
    memory.close()
    for path in memory.home.glob(f"{DATABASE_FILE}*"):
        path.unlink()
    Database.open(memory.home).close()
    [found] = drift(memory)
    assert (found.kind, "2 notes name" in found.detail) == ("unknown-origin", True)
    [change_set] = repair_drift(memory, now=writes.now)
    assert drift(memory) == ()
    assert all("origin" not in note for note in notes_of(memory.home).values())
    memory.history.undo(change_set)
    assert _kinds(drift(memory)) == [("unknown-origin", True)]


def test_a_database_that_cannot_be_read_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(0)])
    memory = Memory.open(tmp_path, reconcile=False)
    path = memory.home / DATABASE_FILE
    path.write_bytes(b"no database at all, " * 100)
    [found] = drift(memory)
    assert (found.kind, found.repair) == ("unreadable-pipeline", "")
    assert path.read_bytes() == b"no database at all, " * 100
