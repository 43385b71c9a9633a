"""A save reads the folder once, and asks the journal little: what somebody waits for is the writing alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kits.beside import NUGGET, ONE, TWO, content_of, make_home
from kits.looked_at import disk_calls, looks_at, statements_of
from kits.memory_files import GRAPH, facts_of, note_object, notes_of, write_graph
from kits.original_writer import read_graph, save_graph

from core import Memory
from core.errors import ConflictError
from core.facts.edits import record_hit, remember
from core.graph.edits import create_note, edit_note
from core.model.draft import Draft

_ASKING = ("SELECT", "INSERT", "UPDATE", "DELETE")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(make_home(tmp_path))
    for turn in range(3):
        memory.change("warm", lambda draft, turn=turn: edit_note(draft, ONE, title=f"Warm {turn}"))
    return memory


def _edited(memory: Memory) -> None:
    memory.change("edit", lambda draft: edit_note(draft, TWO, title="Another"))


def _remembered(memory: Memory) -> None:
    memory.change("fact", lambda draft: remember(draft, "memory", "user:a", "another value"))


def _made(memory: Memory) -> None:
    memory.change("new", lambda draft: create_note(draft, "memory", "New", "Some text."))


def _applied(memory: Memory) -> None:
    draft = memory.draft()
    edit_note(draft, TWO, title="Another")
    memory.apply(draft.change_set("edit", author=memory.author))


def _recalled(memory: Memory) -> None:
    draft = memory.draft()
    record_hit(draft, "memory", "user:a", None, "s")
    memory.apply(draft.change_set("recalled", author=memory.author, kind="hit"))


_CHANGES = (_edited, _remembered, _made, _applied, _recalled)


@pytest.mark.parametrize("change", _CHANGES)
def test_a_save_takes_three_statements_before_the_files_are_written_and_three_after(
    memory: Memory, change: Callable[[Memory], None]
) -> None:
    found = statements_of(memory, lambda: change(memory))
    assert sum(said == "COMMIT" for said in found) == 2
    written = found.index("COMMIT")
    # What was thought out before is held against the files, and a recall is joined with the one before it.
    looked, joined = change in (_applied, _recalled), change is _recalled
    assert sum(said.startswith(_ASKING) for said in found[:written]) <= 3 + looked, found
    assert sum(said.startswith(_ASKING) for said in found[written:]) <= 3 + joined, found


@pytest.mark.parametrize("change", _CHANGES)
def test_a_save_reads_the_folder_once(memory: Memory, change: Callable[[Memory], None]) -> None:
    with disk_calls() as calls:
        change(memory)
    assert looks_at(calls, "os.scandir", memory.home) == 1
    for path in (memory.home / GRAPH, memory.home / NUGGET):
        # Read, looked at before it is exchanged, and seen in its place.
        assert looks_at(calls, "stat", path) <= 3


def test_what_another_program_saves_while_an_edit_is_thought_out_is_kept_beside_it(memory: Memory) -> None:
    home = memory.home

    def edit(draft: Draft) -> None:
        graph = read_graph(home)
        graph["notes"][2]["content"] = "Theirs."
        graph["notes"].append(note_object(9))
        save_graph(home, graph)
        edit_note(draft, TWO, content="Ours.")

    memory.change("edit", edit)
    assert content_of(home, TWO) == "Ours."
    assert content_of(home, "note-memory-00000003") == "Theirs."
    assert "note-memory-00000009" in notes_of(home)
    assert [entry.change_set.kind for entry in memory.history.log(limit=2)] == ["edit", "outside"]


def test_what_changes_in_two_ways_while_an_edit_is_thought_out_is_thought_out_again(memory: Memory) -> None:
    home, turns = memory.home, iter(range(9))

    def edit(draft: Draft) -> None:
        if next(turns) == 0:
            graph = read_graph(home)
            graph["notes"][1]["content"] = "Theirs."
            save_graph(home, graph)
        edit_note(draft, TWO, content=draft.snapshot.note(TWO).content + " And ours.")

    memory.change("edit", edit)
    assert content_of(home, TWO) == "Theirs. And ours."


def test_a_second_memory_that_writes_while_an_edit_is_thought_out_loses_nothing(memory: Memory) -> None:
    home, other = memory.home, Memory.open(memory.home)

    def edit(draft: Draft) -> None:
        if other.snapshot.by_name["memory"].facts[0].value != "of the other":
            other.change("fact", lambda theirs: remember(theirs, "memory", "user:a", "of the other"))
            other.change("made", lambda theirs: remember(theirs, "new", "k", "v"))
        remember(draft, "new", "j", "w")

    memory.change("edit", edit)
    assert {fact["key"]: fact["value"] for fact in facts_of(home, "new.nugget.json")} == {"k": "v", "j": "w"}
    assert sorted(path.name for path in home.glob("*.nugget.json")) == [NUGGET, "new.nugget.json"]
    assert facts_of(home, NUGGET)[0]["value"] == "of the other"
    assert not [
        finding for finding in memory.maintenance.verify() if finding.kind in ("second-file", "unfinished")
    ]


def test_an_edit_that_is_thought_out_for_ever_ends(memory: Memory) -> None:
    home, turns = memory.home, iter(range(99))

    def edit(draft: Draft) -> None:
        write_graph(home, [note_object(n, content=f"Theirs {next(turns)} {n}.") for n in (1, 2, 3)])
        edit_note(draft, TWO, content="Ours.")

    with pytest.raises(ConflictError):
        memory.change("edit", edit)
