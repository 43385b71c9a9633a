"""Laws of verifying: a repaired memory is sound, a sound one is left alone, nothing is lost by repairing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from kits.damaged import snapshots
from kits.drafts import draft_over, make_draft, make_fact_note, make_link, make_note
from kits.laws import examples

from core.model.note import replace
from core.model.snapshot import Snapshot
from core.text.normalise import squeeze
from core.verify import findings, repair

pytestmark = pytest.mark.slow


@settings(max_examples=examples(150))
@given(snapshots())
def test_a_repaired_memory_holds_nothing_that_could_be_repaired(snapshot: Snapshot) -> None:
    draft = draft_over(snapshot)
    repair(draft)
    assert [found for found in findings(draft.present()) if found.repair] == []


@settings(max_examples=examples(150))
@given(snapshots())
def test_no_text_and_no_value_is_lost_by_repairing(snapshot: Snapshot) -> None:
    draft = draft_over(snapshot)
    repair(draft)
    after = draft.present()
    assert _said(snapshot) <= _said(after)


def _said(snapshot: Snapshot) -> set[str]:
    said = {squeeze(note.content) for note in snapshot.notes}
    said |= {squeeze(note.hidden_fact.value) for note in snapshot.notes if note.hidden_fact is not None}
    said |= {squeeze(fact.value) for nugget in snapshot.nuggets for fact in nugget.facts}
    return said - {""}


@settings(max_examples=examples(100))
@given(snapshots())
def test_a_memory_changes_if_and_only_if_something_can_be_repaired(snapshot: Snapshot) -> None:
    draft = draft_over(snapshot)
    repair(draft)
    repairable = any(found.repair for found in findings(snapshot))
    assert draft.change_set("repaired").empty is not repairable


def test_a_sound_memory_has_no_finding_and_is_left_alone() -> None:
    first, second = make_note(1), make_note(2)
    first, second = (replace(first, links=(make_link(second),)), replace(second, links=(make_link(first),)))
    draft = make_draft(make_fact_note(3, "k", "v"), facts={"k": "v"})
    draft.put(first), draft.put(second), draft.put(first)  # type: ignore[unused-ignore]
    sound = draft_over(draft.present())
    assert findings(sound.snapshot) == []
    repair(sound)
    assert sound.change_set("repaired").empty
