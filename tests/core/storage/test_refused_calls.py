"""A call that the system refuses in the midst of a change: what stands then, what is said, and what the log tells."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kits.faults import Faults, failing
from kits.memory_files import fact_object, facts_of, note_object, notes_of, tree, write_graph, write_nugget

from core import Memory
from core.errors import NotSyncedError, StorageError, UnfinishedError
from core.facts.edits import remember
from core.graph.edits import create_note, edit_note, hide_note
from core.storage.files import atomic as files
from core.storage.files import exchange
from core.storage.journal.journal import Journal
from core.verify import findings


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory with a fact and its note, written before today's backup was due."""
    write_graph(tmp_path, [note_object(number) for number in (1, 2)])
    write_nugget(tmp_path, "memory", [fact_object("old")])
    opened = Memory.open(tmp_path)
    opened.maintenance.repair()
    opened.change("fact", lambda draft: remember(draft, "memory", "port", "5432"))
    return opened


def note_of(memory: Memory, key: str) -> str:
    return next(note.id for note in memory.snapshot.notes if note.title == key)


def hide(memory: Memory) -> None:
    id = note_of(memory, "port")
    memory.change("hide", lambda draft: hide_note(draft, id))


def keys(memory: Memory) -> set[str]:
    return {fact["key"] for fact in facts_of(memory.home, "memory.nugget.json")}


def refused_after(plain: Callable[..., Any], number: int) -> Callable[..., Any]:
    """The function, which fails once after it was called so often."""
    left = [number]

    def called(*given: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] == -1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return plain(*given, **named)

    return called


def cut_off_hiding(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> UnfinishedError:
    """Hides a note and its fact; the sync of the folder right after the first file was exchanged is refused."""
    with monkeypatch.context() as patch:
        refused = refused_after(files.sync_folder, 0)
        patch.setattr(exchange, "sync_folder", refused)
        patch.setattr(files, "sync_folder", refused)
        with pytest.raises(UnfinishedError) as caught:
            hide(memory)
    return caught.value


def test_a_change_cut_off_after_its_first_file_says_so_and_is_finished_at_the_next_opening(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = cut_off_hiding(memory, monkeypatch)
    assert "nothing was written" not in error.message
    assert "finishes when the memory is next opened" in error.message
    assert error.exit_code == 2
    later = Memory.open(memory.home)
    assert later.snapshot.note(note_of(later, "port")).hidden
    assert "port" not in keys(memory)
    assert findings(later.snapshot) == []


def test_a_change_that_was_cut_off_is_finished_by_the_next_change_of_the_same_memory(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_hiding(memory, monkeypatch)
    memory.change("more", lambda draft: create_note(draft, "memory", "More", "text"))
    assert "port" not in keys(memory)
    assert [entry.change_set.reason for entry in memory.history.log(limit=2)] == ["more", "hide"]


def test_what_is_taken_back_right_after_a_cut_off_change_is_that_change(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(memory.home)
    cut_off_hiding(memory, monkeypatch)
    memory.history.undo()
    assert tree(memory.home) == before


def test_an_earlier_change_is_not_taken_back_in_place_of_one_that_cannot_be_finished_yet(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_hiding(memory, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(files, "sync_folder", refused_always)
        patch.setattr(exchange, "sync_folder", refused_always)
        with pytest.raises(StorageError, match="not finished yet"):
            memory.history.undo()
    assert [entry.change_set.reason for entry in memory.history.log(limit=1)] == ["fact"]
    assert not memory.history.log(limit=1)[0].undone


def refused_always(*_: object) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_the_log_tells_the_whole_of_a_change_that_was_cut_off_so_that_undo_takes_all_of_it_back(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(memory.home)
    cut_off_hiding(memory, monkeypatch)
    later = Memory.open(memory.home)
    (entry,) = later.history.log(limit=1)
    assert entry.change_set.reason == "hide"
    assert [change.id for change in entry.change_set.notes] == [note_of(later, "port")]
    assert [change.key for change in entry.change_set.facts] == ["port"]
    hidden = tree(memory.home)
    later.history.undo()
    assert tree(memory.home) == before
    later.history.redo()
    assert tree(memory.home) == hidden


def test_what_another_program_adds_to_a_cut_off_change_stays_when_that_is_taken_back(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_hiding(memory, monkeypatch)
    notes = [*notes_of(memory.home).values(), note_object(9, title="Theirs")]
    notes[0]["content"] = "Written by another program."
    write_graph(memory.home, notes)
    later = Memory.open(memory.home)
    assert "port" not in keys(memory)
    (entry,) = (one for one in later.history.log(limit=5) if one.change_set.reason == "hide")
    assert [change.key for change in entry.change_set.facts] == ["port"]
    later.history.undo(entry.id)
    assert "port" in keys(memory)
    assert not later.snapshot.note(note_of(later, "port")).hidden
    contents = {note["content"] for note in notes_of(memory.home).values()}
    assert {"Written by another program.", "Content of note 9."} <= contents


def test_a_recovery_that_is_cut_off_itself_leaves_the_rest_to_the_next(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(memory.home)
    cut_off_hiding(memory, monkeypatch)
    number = 0
    while True:
        with failing(number) as faults:
            opened = Memory.open(memory.home)
            opened.close()
        if not faults.failed:
            break
        number += 1
        assert not any("nothing was written" in said for said in opened.take_notices())
    assert "port" not in keys(memory)
    later = Memory.open(memory.home)
    assert findings(later.snapshot) == []
    later.history.undo()
    assert tree(memory.home) == before


def test_an_entry_that_cannot_be_taken_out_again_is_not_called_unwritten(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise StorageError("the history cannot be written (disk I/O error)", kept="nothing was written")

    with monkeypatch.context() as patch:
        patch.setattr(exchange, "_system_call", lambda: lambda *_: -1)
        patch.setattr(os, "replace", refused_after(os.replace, 0))
        patch.setattr(Journal, "abandon", refused)
        with pytest.raises(UnfinishedError) as caught:
            memory.change("edit", lambda draft: edit_note(draft, "note-memory-00000001", content="New."))
    assert "nothing was written" not in caught.value.message
    Memory.open(memory.home)
    assert notes_of(memory.home)["note-memory-00000001"]["content"] == "New."


def test_a_log_that_cannot_mark_a_change_as_done_does_not_deny_the_change(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise Faults(None, errno.ENOSPC).database_error()

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "mark_written", refused)
        memory.change("edit", lambda draft: edit_note(draft, "note-memory-00000001", content="New."))
    (said,) = memory.take_notices()
    assert "the change itself is written" in said
    assert "nothing was written" not in said
    memory.history.undo()
    assert notes_of(memory.home)["note-memory-00000001"]["content"] != "New."


def test_a_file_that_was_replaced_without_being_known_to_be_safe_is_not_called_unwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.md"
    path.write_bytes(b"old")
    monkeypatch.setattr(files, "sync_folder", refused_after(files.sync_folder, 0))
    with pytest.raises(NotSyncedError) as caught:
        files.replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert "nothing was written" not in caught.value.message
