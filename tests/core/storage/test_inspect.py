"""What is found wrong with a memory's folder itself, whatever stands in its files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kits.memory_files import GRAPH, fact_object, note_object, write_graph, write_nugget

from core.storage.recovery import inspect_folder

posix = pytest.mark.skipif(os.name == "nt", reason="rights and links as POSIX has them")


def folder(home: Path) -> Path:
    write_graph(home, [note_object(1)])
    write_nugget(home, "memory", [fact_object("k")])
    for path in (home, home / GRAPH.parent):
        path.chmod(0o700)
    return home


def found(home: Path) -> list[tuple[str, str]]:
    return [(finding.kind, str(Path(finding.where).relative_to(home))) for finding in inspect_folder(home)]


def test_an_ordinary_folder_and_one_that_does_not_exist_have_no_findings(tmp_path: Path, store: Path) -> None:
    assert list(inspect_folder(folder(tmp_path / "home"))) == []
    assert list(inspect_folder(tmp_path / "none")) == []
    assert [finding for finding in inspect_folder(store) if finding.kind != "writable-by-others"] == []


@posix
def test_what_every_user_may_write_is_named_with_the_command_that_closes_it(tmp_path: Path) -> None:
    home = folder(tmp_path / "my memory")
    home.chmod(0o777)
    (home / GRAPH).chmod(0o666)
    (home / "memory.nugget.json").chmod(0o620)
    assert found(home) == [("writable-by-others", "."), ("writable-by-others", str(GRAPH))]
    details = [finding.detail for finding in inspect_folder(home)]
    assert details[0].endswith(f"chmod o-w '{home}'")
    assert "folder" in details[0]
    assert "file" in details[1]


@posix
def test_links_out_of_the_folder_and_to_nothing_are_found_and_links_within_are_not(tmp_path: Path) -> None:
    home, outside = folder(tmp_path / "home"), tmp_path / "outside"
    write_nugget(outside, "elsewhere", [fact_object("k")])
    (home / "elsewhere.nugget.json").symlink_to(outside / "elsewhere.nugget.json")
    (home / "gone.nugget.json").symlink_to(outside / "gone.nugget.json")
    (home / "within.donna.json").symlink_to(home / "memory.nugget.json")
    assert found(home) == [
        ("link-out-of-folder", "elsewhere.nugget.json"),
        ("broken-link", "gone.nugget.json"),
    ]


def test_temporary_files_of_killed_writers_are_found(tmp_path: Path) -> None:
    home = folder(tmp_path)
    ours, theirs = ".graph.json.1234-0a1b2c3d.tmp", "graph.json.tmp"
    for name in (ours, theirs):
        (home / "graph" / name).write_bytes(b"{")
    (home / "memory.nugget.json.42.tmp").write_bytes(b"{")
    (home / "notes.tmp.txt").write_bytes(b"mine")
    assert found(home) == [
        ("leftover", f"graph/{ours}"),
        ("leftover", "memory.nugget.json.42.tmp"),
        ("leftover", f"graph/{theirs}"),
    ]
    assert "next change" in next(inspect_folder(home)).detail


def test_conflict_copies_of_sync_tools_are_found_and_said_to_be_joined(tmp_path: Path) -> None:
    home = folder(tmp_path)
    copy = "graph.sync-conflict-20261120-103000-ABCDEFG.json"
    (home / "graph" / copy).write_bytes((home / GRAPH).read_bytes())
    [finding] = inspect_folder(home)
    assert (finding.kind, finding.where) == ("conflict-copy", str(home / "graph" / copy))
    assert "nuggets resolve" in finding.detail


def test_conflict_copies_that_cannot_be_joined_are_found_each_with_its_problem(tmp_path: Path) -> None:
    home = folder(tmp_path)
    for name, data in (("graph 2.json", b"{"), ("graph 3.json", b'{"version": 99, "notes": []}')):
        (home / "graph" / name).write_bytes(data)
    cut, newer = inspect_folder(home)
    assert (cut.kind, newer.kind) == ("conflict-copy", "conflict-copy")
    assert "cannot be read" in cut.detail
    assert "version 99" in newer.detail
    assert "nuggets resolve" not in cut.detail + newer.detail
