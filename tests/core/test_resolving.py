"""Conflict copies joined with the log beside them: no text loses in silence, whatever time its note bears."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from kits.memory_files import GRAPH, fact_object, facts_of, write_graph, write_nugget

from core import Memory
from core.facts.edits import remember
from core.graph.edits import create_note, edit_note
from core.storage.store import Store

COPY = GRAPH.with_name("graph (1).json")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A note and a fact, of which the log knows how they were made."""
    start, seconds = datetime(2026, 11, 20, 10, tzinfo=UTC), itertools.count()
    memory = Memory.open(tmp_path, clock=lambda: start + timedelta(seconds=next(seconds)))
    memory.change("made", lambda draft: create_note(draft, "memory", "Deploy day", "Tuesday"))
    memory.change("stored", lambda draft: remember(draft, "memory", "user:k", "base"))
    return memory


def the_note(memory: Memory, title: str = "Deploy day") -> str:
    return next(note.id for note in memory.snapshot.notes if note.title == title)


def edited(memory: Memory, text: str, title: str = "Deploy day") -> None:
    id = the_note(memory, title)
    memory.change("edited", lambda draft: edit_note(draft, id, content=text))


def copy_of_graph(home: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """A copy as a sync tool leaves it, each note of it changed by a program that moves no time."""
    graph = json.loads((home / GRAPH).read_bytes())
    for note in graph["notes"]:
        change(note)
    (home / COPY).write_text(json.dumps(graph))


def says(text: str, title: str = "Deploy day") -> Callable[[dict[str, Any]], object]:
    return lambda note: note.update(content=text) if note["title"] == title else None


def test_an_edit_of_the_copy_without_a_new_time_is_taken_over(memory: Memory) -> None:
    edited(memory, "Wednesday")
    copy_of_graph(memory.home, says("Thursday"))
    before = memory.snapshot.note(the_note(memory)).updated_at
    result = memory.maintenance.resolve()
    assert result.conflicts == ()
    note = memory.snapshot.note(the_note(memory))
    assert note.content == "Thursday"
    assert note.updated_at > before
    assert result.change_set is not None
    memory.history.undo(result.change_set)
    assert memory.snapshot.note(the_note(memory)).content == "Wednesday"


def test_where_both_were_edited_and_the_copy_bears_no_new_time_both_are_told_with_what_was_before(
    memory: Memory,
) -> None:
    copy_of_graph(memory.home, says("Thursday"))
    edited(memory, "Wednesday")
    (conflict,) = memory.maintenance.resolve().conflicts
    assert (conflict.base, conflict.ours, conflict.theirs) == ("Tuesday", "Thursday", "Wednesday")
    assert memory.snapshot.note(the_note(memory)).content == "Wednesday"
    (entry,) = memory.history.conflicts()
    memory.history.resolve_conflict(entry.id, "ours")
    assert memory.snapshot.note(the_note(memory)).content == "Thursday"


def test_what_was_changed_here_without_a_new_time_is_not_overwritten_by_a_newer_copy(memory: Memory) -> None:
    here = json.loads((memory.home / GRAPH).read_bytes())
    copy_of_graph(
        memory.home, lambda note: note.update(content="Thursday", updatedAt="2026-12-01T00:00:00.000Z")
    )
    here["notes"][0]["content"] = "Wednesday"
    write_graph(memory.home, here["notes"])
    memory.refresh()
    conflicts = memory.maintenance.resolve().conflicts
    assert ("Thursday", "Wednesday") in [(one.ours, one.theirs) for one in conflicts]
    assert memory.snapshot.note(the_note(memory)).content == "Wednesday"


def test_a_copy_whose_conflict_cannot_be_kept_in_the_log_stays_where_it_is(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_of_graph(memory.home, says("Thursday"))
    edited(memory, "Wednesday")
    monkeypatch.setattr(Store, "keep_conflict", lambda *_: "")
    result = memory.maintenance.resolve()
    assert (memory.home / COPY).exists()
    assert [bool(copy.problem) for copy in result.copies] == [True]
    assert len(result.conflicts) == 1
    monkeypatch.undo()
    assert len(memory.maintenance.resolve().conflicts) == 1
    assert not (memory.home / COPY).exists()


@pytest.mark.parametrize(("take", "stands"), [("ours", "theirs"), ("theirs", "mine")])
@pytest.mark.parametrize("with_graph", [False, True])
def test_a_fact_changed_on_both_sides_waits_once_and_either_value_can_be_taken(
    memory: Memory, with_graph: bool, take: Literal["ours", "theirs"], stands: str
) -> None:
    if with_graph:
        copy_of_graph(
            memory.home,
            lambda note: (
                note.update(content="theirs", updatedAt="2026-11-20T11:00:00.000Z")
                if note["title"] == "user:k"
                else None
            ),
        )
    write_nugget(memory.home, "other", [fact_object("user:k", "theirs")], name="memory")
    (memory.home / "other.nugget.json").rename(memory.home / "memory.nugget (1).json")
    memory.change("edited", lambda draft: remember(draft, "memory", "user:k", "mine"))
    (conflict,) = memory.maintenance.resolve().conflicts
    assert (conflict.ours, conflict.theirs) == ("theirs", "mine")
    assert facts_of(memory.home, "memory.nugget.json")[0]["value"] == "mine"
    (entry,) = memory.history.conflicts()
    memory.history.resolve_conflict(entry.id, take)
    assert facts_of(memory.home, "memory.nugget.json")[0]["value"] == stands
    assert memory.snapshot.note(the_note(memory, "user:k")).content == stands
    assert memory.maintenance.verify() == ()
