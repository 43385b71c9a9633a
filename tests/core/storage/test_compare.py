"""What differs between two states of a memory, as plain changes and as what another program did."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.drafts import make_fact_note, make_note

from core.model.change import Author, ChangeSet
from core.model.compare import differences, laid_over, outside_changes
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Note, replace
from core.model.snapshot import Problem, ProblemKind, Snapshot
from core.storage.merge.merge import rebase

PROGRAM = Author("program")
AT = "2026-05-05T12:00:00.000Z"
LATER = "2026-05-05T13:00:00.000Z"


def _memory(*notes: Note, facts: dict[str, str] | None = None, **more: Any) -> Snapshot:
    stored = tuple(Fact(key=key, value=value) for key, value in (facts or {}).items())
    nuggets = () if facts is None else (_nugget(*stored),)
    return Snapshot(**({"notes": notes, "nuggets": nuggets} | more))


def _nugget(*facts: Fact, name: str = "memory", **more: Any) -> Nugget:
    return Nugget(meta=NuggetMeta(name=name), facts=facts, file=f"{name}.nugget.json", **more)


def _outside(before: Snapshot, after: Snapshot) -> tuple[ChangeSet, ...]:
    numbers = itertools.count()
    return outside_changes(before, after, ids=lambda: f"{next(numbers):08x}", at=AT, author=PROGRAM)


# Plain differences

KEYS = st.sampled_from("abc")
FACTS = st.lists(
    st.builds(Fact, key=KEYS, value=st.sampled_from(["1", "2"]), hits=st.integers(0, 2), extra=st.just({})),
    max_size=5,
    unique_by=lambda fact: fact.key,
)


@st.composite
def _snapshots(draw: st.DrawFn) -> Snapshot:
    numbers = draw(st.lists(st.integers(1, 5), unique=True).map(sorted))
    notes = [
        make_note(number, content=draw(st.sampled_from("xy")), hits=draw(st.integers(0, 1)))
        for number in numbers
    ]
    nuggets = [
        _nugget(*_in_order(draw(FACTS)), name=name)
        for name in sorted(draw(st.sets(st.sampled_from(["m", "n"]))))
    ]
    return Snapshot(notes=tuple(notes), nuggets=tuple(nuggets))


def _in_order(facts: list[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: fact.key)


@given(before=_snapshots(), after=_snapshots())
def test_the_differences_laid_over_the_one_give_the_other(before: Snapshot, after: Snapshot) -> None:
    assert _said(laid_over(before, differences(before, after))) == _said(after)


@given(before=_snapshots(), after=_snapshots())
def test_the_differences_are_a_change_set_that_can_be_applied_and_taken_back(
    before: Snapshot, after: Snapshot
) -> None:
    found = differences(before, after)
    change_set = ChangeSet(
        id="0", at=AT, author=PROGRAM, reason="", kind="restore",
        notes=found.notes, facts=found.facts, nuggets=found.nuggets,
    )  # fmt: skip
    done = rebase(change_set, before)
    assert _said(laid_over(before, done)) == _said(after)
    undo = rebase(done.inverse(id="1", at=AT, author=PROGRAM, reason=""), after)
    assert _said(laid_over(after, undo)) == _said(before)


def _said(snapshot: Snapshot) -> object:
    return snapshot.notes, [(nugget.name, nugget.facts) for nugget in snapshot.nuggets]


def test_what_cannot_be_read_any_more_is_not_gone() -> None:
    note = make_note(1)
    before = _memory(note, facts={"a": "1"})
    broken = Nugget(meta=NuggetMeta(name="memory"), file="memory.nugget.json", problem="cannot be read")
    set_aside = Snapshot(nuggets=(broken,), set_aside=frozenset({note.id}))
    assert differences(before, set_aside) == ((), (), ())
    in_part = Problem(
        ProblemKind.UNREADABLE_FACT,
        "memory.nugget.json: fact 1",
        "cannot be read (...)",
        "memory.nugget.json",
        "memory",
    )
    assert differences(before, _memory(note, facts={}, problems=(in_part,))) == ((), (), ())
    assert len(differences(before, _memory(note, facts={})).facts) == 1


# What another program did


def test_recalls_are_told_apart_from_what_was_changed() -> None:
    before = _memory(make_note(1), make_note(2), make_fact_note(3, "k", "v"), facts={"k": "v"})
    first, second, third = before.notes
    hit = {"hits": 1, "last_hit_session": "s", "last_accessed_at": LATER, "updated_at": LATER}
    after = Snapshot(
        notes=(replace(first, **hit), replace(second, content="New."), replace(third, **hit)),
        nuggets=(_nugget(Fact(key="k", value="v", hits=1, last_hit_session="s")),),
    )
    recalled, changed = _outside(before, after)
    assert (recalled.kind, changed.kind) == ("hit", "outside")
    assert [change.id for change in recalled.notes] == [first.id, third.id]
    assert [change.key for change in recalled.facts] == ["k"]
    assert [change.id for change in changed.notes] == [second.id]
    assert (recalled.reason, changed.reason) == ("recalled 2 notes", "~1 note")
    assert recalled.id != changed.id
    assert {recalled.author, changed.author} == {PROGRAM}


def test_of_a_note_that_was_both_recalled_and_changed_each_goes_to_its_own() -> None:
    before = make_note(1)
    after = replace(before, content="New.", hits=2, last_hit_session="s", updated_at=LATER)
    recalled, changed = _outside(_memory(before), _memory(after))
    between = recalled.notes[0].after
    assert between == replace(before, hits=2, last_hit_session="s")
    assert (changed.notes[0].before, changed.notes[0].after) == (between, after)


@pytest.mark.parametrize(
    "moved",
    [
        {"updated_at": LATER},
        {"vector": replace(make_note(9), title="Other").vector},
        {"content": "A  B\n\n\n    C", "updated_at": LATER},
        {"content": "A B C"},
    ],
)
def test_what_loading_and_saving_moves_is_no_change(moved: dict[str, Any]) -> None:
    before = make_note(1, content="A  B\n\n\n    C")
    assert _outside(_memory(before), _memory(replace(before, **moved))) == ()


def test_squeezed_white_space_is_not_part_of_another_change() -> None:
    before = make_note(1, content="- a\n  - b")
    after = replace(before, content="- a\n- b", tags=(*before.tags, "theirs"))
    (changed,) = _outside(_memory(before), _memory(after))
    assert changed.notes[0].note.content == before.content
