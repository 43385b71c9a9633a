"""Laws of bringing a change set onto a newer file: what merges, what adds up, what is a conflict, and who decides."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.drafts import make_note
from kits.laws import examples
from kits.memory_files import fact_object, note_object, tree, write_graph, write_nugget

from core import Memory
from core.errors import ConflictError
from core.facts.edits import forget, record_hit, remember
from core.graph.edits import (
    delete_note,
    edit_note,
    existing,
    hide_note,
    link_notes,
    unhide_note,
)
from core.graph.merging import merge_notes
from core.model.change import ChangeKind, ChangeSet
from core.model.draft import Draft
from core.model.infer import MetaInput
from core.model.note import Link, replace
from core.storage.merge import three_way
from core.storage.merge.merge import rebase
from core.storage.merge.three_way import Collect, refuse, take_ours, take_theirs

FIRST, SECOND, THIRD = (f"note-memory-{number:08x}" for number in (1, 2, 3))
FACT = "fact-memory-000000ff"
Edit = Callable[[Draft], object]
LAWS = settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@contextmanager
def two_programs(facts: str = "jkl") -> Iterator[tuple[Memory, Memory]]:
    """Two programs that have opened the same folder. facts: their keys, of which only "k" has a note."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        fact_note = note_object(0xFF, kind="fact", sourceKey="k", title="k", content="v", id=FACT)
        write_graph(home, [fact_note, *(note_object(number, tags=["a", "b"]) for number in (1, 2, 3))])
        write_nugget(home, "memory", [fact_object(key, *("v" for _ in range(key == "k"))) for key in facts])
        counter = itertools.count()
        start = datetime(2026, 5, 5, tzinfo=UTC)

        def clock() -> datetime:
            return start + timedelta(seconds=next(counter))

        yield Memory.open(home, clock=clock), Memory.open(home, clock=clock)


def drafted(memory: Memory, edit: Edit) -> ChangeSet:
    draft = memory.draft()
    edit(draft)
    kind = "hit" if edit in HITS else "edit"
    return draft.change_set("law", kind=kind)  # type: ignore[arg-type]


def outcome(edits: tuple[Edit, Edit], order: tuple[int, int]) -> Memory:
    """Both edits thought out on the same file and applied one after the other."""
    with two_programs() as programs:
        sets = [drafted(memory, edit) for memory, edit in zip(programs, edits, strict=True)]
        for number in order:
            programs[number].apply(sets[number])
        return Memory.open(programs[0].home)


HITS: list[Edit] = [
    lambda draft: record_hit(draft, "memory", "k", FACT, "s-1"),
    lambda draft: record_hit(draft, "memory", "k", FACT, "s-2"),
    lambda draft: record_hit(draft, "memory", None, FIRST, "s-1"),
]
ON_FIRST: list[Edit] = [
    lambda draft: edit_note(draft, FIRST, content="New words."),
    lambda draft: edit_note(draft, FIRST, add_tags=["c"]),
    lambda draft: edit_note(draft, FIRST, remove_tags=["a"]),
    lambda draft: edit_note(draft, FIRST, meta=MetaInput(scope="self", type="style")),
    lambda draft: hide_note(draft, FIRST),
    lambda draft: record_hit(draft, "memory", None, FIRST, "s-5"),
]
ON_OTHERS: list[Edit] = [
    lambda draft: edit_note(draft, SECOND, content="Other words.", title="Other"),
    lambda draft: hide_note(draft, FACT),
    lambda draft: edit_note(draft, FACT, content="w", title="kk"),
    lambda draft: remember(draft, "memory", "j", "anew"),
    lambda draft: remember(draft, "memory", "fresh", "value"),
    lambda draft: forget(draft, "memory", "l"),
    lambda draft: merge_notes(draft, SECOND, THIRD),
    lambda draft: link_notes(draft, SECOND, THIRD, "kin"),
]
FIELDS: dict[str, Edit] = {
    "title": lambda draft: edit_note(draft, FIRST, title="New title"),
    "content": lambda draft: edit_note(draft, FIRST, content="New words."),
    "scope": lambda draft: edit_note(draft, FIRST, meta=MetaInput(scope="project")),
    "confidence": lambda draft: edit_note(draft, FIRST, meta=MetaInput(confidence=0.1)),
    "hidden": lambda draft: hide_note(draft, FIRST),
    "tags": lambda draft: edit_note(draft, FIRST, add_tags=["new"]),
    "links": lambda draft: link_notes(draft, FIRST, SECOND, "kin"),
    "hits": lambda draft: record_hit(draft, "memory", None, FIRST, "s-8"),
}


@pytest.mark.slow
@LAWS
@given(first=st.sampled_from(ON_FIRST), other=st.sampled_from(ON_OTHERS))
def test_edits_of_different_notes_merge_in_either_order(first: Edit, other: Edit) -> None:
    one, two = outcome((first, other), (0, 1)), outcome((first, other), (1, 0))
    assert _without_ids(one) == _without_ids(two)
    alone = outcome((first, lambda draft: None), (0, 1))
    assert one.snapshot.note(FIRST) == alone.snapshot.note(FIRST)


def _without_ids(memory: Memory) -> object:
    notes = {
        note.id: note
        for note in memory.snapshot.notes
        if not note.id.startswith("fact-memory-") or note.id == FACT
    }
    return notes, memory.snapshot.nuggets


@pytest.mark.slow
def test_edits_of_different_fields_of_one_note_merge() -> None:
    for ours, theirs in list(itertools.pairwise((*FIELDS, next(iter(FIELDS))))):
        merged = outcome((FIELDS[ours], FIELDS[theirs]), (0, 1)).snapshot.note(FIRST)
        for name in (ours, theirs):
            alone = outcome((FIELDS[name], lambda draft: None), (0, 1)).snapshot.note(FIRST)
            value = getattr(merged, name)
            if name in ("tags", "links"):
                reasons = {getattr(item, "reason", item) for item in value}
                assert "new" in reasons or "kin" in reasons
            else:
                assert value == getattr(alone, name)
        assert f"scope:{merged.scope}" in merged.tags
        assert len([tag for tag in merged.tags if tag.startswith("scope:")]) == 1


SETS = st.lists(st.sampled_from("abcdef"), max_size=4, unique=True)


@LAWS
@given(base=SETS, ours=SETS, theirs=SETS)
def test_tags_and_links_merge_as_sets(base: list[str], ours: list[str], theirs: list[str]) -> None:
    sides = [
        replace(make_note(1), tags=tuple(side), links=tuple(Link(to=to, reason="r") for to in side))
        for side in (base, ours, theirs)
    ]
    merged = three_way.merge_notes(*sides, refuse)
    gone = (set(base) - set(ours)) | (set(base) - set(theirs))
    assert set(merged.tags) == {link.to for link in merged.links} == (set(ours) | set(theirs)) - gone
    assert len(merged.tags) == len(merged.links) == len(set(merged.tags))
    assert [tag for tag in merged.tags if tag in ours] == [tag for tag in ours if tag not in gone]


def test_recalls_of_two_sessions_add_up_also_from_the_same_count() -> None:
    snapshot = outcome((HITS[0], HITS[1]), (0, 1)).snapshot
    found = snapshot.nugget("memory").find("k")
    assert found is not None
    assert found[1].hits == snapshot.note(FACT).hits == 2


def test_taking_back_a_recall_leaves_a_later_one() -> None:
    with two_programs() as (ours, _):
        _, done = ours.change("hit", HITS[0], kind="hit")
        ours.change("hit", HITS[1], kind="hit")
        ours.history.undo(done)
        found = ours.snapshot.nugget("memory").find("k")
        assert found is not None
        assert (found[1].hits, found[1].last_hit_session) == (1, "s-2")
        note = ours.snapshot.note(FACT)
        assert (note.hits, note.last_hit_session) == (1, "s-2")


CONFLICTS: dict[str, tuple[Edit, Edit, tuple[str, str, str]]] = {
    "title": (
        lambda draft: edit_note(draft, FIRST, title="Ours"),
        lambda draft: edit_note(draft, FIRST, title="Theirs"),
        ("Title 1", "Ours", "Theirs"),
    ),
    "content": (
        lambda draft: edit_note(draft, FIRST, content="Ours."),
        lambda draft: edit_note(draft, FIRST, content="Theirs."),
        ("Content of note 1.", "Ours.", "Theirs."),
    ),
    "scope": (
        lambda draft: edit_note(draft, FIRST, meta=MetaInput(scope="self")),
        lambda draft: edit_note(draft, FIRST, meta=MetaInput(scope="project")),
        ("user", "self", "project"),
    ),
    "value": (
        lambda draft: remember(draft, "memory", "j", "ours"),
        lambda draft: remember(draft, "memory", "j", "theirs"),
        ("a value", "ours", "theirs"),
    ),
    "new key": (
        lambda draft: remember(draft, "memory", "new", "ours"),
        lambda draft: remember(draft, "memory", "new", "theirs"),
        ("", "ours", "theirs"),
    ),
    "value and gone": (
        lambda draft: remember(draft, "memory", "j", "ours"),
        lambda draft: forget(draft, "memory", "j"),
        ("a value", "ours", ""),
    ),
    "gone and value": (
        lambda draft: forget(draft, "memory", "j"),
        lambda draft: remember(draft, "memory", "j", "theirs"),
        ("a value", "", "theirs"),
    ),
    "note gone": (
        lambda draft: edit_note(draft, FIRST, content="Ours."),
        lambda draft: delete_note(draft, FIRST),
        ("Content of note 1.", "Ours.", ""),
    ),
    "key taken": (
        lambda draft: edit_note(draft, FACT, title="new"),
        lambda draft: remember(draft, "memory", "new", "theirs"),
        ("k", "new", "new"),
    ),
}


@pytest.mark.parametrize("kind", CONFLICTS)
def test_one_thing_changed_in_two_ways_is_a_conflict_with_all_three_and_writes_nothing(kind: str) -> None:
    ours, theirs, values = CONFLICTS[kind]
    with two_programs() as (one, other):
        change_set = drafted(one, ours)
        other.apply(drafted(other, theirs))
        before = tree(one.home)
        with pytest.raises(ConflictError) as caught:
            one.apply(change_set)
        assert (caught.value.base, caught.value.ours, caught.value.theirs) == values
        assert caught.value.where
        assert tree(one.home) == before
        assert one.refresh()


def _with_extra(value: str) -> Edit:
    return lambda draft: draft.put(replace(existing(draft, FIRST), extra={"of another program": value}))


def test_an_unknown_field_that_both_changed_in_two_ways_is_a_conflict_and_nothing_is_written_over() -> None:
    with two_programs() as (one, other):
        change_set = drafted(one, _with_extra("mine"))
        other.apply(drafted(other, _with_extra("theirs")))
        with pytest.raises(ConflictError) as caught:
            one.apply(change_set)
        found = caught.value
        assert (found.field, found.ours, found.theirs) == ("of another program", '"mine"', '"theirs"')
        assert other.snapshot.note(FIRST).extra == {"of another program": "theirs"}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_facts_hidden_by_programs_that_do_not_know_of_each_other_return_to_their_places(
    order: tuple[int, ...],
) -> None:
    with two_programs() as (ours, theirs):
        sets = [drafted(ours, lambda draft: hide_note(draft, FACT)),
                drafted(theirs, lambda draft: forget(draft, "memory", "j"))]  # fmt: skip
        third = drafted(theirs, lambda draft: forget(draft, "memory", "l"))
        for program, change_set in ((ours, sets[0]), (theirs, sets[1]), (ours, third)):
            program.apply(change_set)
        assert ours.snapshot.nugget("memory").facts == ()
        hidden = [note.id for note in ours.snapshot.notes if note.hidden_fact is not None]
        for number in order:
            ours.change("unhide", lambda draft, id=hidden[number]: unhide_note(draft, id))
        assert [fact.key for fact in ours.snapshot.nugget("memory").facts] == ["j", "k", "l"]


@pytest.mark.slow
def test_applying_a_change_set_again_does_nothing() -> None:
    for edit in [*HITS, *ON_FIRST, *ON_OTHERS, *FIELDS.values()]:
        with two_programs() as (ours, theirs):
            change_set = drafted(ours, edit)
            ours.apply(change_set)
            before = tree(ours.home)
            assert theirs.apply(change_set).empty
            assert ours.apply(change_set).empty
            assert tree(ours.home) == before


# Decided


def decided(ours: Edit, theirs: Edit, decide: Any, former: Edit | None = None) -> Memory:
    """The memory after `theirs`, with `ours`, thought out before, brought onto it by the decision and written."""
    with two_programs("k") as (one, other):
        if former is not None:
            one.change("former", former)
            other.refresh()
        change_set = drafted(one, ours)
        other.change("theirs", theirs)
        with pytest.raises(ConflictError):
            rebase(change_set, other.snapshot)
        rebased = rebase(change_set, other.snapshot, decide)
        other.apply(rebased)
        _assert_in_step(other)
        return other


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


# ours, theirs, the facts when ours stand, the facts when theirs stand
DECIDED: dict[str, tuple[Edit, Edit, dict[str, str], dict[str, str]]] = {
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
    for name in DECIDED:
        ours, theirs, with_ours, with_theirs = DECIDED[name]
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
    edit, delete = (
        lambda draft: edit_note(draft, FIRST, content="Kept."),
        lambda draft: delete_note(draft, FIRST),
    )
    assert decided(edit, delete, take_ours).snapshot.note(FIRST).content == "Kept."
    assert FIRST not in decided(edit, delete, take_theirs).snapshot.by_id
    assert FIRST not in decided(delete, edit, take_ours).snapshot.by_id
    assert decided(delete, edit, take_theirs).snapshot.note(FIRST).content == "Kept."


@pytest.mark.parametrize("kind", ["undo", "redo", "restore"])
def test_what_is_brought_back_stays_as_it_was_also_where_it_was_not_quite_right(kind: ChangeKind) -> None:
    with two_programs("k") as (one, _):
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
