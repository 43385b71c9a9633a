"""How ages, counts and change sets are put into words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kits.app_kit import small_memory
from kits.drafts import make_note

from core.facts.edits import forget, remember
from core.graph.edits import (
    create_note,
    delete_note,
    edit_note,
    hide_note,
    link_notes,
    move_to_scope,
    unhide_note,
)
from core.graph.merging import merge_notes
from core.memory import Memory
from core.model.change import PERSON, ChangeSet, FactChange, NoteChange
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.names import iso
from core.model.note import Note, replace
from nuggets_tui.words import ago, counted, deed

NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


def test_ages_are_short() -> None:
    for age, said in [
        (timedelta(0), "now"),
        (timedelta(seconds=-5), "now"),
        (timedelta(seconds=2), "2 s"),
        (timedelta(minutes=5, seconds=59), "5 min"),
        (timedelta(hours=3), "3 h"),
        (timedelta(days=12), "12 d"),
        (timedelta(days=70), "2 mo"),
        (timedelta(days=800), "2 y"),
    ]:
        assert ago(iso(NOW - age), NOW) == said


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A small memory."""
    return small_memory(tmp_path / "memory")


def note_id(memory: Memory, title: str) -> str:
    """The id of a note."""
    return next(note.id for note in memory.snapshot.notes if note.title == title)


def said(change_set: ChangeSet) -> str:
    """A change set in one line."""
    told = deed(change_set)
    return f"{told.verb} {told.what}"


@pytest.mark.slow
def test_each_kind_of_change_has_its_words(memory: Memory) -> None:
    def change(edit: object, **named: object) -> str:
        return said(memory.change("why", partial(edit, **named))[1])  # type: ignore[operator]

    store, day = note_id(memory, "Session store"), note_id(memory, "Deploy day")
    scratch = note_id(memory, "Old scratch")
    assert change(create_note, nugget="project", title="New", content="x") == "added New"
    assert change(edit_note, id=store, content="other") == "edited Session store"
    assert change(edit_note, id=store, title="Store") == "renamed Store"
    assert change(edit_note, id=store, tags=["a"]) == "tagged Store"
    assert change(move_to_scope, id=store, scope="session") == "moved Store"
    assert change(hide_note, id=store) == "hid Store"
    assert change(unhide_note, id=store) == "brought back Store"
    assert change(link_notes, a=store, b=day) in ("linked Store ↔ Deploy day", "linked Deploy day ↔ Store")
    assert change(remember, nugget="project", key="k", value="v") == "added k"
    assert change(remember, nugget="project", key="k", value="w") == "edited k"
    assert change(forget, nugget="project", key="k") == "hid k"
    assert change(merge_notes, survivor_id=store, other_id=day) == "merged Deploy day into Store"
    assert change(delete_note, id=scratch) == "deleted Old scratch"


def test_both_ends_of_a_link_are_one_pair_and_notes_are_named(memory: Memory) -> None:
    titles = ("Session store", "Deploy day", "Auth middleware")
    store, day, auth = (note_id(memory, title) for title in titles)

    def edit(draft: Draft) -> None:
        link_notes(draft, store, day, "both")
        link_notes(draft, store, auth, "both")
        hide_note(draft, note_id(memory, "JWT token format"))

    _, done = memory.change("why", edit)
    words = said(done)
    assert "linked 2 pairs" in words
    assert "hid 1 note" in words
    assert "Session store" in words
    assert said(memory.history.undo(done)) == f"undid: {words}"


def _mirrored(value: str, hits: int = 0, *, number: int = 1, hidden: bool = False) -> tuple[Note, Fact]:
    note = make_note(number, kind="fact", title="k", source_key="k", content=value, hidden=hidden, hits=hits)
    return note, Fact(key="k", value=value, hits=hits)


def _made(notes: Sequence[NoteChange], facts: Sequence[FactChange] = (), **named: Any) -> ChangeSet:
    given = {"id": "c", "at": iso(NOW), "author": PERSON, "reason": "why"} | named
    return ChangeSet(notes=tuple(notes), facts=tuple(facts), **given)


def test_a_fact_that_comes_or_goes_is_told_as_its_note_tells_it_or_by_itself() -> None:
    note, fact = _mirrored("v")
    hidden = replace(note, hidden=True)
    tagged = replace(note, tags=("more",))
    came = FactChange(nugget="memory", key="k", before=None, after=fact)
    went = FactChange(nugget="memory", key="k", before=fact, after=None)
    for before, after, change, told in (
        (hidden, note, came, "1 fact brought back"),
        (note, tagged, came, "1 fact remembered"),
        (note, hidden, went, "1 fact hidden"),
        (note, None, went, "1 fact deleted"),
        (None, hidden, went, "1 fact forgotten"),
        (note, note, came, "1 fact remembered"),
    ):
        assert counted(_made([NoteChange(id=note.id, before=before, after=after)], [change])) == told
