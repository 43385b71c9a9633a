"""Conflict copies of sync tools, told from other files by name and content."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.memory_files import GRAPH, fact_object, note_object, write_graph, write_nugget

from core.storage.merge.copies import ConflictCopy, conflict_copies, left_over, read_copy

FACT = "fact-memory-000000ff"
GRAPH_COPIES = (
    "graph (Ada's conflicted copy 2026-11-20).json",
    "graph (ada-laptop's conflicted copy 2026-11-20 (1)).json",
    "graph (Ada's case conflict).json",
    "graph (In Konflikt stehende Kopie von Ada 2026-11-20).json",
    "graph.sync-conflict-20261120-103000-ABCDEFG.json",
    "graph (conflicted copy 2026-11-20 103000).json",
    "graph_conflict-20261120-103000.json",
    "graph (SFConflict ada@example.org 2026-11-20-10-30-00).json",
    "graph-LAPTOP.json",
    "graph-DESKTOP-4F6A.json",
    "graph-Ada's MacBook Pro.json",
    "graph-LAPTOP-2.json",
    "graph (1).json",
    "graph(1).json",
    "graph 2.json",
    "graph_Ada-PC_Nov-20-1030-2026_Conflict.json",
)
FACT_COPIES = (
    "memory.nugget (Ada's conflicted copy 2026-11-20).json",
    "memory.nugget.sync-conflict-20261120-103000-ABCDEFG.json",
    "memory.nugget-LAPTOP.json",
    "memory.nugget (1).json",
    "memory.nugget 2.json",
    "memory (1).nugget.json",
    "memory (conflicted copy 2026-11-20 103000).nugget.json",
    "memory-LAPTOP.nugget.json",
    "memory 2.nugget.json",
)
NO_GRAPH_COPIES = (
    "graph.json", "graphs.json", "other (1).json", "graph.backup.json", "graph-backup.json", "graph (copy).json",
    "graph copy.json", "graph-old.json", "graph-2026-11-20.json", "graph.json.bak", ".graph (1).json", "graph-v2.json",
    "graph 2026.json", ".graph.json.123-0a1b2c3d.tmp", "graph-export.json",
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "memory"
    fact_note = note_object(0xFF, kind="fact", type="fact", sourceKey="k", title="k", content="v", id=FACT)
    write_graph(home, [fact_note, note_object(1), note_object(2)])
    write_nugget(home, "memory", [fact_object("k", "v")])
    return home


@pytest.mark.parametrize("name", GRAPH_COPIES)
def test_a_copy_of_the_note_graph_is_found(home: Path, name: str) -> None:
    copy = home / "graph" / name
    copy.write_bytes((home / GRAPH).read_bytes())
    assert conflict_copies(home) == [ConflictCopy(copy, home / GRAPH)]
    assert len(read_copy(conflict_copies(home)[0]).raws) == 3


@pytest.mark.parametrize("name", FACT_COPIES)
def test_a_copy_of_a_fact_file_is_found(home: Path, name: str) -> None:
    original = home / "memory.nugget.json"
    (home / name).write_bytes(original.read_bytes())
    assert conflict_copies(home) == [ConflictCopy(home / name, original)]


@pytest.mark.parametrize("name", NO_GRAPH_COPIES)
def test_other_files_are_no_copies(home: Path, name: str) -> None:
    (home / "graph" / name).write_bytes((home / GRAPH).read_bytes())
    assert conflict_copies(home) == []


def test_files_of_another_content_are_no_copies(home: Path) -> None:
    for name, data in (
        ("graph (1).json", b'{"nodes": []}'),
        ("graph 3.json", b"[]"),
    ):
        (home / "graph" / name).write_bytes(data)
    (home / "graph" / "graph 4.json").write_bytes((home / "memory.nugget.json").read_bytes())
    (home / "memory.nugget (1).json").write_bytes((home / GRAPH).read_bytes())
    assert conflict_copies(home) == []


def test_what_bears_the_name_of_a_copy_and_cannot_be_read_is_told_with_its_problem(home: Path) -> None:
    for name, data in (
        ("graph (1).json", b'{"version": 3, "notes": [{"id"'),
        ("graph 2.json", b""),
        ("graph 3.json", b"[1,2"),
    ):
        (home / "graph" / name).write_bytes(data)
    (home / "graph" / "graph 4.json").mkdir()
    (home / "memory.nugget (1).json").symlink_to(home / "nowhere")
    (home / "memory.nugget (2).json").symlink_to(home / GRAPH)
    (home / "graph" / "graph 5.json").write_bytes(b"[]")
    (home / "graph" / "graph-old.json").write_bytes(b"{")
    told = {copy.path.name: copy.problem for copy in conflict_copies(home) if copy.problem}
    assert told.pop("graph (1).json").startswith("cannot be read")
    assert told.pop("graph 3.json").startswith("cannot be read")
    assert told == {
        "graph 2.json": "is empty",
        "graph 4.json": "is not a regular file",
        "memory.nugget (1).json": "is a broken link",
        "memory.nugget (2).json": "is a link, not a file",
    }


def test_what_joining_does_not_take_over_is_named(home: Path) -> None:
    write_graph(home, [note_object(1, content=5)]).rename(home / "graph" / "graph (1).json")
    write_graph(home, [note_object(1)])
    (copy,) = conflict_copies(home)
    (bad_note,) = left_over(read_copy(copy))
    assert "note-memory-00000001" in bad_note


def test_a_nugget_of_a_longer_name_is_no_copy(home: Path) -> None:
    write_nugget(home, "memory-LAPTOP", [fact_object("k")])
    write_nugget(home, "memory-PHONE", [fact_object("k")], suffix=".donna.json")
    assert conflict_copies(home) == []


def test_both_kinds_of_fact_files_have_copies_and_one_without_a_name_bears_that_of_its_original(
    home: Path,
) -> None:
    write_nugget(home, "proj", [fact_object("k")], suffix=".donna.json")
    data = (home / "proj.donna.json").read_bytes().replace(b'"name":"proj",', b"")
    (home / "proj.donna (1).json").write_bytes(data)
    (copy,) = conflict_copies(home)
    assert copy.original == home / "proj.donna.json"
    document = read_copy(copy)
    assert document.meta.name == "proj"  # type: ignore[union-attr]


def test_a_copy_counts_also_when_its_original_is_gone(home: Path) -> None:
    (home / GRAPH).rename(home / "graph" / "graph (1).json")
    assert [copy.original for copy in conflict_copies(home)] == [home / GRAPH]


def test_a_folder_without_files_has_no_copies(tmp_path: Path) -> None:
    assert conflict_copies(tmp_path / "nothing") == []
