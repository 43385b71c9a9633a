"""A memory is whole without its log: one that is gone, broken or refused costs no memory and no change."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from kits.beside import ONE, edit_text
from kits.memory_files import (
    notes_of,
    tree,
)

from core import Memory
from core.errors import ErrorCode, Notice, NuggetsError, ReadOnlyError, StorageError
from core.folder import DATABASE_FILE
from core.graph.edits import create_note, edit_note
from core.storage import database
from core.storage.journal.journal import Journal

as_root = os.geteuid() == 0 if hasattr(os, "geteuid") else True


def _close(memory: Memory) -> None:
    assert memory.store.journal is not None
    memory.store.journal.close()


def _journal_files(home: Path) -> set[str]:
    return {path.name for path in home.iterdir() if path.name.startswith("nuggets.db")}


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _scramble(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(4096, len(data), 7):
        data[place] ^= 0x55
    path.write_bytes(data)


def _newest_page_lost(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4096] + bytes(4096))


def _no_tables(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1")
    connection.execute("CREATE TABLE other (one)")
    connection.close()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "kept").write_text("kept")


BROKEN: dict[str, Callable[[Path], object]] = {
    "cut off": _cut,
    "garbage": lambda path: path.write_bytes(b"no database at all, but long enough for a header " * 40),
    "scrambled": _scramble,
    "a page of nothing": _newest_page_lost,
    "another database": _no_tables,
    "a folder": _folder,
}


@pytest.mark.slow
@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_log_is_set_aside_with_its_bytes_and_begun_anew(home: Path, how: str) -> None:
    memory = Memory.open(home)
    for turn in range(30):
        edit_text(memory, f"Before {turn}.")
    _close(memory)
    path = home / DATABASE_FILE
    BROKEN[how](path)
    broken = path.read_bytes() if path.is_file() else b""
    files = tree(home)
    again = Memory.open(home)
    assert len(again.snapshot.notes) == 3
    assert tree(home) == files
    try:
        told = again.take_notices()
        edit_text(again, "After.")
        again.history.undo()
        told += again.take_notices()
    except NuggetsError as error:
        pytest.fail(error.message)
    assert any("the database" in notice for notice in told) or how == "a page of nothing"
    assert notes_of(home)[ONE]["content"] == "Before 29."
    assert [entry.change_set.kind for entry in again.history.log()][:2] == ["undo", "edit"]
    kept = [path for path in (home / "quarantine").rglob("*") if path.name.endswith(DATABASE_FILE)]
    if told:
        assert len(kept) == 1
        assert kept[0].is_dir() if how == "a folder" else kept[0].read_bytes() == broken
    assert len(Memory.open(home).history.log()) == len(again.history.log())
    assert Memory.open(home).take_notices() == ()


def test_a_log_that_is_deleted_while_a_memory_is_open_is_begun_anew(home: Path) -> None:
    memory = Memory.open(home)
    edit_text(memory, "Before.")
    for name in _journal_files(home):
        (home / name).unlink()
    assert "is missing" in "".join((memory.refresh(), memory.take_notices())[1])
    assert memory.history.log() == ()
    edit_text(memory, "After.")
    assert [entry.change_set.notes[0].before.content for entry in memory.history.log()] == ["Before."]  # type: ignore[union-attr]
    assert len(Memory.open(home).history.log()) == 1


@pytest.mark.slow
def test_a_log_that_breaks_while_a_memory_is_open_does_not_keep_a_change_from_being_written(
    home: Path,
) -> None:
    memory = Memory.open(home)
    for turn in range(30):
        edit_text(memory, f"Before {turn}.")
    other = sqlite3.connect(home / DATABASE_FILE)
    other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    _scramble(home / DATABASE_FILE)
    edit_text(memory, "After.")
    assert notes_of(home)[ONE]["content"] == "After."
    assert [notice for notice in memory.take_notices() if "is damaged" in notice]
    memory.history.undo()
    assert notes_of(home)[ONE]["content"] == "Before 29."


def test_a_log_of_a_newer_version_lets_a_memory_be_read_and_stays_as_it_is(home: Path) -> None:
    memory = Memory.open(home)
    edit_text(memory, "Before.")
    _close(memory)
    connection = sqlite3.connect(home / DATABASE_FILE)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    kept, files = (home / DATABASE_FILE).read_bytes(), tree(home)
    again = Memory.open(home)
    assert again.snapshot.note(ONE).content == "Before."
    (told,) = again.take_notices()
    assert isinstance(told, Notice)
    assert told.code is ErrorCode.NEWER_VERSION
    assert again.history.log() == ()
    with pytest.raises(ReadOnlyError) as refused:
        edit_text(again, "After.")
    assert refused.value.code is ErrorCode.NEWER_VERSION
    assert tree(home) == files
    assert (home / DATABASE_FILE).read_bytes() == kept


def test_a_log_that_may_not_be_written_keeps_changes_from_being_made_untraced(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit_text(Memory.open(home), "Before.")
    plain = sqlite3.connect

    def read_only(address: str, **named: object) -> sqlite3.Connection:
        return plain(address.replace("mode=rw", "mode=ro"), **named)  # type: ignore[call-overload,no-any-return]

    with monkeypatch.context() as patch:
        patch.setattr(database.sqlite3, "connect", read_only)
        memory = Memory.open(home)
        assert memory.snapshot.note(ONE).content == "Before."
        with pytest.raises(ReadOnlyError):
            edit_text(memory, "After.")
        assert notes_of(home)[ONE]["content"] == "Before."
    edit_text(memory, "After.")
    assert notes_of(home)[ONE]["content"] == "After."


def test_what_a_kill_left_beside_the_log_is_taken_up(home: Path, tmp_path: Path) -> None:
    memory = Memory.open(home)
    for turn in range(5):
        edit_text(memory, f"Turn {turn}.")
    killed = tmp_path / "killed"
    shutil.copytree(home, killed)
    assert (killed / "nuggets.db-wal").stat().st_size
    again = Memory.open(killed)
    assert len(again.history.log()) == 5
    assert again.take_notices() == ()
    again.history.undo()
    assert notes_of(killed)[ONE]["content"] == "Turn 3."


def test_a_log_older_than_the_files_takes_the_rest_for_somebody_elses_work(
    home: Path, tmp_path: Path
) -> None:
    memory = Memory.open(home)
    edit_text(memory, "First.")
    _close(memory)
    old = (home / DATABASE_FILE).read_bytes()
    memory = Memory.open(home)
    edit_text(memory, "Second.")
    memory.change("new", lambda draft: create_note(draft, "memory", "New", "Text."))
    _close(memory)
    files = tree(home)
    (home / DATABASE_FILE).write_bytes(old)
    again = Memory.open(home)
    assert tree(home) == files
    assert [entry.change_set.kind for entry in again.history.log()] == ["outside", "edit"]
    assert again.history.log()[0].change_set.size == 2
    edit_text(again, "Third.")
    again.history.undo()
    assert tree(home).keys() == files.keys()


@pytest.mark.parametrize("rest", ["-wal", "-shm", "-journal"])
def test_a_strange_file_beside_the_log_does_no_harm(home: Path, rest: str) -> None:
    memory = Memory.open(home)
    edit_text(memory, "Before.")
    _close(memory)
    (home / f"nuggets.db{rest}").write_bytes(b"strange " * 1000)
    again = Memory.open(home)
    edit_text(again, "After.")
    again.history.undo()
    assert notes_of(home)[ONE]["content"] == "Before."
    assert [entry.change_set.kind for entry in again.history.log()][:2] == ["undo", "edit"]


def test_a_broken_body_of_one_entry_hides_that_one_alone(home: Path) -> None:
    memory = Memory.open(home)
    ids = [edit_text(memory, f"Turn {turn}.") for turn in range(3)]
    _close(memory)
    connection = sqlite3.connect(home / DATABASE_FILE)
    connection.execute("UPDATE entry SET body = ? WHERE id = ?", (b"{nonsense", ids[1]))
    connection.commit()
    connection.close()
    again = Memory.open(home)
    assert [entry.id for entry in again.history.log()] == [ids[2], ids[0]]
    again.history.undo()
    edit_text(again, "More.")
    assert notes_of(home)[ONE]["content"] == "More."


@pytest.mark.skipif(as_root, reason="the superuser may write everything")
def test_a_folder_that_may_not_be_written_opens_and_stays_as_it_is(home: Path) -> None:
    before = set(home.rglob("*"))
    for folder in (home, home / "graph"):
        folder.chmod(0o500)
    try:
        memory = Memory.open(home)
        assert len(memory.snapshot.notes) == 3
        assert memory.take_notices() == ()
        assert memory.history.log() == ()
        with pytest.raises(NuggetsError):
            edit_text(memory, "After.")
        assert set(home.rglob("*")) == before
    finally:
        for folder in (home, home / "graph"):
            folder.chmod(0o700)


def test_a_full_disk_neither_breaks_the_log_nor_writes_an_untraced_change(home: Path) -> None:
    memory = Memory.open(home)
    edit_text(memory, "Before.")
    files = tree(home)
    assert memory.store.journal is not None
    connection = memory.store.journal.connect()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StorageError, match="disk is full"):
        edit_text(memory, random.Random(1).randbytes(50_000).hex())
    assert tree(home) == files
    connection.execute("PRAGMA max_page_count = 1000000")
    edit_text(memory, "After.")
    memory.history.undo()
    assert notes_of(home)[ONE]["content"] == "Before."
    assert not (home / "quarantine").exists()


def test_a_disk_that_fills_up_between_the_files_and_the_log_loses_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)

    def full(*_: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "mark_written", full)
        done = memory.change("edit", lambda draft: edit_note(draft, ONE, content="After."))[1]
        assert "disk is full" in "".join(memory.take_notices())
    assert notes_of(home)[ONE]["content"] == "After."
    again = Memory.open(home)
    assert [(entry.id, entry.state) for entry in again.history.log()] == [(done.id, "done")]
    again.history.undo()
    assert notes_of(home)[ONE]["content"] == "Content of note 1."
