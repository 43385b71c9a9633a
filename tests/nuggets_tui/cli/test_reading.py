"""Reading writes nothing: what other programs did is reconciled in memory, and the next writer puts it down."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest
from kits.beside import ONE, TWO, content_of, make_home, never_quiet, save_stale
from kits.memory_files import facts_of, note_object, notes_of
from kits.original_writer import Original, read_graph

from core import Memory
from core.facts.edits import remember
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
    SQLite shares among processes while a log is not in its file yet is no file of anybody's.
    """
    return {
        str(path.relative_to(home)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.endswith("-shm")
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


@pytest.mark.slow
def test_a_read_shows_what_was_taken_back_as_it_is_to_be_and_what_was_meant(
    nuggets: Any, beside: Path
) -> None:
    assert nuggets.json("note", "show", ONE)["content"] == "Ours about ferries."
    assert [hit["id"] for hit in nuggets.json("search", "ferries")][:1] == [ONE]
    assert [hit["id"] for hit in nuggets.json("search", "kites")][:1] == ["note-memory-00000009"]
    found = [entry["kind"] for entry in nuggets.json("log")]
    assert found[0] == "restore"
    assert "outside" in found
    nuggets.ok("note", "edit", TWO, "--content", "Another.")
    assert content_of(beside) == "Ours about ferries."
    assert "note-memory-00000009" in notes_of(beside)


def test_a_read_shows_our_change_also_while_the_other_program_keeps_saving(
    nuggets: Any, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_quiet(monkeypatch)
    before = _files(beside)
    assert nuggets.json("note", "show", ONE)["content"] == "Ours about ferries."
    assert _files(beside) == before


def test_what_a_read_names_in_the_log_can_be_undone_by_that_name(nuggets: Any, tmp_path: Path) -> None:
    shutil.move(make_home(tmp_path / "scene"), nuggets.home)
    Memory.open(nuggets.home).close()
    graph = read_graph(nuggets.home)
    graph["notes"][0]["content"] = "Theirs."
    save_stale(nuggets.home, graph, 100)
    (entry,) = nuggets.json("log")
    assert entry["id"] == nuggets.json("log")[0]["id"]
    nuggets.ok("undo", entry["id"])
    assert content_of(nuggets.home) == "Content of note 1."
    assert [one["kind"] for one in nuggets.json("log")] == ["undo", "outside"]
    assert nuggets.json("log")[1]["id"] == entry["id"]


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
    assert nuggets.json("note", "show", ONE)["content"] == "Ours about ferries."
    assert content_of(beside) == "Content of note 1."
    Memory.open(beside).close()
    assert content_of(beside) == "Ours about ferries."


_COUNT = {"hits": 0, "lastHitSession": "", "lastAccessedAt": ""}


def test_a_recall_of_what_was_taken_back_counts_on_what_it_answered(nuggets: Any, tmp_path: Path) -> None:
    home = nuggets.home
    shutil.move(make_home(tmp_path / "scene"), home)
    memory = Memory.open(home)
    original = Original(home)
    memory.change("edit", lambda draft: remember(draft, "memory", "user:a", "ours"))
    memory.close()
    original.remember("user:c", "theirs")
    assert nuggets.json("recall", "user:a", "--session", "s")["answer"] == "ours"
    held = {fact["key"]: (fact["value"], fact["hits"]) for fact in facts_of(home, "memory.nugget.json")}
    assert held["user:a"] == ("ours", 1)
    assert held["user:c"] == ("theirs", 0)
