"""How ages, counts and change sets are put into words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
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
from core.model.change import OURSELVES, PERSON, ChangeSet, FactChange, FileRepair, NoteChange
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.names import iso
from core.model.note import Note, replace
from nuggets_tui.differences import DiffLine, change_lines
from nuggets_tui.words import ago, clock_time, counted, deed, things

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


def test_the_clock_shows_the_hour_today_and_the_day_before() -> None:
    assert clock_time("2026-11-18T09:41:00.000Z", NOW, UTC) == "09:41"
    assert clock_time("2026-11-02T09:41:00.000Z", NOW, UTC) == "2 Nov"
    assert clock_time("2025-11-02T09:41:00.000Z", NOW, UTC) == "2 Nov 25"


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


def test_taking_back_and_emptiness_are_said_too(memory: Memory) -> None:
    _, done = memory.change("hid it", partial(hide_note, id=note_id(memory, "Deploy day")))
    assert said(memory.history.undo(done)) == "undid: hid Deploy day"
    empty = memory.draft().change_set("nothing")
    assert said(empty) == "changed nothing"


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


def test_what_was_done_again_restored_or_repaired_is_said_so(memory: Memory) -> None:
    _, done = memory.change("why", partial(hide_note, id=note_id(memory, "Deploy day")))
    memory.history.undo(done)
    assert said(memory.history.redo()) == "redid: hid Deploy day"
    for kind, prefix in (("restore", "restored:"), ("repair", "repaired:")):
        _, done = memory.change(
            "why", partial(edit_note, id=note_id(memory, "Session store"), content=kind), kind=kind
        )
        assert said(done) == f"{prefix} edited Session store"


def _mirrored(value: str, hits: int = 0, *, number: int = 1, hidden: bool = False) -> tuple[Note, Fact]:
    note = make_note(number, kind="fact", title="k", source_key="k", content=value, hidden=hidden, hits=hits)
    return note, Fact(key="k", value=value, hits=hits)


def _made(notes: Sequence[NoteChange], facts: Sequence[FactChange] = (), **named: Any) -> ChangeSet:
    given = {"id": "c", "at": iso(NOW), "author": PERSON, "reason": "why"} | named
    return ChangeSet(notes=tuple(notes), facts=tuple(facts), **given)


def test_a_change_of_a_note_alone_is_no_change_of_its_fact() -> None:
    note, fact = _mirrored("v")
    came = NoteChange(id=note.id, before=None, after=note)
    alone = _made([came])
    assert counted(alone) == "1 note added"
    assert said(alone) == "added note of k"
    assert said(_made([came], kind="repair")) == "repaired: added note of k"
    inverse = alone.inverse(id="u", at=iso(NOW), author=PERSON, reason="undo")
    assert said(inverse) == "undid: added note of k"
    both = _made([came], [FactChange(nugget="memory", key="k", before=None, after=fact)])
    assert (counted(both), said(both), things(both)) == ("1 fact added", "added k", "1 thing")


def test_a_fact_with_a_new_value_beside_a_hidden_note_of_the_former_one_are_two_things() -> None:
    former, before = _mirrored("old", number=2, hidden=True)
    _, after = _mirrored("new")
    change = FactChange(nugget="memory", key="k", before=before, after=after)
    repaired = _made([NoteChange(id=former.id, before=None, after=former)], [change])
    assert counted(repaired) == "1 note added, 1 fact changed"
    assert things(repaired) == "2 things"
    assert [line.text for lines in change_lines(repaired) for line in lines][-3:] == [
        "k (fact of memory)", "old", "new",
    ]  # fmt: skip


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


def test_a_recall_that_was_dropped_or_counted_again_is_not_called_a_recall() -> None:
    (note, fact), (recalled, counted_fact) = _mirrored("v"), _mirrored("v", 1)
    notes = [NoteChange(id=note.id, before=recalled, after=note)]
    facts = [FactChange(nugget="memory", key="k", before=counted_fact, after=fact)]
    for dropped in (_made(notes, facts, kind="hit"), _made(notes, kind="hit"), _made([], facts, kind="hit")):
        assert said(dropped) == "dropped a recall of k"
        lines = [line for lines in change_lines(dropped) for line in lines]
        assert lines[1:] == [DiffLine("-", "recalled 0×, 1× before")]
    again = _made(notes, facts, kind="hit").inverse(
        id="c", at=iso(NOW), author=OURSELVES, reason="why", kind="hit"
    )
    assert said(again) == "counted again: k"
    assert said(msgspec.structs.replace(again, author=PERSON)) == "recalled k"


def test_a_repair_of_a_file_alone_says_what_it_did() -> None:
    mend = FileRepair(path="graph/graph.json", kept="kept", before="0", after="1")
    change_set = ChangeSet(id="a", at="", author=PERSON, reason="why", kind="repair", mends=(mend,))
    assert said(change_set) == "repaired graph/graph.json"
    taken_back = msgspec.structs.replace(change_set, kind="undo", about="a")
    assert said(taken_back) == "undid: repaired graph/graph.json"
    # Logged by a version that did not keep which files it were.
    former = msgspec.structs.replace(change_set, mends=(), reason="repaired graph/graph.json")
    assert said(former) == "repaired: repaired graph/graph.json"


@pytest.mark.parametrize("turn", ["undo", "redo"])
def test_undoing_one_part_of_an_entry_names_that_part_alone(memory: Memory, turn: str) -> None:
    def three(draft: Draft) -> None:
        hub, *others = (create_note(draft, "project", title, f"About {title}.") for title in "ABC")
        for other in others:
            link_notes(draft, hub.id, other.id)

    _, done = memory.change("three notes", three)
    part = 1 + [change.note.title for change in done.notes].index("A")
    turned = memory.history.undo(done, part)
    if turn == "redo":
        turned = memory.history.redo(turned.about)
    told = deed(turned)
    assert (told.what.removeprefix("added "), told.note_id) == ("A", done.notes[part - 1].id)
    assert "part of" in turned.reason
