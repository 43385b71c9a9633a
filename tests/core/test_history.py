"""Taking back and doing again: any change, by anybody, in part or whole, after a restart as well."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kits.beside import ONE, THREE, TWO, make_home
from kits.memory_files import fact_object, facts_of, note_object, notes_of, tree, write_graph, write_nugget

from core import Memory
from core.errors import AmbiguousError, ConflictError, InvalidInputError, NotFoundError, NuggetsError
from core.facts.edits import clear, remember
from core.graph.edits import create_note, edit_note, hide_note, link_notes, unhide_note
from core.model.change import Author, ChangeSet
from core.model.draft import Draft

AGENT = Author("agent", "claude")
LATER = "2026-06-01T00:00:00.000Z"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path)


def _write(memory: Memory, content: str, note: str = ONE, **fields: object) -> ChangeSet:
    edit = lambda draft: edit_note(draft, note, content=content, **fields)  # noqa: E731
    return memory.change(f"wrote {content}", edit)[1]


def _tag(memory: Memory, tag: str, note: str = ONE) -> ChangeSet:
    return memory.change(f"tagged {tag}", lambda draft: edit_note(draft, note, add_tags=[tag]))[1]


def _content(home: Path, note: str = ONE) -> str:
    return str(notes_of(home)[note]["content"])


def _texts(home: Path) -> dict[str, str]:
    return {id: note["content"] for id, note in notes_of(home).items()}


# Back and forth


def test_undo_of_an_undo_is_a_redo_and_back_again(home: Path) -> None:
    memory = Memory.open(home)
    done = _write(memory, "Ours.")
    undone = memory.history.undo()
    assert (undone.kind, undone.about) == ("undo", done.id)
    again = memory.history.undo(undone.id)
    assert (again.kind, again.about) == ("redo", done.id)
    assert _content(home) == "Ours."
    assert not memory.history.entry(done.id).undone
    with pytest.raises(InvalidInputError, match="undone or redone since"):
        memory.history.undo(undone.id)
    back = memory.history.undo(again.id)
    assert (back.kind, back.about) == ("undo", done.id)
    assert _content(home) == "Content of note 1."
    assert memory.history.taken_back() == {done.id}


@pytest.mark.parametrize("later", ["tag", "link"])
def test_a_note_that_got_a_tag_or_a_link_since_does_not_go_with_the_undo_of_what_added_it(
    home: Path, later: str
) -> None:
    memory = Memory.open(home)
    _, added = memory.change("added", lambda draft: create_note(draft, "n", "B", "text"))
    new = added.notes[0].id
    if later == "tag":
        since = _tag(memory, "later", new)
    else:
        since = memory.change("linked", lambda draft: link_notes(draft, ONE, new))[1]
    before = notes_of(home)
    with pytest.raises(ConflictError) as refused:
        memory.history.undo(added.id)
    assert since.id in refused.value.todo
    assert notes_of(home) == before
    memory.history.undo(since.id)
    memory.history.undo(added.id)
    assert new not in notes_of(home)


def test_what_is_taken_back_is_not_taken_back_twice(home: Path) -> None:
    memory = Memory.open(home)
    done = _write(memory, "Ours.")
    with pytest.raises(InvalidInputError, match="is not undone"):
        memory.history.redo(done.id)
    memory.history.undo(done.id)
    with pytest.raises(InvalidInputError, match="already undone"):
        memory.history.undo(done.id)
    with pytest.raises(InvalidInputError, match="already undone"):
        memory.history.undo(done)
    memory.history.redo(done.id)
    with pytest.raises(InvalidInputError, match="is not undone"):
        memory.history.redo(done.id)
    assert [entry.change_set.kind for entry in memory.history.log()] == ["redo", "undo", "edit"]


# By name


@pytest.mark.parametrize("how", ["id", "beginning", "change set", "with space"])
def test_a_change_is_named_by_its_id_or_the_beginning_of_it(home: Path, how: str) -> None:
    memory = Memory.open(home)
    done = _write(memory, "Ours.")
    _write(memory, "Other.", TWO)
    names = {"id": done.id, "beginning": done.id[:6], "change set": done, "with space": f" {done.id}\n"}
    memory.history.undo(names[how])  # type: ignore[arg-type]
    assert _texts(home)[ONE] == "Content of note 1."
    assert _texts(home)[TWO] == "Other."


def test_names_that_name_nothing_are_refused(home: Path) -> None:
    numbers = iter(("aa000001", "aa000002"))
    memory = Memory.open(home, ids=lambda: next(numbers))
    _write(memory, "A.")
    _write(memory, "B.")
    with pytest.raises(AmbiguousError):
        memory.history.undo("aa")
    for nothing in ("zz", "aa0000011", "aa000001.9", "aa000001.0"):
        with pytest.raises(NotFoundError):
            memory.history.undo(nothing)
    for odd in ("", " ", "aa000001.", "aa000001.x", "aa000001.-1", ".1", "aa000001.\u0661"):
        with pytest.raises(NuggetsError):
            memory.history.undo(odd)
        with pytest.raises(NuggetsError):
            memory.history.redo(odd)
    with pytest.raises(NuggetsError):
        memory.history.undo("aa000001." + "9" * 5000)
    assert _content(home) == "B."


def test_a_change_set_that_the_log_does_not_know_is_taken_back_as_it_is(home: Path) -> None:
    memory = Memory.open(home)
    done = _write(memory, "Ours.")
    for path in home.glob("nuggets.db*"):
        path.unlink()
    memory.history.undo(done)
    assert _content(home) == "Content of note 1."


# One part


def test_one_part_of_a_change_is_taken_back_and_done_again_alone(home: Path) -> None:
    memory = Memory.open(home)

    def edit(draft: Draft) -> None:
        edit_note(draft, ONE, content="One.")
        edit_note(draft, TWO, content="Two.")
        remember(draft, "memory", "user:c", "value")

    done = memory.change("three things", edit)[1]
    numbers = {part.notes[0].id: number for number, part in enumerate(_parts(done), 1) if part.notes}
    memory.history.undo(done.id, numbers[TWO])
    assert (_texts(home)[ONE], _texts(home)[TWO]) == ("One.", "Content of note 2.")
    assert len(facts_of(home, "memory.nugget.json")) == 3
    assert not memory.history.entry(done.id).undone
    assert memory.history.taken_back() == {f"{done.id}.{numbers[TWO]}"}
    with pytest.raises(InvalidInputError, match="already undone"):
        memory.history.undo(f"{done.id}.{numbers[TWO]}")
    memory.history.redo(f"{done.id}.{numbers[TWO]}")
    assert _texts(home)[TWO] == "Two."
    memory.history.undo(f"{done.id}.{numbers[ONE]}")
    memory.history.undo()
    assert _texts(home)[ONE] == "Content of note 1."
    assert _texts(home)[TWO] == "Content of note 2."
    assert len(facts_of(home, "memory.nugget.json")) == 2
    assert [note["title"] for note in notes_of(home).values() if note["kind"] == "fact"] == [
        "user:a",
        "user:b",
    ]


def _parts(done: ChangeSet) -> tuple[ChangeSet, ...]:
    from core.model.change_parts import change_parts

    return change_parts(done)


# What came later


def test_an_older_change_is_taken_back_beside_what_came_later(home: Path) -> None:
    memory = Memory.open(home)
    older = memory.change("both", lambda draft: edit_note(draft, ONE, content="Ours.", add_tags=["ours"]))[1]
    _tag(memory, "later")
    link = memory.change("link", lambda draft: link_notes(draft, ONE, TWO, "kin"))[1]
    memory.recall("user:a", session="s")
    Memory.open(home).history.undo(older.id)
    note = notes_of(home)[ONE]
    assert note["content"] == "Content of note 1."
    assert "later" in note["tags"]
    assert "ours" not in note["tags"]
    assert [one["to"] for one in note["links"]] == [TWO]
    Memory.open(home).history.undo(link.id)
    assert notes_of(home)[TWO]["links"] == []
    assert "later" in notes_of(home)[ONE]["tags"]


def test_what_stands_in_the_way_of_taking_back_is_named(home: Path) -> None:
    memory = Memory.open(home)
    older = _write(memory, "First.")
    newer = _write(Memory.open(home, author=AGENT), "Second.")
    before = tree(home)
    with pytest.raises(ConflictError) as caught:
        memory.history.undo(older.id)
    assert newer.id in caught.value.message
    assert "claude: wrote Second." in caught.value.message
    assert (caught.value.base, caught.value.ours, caught.value.theirs) == (
        "First.", "Content of note 1.", "Second.",
    )  # fmt: skip
    assert tree(home) == before
    assert memory.history.conflicts() == ()
    memory.history.undo(newer.id)
    memory.history.undo(older.id)
    assert _content(home) == "Content of note 1."


def test_a_change_that_a_later_one_took_back_in_part_waits_for_that_one(home: Path) -> None:
    memory = Memory.open(home)
    cleared = memory.change("cleared", lambda draft: clear(draft, "memory"))[1]
    id = next(note.id for note in memory.snapshot.notes if note.is_fact)
    back = memory.change("brought back", lambda draft: unhide_note(draft, id))[1]
    with pytest.raises(ConflictError) as caught:
        memory.history.undo(cleared.id)
    assert back.id in caught.value.message
    memory.history.undo(back.id)
    memory.history.undo(cleared.id)
    assert not any(note.hidden for note in memory.snapshot.notes)


# Whose change


def test_undo_takes_back_what_its_own_author_did(home: Path) -> None:
    memory, agent = Memory.open(home), Memory.open(home, author=AGENT)
    other = Memory.open(home, author=Author("agent", "codex"))
    _write(memory, "By the person.")
    _write(agent, "By an agent.", TWO)
    memory.history.undo()
    assert (_texts(home)[ONE], _texts(home)[TWO]) == ("Content of note 1.", "By an agent.")
    with pytest.raises(NotFoundError):
        memory.history.undo()
    with pytest.raises(NotFoundError):
        other.history.undo()
    agent.history.undo()
    assert _texts(home)[TWO] == "Content of note 2."
    with pytest.raises(NotFoundError):
        other.history.redo()
    agent.history.redo()
    assert (_texts(home)[ONE], _texts(home)[TWO]) == ("Content of note 1.", "By an agent.")


def test_a_change_of_another_program_is_taken_back_by_name_alone(home: Path) -> None:
    memory = Memory.open(home)
    notes = notes_of(home)
    notes[ONE] |= {"content": "Theirs.", "updatedAt": LATER}
    del notes[THREE]
    write_graph(home, notes.values())
    write_nugget(home, "memory", [fact_object("user:a", "theirs"), *facts_of(home, "memory.nugget.json")[1:]])
    for file in ("memory.nugget.json", "graph/graph.json"):
        os.utime(home / file, (1, 1))
    memory.refresh()
    with pytest.raises(NotFoundError):
        memory.history.undo()
    entry = memory.history.log(author="program")[0]
    memory.history.undo(entry.id)
    assert _texts(home)[ONE] == "Content of note 1."
    assert THREE in notes_of(home)
    assert facts_of(home, "memory.nugget.json")[0]["value"] == "a value"
    memory.history.redo()
    assert THREE not in notes_of(home)
    assert _texts(home)[ONE] == "Theirs."
    with pytest.raises(NotFoundError):
        memory.history.undo()
    memory.history.undo(entry.id)
    assert _texts(home)[ONE] == "Content of note 1."


# Windows


def make(memory: Memory, title: str) -> None:
    memory.change(f"made {title}", lambda draft: create_note(draft, "memory", title, "text"))


def titles(home: Path) -> list[str]:
    return sorted(note.title for note in Memory.open(home).snapshot.notes)


@pytest.fixture
def two(tmp_path: Path) -> tuple[Memory, Memory]:
    return Memory.open(tmp_path), Memory.open(tmp_path)


def test_undo_takes_back_the_last_change_of_its_own_window(
    two: tuple[Memory, Memory], tmp_path: Path
) -> None:
    one, other = two
    make(one, "a")
    make(other, "b")
    make(other, "c")
    one.history.undo()
    assert titles(tmp_path) == ["b", "c"]
    other.history.undo()
    other.history.undo()
    assert titles(tmp_path) == []
    for memory in two:
        with pytest.raises(NotFoundError):
            memory.history.undo()


def test_what_was_there_when_a_window_opened_is_taken_back_after_its_own(tmp_path: Path) -> None:
    make(Memory.open(tmp_path), "earlier")
    one, other = Memory.open(tmp_path), Memory.open(tmp_path)
    make(other, "elsewhere")
    make(one, "here")
    one.history.undo()
    one.history.undo()
    assert titles(tmp_path) == ["elsewhere"]
    one.history.redo()
    one.history.redo()
    assert titles(tmp_path) == ["earlier", "elsewhere", "here"]


# Parts


IDS = [f"note-memory-{number:08x}" for number in (1, 2, 3)]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    write_graph(tmp_path, [note_object(number) for number in (1, 2, 3)])
    return Memory.open(tmp_path)


def _hide_all(memory: Memory) -> str:
    return memory.change("hid three", lambda draft: [hide_note(draft, id) for id in IDS])[1].id


def _hidden(memory: Memory) -> list[bool]:
    return [memory.snapshot.note(id).hidden for id in IDS]


def test_what_was_taken_back_in_pieces_is_done_again_whole_by_the_name_of_the_entry(memory: Memory) -> None:
    id = _hide_all(memory)
    memory.history.undo(f"{id}.1")
    memory.history.undo(id)
    assert _hidden(memory) == [False, False, False]
    assert memory.history.entry(id).undone
    memory.history.redo(id)
    assert _hidden(memory) == [True, True, True]
    assert memory.history.taken_back() == frozenset()


def test_bare_redo_does_the_pieces_again_in_turn_and_undo_then_takes_all_back(memory: Memory) -> None:
    id = _hide_all(memory)
    memory.history.undo(f"{id}.2")
    memory.history.undo()
    memory.history.redo()
    assert _hidden(memory) == [True, False, True]
    assert not memory.history.entry(id).undone
    memory.history.redo()
    assert _hidden(memory) == [True, True, True]
    memory.history.undo(id)
    assert _hidden(memory) == [False, False, False]
