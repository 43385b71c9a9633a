"""Reflection over a folder: what is written, what the log says of a run, and how a run or a part goes back."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from core.facts.edits import remember
from core.graph.edits import create_note
from core.memory import Memory

TEXT = "bravo charlie delta echo foxtrot golf hotel india"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memory with two near-duplicates, a scratch note, a repeated line and two facts of one key."""
    memory = Memory.open(tmp_path)
    for title in ("Restore", "Restore again"):
        memory.change("w", partial(create_note, nugget="project", title=title, content=TEXT))
    memory.change("w", partial(create_note, nugget="project", title="tmp", content="x"))
    memory.change("w", partial(create_note, nugget="project", title="List", content="milk\nmilk\nbread"))
    memory.change("w", lambda draft: remember(draft, "project", "user:home town", "Lima"))
    return tmp_path


def files(home: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in (home / "graph" / "graph.json", *home.glob("*.nugget.json"))
    }


def test_a_run_is_one_entry_whose_reason_names_the_counts(home: Path) -> None:
    memory = Memory.open(home)
    before = len(memory.history.log())
    memory.reflect()
    entries = memory.history.log()
    assert len(entries) == before + 1
    change_set = entries[0].change_set
    assert (change_set.kind, str(change_set.author.kind)) == ("reflection", "reflection")
    for said in ("archived 1", "tidied 1", "merged 1"):
        assert said in change_set.reason


def test_a_run_is_taken_back_whole_or_change_by_change(home: Path) -> None:
    memory = Memory.open(home)
    before = {note.id: (note.content, note.hidden, note.tags, note.links) for note in memory.snapshot.notes}
    memory.reflect()
    entry = memory.history.log(limit=1)[0]
    hidden = next(note for note in memory.snapshot.notes if note.title == "tmp")
    part = next(n for n, c in enumerate(entry.change_set.notes, 1) if c.id == hidden.id)
    memory.history.undo(entry.id, part)
    assert not memory.snapshot.note(hidden.id).hidden
    assert any(note.hidden for note in memory.snapshot.notes)
    memory.history.undo(entry.id)
    after = {note.id: (note.content, note.hidden, note.tags, note.links) for note in memory.snapshot.notes}
    assert after == before


def test_a_pass_with_nothing_to_do_writes_nothing_into_files_or_log(home: Path) -> None:
    memory = Memory.open(home)
    for _ in range(10):
        if not memory.reflect().changes:
            break
    written, entries = files(home), len(memory.history.log())
    result = memory.reflect()
    assert result.change_set.empty
    assert result.change_set.reason == "reflection: nothing to do"
    assert files(home) == written
    assert len(memory.history.log()) == entries
    assert memory.maintenance.verify() == ()


def test_a_preview_writes_nothing(home: Path) -> None:
    memory = Memory.open(home)
    written = files(home)
    result = memory.reflect(dry_run=True, refuse=["merge"])
    assert result.refused == 1
    assert files(home) == written


def test_the_caps_are_read_from_the_settings(home: Path) -> None:
    (home / "settings.toml").write_text("[reflection]\nmax_archived = 0\nmax_merged = 0\n", encoding="utf-8")
    result = Memory.open(home).reflect(dry_run=True)
    assert (result.counts["hidden"], result.counts["merged"], result.left_archived, result.left_merged) == (
        0,
        0,
        1,
        1,
    )
