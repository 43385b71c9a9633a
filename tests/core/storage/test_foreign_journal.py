"""A journal belongs to its memory: another one's brings nothing in, and one's own is known wherever the folder goes."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from kits.beside import ONE, edit_text
from kits.memory_files import GRAPH, fact_object, note_object, notes_of, tree, write_graph, write_nugget

from core import Memory
from core.facts.edits import remember
from core.graph.edits import create_note
from core.pipeline.service import Pipeline
from core.storage.journal.belonging import ID_FILE
from core.storage.journal.schema import JOURNAL_FILE


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


def _without_id(home: Path) -> None:
    """As an earlier version left it."""
    (home / ID_FILE).unlink(missing_ok=True)
    with closing(sqlite3.connect(home / JOURNAL_FILE)) as connection:
        connection.execute("DELETE FROM meta WHERE name = 'memory'")
        connection.commit()


def _put_in_place(theirs: Path, ours: Path, names: str = JOURNAL_FILE) -> None:
    for old in ours.glob(f"{JOURNAL_FILE}*"):
        old.unlink()
    for file in theirs.glob(names):
        shutil.copy(file, ours)


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
    (kept,) = (home / "quarantine").glob(f"*{JOURNAL_FILE}")
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
    _assert_set_aside(ours, files, (theirs / JOURNAL_FILE).read_bytes())


def test_the_log_of_another_memory_that_holds_the_same_notes_is_told_by_its_id(
    tmp_path: Path, ours: Path
) -> None:
    twin = _made(tmp_path / "twin", 1)
    files = tree(ours)
    _put_in_place(twin, ours)
    _assert_set_aside(ours, files, (twin / JOURNAL_FILE).read_bytes())


@pytest.mark.slow
def test_all_files_of_another_log_are_told_by_what_it_saw(ours: Path, theirs: Path) -> None:
    files = tree(ours)
    _put_in_place(theirs, ours, "ledger*")
    _assert_set_aside(ours, files, (theirs / JOURNAL_FILE).read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("old", ["ours", "theirs", "both"])
def test_the_log_of_another_memory_is_set_aside_where_no_id_is_known_yet(
    ours: Path, theirs: Path, old: str
) -> None:
    for home, name in ((ours, "ours"), (theirs, "theirs")):
        if old in (name, "both"):
            _without_id(home)
    files = tree(ours)
    _put_in_place(theirs, ours)
    _assert_set_aside(ours, files, (theirs / JOURNAL_FILE).read_bytes())


@pytest.mark.slow
def test_a_pending_entry_of_another_memory_is_not_finished_here(ours: Path, theirs: Path) -> None:
    with closing(sqlite3.connect(theirs / JOURNAL_FILE)) as connection:
        connection.execute("UPDATE entry SET state = 'pending'")
        connection.commit()
    files = tree(ours)
    _put_in_place(theirs, ours)
    _assert_set_aside(ours, files, (theirs / JOURNAL_FILE).read_bytes())


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


def _copied_without_id(home: Path) -> Path:
    copy = _copied(home)
    (copy / ID_FILE).unlink()
    return copy


def _rewritten(home: Path) -> Path:
    """Each file anew, as a backup puts them back."""
    copy = _copied(home)
    shutil.rmtree(home)
    shutil.copytree(copy, home)
    return home


def _before_the_id(home: Path) -> Path:
    _without_id(home)
    return home


def _before_the_id_and_written_since(home: Path) -> Path:
    _without_id(home)
    notes = [note | {"content": f"Theirs of {id}."} for id, note in notes_of(home).items()]
    write_graph(home, [*notes, *(note_object(number) for number in range(20, 40))])
    return home


def _all_deleted_since(home: Path) -> Path:
    _without_id(home)
    (home / GRAPH).unlink()
    return home


def _id_of_nobody(home: Path) -> Path:
    (home / ID_FILE).write_bytes(b"\xff" * 5000)
    return home


_GOES: tuple[Callable[[Path], Path], ...] = (
    _as_it_was, _copied, _moved, _copied_without_id, _rewritten, _before_the_id, _before_the_id_and_written_since,
    _all_deleted_since, _id_of_nobody,
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
    assert not list(home.glob(f"quarantine/*{JOURNAL_FILE}"))


def test_a_memory_whose_log_was_deleted_keeps_its_id(ours: Path) -> None:
    id = (ours / ID_FILE).read_bytes()
    old = (ours / JOURNAL_FILE).read_bytes()
    (ours / JOURNAL_FILE).unlink()
    memory = Memory.open(ours)
    edit_text(memory, "After.")
    memory.close()
    assert (ours / ID_FILE).read_bytes() == id
    # Its former log, put back, is known as its own.
    (ours / JOURNAL_FILE).write_bytes(old)
    assert "belongs" not in "".join(Memory.open(ours).take_notices())


def test_looking_at_a_memory_makes_no_id(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(1)])
    memory = Memory.open(tmp_path)
    memory.refresh()
    memory.close()
    assert not (tmp_path / ID_FILE).exists()
    edit_text(Memory.open(tmp_path), "Ours.")
    assert (tmp_path / ID_FILE).exists()


@pytest.mark.slow
def test_two_that_write_at_once_agree_on_one_id(ours: Path) -> None:
    _without_id(ours)
    one, other = Memory.open(ours), Memory.open(ours)
    edit_text(one, "One.")
    first = (ours / ID_FILE).read_bytes()
    edit_text(other, "Other.")
    assert (ours / ID_FILE).read_bytes() == first
    assert one.refresh()
    assert len(one.history.log()) == len(other.history.log())


def test_an_id_that_is_a_link_out_of_the_folder_is_not_written_through(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "elsewhere"
    write_graph(home, [note_object(1)])
    os.symlink(outside, home / ID_FILE)
    edit_text(Memory.open(home), "Ours.")
    assert notes_of(home)[ONE]["content"] == "Ours."
    assert not outside.exists()


# The pipeline


def _hand_in(home: Path, text: str) -> None:
    with Pipeline.open(home) as pipeline:
        pipeline.ingest(text)
    # Known as this memory's own from the next opening on.
    with Pipeline.open(home) as pipeline:
        assert pipeline.status()


@pytest.mark.slow
def test_the_pipeline_of_another_memory_is_set_aside_and_brings_nothing_in(ours: Path, theirs: Path) -> None:
    for home in (ours, theirs):
        _hand_in(home, f"A text of {home.name}.")
    kept = (theirs / "pipeline.db").read_bytes()
    for old in ours.glob("pipeline.db*"):
        old.unlink()
    shutil.copy(theirs / "pipeline.db", ours)
    with Pipeline.open(ours) as pipeline:
        assert "belongs to another memory" in pipeline.database.notice
        assert pipeline.jobs() == ()
    (aside,) = (ours / "quarantine").glob("*pipeline.db")
    assert aside.read_bytes() == kept


@pytest.mark.slow
@pytest.mark.parametrize("gone", ["ledger.id", "ledger*"])
def test_a_pipeline_stays_with_its_memory_when_the_log_is_deleted(ours: Path, gone: str) -> None:
    _hand_in(ours, "A text of ours.")
    for file in ours.glob(gone):
        file.unlink()
    memory = Memory.open(ours)
    edit_text(memory, "After.")
    memory.close()
    for home in (ours, _copied(ours)):
        with Pipeline.open(home) as pipeline:
            assert pipeline.database.notice == ""
            assert len(pipeline.jobs()) == 1
