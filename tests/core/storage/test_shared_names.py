"""Notes of one id and facts of one key: the first counts, a later one stays in its file untouched."""

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
from core.facts.edits import clear, remember
from core.graph.edits import create_note, delete_note, edit_note
from core.memory import Memory
from core.model.snapshot import ProblemKind

FIRST = note_object(1)["id"]
TWIN = note_object(1, title="Twin")


def values(home: Path) -> list[tuple[str, str]]:
    return [(fact["key"], fact["value"]) for fact in facts_of(home, "memory.nugget.json")]


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


def test_repair_leaves_both_to_a_person(tmp_path: Path) -> None:
    of_one_id(tmp_path).close()
    memory = of_one_key(tmp_path)
    before = values(tmp_path), graph_of(tmp_path)["notes"]
    memory.maintenance.repair()
    found = {one.kind: one.repair for one in memory.maintenance.verify()}
    assert found[ProblemKind.SHARED_ID] == found[ProblemKind.SHARED_KEY] == ""
    assert values(tmp_path) == before[0]
    assert [note["title"] for note in graph_of(tmp_path)["notes"]][:3] == ["First", "Title 2", "Twin"]
