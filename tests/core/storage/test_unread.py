"""What becomes unreadable in another program's hands: its last good version stays known, is told, and comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import (
    GRAPH,
    fact_object,
    facts_of,
    graph_of,
    note_object,
    notes_of,
    replace_bytes,
    write_graph,
    write_nugget,
)

from core import Memory
from core.facts.edits import remember
from core.storage.safety import record_bytes

FIRST, SECOND, THIRD = (f"note-memory-{number:08x}" for number in (1, 2, 3))
FACTS = "memory.nugget.json"
BREAKAGES: tuple[dict[str, Any], ...] = ({"content": 5}, {"tags": "text"}, {"links": {}})


def seen(home: Path, notes: list[dict[str, Any]]) -> None:
    """The folder holds these notes, and the memory has seen them."""
    write_graph(home, notes)
    Memory.open(home)


def three() -> list[dict[str, Any]]:
    return [note_object(number) for number in (1, 2, 3)]


def broken_note(home: Path, **fields: Any) -> list[dict[str, Any]]:
    """Three notes were seen; then the second could not be read, and that was seen too."""
    notes = three()
    seen(home, notes)
    bad = [notes[0], notes[1] | (fields or {"content": 5}), notes[2]]
    seen(home, bad)
    return bad


@pytest.mark.parametrize("fields", BREAKAGES)
def test_a_note_that_is_readable_again_was_changed_not_added(tmp_path: Path, fields: dict[str, Any]) -> None:
    broken_note(tmp_path, **fields)
    notes = three()
    write_graph(tmp_path, [notes[0], notes[1] | {"content": "Theirs."}, notes[2]])
    memory = Memory.open(tmp_path)
    [entry] = memory.history.log()
    [change] = entry.change_set.notes
    assert change.before is not None
    assert change.after is not None
    assert (change.before.content, change.after.content) == ("Content of note 2.", "Theirs.")
    memory.history.undo(entry.change_set.id)
    assert notes_of(tmp_path)[SECOND]["content"] == "Content of note 2."


def test_a_note_that_goes_while_it_cannot_be_read_is_told_and_can_come_back(tmp_path: Path) -> None:
    bad = broken_note(tmp_path)
    seen(tmp_path, bad)
    write_graph(tmp_path, [bad[0], bad[2]])
    memory = Memory.open(tmp_path)
    [entry] = memory.history.log()
    assert [(c.id, c.after) for c in entry.change_set.notes] == [(SECOND, None)]
    memory.history.undo(entry.change_set.id)
    assert graph_of(tmp_path)["notes"] == three()


# Facts


def broken_fact(home: Path, bad: object) -> list[object]:
    good = [fact_object(key, f"value of {key}") for key in "abc"]
    write_nugget(home, "memory", good)
    Memory.open(home)
    facts = [good[0], bad, good[2]]
    write_nugget(home, "memory", facts)
    Memory.open(home)
    return facts


BAD_FACTS = [fact_object("b") | {"value": 5}, 7, {"value": "no key"}]


@pytest.mark.parametrize("bad", BAD_FACTS)
def test_a_fact_that_goes_while_it_cannot_be_read_is_told_and_can_come_back(
    tmp_path: Path, bad: object
) -> None:
    facts = broken_fact(tmp_path, bad)
    assert not [
        e for e in Memory.open(tmp_path).history.log() if any(c.after is None for c in e.change_set.facts)
    ]
    write_nugget(tmp_path, "memory", [facts[0], facts[2]])
    memory = Memory.open(tmp_path)
    entry = memory.history.log()[0]
    [change] = entry.change_set.facts
    assert (change.key, change.after) == ("b", None)
    memory.history.undo(entry.change_set.id)
    assert [fact["value"] for fact in facts_of(tmp_path, FACTS)] == ["value of a", "value of b", "value of c"]


@pytest.mark.parametrize("bad", BAD_FACTS)
def test_repair_brings_a_fact_back_as_it_could_last_be_read(tmp_path: Path, bad: object) -> None:
    broken_fact(tmp_path, bad)
    memory = Memory.open(tmp_path)
    [finding] = [one for one in memory.maintenance.verify() if one.kind == "unreadable-fact"]
    assert finding.repair
    memory.maintenance.repair()
    assert [fact["value"] for fact in facts_of(tmp_path, FACTS)] == ["value of a", "value of b", "value of c"]
    assert not [one for one in memory.maintenance.verify() if one.kind.startswith("unreadable")]


# Notes mended


@pytest.mark.parametrize("fields", BREAKAGES)
def test_repair_brings_a_note_back_as_it_could_last_be_read(tmp_path: Path, fields: dict[str, Any]) -> None:
    bad = broken_note(tmp_path, **fields)
    path = tmp_path / GRAPH
    was = path.read_bytes()
    memory = Memory.open(tmp_path)
    [finding] = memory.maintenance.verify()
    assert finding.kind == "unreadable-note"
    assert "restores the last readable version" in finding.repair
    assert "restore" not in finding.detail
    memory.maintenance.repair()
    assert graph_of(tmp_path)["notes"] == three()
    assert memory.maintenance.verify() == ()
    assert SECOND in memory.snapshot.by_id
    kept = [record_bytes(record) for record in memory.maintenance.set_aside()]
    assert was in kept
    assert bad[1] in [json.loads(data) for data in kept]
    assert any("its last readable version is restored" in notice for notice in memory.take_notices())


def test_repair_leaves_a_note_of_which_nothing_was_ever_read(tmp_path: Path) -> None:
    path = write_graph(tmp_path, [note_object(1), note_object(2, content=5)])
    was = path.read_bytes()
    memory = Memory.open(tmp_path)
    [finding] = memory.maintenance.verify()
    assert finding.repair == ""
    assert "Fix it in the file" in finding.detail
    assert "restore" not in finding.detail
    assert memory.maintenance.repair().empty
    assert path.read_bytes() == was


# Bytes that are no text


@pytest.mark.parametrize("field", ["key", "value"])
def test_a_fact_with_bytes_that_are_no_utf_8_is_set_aside_and_comes_back_by_repair(
    tmp_path: Path, field: str
) -> None:
    good = [fact_object("a"), fact_object("b", "@v"), fact_object("c")]
    path = write_nugget(tmp_path, "memory", good)
    Memory.open(tmp_path)
    sound = {"key": b'"b"', "value": b'"@v"'}[field]
    replace_bytes(path, path.read_bytes().replace(sound, b'"latin \xe9"'))
    memory = Memory.open(tmp_path)
    assert [fact.key for fact in memory.snapshot.nugget("memory").facts] == ["a", "c"]
    assert "not UTF-8" in memory.snapshot.problems[0].what
    memory.change("more", lambda draft: remember(draft, "memory", "d", "new"))
    assert b'"latin \xe9"' in path.read_bytes()
    memory.maintenance.repair()
    assert [fact["key"] for fact in facts_of(tmp_path, FACTS)] == ["a", "b", "c", "d"]
    assert facts_of(tmp_path, FACTS)[1]["value"] == "@v"
