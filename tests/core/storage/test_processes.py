"""Several programs on one folder: each loads, thinks and writes in its own time, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from kits.forked import Forked
from kits.memory_files import (
    GRAPH,
    fact_object,
    facts_of,
    graph_of,
    note_object,
    notes_of,
    replace_bytes,
    tree,
    write_graph,
    write_nugget,
)

from core import Memory
from core.errors import ConflictError
from core.facts.edits import record_hit, remember
from core.graph.edits import create_note, delete_note, edit_note, hide_note, link_notes

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
FIRST, SECOND = "note-memory-00000001", "note-memory-00000002"
PROCESSES, EDITS = 4, 20

WORKER = """
import os, sys
os.fsync = lambda handle: None
from core import Memory
from core.facts.edits import record_hit, remember
from core.graph.edits import create_note, edit_note
home, me, edits = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
memory = Memory.open(home)
print("ready", flush=True)
sys.stdin.readline()
for turn in range(edits):
    own = f"note-memory-{me * edits + turn:08x}"
    draft = memory.draft()
    edit_note(draft, own, content=f"by {me} in turn {turn}")
    remember(draft, "memory", f"key {me} {turn}", f"value {me} {turn}")
    create_note(draft, "memory", f"New {me} {turn}", "Text.")
    record_hit(draft, "memory", "shared", "fact-memory-000000ff", f"session {me} {turn}")
    memory.apply(draft.change_set("turn"))
"""


def test_four_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    shared = note_object(0xFF, kind="fact", sourceKey="shared", title="shared", id="fact-memory-000000ff")
    write_graph(tmp_path, [shared, *(note_object(number) for number in range(PROCESSES * EDITS))])
    write_nugget(tmp_path, "memory", [fact_object("shared")])
    workers = [
        Forked(
            [sys.executable, "-c", WORKER, str(tmp_path), str(number), str(EDITS)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for number in range(PROCESSES)
    ]  # fmt: skip
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(b"go\n")
        worker.stdin.flush()
    assert [worker.communicate()[1].decode() for worker in workers] == [""] * PROCESSES
    notes, facts = notes_of(tmp_path), facts_of(tmp_path, "memory.nugget.json")
    turns = [(me, turn) for me in range(PROCESSES) for turn in range(EDITS)]
    for me, turn in turns:
        assert notes[f"note-memory-{me * EDITS + turn:08x}"]["content"] == f"by {me} in turn {turn}"
    titles = {note["title"] for note in notes.values()}
    assert titles >= {f"New {me} {turn}" for me, turn in turns}
    assert {fact["key"]: fact["value"] for fact in facts[1:]} == {
        f"key {me} {turn}": f"value {me} {turn}" for me, turn in turns
    }
    assert len(facts) == len(turns) + 1
    assert len(notes) == 1 + 3 * len(turns)
    assert facts[0]["hits"] == notes["fact-memory-000000ff"]["hits"] == len(turns)
    assert not [name for name in tree(tmp_path) if name.endswith(".tmp")]


def _outside(home: Path, change: str, value: object = None) -> None:
    """Another program loads graph.json, changes it, and replaces the whole file, knowing of no lock."""
    shaped = graph_of(home)
    by_id = {note["id"]: note for note in shaped["notes"]}
    if change == "add":
        shaped["notes"].insert(0, note_object(99))
    elif change == "content":
        by_id[SECOND]["content"] = value
    elif change == "same note":
        by_id[FIRST]["tags"].append("theirs")
    elif change == "delete":
        shaped["notes"].remove(by_id[SECOND])
    elif change == "squeeze":
        for note in shaped["notes"]:
            note["content"] = " ".join(note["content"].split())
    replace_bytes(home / GRAPH, (json.dumps(shaped, indent=2, ensure_ascii=False) + "\n").encode())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_graph(tmp_path, [note_object(1), note_object(2)])
    write_nugget(tmp_path, "memory", [fact_object("a"), fact_object("b")])
    return tmp_path


def test_white_space_that_another_program_squeezed_is_no_conflict_and_no_entry_of_the_history(
    home: Path,
) -> None:
    memory = Memory.open(home)
    text = "- a\n  - b\n\n    code()\n"
    memory.change("edit", lambda draft: edit_note(draft, FIRST, content=text))
    seen = memory.history.newest()
    draft = memory.draft()
    edit_note(draft, FIRST, content=text + "  - c")
    _outside(home, "squeeze")
    memory.apply(draft.change_set("edit"))
    assert notes_of(home)[FIRST]["content"] == "- a\n  - b\n\n    code()\n  - c"
    assert [entry.change_set.kind for entry in memory.history.log(after=seen)] == ["edit"]


def test_a_recall_of_a_note_deleted_meanwhile_is_no_conflict(home: Path) -> None:
    memory = Memory.open(home)
    draft = memory.draft()
    record_hit(draft, "memory", None, SECOND, "s-1")
    _outside(home, "delete")
    assert memory.apply(draft.change_set("hit", kind="hit")).empty


def test_a_link_drafted_to_a_note_that_went_meanwhile_does_not_dangle(home: Path) -> None:
    memory = Memory.open(home)
    draft = memory.draft()
    link_notes(draft, FIRST, SECOND)
    _outside(home, "delete")
    with pytest.raises(ConflictError):
        memory.apply(draft.change_set("link"))
    assert notes_of(home)[FIRST]["links"] == []


def test_two_programs_that_make_the_same_nugget_make_one(home: Path) -> None:
    first, second = Memory.open(home), Memory.open(home)
    drafts = [first.draft(), second.draft()]
    remember(drafts[0], "fresh", "one", "1")
    remember(drafts[1], "fresh", "two", "2")
    first.apply(drafts[0].change_set("one"))
    second.apply(drafts[1].change_set("two"))
    assert [fact["key"] for fact in facts_of(home, "fresh.nugget.json")] == ["one", "two"]


def test_a_hidden_fact_keeps_what_another_program_did_to_it_meanwhile(home: Path) -> None:
    memory = Memory.open(home)
    note, _ = memory.change("again", lambda draft: remember(draft, "memory", "b", "a value"))
    draft = memory.draft()
    hide_note(draft, note.id)
    write_nugget(home, "memory", [fact_object("new"), fact_object("a"), fact_object("b", hits=7, later=[1])])
    memory.apply(draft.change_set("hide"))
    assert notes_of(home)[note.id]["hiddenFact"] == fact_object("b", hits=7) | {"index": 2, "later": [1]}


def test_a_file_that_another_program_removed_comes_back_beside_what_is_new(home: Path) -> None:
    memory = Memory.open(home)
    (home / GRAPH).unlink()
    (home / "memory.nugget.json").unlink()
    memory.change("new", lambda draft: create_note(draft, "memory", "New", "Text."))
    assert [note["title"] for note in graph_of(home)["notes"]] == ["Title 1", "Title 2", "New"]


def test_a_program_that_writes_between_our_reading_and_our_replacing_is_read_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.storage import store as storing

    memory = Memory.open(home)
    real, turns = storing.rebase, iter([True])

    def rebase(*arguments: object) -> object:
        found = real(*arguments)  # type: ignore[arg-type]
        if next(turns, False):
            _outside(home, "add")
        return found

    monkeypatch.setattr(storing, "rebase", rebase)
    memory.change("edit", lambda draft: edit_note(draft, FIRST, content="Ours."))
    assert notes_of(home)[FIRST]["content"] == "Ours."
    assert "note-memory-00000063" in notes_of(home)


@pytest.mark.parametrize("swapping", [True, False])
def test_a_program_that_never_stops_writing_is_taken_in_or_named_and_never_ends_in_a_hang(
    home: Path, monkeypatch: pytest.MonkeyPatch, swapping: bool
) -> None:
    from core.storage import store as storing
    from core.storage.files import exchange

    memory = Memory.open(home)
    real = storing.rebase

    def rebase(*arguments: object) -> object:
        found = real(*arguments)  # type: ignore[arg-type]
        _outside(home, "add")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(storing, "rebase", rebase)
        if swapping:
            memory.change("edit", lambda draft: edit_note(draft, FIRST, content="Ours."))
        else:
            patch.setattr(exchange, "_swap", lambda one, other: False)
            with pytest.raises(ConflictError, match="keeps changing the files"):
                memory.change("edit", lambda draft: edit_note(draft, FIRST, content="Ours."))
    memory.refresh()
    assert notes_of(home)[FIRST]["content"] == ("Ours." if swapping else "Content of note 1.")
    assert "note-memory-00000063" in notes_of(home)
    assert not [name for name in tree(home) if name.endswith(".tmp")]


def test_a_note_that_is_to_go_but_was_changed_meanwhile_stays(home: Path) -> None:
    memory = Memory.open(home)
    draft = memory.draft()
    delete_note(draft, SECOND)
    _outside(home, "content", "Theirs.")
    with pytest.raises(ConflictError, match="has changed since"):
        memory.apply(draft.change_set("delete"))
    assert notes_of(home)[SECOND]["content"] == "Theirs."
