"""Where an entry of the log comes from: told by a type, and read alike from journals of every version."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from kits.memory_files import note_object, notes_of, write_graph

from core import Memory
from core.graph.edits import edit_note
from core.model.entry import Origin
from core.storage.journal.codec import Maker, by, read_maker

# What journals hold that were made before origins had types. Older versions read these, so they never change.
_SPELLINGS = {
    "": Origin.OUTSIDE,
    "taken in": Origin.TAKEN_IN,
    "nuggets": Origin.RESTORED,
    "person": Origin.MADE,
    "agent:claude": Origin.MADE,
    "program:nuggets": Origin.MADE,
    "what no version ever wrote": Origin.MADE,
}


def test_the_spelling_of_every_version_is_read_and_written_back_as_it_was() -> None:
    for spelling in _SPELLINGS:
        assert read_maker(spelling).origin is _SPELLINGS[spelling]
        assert read_maker(spelling).spelling == spelling


@pytest.mark.parametrize("origin", [one for one in Origin if one is not Origin.MADE])
def test_every_origin_has_a_spelling_of_its_own(origin: Origin) -> None:
    assert read_maker(Maker(origin).spelling) == Maker(origin)
    assert by(Maker(origin).spelling or "person").origin is Origin.MADE


def test_entries_say_where_they_come_from(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(1)])
    with closing(Memory.open(tmp_path)) as memory:
        _, mine = memory.change(
            "mine", lambda draft: edit_note(draft, "note-memory-00000001", content="By me.")
        )
        write_graph(tmp_path, [*notes_of(tmp_path), note_object(2, content="By another program.")])
        memory.refresh()
        found = {entry.id: entry.origin for entry in memory.history.log()}
        assert found[mine.id] is Origin.MADE
        assert Origin.OUTSIDE in found.values()


def test_an_entry_keeps_its_origin_when_the_journal_was_written_by_an_older_version(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(1)])
    with closing(Memory.open(tmp_path)) as memory:
        memory.change("mine", lambda draft: edit_note(draft, "note-memory-00000001", content="By me."))
    database = sqlite3.connect(tmp_path / "nuggets.db")
    with database:
        database.execute("UPDATE entry SET made_by = 'nuggets', kind = 'restore'")
    database.close()
    with closing(Memory.open(tmp_path)) as memory:
        assert [entry.origin for entry in memory.history.log()] == [Origin.RESTORED]
