"""Files that cannot be read, wholly or in part: named, left as they are, and never taken for empty."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kits.memory_files import (
    GRAPH,
    fact_object,
    facts_of,
    note_object,
    tree,
    write_graph,
    write_nugget,
)

from core import Memory
from core.errors import BrokenFileError, NuggetsError, ReadOnlyError
from core.facts.edits import remember
from core.graph.edits import create_note, edit_note, hide_note

FIRST, SECOND, THIRD = (f"note-memory-{number:08x}" for number in (1, 2, 3))


def _refused_as_broken(home: Path, memory: Memory) -> None:
    """Neither opening nor writing through an object opened earlier gets past a broken graph."""
    before = tree(home)
    with pytest.raises(BrokenFileError) as caught:
        Memory.open(home)
    assert str(home / GRAPH) in caught.value.message
    assert "\n" not in caught.value.message
    good = memory.snapshot
    with pytest.raises(BrokenFileError):
        memory.refresh()
    draft = memory.draft()
    create_note(draft, "memory", "New", "Text.")
    with pytest.raises(BrokenFileError):
        memory.apply(draft.change_set("new"))
    assert memory.snapshot is good
    assert tree(home) == before


@pytest.mark.slow
def test_a_graph_that_is_cut_off_anywhere_is_named_and_left_alone(tmp_path: Path) -> None:
    path = write_graph(
        tmp_path, [note_object(1, hits=12, more=[True, None]), note_object(2, title="ä\u20ac")], later=1
    )
    whole = path.read_bytes()
    memory = Memory.open(tmp_path)
    marks = (
        b'"version',
        b"3",
        b'"notes"',
        b"[",
        b"true",
        b"null",
        b"12",
        b": ",
        b",",
        b"ti",
        b"\xc3",
        b"\xac",
    )
    places = {0, 1, 2, len(whole) - 3, len(whole) - 5, *range(0, len(whole) - 2, 97)}
    places |= {whole.index(mark) + step for mark in marks for step in (0, 1)}
    for place in sorted(places):
        path.write_bytes(whole[:place])
        _refused_as_broken(tmp_path, memory)
    path.write_bytes(whole)
    assert not memory.refresh() or memory.snapshot.notes == Memory.open(tmp_path).snapshot.notes
    memory.change("edit", lambda draft: edit_note(draft, FIRST, content="Other."))


@pytest.mark.parametrize(
    "text",
    ["null", "[]", "5", '"text"', '{"notes": null}', '{"notes": {}}', '{"notes": 1}', "{} {}", '{"notes": [],}',
     "\x00\x00\x00\x00", "<<<<<<< ours", "<html></html>", "// c\n{}", "NaN",
     '{"version": 3 "notes": []}', '{notes: []}'],
)  # fmt: skip
def test_a_graph_of_another_shape_is_named_and_left_alone(tmp_path: Path, text: str) -> None:
    path = write_graph(tmp_path, [note_object(1)])
    memory = Memory.open(tmp_path)
    path.write_text(text)
    _refused_as_broken(tmp_path, memory)


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", '{"facts": {}}', '{"version":"x"}', '{"D":"wide"}', '{"name":5}', '{"config":[]}',
     '{"facts":[{"key":"a","value":"b"},{"key":"c","value":"d"}],"facts":[]}'],
)  # fmt: skip
def test_a_broken_fact_file_is_an_error_only_when_it_is_touched(tmp_path: Path, text: str) -> None:
    write_graph(
        tmp_path, [note_object(1), note_object(2, nugget="bad", kind="fact", sourceKey="k", title="k")]
    )
    write_nugget(tmp_path, "good", [fact_object("a")])
    path = tmp_path / "bad.nugget.json"
    path.write_text(text)
    memory = Memory.open(tmp_path)
    assert memory.snapshot.nugget("bad").problem
    assert [problem.nugget for problem in memory.snapshot.problems] == ["bad"]
    for edit in (
        lambda draft: remember(draft, "bad", "new", "value"),
        lambda draft: hide_note(draft, "note-bad-00000002"),
        lambda draft: edit_note(draft, "note-bad-00000002", content="Other."),
    ):
        with pytest.raises(BrokenFileError) as caught:
            memory.change("touch", edit)
        assert str(path) in caught.value.message
    memory.change("other", lambda draft: remember(draft, "good", "b", "value"))
    memory.change("other", lambda draft: edit_note(draft, FIRST, content="Other."))
    assert path.read_text() == text
    assert len(facts_of(tmp_path, "good.nugget.json")) == 2


@pytest.mark.parametrize("version", ["4", "3.5", "99", "1e9"])
def test_a_graph_of_a_later_version_can_be_read_and_not_written(tmp_path: Path, version: str) -> None:
    path = write_graph(tmp_path, [note_object(1)], new_field={"a": 1})
    path.write_text(path.read_text().replace('"version": 3', f'"version": {version}'))
    _read_but_not_written(tmp_path)


def test_a_fact_file_of_a_later_version_can_be_read_and_not_written(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(1)])
    write_nugget(tmp_path, "memory", [fact_object("a")], version=5)
    _read_but_not_written(tmp_path)


def _read_but_not_written(home: Path) -> None:
    before = tree(home)
    memory = Memory.open(home)
    assert memory.snapshot.notes[0].title == "Title 1"
    assert "newer" in memory.snapshot.read_only
    for edit in (
        lambda draft: edit_note(draft, FIRST, content="Other."),
        lambda draft: remember(draft, "memory", "k", "v"),
        lambda draft: remember(draft, "fresh", "k", "v"),
    ):
        with pytest.raises(ReadOnlyError, match="newer than nuggets-tui supports"):
            memory.change("edit", edit)
    assert tree(home) == before
    assert not (home / ".nuggets.lock").exists()


@pytest.mark.timeout(20)
@pytest.mark.parametrize("place", [GRAPH, Path("memory.nugget.json"), Path("settings.toml")])
@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_folder_or_pipe_in_place_of_a_file_is_named_and_does_not_hang(
    tmp_path: Path, place: Path, kind: str
) -> None:
    if kind == "pipe" and not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    if place.name == "memory.nugget.json":
        memory = Memory.open(tmp_path)
        assert str(path) in memory.snapshot.problems[0].where
        memory.change("other", lambda draft: remember(draft, "good", "k", "v"))
        with pytest.raises(NuggetsError, match=r"memory\.nugget\.json"):
            memory.change("touch", lambda draft: remember(draft, "memory", "k", "v"))
        snapshot = memory.snapshot
        assert not memory.refresh()
        assert memory.snapshot is snapshot
    elif place.name == "settings.toml":
        memory = Memory.open(tmp_path)
        assert str(path) in memory.take_notices()[0]
    else:
        with pytest.raises(NuggetsError) as caught:
            Memory.open(tmp_path)
        assert str(path) in caught.value.message
    assert path.exists()


def test_a_file_in_place_of_the_graph_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "graph").write_text("x")
    with pytest.raises(NuggetsError, match="graph is a file, not a folder"):
        Memory.open(tmp_path)
    memory = Memory.open(tmp_path, tolerant=True)
    with pytest.raises(NuggetsError):
        memory.change("add", lambda draft: create_note(draft, "", "T", "c"))
    assert (tmp_path / "graph").read_text() == "x"
