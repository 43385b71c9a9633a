"""Edits of many notes are the edits of each, one change set, and taken back to the byte."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.counted_steps import steps_of
from kits.drafts import NOW, draft_over, facts_in, found, make_draft, make_fact_note, make_link, make_note
from kits.laws import examples

from core.errors import ConflictError, NotFoundError
from core.facts.edits import remember
from core.graph.edits import (
    create_note,
    delete_note,
    edit_each,
    edit_note,
    hide_note,
    link_notes,
    move_to_scope,
    unhide_note,
)
from core.memory import Memory
from core.model.draft import Draft
from core.model.note import replace

TARGET = "note-memory-00000000"
EDITS: dict[str, Callable[[Draft, str], object]] = {
    "hide": hide_note,
    "bring back": unhide_note,
    "delete": delete_note,
    "tag": partial(edit_note, add_tags=["Bulk Tag", "auth"], remove_tags=["old"]),
    "move": partial(move_to_scope, scope="session"),
    "link": lambda draft, id: id == TARGET or link_notes(draft, id, TARGET, "kin"),
}
NOTES, FACTS = 6, 4
SESSION = {"scope": "session", "subject": "session:current", "stability": "temporary"}


def memory_in(home: Path) -> Memory:
    """Six notes in a ring of links and four facts in two nuggets; every third thing is hidden."""
    numbers = itertools.count(0)
    memory = Memory.open(home, clock=lambda: NOW, ids=lambda: f"{next(numbers):08x}")

    def fill(draft: Draft) -> None:
        made = [create_note(draft, "memory", f"Note {n}", f"Text {n}.", tags=["old"]) for n in range(NOTES)]
        made += [remember(draft, f"n{n % 2}", f"key {n}", f"value {n}") for n in range(FACTS)]
        for one, other in itertools.pairwise(made):
            link_notes(draft, one.id, other.id, "next")
        for note in made[::3]:
            hide_note(draft, note.id)

    memory.change("filled", fill)
    return memory


def files(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (*home.glob("*.json"), *home.glob("graph/*.json"))}


@pytest.mark.slow
@settings(max_examples=examples(25), deadline=None)
@given(name=st.sampled_from(sorted(EDITS)), places=st.sets(st.integers(0, NOTES + FACTS - 1), min_size=1))
def test_what_was_done_to_many_is_taken_back_to_the_byte_as_one_entry(name: str, places: set[int]) -> None:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        memory = memory_in(home)
        before, entries = files(home), len(memory.history.log(limit=50))
        ids = [memory.snapshot.notes[place].id for place in sorted(places)]
        edited, done = memory.change("to many", lambda draft: edit_each(draft, ids, EDITS[name]))
        assert edited.refused == ()
        assert set(edited.changed) <= set(ids)
        if not done.empty:
            assert len(memory.history.log(limit=50)) == entries + 1
            memory.history.undo()
        after = files(home)
        if name == "bring back":
            # What a hidden note alone has was taken away and comes back behind its other fields.
            assert {file: json.loads(data) for file, data in after.items()} == {
                file: json.loads(data) for file, data in before.items()
            }
        else:
            assert after == before
        memory.close()


@settings(max_examples=examples(60), deadline=None)
@given(
    name=st.sampled_from(sorted(EDITS)),
    hidden=st.sets(st.integers(0, 7)),
    places=st.lists(st.integers(0, 7), max_size=10),
)
def test_an_edit_of_many_is_the_edits_of_each(name: str, hidden: set[int], places: list[int]) -> None:
    notes = [make_note(n, tags=("memory", "old")) for n in range(4)]
    notes += [make_fact_note(n, f"key {n}", f"value {n}") for n in range(4, 8)]
    # Notes go in a ring, so that each edit meets links.
    ring = [make_link(notes[(n + 1) % 8]) for n in range(8)]
    linked = [replace(note, links=(link,)) for note, link in zip(notes, ring, strict=True)]
    base = make_draft(*linked, facts={f"key {n}": f"value {n}" for n in range(4, 8)})
    for place in hidden:
        hide_note(base, notes[place].id)
    snapshot = base.present()
    ids = [notes[place].id for place in places]
    together, apart = draft_over(snapshot), draft_over(snapshot)
    edited = edit_each(together, ids, EDITS[name])
    for id in dict.fromkeys(ids):
        EDITS[name](apart, id)
    assert together.change_set("x", id="x") == apart.change_set("x", id="x")
    # The note that others are linked to changes by their edit, not by one of its own.
    own = [id for id in ids if name != "link" or id != notes[0].id]
    assert set(edited.changed) == {id for id in own if together.note(id) != snapshot.by_id[id]}


def test_what_cannot_be_edited_is_named_and_keeps_nothing_from_the_others() -> None:
    one, two = make_note(1, hidden=True), make_fact_note(2, "key", "old", hidden=True)
    draft = make_draft(one, two, facts={"key": "remembered anew"})
    before = draft.change_set("x", id="x")
    edited = edit_each(draft_over(draft.snapshot), [two.id], unhide_note)
    assert edited.changed == ()
    assert isinstance(edited.refused[0][1], ConflictError)
    edited = edit_each(draft, [two.id, "gone", one.id], unhide_note)
    assert edited.changed == (one.id,)
    assert [id for id, _ in edited.refused] == [two.id, "gone"]
    assert isinstance(edited.refused[1][1], NotFoundError)
    assert found(draft, two) == two
    assert facts_in(draft) == {"key": "remembered anew"}
    assert before.empty


def test_a_note_named_twice_is_edited_once_and_telling_may_end_the_work() -> None:
    notes = [make_note(n) for n in range(5)]
    draft = make_draft(*notes)
    ids = [note.id for note in notes]
    assert edit_each(draft, ids + ids, hide_note).changed == tuple(ids)

    class Enough(Exception):
        pass

    def tell(done: int) -> None:
        if done == 2:
            raise Enough

    stopped = make_draft(*notes)
    with pytest.raises(Enough):
        edit_each(stopped, ids, hide_note, report=tell)
    assert [found(stopped, note).hidden for note in notes] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("fields", "scope", "subject", "stability"),
    [
        ({}, "project", "shared:project", "durable"), ({}, "self", "assistant:self", "durable"),
        ({}, "session", "session:current", "temporary"),
        ({"subject": "user:ada"}, "project", "user:ada", "durable"),
        (SESSION, "user", "user:primary", "durable"),
        ({"title": "_scratch", "stability": "temporary"}, "project", "shared:project", "temporary"),
        ({"stability": "temporary"}, "project", "shared:project", "temporary"),
    ],
)  # fmt: skip
def test_what_was_inferred_from_a_scope_follows_it_and_what_was_chosen_stays(
    fields: dict[str, str], scope: str, subject: str, stability: str
) -> None:
    note = make_note(1, **fields)
    draft = make_draft(note)
    moved = move_to_scope(draft, note.id, scope=scope)
    assert (moved.scope, moved.subject, moved.stability) == (scope, subject, stability)
    assert f"scope:{scope}" in moved.tags
    assert f"scope:{note.scope}" not in moved.tags
    assert (moved.title, moved.content, moved.id) == (note.title, note.content, note.id)


def _twice_as_many(work: Callable[[int], Callable[[], object]]) -> float:
    """How many times the steps of a few take twice as many."""
    few, many = (steps_of(work(count)) for count in (60, 120))
    return many / few


def _facts_of_one_nugget(count: int, *, hidden: bool) -> Draft:
    notes = [make_fact_note(number, f"key {number}", "v") for number in range(count)]
    draft = make_draft(*notes, facts={note.key: "v" for note in notes})
    # Hiding and bringing back begin in the middle, so that nothing stands at an end by chance.
    if hidden:
        edit_each(draft, _from_the_middle(draft), hide_note)
    return draft_over(draft.present())


def _from_the_middle(draft: Draft) -> list[str]:
    ids = [note.id for note in draft.notes()]
    return [*ids[len(ids) // 2 :], *ids[: len(ids) // 2]]


@pytest.mark.parametrize(("edit", "hidden"), [(hide_note, False), (unhide_note, True), (delete_note, False)])
def test_twice_as_many_facts_of_one_nugget_are_hidden_and_brought_back_in_twice_the_steps(
    edit: Callable[[Draft, str], object], hidden: bool
) -> None:
    def work(count: int) -> Callable[[], object]:
        draft = _facts_of_one_nugget(count, hidden=hidden)
        return lambda: edit_each(draft, _from_the_middle(draft), edit)

    assert _twice_as_many(work) < 2.4
