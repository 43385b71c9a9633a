"""Tests of the rule for lost updates by itself: which differences are none of another program's wishes."""

from __future__ import annotations

import msgspec
import pytest
from kits.drafts import make_note

from core.model.change import PERSON, PROGRAM, ChangeSet, FactChange, NoteChange
from core.model.compare import differences
from core.model.entry import Origin
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.storage.journal.codec import Past
from core.storage.reconcile.lost_updates import find_lost_updates

SAVED_NS = 1_795_413_654_872_042_995


def _changed(before: Note | None, after: Note | None, *, ours: bool) -> ChangeSet:
    held = after or before
    assert held is not None
    return ChangeSet(
        id="0" * 8,
        at="2026-11-18T12:00:00.000Z",
        author=PERSON if ours else PROGRAM,
        reason="",
        notes=(NoteChange(id=held.id, before=before, after=after),),
    )


def test_a_change_of_ours_is_found_lost_also_when_the_log_has_an_entry_without_a_time_after_it() -> None:
    before, kept, other = make_note(1, content="Before."), make_note(3), make_note(2)
    after = replace(before, content="Ours.")
    # What that program had written meanwhile is in its file as well: no version of the log is nearer to it.
    baseline, now = Snapshot(notes=(after, kept)), Snapshot(notes=(before, kept, other))
    history = [
        # A version that another program had put in place in the instant of a write of ours.
        Past(_changed(None, kept, ours=False), "stale", 0, Origin.OVERWRITTEN),
        Past(_changed(before, after, ours=True), "person", SAVED_NS - 10**9),
    ]
    lost = find_lost_updates(baseline, now, differences(baseline, now), history, lambda item: SAVED_NS, {})
    assert lost == {("note", before.id): before}


def _past(change_set: ChangeSet, origin: Origin, ago: float) -> Past:
    made_by = {
        Origin.MADE: "person",
        Origin.OVERWRITTEN: "stale",
        Origin.RESTORED_IN_PASSING: "nuggets in passing",
    }
    if origin.is_restoration:
        change_set = msgspec.structs.replace(change_set, kind="restore")
    return Past(change_set, made_by.get(origin, ""), SAVED_NS - round(ago * 1e9), origin)


def _notes(*pairs: tuple[Note | None, Note | None]) -> ChangeSet:
    changes = tuple(
        NoteChange(id=(after or before).id, before=before, after=after)  # type: ignore[union-attr]
        for before, after in pairs
    )
    return msgspec.structs.replace(_changed(None, make_note(9), ours=False), notes=changes)


def _facts(**values: tuple[str | None, str | None]) -> ChangeSet:
    changes = tuple(
        FactChange(nugget="memory", key=key, before=_fact(key, before), after=_fact(key, after))
        for key, (before, after) in values.items()
    )
    return msgspec.structs.replace(_notes(), facts=changes)


def _fact(key: str, value: str | None) -> Fact | None:
    return None if value is None else Fact(key=key, value=value)


def _with_facts(**values: str) -> Snapshot:
    facts = tuple(Fact(key=key, value=value) for key, value in values.items())
    nugget = Nugget(meta=NuggetMeta(name="memory"), facts=facts, file="memory.nugget.json")
    return Snapshot(nuggets=(nugget,))


def test_a_note_that_stands_as_it_did_when_it_was_lost_is_lost_still_whatever_is_lost_beside_it() -> None:
    old, many = (
        make_note(1, content="Before."),
        [make_note(number, content="Before.") for number in (2, 3, 4)],
    )
    ours = replace(old, content="Ours.")
    edited = [replace(note, content="Ours.") for note in many]
    theirs, new = make_note(5), make_note(6)
    lost, put_back = [*zip(edited, many, strict=True)], [*zip(many, edited, strict=True)]
    history = [
        _past(_notes((ours, old)), Origin.OVERWRITTEN, 0.1),
        _past(_notes(*put_back), Origin.RESTORED_IN_PASSING, 0.2),
        _past(_notes(*lost), Origin.OVERWRITTEN, 0.3),
        _past(_notes((None, theirs)), Origin.OUTSIDE, 0.3),
        _past(_notes((old, ours)), Origin.RESTORED_IN_PASSING, 0.4),
        _past(_notes((ours, old)), Origin.OVERWRITTEN, 0.5),
        _past(_notes((old, ours)), Origin.MADE, 0.6),
        _past(_notes(*put_back), Origin.MADE, 0.7),
    ]
    baseline = Snapshot(notes=(ours, *edited, theirs))
    now = Snapshot(notes=(old, *many, theirs, new))
    found = differences(baseline, now)
    item = ("note", old.id)
    lost_now = find_lost_updates(baseline, now, found, history, lambda item: SAVED_NS, {item: old})
    assert lost_now == {("note", note.id): note for note in (old, *many)}


def test_a_fact_that_a_program_never_had_is_none_that_it_removed() -> None:
    history = [
        _past(_facts(a=(None, "a"), b=(None, "b")), Origin.RESTORED_IN_PASSING, 0.1),
        _past(_facts(k=("first", "second")), Origin.MADE, 0.2),
        _past(_facts(a=("a", None), b=("b", None)), Origin.OVERWRITTEN, 0.3),
        _past(_facts(k=(None, "first")), Origin.RESTORED_IN_PASSING, 0.4),
        _past(_facts(k=("first", None)), Origin.OVERWRITTEN, 0.5),
        _past(_facts(own=(None, "theirs")), Origin.OUTSIDE, 1.0),
        _past(_facts(a=(None, "a"), b=(None, "b"), k=(None, "first")), Origin.MADE, 2.0),
    ]
    baseline, now = _with_facts(own="theirs", a="a", b="b", k="second"), _with_facts(own="theirs")
    lost = find_lost_updates(baseline, now, differences(baseline, now), history, lambda item: SAVED_NS, {})
    assert lost == {("fact", "memory", key): None for key in ("a", "b", "k")}


@pytest.mark.parametrize(("by_us", "removed"), [(True, True), (False, False)])
def test_a_note_that_comes_back_is_removed_once_more_only_where_we_removed_it(
    by_us: bool, removed: bool
) -> None:
    gone, ours, other = make_note(1), make_note(2, content="Before."), make_note(3)
    edited = replace(ours, content="Ours.")
    # An old copy: it has the note that was removed, and not the edit that we made after that.
    baseline, now = Snapshot(notes=(edited, other)), Snapshot(notes=(gone, ours, other))
    history = [
        _past(_changed(ours, edited, ours=True), Origin.MADE, 1.0),
        _past(_changed(gone, None, ours=by_us), Origin.MADE if by_us else Origin.OUTSIDE, 2.0),
    ]
    lost = find_lost_updates(baseline, now, differences(baseline, now), history, lambda item: SAVED_NS, {})
    assert lost[("note", ours.id)] == ours
    assert (("note", gone.id) in lost) is removed
