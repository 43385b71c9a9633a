"""Notes of one id and facts of one key: the first counts, a later one stays in its file untouched until repaired."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.memory_files import (
    fact_object,
    facts_of,
    graph_of,
    note_object,
    write_graph,
    write_nugget,
)

from core.errors import BrokenFileError, ConflictError
from core.facts.edits import clear, forget, remember
from core.graph.edits import create_note, delete_note, edit_note
from core.memory import Memory
from core.model.entry import Entry
from core.model.snapshot import ProblemKind

FIRST = note_object(1)["id"]
TWIN = note_object(1, title="Twin")


def values(home: Path) -> list[tuple[str, str]]:
    return [(fact["key"], fact["value"]) for fact in facts_of(home, "memory.nugget.json")]


def undo_all_since(memory: Memory, entries: tuple[Entry, ...], path: Path, before: bytes) -> None:
    """Takes back what was done since these were the newest entries; then the file is as it was."""
    while path.read_bytes() != before and memory.history.log(limit=1) != entries:
        memory.history.undo()
    assert path.read_bytes() == before


def of_one_key(home: Path) -> Memory:
    write_nugget(home, "memory", [fact_object("k", "one"), fact_object("j"), fact_object("k", "two")])
    return Memory.open(home)


def of_one_id(home: Path) -> Memory:
    write_graph(home, [note_object(1, title="First"), note_object(2), TWIN])
    return Memory.open(home)


def test_of_two_notes_with_one_id_the_first_counts_and_the_second_is_a_problem_that_no_edit_touches(
    tmp_path: Path,
) -> None:
    memory = of_one_id(tmp_path)
    assert [problem.kind for problem in memory.snapshot.problems] == [ProblemKind.SHARED_ID]
    assert [note.title for note in memory.snapshot.notes if note.id == FIRST] == ["First"]
    assert "Twin" not in [hit.note.title for hit in memory.search("twin")]
    with pytest.raises(BrokenFileError):
        memory.snapshot.resolve("Twin")
    memory.change("edit", lambda draft: edit_note(draft, FIRST, content="Other words."))
    memory.change("add", lambda draft: create_note(draft, "memory", "New", "More."))
    first, _, twin, new = graph_of(tmp_path)["notes"]
    assert (first["content"], twin, new["title"]) == ("Other words.", TWIN, "New")
    assert Memory.open(tmp_path).snapshot.notes == memory.snapshot.notes


def test_once_the_first_note_of_an_id_is_deleted_the_second_counts(tmp_path: Path) -> None:
    memory = of_one_id(tmp_path)
    memory.change("delete", lambda draft: delete_note(draft, FIRST))
    assert [note["title"] for note in graph_of(tmp_path)["notes"]] == ["Title 2", "Twin"]
    assert memory.snapshot.note(FIRST).title == "Twin"
    assert memory.snapshot.problems == ()
    again = Memory.open(tmp_path)
    assert again.snapshot.notes == memory.snapshot.notes
    assert [entry.origin for entry in again.history.log()] == [entry.origin for entry in memory.history.log()]
    with pytest.raises(ConflictError):
        memory.history.undo()
    assert graph_of(tmp_path)["notes"][1] == TWIN


def test_a_key_that_stands_twice_in_a_fact_file_is_never_lost_unasked(tmp_path: Path) -> None:
    memory = of_one_key(tmp_path)
    assert [problem.kind for problem in memory.snapshot.problems] == [ProblemKind.SHARED_KEY]
    memory.change("more", lambda draft: remember(draft, "memory", "new", "value"))
    memory.change("revise", lambda draft: remember(draft, "memory", "k", "three"))
    assert values(tmp_path) == [("k", "three"), ("j", "a value"), ("k", "two"), ("new", "value")]
    memory.change("clear", lambda draft: clear(draft, "memory"))
    assert values(tmp_path) == [("k", "two")]
    assert memory.recall("k", record=False).answer == "two"
    assert Memory.open(tmp_path).snapshot.nuggets == memory.snapshot.nuggets


def test_what_another_program_forgets_is_seen_beside_a_key_that_stands_twice(tmp_path: Path) -> None:
    of_one_key(tmp_path).close()
    write_nugget(tmp_path, "memory", [fact_object("k", "one"), fact_object("k", "two")])
    memory = Memory.open(tmp_path)
    assert [change.key for change in memory.history.log(limit=1)[0].change_set.facts] == ["j"]


def test_repair_gives_each_later_note_an_id_of_its_own_drops_copies_and_undo_has_the_bytes_again(
    tmp_path: Path,
) -> None:
    unread, other = {"id": "x", "title": 7}, note_object(1, title="Other", theirs=[1])
    path = write_graph(tmp_path, [note_object(1), unread, other, note_object(1), note_object(2)])
    before = path.read_bytes()
    memory = Memory.open(tmp_path)
    found = [one for one in memory.maintenance.verify() if one.kind == ProblemKind.SHARED_ID]
    assert [bool(one.repair) for one in found] == [True, True]
    done = memory.history.log(limit=1)
    memory.maintenance.repair()
    stored = graph_of(tmp_path)["notes"]
    assert [note["title"] for note in stored] == ["Title 1", 7, "Other", "Title 2"]
    assert len({note["id"] for note in stored}) == 4
    assert stored[2]["theirs"] == [1]
    assert [one for one in memory.maintenance.verify() if one.kind == ProblemKind.SHARED_ID] == []
    undo_all_since(memory, done, path, before)


def test_repair_gives_each_later_fact_a_key_of_its_own_and_undo_has_the_bytes_again(tmp_path: Path) -> None:
    path = write_nugget(
        tmp_path, "memory", [fact_object("k", "one"), fact_object("k", "two"), fact_object("k", "one")]
    )
    before = path.read_bytes()
    memory = Memory.open(tmp_path)
    first = memory.history.log(limit=1)
    memory.maintenance.repair()
    assert values(tmp_path) == [("k", "one"), ("k (2)", "two")]
    undo_all_since(memory, first, path, before)


def test_a_fact_that_is_forgotten_beside_a_later_one_of_its_key_comes_back_when_that_is_told_apart(
    tmp_path: Path,
) -> None:
    memory = of_one_key(tmp_path)
    memory.maintenance.repair()
    _, done = memory.change("forget", lambda draft: forget(draft, "memory", "k"))
    memory.history.undo(done)
    assert values(tmp_path) == [("k", "one"), ("j", "a value"), ("k (2)", "two")]
