"""Tests of the rule for lost updates by itself: which differences are none of another program's wishes."""

from __future__ import annotations

from kits.drafts import make_note

from core.model.change import PERSON, PROGRAM, ChangeSet, NoteChange
from core.model.compare import differences
from core.model.note import Note, replace
from core.model.origin import Origin
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
