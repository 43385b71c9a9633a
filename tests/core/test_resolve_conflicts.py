"""Conflicts wait in the log until somebody says what is to stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.beside import ONE, TWO, content_of, make_home
from kits.memory_files import note_object, notes_of, replace_bytes, write_graph

from core import Memory
from core.errors import ConflictError, InvalidInputError
from core.graph.edits import edit_note

LATER = "2026-06-01T00:00:00.000Z"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path)


@pytest.fixture
def waiting(home: Path) -> tuple[Memory, str]:
    """A memory with one conflict in its log: content, with a tag that is in nobody's way."""
    memory = Memory.open(home)
    draft = memory.draft()
    edit_note(draft, ONE, content="Ours.", add_tags=["ours"])
    notes = notes_of(home)
    notes[ONE] |= {"content": "Theirs.", "updatedAt": LATER}
    write_graph(home, notes.values())
    with pytest.raises(ConflictError) as caught:
        memory.apply(draft.change_set("an edit"))
    assert caught.value.entry
    return memory, caught.value.entry


@pytest.mark.parametrize(
    ("take", "text", "content"),
    [
        ("ours", None, "Ours."),
        ("theirs", None, "Theirs."),
        ("ours", "Both.\n", "Both."),
        ("theirs", "Both.", "Both."),
    ],
)
def test_a_conflict_waits_until_it_is_settled_as_somebody_says(
    waiting: tuple[Memory, str], take: str, text: str | None, content: str
) -> None:
    memory, id = waiting
    again = Memory.open(memory.home)
    assert [entry.id for entry in again.history.conflicts()] == [id]
    conflict = again.history.conflicts()[0].conflict
    assert conflict is not None
    assert (conflict.where, conflict.field) == (ONE, "content")
    assert (conflict.base, conflict.ours, conflict.theirs) == ("Content of note 1.", "Ours.", "Theirs.")
    with pytest.raises(InvalidInputError, match="not written yet"):
        again.history.undo(id)
    settled = again.history.resolve_conflict(id, take, text)  # type: ignore[arg-type]
    assert settled.about == id
    assert content_of(memory.home) == content
    assert "ours" in notes_of(memory.home)[ONE]["tags"]
    assert again.history.conflicts() == ()
    assert again.history.entry(id).state == "settled"
    with pytest.raises(InvalidInputError):
        again.history.resolve_conflict(id, "ours")
    again.history.undo()
    assert content_of(memory.home) == "Theirs."
    assert "ours" not in notes_of(memory.home)[ONE]["tags"]


def test_a_conflict_about_a_deleted_note_is_settled_either_way(home: Path) -> None:
    for take, there in (("ours", True), ("theirs", False)):
        notes = {f"note-memory-{number:08x}": note_object(number) for number in (1, 2, 3)}
        replace_bytes(home / "graph" / "graph.json", b'{"version": 3, "notes": []}\n')
        write_graph(home, notes.values())
        memory = Memory.open(home)
        draft = memory.draft()
        edit_note(draft, TWO, content=f"Ours, {take}.")
        del notes[TWO]
        write_graph(home, notes.values())
        with pytest.raises(ConflictError) as caught:
            memory.apply(draft.change_set("an edit"))
        memory.history.resolve_conflict(caught.value.entry, take)  # type: ignore[arg-type]
        assert (TWO in notes_of(home)) is there
        assert memory.history.conflicts() == ()
