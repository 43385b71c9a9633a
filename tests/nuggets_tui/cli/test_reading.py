"""Reading writes nothing: it shows the files as they are, and what other programs did is judged by the next writer."""

from __future__ import annotations

import hashlib
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
    ("search", "note"), ("status",), ("status", "--json"), ("log",), ("log", "-v", "--json"), ("notes",),
    ("notes", "--facts", "--nugget", "memory"), ("note", "show", ONE), ("search", "note", "--explain", ONE),
    ("searches",), ("secrets",), ("pipeline",),
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
