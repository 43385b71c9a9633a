"""Reading writes nothing: it shows the files as they are, and what other programs did is judged by the next writer."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from kits.beside import ONE, TWO, content_of, make_home, save_stale
from kits.memory_files import facts_of, note_object, notes_of
from kits.original_writer import read_graph

from core import Memory
from core.graph.edits import edit_note

_READS = (
    ("search", "note"), ("list",), ("status",), ("status", "--json"), ("log",), ("log", "-v", "--json"), ("notes",),
    ("facts", "memory"), ("note", "show", ONE), ("why", "note", ONE), ("searches",), ("secrets",), ("pipeline",),
    ("restore",), ("restore", "2026-01-02T03:04:05Z", "--dry-run"), ("reflect", "--dry-run"),
    ("resolve", "--dry-run"),
)  # fmt: skip


def _files(home: Path) -> dict[str, tuple[str, int]]:
    """Every file of the folder, the lock and the log among them: a digest of its bytes, and when it was written. What
    SQLite shares among processes that have a log open is no file of anybody's.
    """
    return {
        str(path.relative_to(home)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(home.rglob("*"))
        if path.is_file()
        and not path.name.endswith("-shm")
        and (path.stat().st_size or not path.name.endswith("-wal"))
    }


def _edit(home: Path, id: str = ONE, **fields: Any) -> None:
    memory = Memory.open(home)
    memory.change("edit", lambda draft: edit_note(draft, id, **fields))
    memory.close()


@pytest.fixture
def beside(nuggets: Any, tmp_path: Path) -> Path:
    """A memory with our last edit taken back by a program that had read the note before, and a wish of that program."""
    home: Path = nuggets.home
    shutil.move(make_home(tmp_path / "scene"), home)
    Memory.open(home).close()
    stale = read_graph(home)
    _edit(home, content="Ours about ferries.")
    stale["notes"].append(note_object(9, content="Theirs about kites."))
    save_stale(home, stale)
    assert content_of(home) == "Content of note 1."
    return home


@pytest.mark.slow
def test_reading_changes_no_file_while_a_lost_change_waits(nuggets: Any, beside: Path) -> None:
    before = _files(beside)
    for args in _READS:
        nuggets(*args)
        assert _files(beside) == before, args


def test_reading_makes_no_log_where_there_is_none(nuggets: Any, tmp_path: Path) -> None:
    shutil.move(make_home(tmp_path / "scene"), nuggets.home)
    before = _files(nuggets.home)
    assert "nuggets.db" not in before
    for args in _READS:
        nuggets(*args)
        assert _files(nuggets.home) == before, args
    assert nuggets.json("log") == []


def test_a_read_shows_the_files_as_they_are_until_somebody_writes(nuggets: Any, beside: Path) -> None:
    assert nuggets.json("note", "show", ONE)["content"] == "Content of note 1."
    assert [hit["id"] for hit in nuggets.json("search", "kites")][:1] == ["note-memory-00000009"]
    assert [entry["kind"] for entry in nuggets.json("log")] == ["edit"]
    nuggets.ok("note", "edit", TWO, "--content", "Another.")
    assert content_of(beside) == "Ours about ferries."
    assert "note-memory-00000009" in notes_of(beside)
    assert [entry["kind"] for entry in nuggets.json("log")] == ["edit", "restore", "outside", "edit"]


@pytest.mark.slow
def test_a_counted_recall_writes_the_count_alone_beside_a_lost_change(nuggets: Any, beside: Path) -> None:
    shutil.rmtree(beside / "backups", ignore_errors=True)
    before = notes_of(beside)
    assert nuggets.json("recall", "user:a", "--session", "s")["found"]
    after = notes_of(beside)
    moved = {id for id in after if {**after[id], **_COUNT} != {**before[id], **_COUNT}}
    assert moved == set()
    assert [fact["hits"] for fact in facts_of(beside, "memory.nugget.json")] == [1, 0]
    assert not (beside / "backups").exists()
    assert content_of(beside) == "Content of note 1."
    Memory.open(beside).close()
    assert content_of(beside) == "Ours about ferries."


_COUNT = {"hits": 0, "lastHitSession": "", "lastAccessedAt": ""}


def test_python_reads_through_a_memory_that_was_opened_to_read(beside: Path) -> None:
    before = _files(beside)
    memory = Memory.open(beside, reconcile=False)
    assert memory.snapshot.note(ONE).content == "Content of note 1."
    assert memory.search("kites")[0].note.id == "note-memory-00000009"
    assert memory.recall("kites", record=False).note_id == "note-memory-00000009"
    assert memory.history.log()[0].change_set.kind == "edit"
    assert memory.history.timeline() is not None
    memory.close()
    assert _files(beside) == before
    memory.refresh()
    assert content_of(beside) == "Ours about ferries."


def test_a_read_beside_an_open_memory_sees_what_is_not_in_the_file_of_the_log_yet(
    nuggets: Any, beside: Path
) -> None:
    memory = Memory.open(beside)
    memory.change("edit", lambda draft: edit_note(draft, TWO, content="Still in the side file."))
    before = _files(beside)
    assert nuggets.json("log")[0]["reason"] == "edit"
    assert nuggets.json("note", "show", TWO)["content"] == "Still in the side file."
    assert _files(beside) == before
    memory.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is refused to root")
def test_a_folder_that_may_only_be_read_is_read_as_it_is(nuggets: Any, beside: Path) -> None:
    for path in (beside, beside / "graph"):
        path.chmod(0o500)
    try:
        assert nuggets.json("note", "show", ONE)["content"] == "Content of note 1."
        assert nuggets.json("log")[0]["kind"] == "edit"
    finally:
        for path in (beside, beside / "graph"):
            path.chmod(0o700)


def test_where_nothing_may_be_written_a_read_answers_all_the_same(
    nuggets: Any, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.storage.journal import session

    monkeypatch.setattr(session.os, "access", lambda path, mode: mode != os.W_OK)
    before = _files(beside)
    memory = Memory.open(beside)
    assert memory.snapshot.note(ONE).content == "Content of note 1."
    assert memory.history.log()[0].change_set.kind == "edit"
    assert _files(beside) == before
