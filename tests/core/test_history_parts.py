"""Parts of an entry taken back and done again in every order: the log always says what is so."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.memory_files import note_object, write_graph

from core import Memory
from core.graph.edits import hide_note

IDS = [f"note-memory-{number:08x}" for number in (1, 2, 3)]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    write_graph(tmp_path, [note_object(number) for number in (1, 2, 3)])
    return Memory.open(tmp_path)


def _hide_all(memory: Memory) -> str:
    return memory.change("hid three", lambda draft: [hide_note(draft, id) for id in IDS])[1].id


def _hidden(memory: Memory) -> list[bool]:
    return [memory.snapshot.note(id).hidden for id in IDS]


def test_what_was_taken_back_in_pieces_is_done_again_whole_by_the_name_of_the_entry(memory: Memory) -> None:
    id = _hide_all(memory)
    memory.history.undo(f"{id}.1")
    memory.history.undo(id)
    assert _hidden(memory) == [False, False, False]
    assert memory.history.entry(id).undone
    memory.history.redo(id)
    assert _hidden(memory) == [True, True, True]
    assert memory.history.taken_back() == frozenset()


def test_bare_redo_does_the_pieces_again_in_turn_and_undo_then_takes_all_back(memory: Memory) -> None:
    id = _hide_all(memory)
    memory.history.undo(f"{id}.2")
    memory.history.undo()
    memory.history.redo()
    assert _hidden(memory) == [True, False, True]
    assert not memory.history.entry(id).undone
    memory.history.redo()
    assert _hidden(memory) == [True, True, True]
    memory.history.undo(id)
    assert _hidden(memory) == [False, False, False]
