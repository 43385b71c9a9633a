"""A repair of a file that could not be read is in the log, and is taken back to the very bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.memory_files import (
    GRAPH,
    fact_object,
    note_object,
    replace_bytes,
    write_graph,
    write_nugget,
)

from core import Memory
from core.errors import ConflictError
from core.graph.edits import edit_note
from core.model.change import Author
from core.storage.safety import record_bytes

ME = Author("agent", "command line")
NUGGET = Path("memory.nugget.json")
DAMAGE = {
    "cut off": (GRAPH, lambda data: data[:-40]),
    "a note that is none": (GRAPH, lambda data: data.replace(b'"Content of note 2."', b"12345")),
    "facts cut off": (NUGGET, lambda data: data[:-30]),
    "a fact that is none": (NUGGET, lambda data: data.replace(b'"value of b"', b"7")),
}


def opened(home: Path) -> Memory:
    return Memory.open(home, author=ME, tolerant=True)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_graph(tmp_path, [note_object(number) for number in (1, 2, 3)])
    write_nugget(tmp_path, "memory", [fact_object(key, f"value of {key}") for key in "ab"])
    memory = opened(tmp_path)
    memory.maintenance.repair()
    memory.change("mine", lambda draft: edit_note(draft, "note-memory-00000003", content="mine"))
    memory.close()
    return tmp_path


def damaged(home: Path, kind: str) -> tuple[Path, bytes]:
    file, spoil = DAMAGE[kind]
    replace_bytes(home / file, spoil((home / file).read_bytes()))
    return home / file, (home / file).read_bytes()


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("window", ["the same", "another"])
def test_undo_right_after_a_repair_puts_the_bytes_back_that_were_there(
    home: Path, kind: str, window: str
) -> None:
    path, before = damaged(home, kind)
    memory = opened(home)
    made = memory.maintenance.repair()
    mended = path.read_bytes()
    assert mended != before
    entry = memory.history.entry(made.id).change_set
    assert (entry.author, entry.kind, [mend.path for mend in entry.mends]) == (
        ME, "repair", [str(path.relative_to(home))]
    )  # fmt: skip
    if window == "another":
        memory.close()
        memory = opened(home)
    undone = memory.history.undo()
    assert path.read_bytes() == before
    assert (undone.about, undone.empty) == (made.id, False)
    assert mended in [record_bytes(record) for record in memory.maintenance.set_aside()]
    again = opened(home)
    assert made.id in again.history.taken_back()
    again.maintenance.repair()
    assert path.read_bytes() == mended


def test_a_repair_is_not_taken_back_over_what_came_later(home: Path) -> None:
    path, before = damaged(home, "cut off")
    memory = opened(home)
    made = memory.maintenance.repair()
    memory.change("later", lambda draft: edit_note(draft, "note-memory-00000001", content="later"))
    now, entries = path.read_bytes(), memory.history.newest()
    with pytest.raises(ConflictError) as refused:
        memory.history.undo(made.id)
    [kept] = [record.path for record in memory.maintenance.set_aside() if record_bytes(record) == before]
    assert str(kept) in refused.value.todo
    assert (path.read_bytes(), memory.history.newest()) == (now, entries)
