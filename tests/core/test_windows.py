"""Two windows of one person on one memory: each takes back what was done in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import NotFoundError
from core.graph.edits import create_note
from core.memory import Memory


def make(memory: Memory, title: str) -> None:
    memory.change(f"made {title}", lambda draft: create_note(draft, "memory", title, "text"))


def titles(home: Path) -> list[str]:
    return sorted(note.title for note in Memory.open(home).snapshot.notes)


@pytest.fixture
def two(tmp_path: Path) -> tuple[Memory, Memory]:
    return Memory.open(tmp_path), Memory.open(tmp_path)


def test_undo_takes_back_the_last_change_of_its_own_window(
    two: tuple[Memory, Memory], tmp_path: Path
) -> None:
    one, other = two
    make(one, "a")
    make(other, "b")
    make(other, "c")
    one.history.undo()
    assert titles(tmp_path) == ["b", "c"]
    other.history.undo()
    other.history.undo()
    assert titles(tmp_path) == []
    for memory in two:
        with pytest.raises(NotFoundError):
            memory.history.undo()


def test_what_was_there_when_a_window_opened_is_taken_back_after_its_own(tmp_path: Path) -> None:
    make(Memory.open(tmp_path), "earlier")
    one, other = Memory.open(tmp_path), Memory.open(tmp_path)
    make(other, "elsewhere")
    make(one, "here")
    one.history.undo()
    one.history.undo()
    assert titles(tmp_path) == ["elsewhere"]
    one.history.redo()
    one.history.redo()
    assert titles(tmp_path) == ["earlier", "elsewhere", "here"]
