"""A write in place that leaves size and time of a file as they were is seen all the same."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from core.graph.edits import create_note, edit_note
from core.memory import Memory
from core.storage.format import documents

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the time of a file's last change is not told there")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = Memory.open(tmp_path)
    for title, text in (("one", "first text"), ("two", "other text")):
        made.change("made", lambda draft, t=title, c=text: create_note(draft, "memory", t, c))
    return made


def write_unseen(path: Path, old: bytes, new: bytes) -> None:
    """Writes in place what is as long, and puts the time back."""
    assert len(old) == len(new)
    before, data = path.stat(), path.read_bytes()
    with path.open("r+b") as file:
        file.write(data.replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_mtime_ns, path.stat().st_size) == (before.st_mtime_ns, before.st_size)


def text_of(memory: Memory, title: str) -> str:
    return next(note.content for note in memory.snapshot.notes if note.title == title)


def test_it_is_kept_by_our_next_change_and_stands_in_the_log(memory: Memory, tmp_path: Path) -> None:
    two = next(note.id for note in memory.snapshot.notes if note.title == "two")
    write_unseen(tmp_path / "graph" / "graph.json", b"first text", b"their text")
    memory.change("ours", lambda draft: edit_note(draft, two, content="our text"))
    assert (text_of(memory, "one"), text_of(memory, "two")) == ("their text", "our text")
    assert text_of(Memory.open(tmp_path), "one") == "their text"
    outside = [entry for entry in memory.history.log() if entry.change_set.kind == "outside"]
    assert len(outside) == 1
    memory.history.undo(outside[0].id)
    assert (text_of(memory, "one"), text_of(memory, "two")) == ("first text", "our text")


def test_it_is_shown_when_somebody_looks(memory: Memory, tmp_path: Path) -> None:
    write_unseen(tmp_path / "graph" / "graph.json", b"first text", b"their text")
    memory.refresh()
    assert text_of(memory, "one") == "their text"
    count = len(memory.history.log())
    memory.refresh()
    assert len(memory.history.log()) == count


def test_our_own_writes_are_not_read_again_and_other_rights_are_no_change(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    usual = documents.read_file

    def noted(path: Path) -> Any:
        read.append(path)
        return usual(path)

    monkeypatch.setattr(documents, "read_file", noted)
    for number in range(3):
        memory.change("more", lambda draft, n=number: create_note(draft, "memory", f"more {n}", "x"))
        memory.refresh()
    assert read == []
    count = len(memory.history.log())
    (tmp_path / "graph" / "graph.json").chmod(0o644)
    memory.refresh()
    assert len(read) == 1
    memory.refresh()
    assert (len(read), len(memory.history.log())) == (1, count)
