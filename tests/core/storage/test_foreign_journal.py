"""A database belongs to its memory: another one's brings nothing in, and one's own is known wherever it goes."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from kits.beside import edit_text
from kits.memory_files import GRAPH, fact_object, note_object, notes_of, tree, write_graph, write_nugget

from core import Memory
from core.facts.edits import remember
from core.folder import DATABASE_FILE
from core.graph.edits import create_note
from core.pipeline.service import Pipeline
from core.storage.journal.journal import FOLDER_NAME


def _made(home: Path, first: int, edits: int = 3) -> Path:
    """A memory of three notes and a fact, with a log of its own."""
    write_graph(home, [note_object(number) for number in range(first, first + 3)])
    write_nugget(home, "memory", [fact_object("user:name", f"name {first}")])
    memory = Memory.open(home)
    for turn in range(edits):
        edit_text(memory, f"{home.name} {turn}.", f"note-memory-{first:08x}")
    memory.change("new", lambda draft: create_note(draft, "memory", f"Made in {home.name}", "Text."))
    memory.change("new", lambda draft: remember(draft, "memory", f"user:{home.name}", "a secret wish"))
    memory.close()
    return home


def _without_mark(home: Path) -> None:
    """As that of a folder of which nobody knows any more which it was."""
    with closing(sqlite3.connect(home / DATABASE_FILE)) as connection:
        connection.execute("DELETE FROM meta WHERE name = ?", (FOLDER_NAME,))
        connection.commit()


def _put_in_place(theirs: Path, ours: Path) -> None:
    for old in ours.glob(f"{DATABASE_FILE}*"):
        old.unlink()
    shutil.copy(theirs / DATABASE_FILE, ours)


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    return _made(tmp_path / "ours", 1)


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    return _made(tmp_path / "theirs", 1001)


def _assert_set_aside(home: Path, files: dict[str, bytes], bytes_of: bytes) -> None:
    memory = Memory.open(home)
    told = "".join(memory.take_notices())
    assert "belongs to another memory" in told
    assert tree(home) == files
    (kept,) = (home / "quarantine").glob(f"*{DATABASE_FILE}")
    assert kept.read_bytes() == bytes_of
    assert memory.history.log() == ()
    edit_text(memory, "After.")
    memory.history.undo()
    memory.close()
    again = Memory.open(home)
    assert again.take_notices() == ()
    assert [entry.change_set.kind for entry in again.history.log()] == ["undo", "edit"]


@pytest.mark.slow
def test_the_log_of_another_memory_is_set_aside_and_brings_nothing_in(ours: Path, theirs: Path) -> None:
    files = tree(ours)
    _put_in_place(theirs, ours)
    _assert_set_aside(ours, files, (theirs / DATABASE_FILE).read_bytes())


@pytest.mark.slow
def test_a_pending_entry_of_another_memory_is_not_finished_here(ours: Path, theirs: Path) -> None:
    with closing(sqlite3.connect(theirs / DATABASE_FILE)) as connection:
        connection.execute("UPDATE entry SET state = 'pending'")
        connection.commit()
    files = tree(ours)
    _put_in_place(theirs, ours)
    _assert_set_aside(ours, files, (theirs / DATABASE_FILE).read_bytes())


@pytest.mark.slow
def test_the_log_of_another_memory_put_in_place_while_ours_is_open_is_set_aside(
    ours: Path, theirs: Path
) -> None:
    memory = Memory.open(ours)
    files = tree(ours)
    _put_in_place(theirs, ours)
    memory.refresh()
    assert "belongs to another memory" in "".join(memory.take_notices())
    assert tree(ours) == files
    edit_text(memory, "After.")
    memory.history.undo()


def _as_it_was(home: Path) -> Path:
    return home


def _copied(home: Path) -> Path:
    return Path(shutil.copytree(home, home.with_name("copy")))


def _moved(home: Path) -> Path:
    return home.rename(home.with_name("moved"))


def _rewritten(home: Path) -> Path:
    """Each file anew, as a backup puts them back."""
    copy = _copied(home)
    shutil.rmtree(home)
    shutil.copytree(copy, home)
    return home


def _unmarked(home: Path) -> Path:
    _without_mark(home)
    return home


def _unmarked_and_written_since(home: Path) -> Path:
    _without_mark(home)
    notes = [note | {"content": f"Theirs of {id}."} for id, note in notes_of(home).items()]
    write_graph(home, [*notes, *(note_object(number) for number in range(20, 40))])
    return home


def _all_deleted_since(home: Path) -> Path:
    _without_mark(home)
    (home / GRAPH).unlink()
    return home


def _all_another_since(home: Path) -> Path:
    write_graph(home, [note_object(number) for number in range(20, 40)])
    write_nugget(home, "memory", [fact_object("another", "fact")])
    return home


_GOES: tuple[Callable[[Path], Path], ...] = (
    _as_it_was, _copied, _moved, _rewritten, _unmarked, _unmarked_and_written_since, _all_deleted_since,
    _all_another_since,
)  # fmt: skip


@pytest.mark.parametrize("goes", _GOES)
def test_a_memory_keeps_its_log_wherever_the_folder_goes(ours: Path, goes: Callable[[Path], Path]) -> None:
    known = {entry.id for entry in Memory.open(ours).history.log()}
    home = goes(ours)
    for _ in range(2):
        memory = Memory.open(home)
        assert "belongs to another" not in "".join(memory.take_notices())
        assert known <= {entry.id for entry in memory.history.log()}
        memory.change("new", lambda draft: create_note(draft, "memory", "More", "Text."))
        memory.close()
    assert not list(home.glob(f"quarantine/*{DATABASE_FILE}"))


@pytest.mark.slow
def test_what_the_pipeline_of_another_memory_holds_goes_with_its_history(ours: Path, theirs: Path) -> None:
    with Pipeline.open(theirs) as pipeline:
        pipeline.ingest("A text of theirs.")
    _put_in_place(theirs, ours)
    Memory.open(ours).close()
    assert not Pipeline.exists(ours)
