"""Both sides held against each other: what differs is told, and mending makes them agree."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from kits.memory_files import note_object, notes_of, write_graph
from kits.outbox_kit import NOW, decided, events, learned, status_of

from core import Memory
from core.folder import DATABASE_FILE
from core.graph.edits import delete_note, edit_note, hide_note, unhide_note
from core.pipeline.database.connection import Database
from core.pipeline.writes.note_sync import sync_from_notes
from core.pipeline.writes.outbox import flush_outbox
from core.pipeline.writes.verify import drift, repair_drift
from core.verify import Finding

DARK = "The user prefers dark mode."
FRIDAY = "Deploys run on Friday."
LATER = NOW + 3_600_000


@pytest.fixture
def memory(tmp_path: Path, clock: Callable[[], datetime], ids: Callable[[], str]) -> Memory:
    write_graph(tmp_path, [note_object(number) for number in range(3)])
    return Memory.open(tmp_path, clock=clock, ids=ids)


@pytest.fixture
def database(memory: Memory) -> Iterator[Database]:
    opened = Database.open(memory.home)
    yield opened
    opened.close()


def _kinds(found: tuple[Finding, ...]) -> list[tuple[str, bool]]:
    return [(one.kind, bool(one.repair)) for one in found]


def test_a_memory_without_the_pipeline_has_nothing_to_tell_and_gets_no_database(memory: Memory) -> None:
    assert drift(memory, now=LATER) == ()
    assert repair_drift(memory, now=NOW) == ()
    assert not Database.exists(memory.home)


def test_a_memory_whose_facts_are_all_brought_over_has_nothing_to_tell(
    database: Database, memory: Memory
) -> None:
    added = learned(database, DARK)
    flush_outbox(database, memory, now=NOW)
    assert drift(memory, now=LATER) == ()
    memory.change("mine", lambda draft: edit_note(draft, added.note, content="Dark mode at night."))
    assert drift(memory, now=LATER) == ()
    decided(database, "hide", added.note, "Dark mode at night.")
    flush_outbox(database, memory, now=NOW)
    assert drift(memory, now=LATER) == ()
    assert memory.maintenance.verify() == ()


def test_what_waits_is_told_and_brought_over(database: Database, memory: Memory) -> None:
    added = learned(database, DARK)
    assert _kinds(drift(memory, now=LATER)) == [("outbox-waiting", True)]
    assert "1 accepted fact is not" in drift(memory, now=LATER)[0].detail
    learned(database, FRIDAY)
    assert "2 accepted facts are not" in drift(memory, now=LATER)[0].detail
    assert len(repair_drift(memory, now=NOW)) == 1
    assert notes_of(memory.home)[added.note]["content"] == DARK
    assert drift(memory, now=LATER) == ()


def test_what_was_accepted_just_now_is_on_its_way(database: Database, memory: Memory) -> None:
    learned(database, DARK)
    assert drift(memory, now=NOW + 59_000) == ()
    assert _kinds(drift(memory, now=NOW + 60_000)) == [("outbox-waiting", True)]
    # A clock that was set back hides nothing.
    assert _kinds(drift(memory, now=NOW - 1)) == [("outbox-waiting", True)]


def test_what_failed_is_told_with_the_reason_and_tried_again(database: Database, memory: Memory) -> None:
    added = learned(database, DARK, nugget="../outside")
    flush_outbox(database, memory, now=NOW)
    [found] = drift(memory, now=LATER)
    assert (found.kind, found.where) == ("outbox-failed", added.note)
    assert "could not become a note: " in found.detail
    assert "not a valid nugget name" in found.detail
    repair_drift(memory, now=NOW)
    assert _kinds(drift(memory, now=LATER)) == [("outbox-failed", True)]
    with database.write() as writer:
        writer.connection.execute("UPDATE graph_outbox SET payload = replace(payload, '../outside', 'web')")
    repair_drift(memory, now=NOW)
    assert drift(memory, now=LATER) == ()


def test_notes_that_went_are_told_and_their_facts_taken_back(database: Database, memory: Memory) -> None:
    out, away = learned(database, DARK), learned(database, FRIDAY)
    flush_outbox(database, memory, now=NOW)
    memory.change("out", lambda draft: delete_note(draft, out.note))
    memory.change("away", lambda draft: hide_note(draft, away.note))
    assert _kinds(drift(memory, now=LATER)) == [("fact-gone", True), ("fact-hidden", True)]
    assert repair_drift(memory, now=NOW) == ()
    assert drift(memory, now=LATER) == ()
    assert {status_of(database, one.fact) for one in (out, away)} == {"retracted"}
    assert ("retracted", "its note was hidden") in events(database, away.note)


def test_a_note_that_is_back_is_told_and_its_fact_stands_again(database: Database, memory: Memory) -> None:
    added = learned(database, DARK)
    flush_outbox(database, memory, now=NOW)
    memory.change("away", lambda draft: hide_note(draft, added.note))
    sync_from_notes(database, memory, now=NOW)
    memory.change("back", lambda draft: unhide_note(draft, added.note))
    assert _kinds(drift(memory, now=LATER)) == [("fact-back", True)]
    repair_drift(memory, now=NOW)
    assert drift(memory, now=LATER) == ()
    assert status_of(database, added.fact) == "active"


def test_notes_of_facts_that_the_database_never_had_are_told_once_and_lose_their_trail(
    database: Database, memory: Memory
) -> None:
    learned(database, DARK)
    learned(database, FRIDAY)
    flush_outbox(database, memory, now=NOW)
    database.close()
    for path in memory.home.glob(f"{DATABASE_FILE}*"):
        path.unlink()
    Database.open(memory.home).close()
    [found] = drift(memory, now=LATER)
    assert (found.kind, "2 notes name" in found.detail) == ("unknown-origin", True)
    [change_set] = repair_drift(memory, now=NOW)
    assert drift(memory, now=LATER) == ()
    assert all("origin" not in note for note in notes_of(memory.home).values())
    memory.history.undo(change_set)
    assert _kinds(drift(memory, now=LATER)) == [("unknown-origin", True)]


def test_a_database_that_cannot_be_read_is_told_and_left_as_it_is(memory: Memory) -> None:
    path = memory.home / DATABASE_FILE
    path.write_bytes(b"no database at all, " * 100)
    [found] = drift(memory, now=LATER)
    assert (found.kind, found.repair) == ("unreadable-pipeline", "")
    assert path.read_bytes() == b"no database at all, " * 100


def test_looking_writes_nothing_into_the_database(database: Database, memory: Memory) -> None:
    learned(database, DARK)
    before = list(database.reading.connection.execute("SELECT * FROM graph_outbox"))
    version = database.reading.connection.execute("PRAGMA data_version").fetchone()[0]
    drift(memory, now=LATER)
    assert list(map(tuple, database.reading.connection.execute("SELECT * FROM graph_outbox"))) == list(
        map(tuple, before)
    )
    assert database.reading.connection.execute("PRAGMA data_version").fetchone()[0] == version


def test_a_database_of_a_newer_version_is_not_taken_for_a_broken_one(
    database: Database, memory: Memory
) -> None:
    database.close()
    with sqlite3.connect(memory.home / DATABASE_FILE) as connection:
        connection.execute("ALTER TABLE facts ADD COLUMN of_tomorrow TEXT")
    assert drift(memory, now=LATER) == ()
