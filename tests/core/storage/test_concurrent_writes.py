"""Versions that another program writes in the very instant of a write of ours: both stand in the end."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from kits.beside import (
    NUGGET,
    ONE,
    TWO,
    add_note,
    content_of,
    kinds,
    make_home,
    save_stale,
    slip_in,
    values_of,
)
from kits.memory_files import (
    GRAPH,
    fact_object,
    javascript,
    note_object,
    notes_of,
    replace_bytes,
    tree,
    write_graph,
    write_nugget,
)
from kits.original_writer import Original, read_graph
from kits.steps import assert_facts_and_notes_are_one

from core import Memory
from core.facts.edits import remember
from core.graph.edits import create_note, edit_note
from core.storage.journal.journal import Journal


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path)


def test_what_slips_in_at_the_exchange_is_brought_in_on_top(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)

    def foreign() -> None:
        add_note(home)
        Original(home, load=False).edit_note(TWO, content="Theirs.")

    slip_in(monkeypatch, "graph.json", foreign)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    assert (content_of(home), content_of(home, TWO)) == ("Ours.", "Theirs.")
    assert "note-memory-00000009" in notes_of(home)
    assert kinds(memory) == [("edit", "done"), ("outside", "done")]
    assert memory.snapshot.notes == Memory.open(home).snapshot.notes
    assert kinds(Memory.open(home)) == [("edit", "done"), ("outside", "done")]
    assert tree(home).keys() == {str(GRAPH), NUGGET}
    entry = memory.history.log(author="program")[0]
    memory.history.undo(entry.id)
    assert (content_of(home), content_of(home, TWO)) == ("Ours.", "Content of note 2.")
    assert "note-memory-00000009" not in notes_of(home)


def test_recalls_and_edits_that_slip_in_are_both_brought_in(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)

    def foreign() -> None:
        Original(home, load=False).record_hit(TWO, "s-1")
        Original(home, load=False).edit_note(ONE, tags=[*notes_of(home)[ONE]["tags"], "theirs"])

    slip_in(monkeypatch, "graph.json", foreign)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours.", add_tags=["ours"]))
    assert notes_of(home)[TWO]["hits"] == 1
    assert {"ours", "theirs"} <= set(notes_of(home)[ONE]["tags"])
    assert content_of(home) == "Ours."
    assert sorted(kinds(memory)) == [("edit", "done"), ("hit", "done"), ("outside", "done")]


def test_a_slip_that_changed_the_same_field_waits_as_a_conflict(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)

    def foreign() -> None:
        add_note(home)
        Original(home, load=False).edit_note(ONE, content="Theirs.")

    slip_in(monkeypatch, "graph.json", foreign)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    assert content_of(home) == "Ours."
    assert "note-memory-00000009" in notes_of(home)
    (entry,) = memory.history.conflicts()
    assert entry.conflict is not None
    assert (entry.conflict.base, entry.conflict.ours, entry.conflict.theirs) == (
        "Content of note 1.", "Theirs.", "Ours.",
    )  # fmt: skip
    assert [one.id for one in Memory.open(home).history.conflicts()] == [entry.id]
    memory.history.resolve_conflict(entry.id, "ours")
    assert content_of(home) == "Theirs."
    assert memory.history.conflicts() == ()


def test_a_file_that_comes_to_be_in_the_instant_of_our_making_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(tmp_path)
    real, turns = os.link, iter([True, False])

    def link(one: Path, other: Path) -> None:
        if next(turns, False):
            write_graph(tmp_path, [note_object(9)])
        real(one, other)

    monkeypatch.setattr(os, "link", link)
    memory.change("new", lambda draft: create_note(draft, "memory", "Ours", "Text."))
    assert sorted(note["title"] for note in notes_of(tmp_path).values()) == ["Ours", "Title 9"]
    assert tree(tmp_path).keys() == {str(GRAPH)}


def test_a_second_file_that_comes_to_be_while_the_first_is_written_already_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(tmp_path)
    real, turns = os.link, iter([False, True])

    def link(one: Path, other: Path) -> None:
        if next(turns, False):
            if other.name == "graph.json":
                write_graph(tmp_path, [note_object(9)])
            else:
                write_nugget(tmp_path, "memory", [fact_object("user:theirs")])
        real(one, other)

    monkeypatch.setattr(os, "link", link)
    memory.change("fact", lambda draft: remember(draft, "memory", "user:ours", "ours"))
    assert sorted(note["title"] for note in notes_of(tmp_path).values()) in (
        ["Title 9", "user:ours"],
        ["user:ours"],
    )
    assert "user:ours" in values_of(tmp_path)
    assert len(values_of(tmp_path)) + len(notes_of(tmp_path)) == 3
    assert tree(tmp_path).keys() == {str(GRAPH), NUGGET}
    assert memory.snapshot.notes == Memory.open(tmp_path).snapshot.notes


class Killed(BaseException):
    """The end of a process, as far as what it has written goes."""


def _kill(*_: object, **__: object) -> None:
    raise Killed


def _killed_before_finishing(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, foreign: Callable[[], object]
) -> None:
    """A change of ours that another program slipped into, cut off before the log knew that it was written."""
    memory = Memory.open(home)
    with monkeypatch.context() as patch:
        slip_in(patch, name, foreign)
        patch.setattr(Journal, "mark_written", _kill)
        with pytest.raises(Killed):
            memory.change("edit", lambda draft: (edit_note(draft, ONE, content="Ours."),
                                                 remember(draft, "memory", "user:ours", "ours")))  # fmt: skip
    assert list(home.rglob("*.tmp"))


def test_a_version_that_slipped_in_is_rescued_after_a_kill(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _killed_before_finishing(home, monkeypatch, "graph.json", lambda: add_note(home))
    memory = Memory.open(home)
    assert "note-memory-00000009" in notes_of(home)
    assert content_of(home) == "Ours."
    assert values_of(home)["user:ours"] == "ours"
    assert_facts_and_notes_are_one(memory.snapshot)
    assert not list(home.rglob("*.tmp"))
    assert memory.store.reconciled
    assert sorted(kinds(Memory.open(home))) == [("edit", "done"), ("outside", "done")]


@pytest.mark.parametrize("steps", range(8))
def test_what_slipped_in_outlives_a_kill_at_any_step_of_the_log(
    home: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    memory = Memory.open(home)
    plain, left = Journal.transaction, iter(range(steps, -1, -1))

    def step() -> None:
        if next(left, 0) == 0:
            raise Killed

    @contextmanager
    def transaction(self: Journal, **named: bool) -> Iterator[sqlite3.Connection]:
        step()
        with plain(self, **named) as connection:
            yield connection
            step()

    with monkeypatch.context() as patch:
        slip_in(patch, "graph.json", lambda: add_note(home))
        patch.setattr(Journal, "transaction", transaction)
        with suppress(Killed):
            memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    written = content_of(home) == "Ours."
    memory = Memory.open(home)
    assert (content_of(home) == "Ours.") >= written
    assert ("note-memory-00000009" in notes_of(home)) is written
    assert memory.store.reconciled
    assert sorted(kinds(memory)) == [("edit", "done"), ("outside", "done")] * written


def test_what_another_program_wrote_after_a_kill_and_what_it_had_slipped_in_are_both_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _killed_before_finishing(home, monkeypatch, "graph.json", lambda: add_note(home, 8))
    add_note(home, 9)
    memory = Memory.open(home)
    assert {"note-memory-00000008", "note-memory-00000009"} <= set(notes_of(home))
    assert content_of(home) == "Ours."
    assert memory.store.reconciled


def test_a_kill_that_another_program_followed_with_a_stale_save_still_ends_with_our_change(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = read_graph(home)
    memory = Memory.open(home)
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "mark_written", _kill)
        with pytest.raises(Killed):
            memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    assert content_of(home) == "Ours."
    stale["notes"].append(note_object(9))
    save_stale(home, stale)
    memory = Memory.open(home)
    assert content_of(home) == "Ours."
    assert "note-memory-00000009" in notes_of(home)


# What cannot be read


def test_a_broken_version_that_slipped_in_is_not_thrown_away(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    broken = (home / GRAPH).read_bytes()[:-40]
    slip_in(monkeypatch, "graph.json", lambda: replace_bytes(home / GRAPH, broken))
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    assert content_of(home) == "Ours."
    kept = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    assert broken in kept
    assert memory.take_notices()


def test_a_file_that_slipped_in_with_a_note_that_cannot_be_read_is_kept(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    shaped = json.loads((home / GRAPH).read_bytes())
    shaped["notes"] += [note_object(9), note_object(10, content=5)]
    data = javascript(shaped, indent=2) + b"\n"
    slip_in(monkeypatch, "graph.json", lambda: replace_bytes(home / GRAPH, data))
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    assert "note-memory-00000009" in notes_of(home)
    everywhere = b"".join(
        path.read_bytes() for path in home.rglob("*") if path.is_file() and "ledger" not in path.name
    )
    assert b"note-memory-0000000a" in everywhere
