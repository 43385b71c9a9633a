"""Conflicts decided while a change set is brought onto a newer file: ours, theirs, or all told at once."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import fact_object, note_object, write_graph, write_nugget

from core import Memory
from core.errors import ConflictError
from core.facts.edits import forget, remember
from core.graph.edits import delete_note, edit_note, hide_note, unhide_note
from core.model.change import ChangeKind, ChangeSet
from core.model.draft import Draft
from core.storage.merge.deciding import Collect, take_ours, take_theirs
from core.storage.merge.rebase import rebase

FIRST, SECOND = (f"note-memory-{number:08x}" for number in (1, 2))
FACT = "fact-memory-000000ff"
Edit = Callable[[Draft], object]


@contextmanager
def two_programs() -> Iterator[tuple[Memory, Memory]]:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        fact_note = note_object(0xFF, kind="fact", sourceKey="k", title="k", content="v", id=FACT)
        write_graph(home, [fact_note, *(note_object(number) for number in (1, 2))])
        write_nugget(home, "memory", [fact_object("k", "v")])
        counter = itertools.count()
        start = datetime(2026, 5, 5, tzinfo=UTC)

        def clock() -> datetime:
            return start + timedelta(seconds=next(counter))

        yield Memory.open(home, clock=clock), Memory.open(home, clock=clock)


def decided(ours: Edit, theirs: Edit, decide: Any, former: Edit | None = None) -> Memory:
    """The memory after `theirs`, with `ours`, thought out before, brought onto it by the decision and written."""
    with two_programs() as (one, other):
        if former is not None:
            one.change("former", former)
            other.refresh()
        change_set = _drafted(one, ours)
        other.change("theirs", theirs)
        with pytest.raises(ConflictError):
            rebase(change_set, other.snapshot)
        rebased = rebase(change_set, other.snapshot, decide)
        other.apply(rebased)
        _assert_in_step(other)
        return other


def _drafted(memory: Memory, edit: Edit, kind: ChangeKind = "edit") -> ChangeSet:
    draft = memory.draft()
    edit(draft)
    return draft.change_set("ours", kind=kind)


def _assert_in_step(memory: Memory) -> None:
    """Every fact has one visible note that says the same, and every visible fact note has its fact."""
    snapshot = memory.snapshot
    notes = sorted((n.nugget_name, n.key, n.content) for n in snapshot.visible if n.is_fact)
    facts = sorted((held.name, fact.key, fact.value) for held in snapshot.nuggets for fact in held.facts)
    assert notes == facts
    ids = {note.id for note in snapshot.notes}
    assert all(link.to in ids for note in snapshot.notes for link in note.links)


def _facts(memory: Memory) -> dict[str, str]:
    return {fact.key: fact.value for fact in memory.snapshot.nugget("memory").facts}


FIELDS: dict[str, Callable[[str], Edit]] = {
    "title": lambda text: lambda draft: edit_note(draft, FIRST, title=text),
    "content": lambda text: lambda draft: edit_note(draft, FIRST, content=text),
}


# ours, theirs, the facts when ours stand, the facts when theirs stand
FACTS: dict[str, tuple[Edit, Edit, dict[str, str], dict[str, str]]] = {
    "value": (
        lambda draft: remember(draft, "memory", "k", "ours"),
        lambda draft: remember(draft, "memory", "k", "theirs"),
        {"k": "ours"},
        {"k": "theirs"},
    ),
    "new key": (
        lambda draft: remember(draft, "memory", "new", "ours"),
        lambda draft: remember(draft, "memory", "new", "theirs"),
        {"k": "v", "new": "ours"},
        {"k": "v", "new": "theirs"},
    ),
    "changed and forgotten": (
        lambda draft: remember(draft, "memory", "k", "ours"),
        lambda draft: forget(draft, "memory", "k"),
        {"k": "ours"},
        {},
    ),
    "changed and deleted": (
        lambda draft: remember(draft, "memory", "k", "ours"),
        lambda draft: delete_note(draft, FACT),
        {"k": "ours"},
        {},
    ),
    "forgotten and changed": (
        lambda draft: forget(draft, "memory", "k"),
        lambda draft: remember(draft, "memory", "k", "theirs"),
        {},
        {"k": "theirs"},
    ),
    "deleted and changed": (
        lambda draft: delete_note(draft, FACT),
        lambda draft: remember(draft, "memory", "k", "theirs"),
        {},
        {"k": "theirs"},
    ),
    "hidden and changed": (
        lambda draft: hide_note(draft, FACT),
        lambda draft: remember(draft, "memory", "k", "theirs"),
        {},
        {"k": "theirs"},
    ),
    "changed and hidden": (
        lambda draft: remember(draft, "memory", "k", "ours"),
        lambda draft: hide_note(draft, FACT),
        {"k": "ours"},
        {},
    ),
    "renamed and taken": (
        lambda draft: edit_note(draft, FACT, title="new"),
        lambda draft: remember(draft, "memory", "new", "theirs"),
        {"new": "v"},
        {"k": "v", "new": "theirs"},
    ),
}


def test_a_fact_in_conflict_becomes_what_was_decided_and_stays_in_step_with_its_note() -> None:
    for name in FACTS:
        ours, theirs, with_ours, with_theirs = FACTS[name]
        assert _facts(decided(ours, theirs, take_ours)) == with_ours
        assert _facts(decided(ours, theirs, take_theirs)) == with_theirs


def test_bringing_back_a_fact_whose_key_was_stored_anew_gives_the_key_to_the_one_decided_on() -> None:
    def decide(decide: Any) -> Memory:
        return decided(
            lambda draft: unhide_note(draft, FACT),
            lambda draft: remember(draft, "memory", "k", "newer"),
            decide,
            former=lambda draft: hide_note(draft, FACT),
        )

    taken = decide(take_ours)
    assert _facts(taken) == {"k": "v"}
    assert not taken.snapshot.note(FACT).hidden
    left = decide(take_theirs)
    assert _facts(left) == {"k": "newer"}
    assert left.snapshot.note(FACT).hidden


@pytest.mark.slow
def test_a_note_changed_by_one_and_deleted_by_the_other_goes_or_comes_back() -> None:
    edit, delete = FIELDS["content"]("Kept."), lambda draft: delete_note(draft, FIRST)
    assert decided(edit, delete, take_ours).snapshot.note(FIRST).content == "Kept."
    assert FIRST not in decided(edit, delete, take_theirs).snapshot.by_id
    assert FIRST not in decided(delete, edit, take_ours).snapshot.by_id
    assert decided(delete, edit, take_theirs).snapshot.note(FIRST).content == "Kept."


@pytest.mark.parametrize("kind", ["undo", "redo", "restore"])
def test_what_is_brought_back_stays_as_it_was_also_where_it_was_not_quite_right(kind: ChangeKind) -> None:
    with two_programs() as (one, _):
        note = one.snapshot.note(FIRST)
        odd = note_object(1, tags=["Odd Tag"])
        write_graph(
            one.home, [note_object(0xFF, kind="fact", sourceKey="k", title="k", content="v", id=FACT), odd]
        )
        one.refresh()
        done = one.change("edit", lambda draft: edit_note(draft, FIRST, content="Other."))[1]
        back = done.inverse(id="back", at="later", author=done.author, reason="back", kind=kind)
        one.apply(back)
        assert one.snapshot.note(FIRST).tags == ("Odd Tag",)
        assert note.tags != ("Odd Tag",)


def test_all_conflicts_are_told_at_once_each_of_them_once() -> None:
    def edit(text: str) -> Edit:
        def made(draft: Draft) -> None:
            edit_note(draft, FIRST, title=text, content=text)
            delete_note(draft, SECOND) if text == "Theirs" else edit_note(draft, SECOND, content=text)
            remember(draft, "memory", "k", text)
            remember(draft, "memory", "new", text)

        return made

    collected = Collect(take_theirs)
    left = decided(edit("Ours"), edit("Theirs"), collected)
    found = {(conflict.where, conflict.field): conflict for conflict in collected.conflicts}
    assert len(found) == len(collected.conflicts)
    assert set(found) >= {
        (FIRST, "title"),
        (FIRST, "content"),
        (SECOND, ""),
        ("memory: k", "value"),
        ("memory: new", ""),
    }
    content = found[FIRST, "content"]
    assert (content.base, content.ours, content.theirs) == ("Content of note 1.", "Ours", "Theirs")
    assert _facts(left) == {"k": "Theirs", "new": "Theirs"}
