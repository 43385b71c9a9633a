"""Rules about hidden facts: a hidden fact waits in its note and is not recalled, and the reverse."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from core.model.build import as_hidden_fact, as_visible_fact
from core.model.compare import alike
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.note import HiddenFact, Note, replace
from core.verify.finding import Finding, RepairableFinding, name_of, quote
from core.verify.repair_edits import keep_in_hidden_note, present
from core.verify.view import FactPlace, VerifyView


def half_hidden(view: VerifyView) -> Iterator[RepairableFinding]:
    """Visible notes in which a fact waits as if they were hidden: a stale save, or the work of another program."""
    for note in view.snapshot.notes:
        if note.hidden or note.hidden_fact is None or view.unsure(note.nugget_name):
            continue
        place = view.hidden_fact_place(note)
        if place is None:
            yield _without_its_fact(view, note, note.hidden_fact)
        else:
            yield _beside_its_fact(view, note, note.hidden_fact, place)


def _beside_its_fact(view: VerifyView, note: Note, kept: HiddenFact, place: FactPlace) -> RepairableFinding:
    fact = view.fact(place)
    group = (place[0], fact.key)
    if view.mirrors.get(place):
        detail = f"The note {name_of(note)} is visible, although it keeps a hidden fact; "
        detail += f"another note now mirrors the fact {quote(fact.key)}."
        apply_repair = partial(_hide_again, id=note.id)
        return view.repairable("half-hidden", note, detail, "hides it again", apply_repair, group=group)
    if alike(fact.value, kept.value):
        detail = f"The note {name_of(note)} was hidden with its fact, and another program restored both."
        repair = f"hides it again and removes the fact {quote(fact.key)} from the fact file"
        apply_repair = partial(_hide_with_fact, id=note.id, key=fact.key)
        return view.repairable("half-hidden", note, detail, repair, apply_repair, group=group)
    detail = (
        f"The note {name_of(note)} was hidden with its fact; the key {quote(fact.key)} now has another value"
    )
    detail += "."
    repair = f"links it to the new value and keeps {quote(kept.value)} in a hidden note"
    apply_repair = partial(_part_from_old_value, id=note.id)
    return view.repairable("half-hidden", note, detail, repair, apply_repair, group=group)


def _without_its_fact(view: VerifyView, note: Note, kept: HiddenFact) -> RepairableFinding:
    detail = f"The note {name_of(note)} is visible, but its fact {quote(kept.key)} is still hidden in it "
    detail += "and agents do not recall it."
    if not view.may_hold_facts(note.nugget_name):
        detail += f" No file can have the name {quote(note.nugget_name)}: store the fact in another nugget."
        return RepairableFinding(Finding("half-hidden", note.id, detail))
    fact = as_visible_fact(kept)
    if note.is_fact and note.key.strip():
        fact = msgspec.structs.replace(fact, key=note.key)
    if not fact.key.strip():
        detail += " The fact has no key: give the note a title, or hide it."
        return RepairableFinding(Finding("half-hidden", note.id, detail))
    apply_repair = partial(_bring_back, id=note.id, fact=fact, index=kept.index)
    repair = "restores the fact to the fact file"
    return view.repairable(
        "half-hidden", note, detail, repair, apply_repair, group=(note.nugget_name, fact.key)
    )


def _hide_again(draft: Draft, id: str) -> None:
    note = present(draft, id)
    draft.put(replace(note, hidden=True, archived_at=note.archived_at or draft.at))


def _hide_with_fact(draft: Draft, id: str, key: str) -> None:
    _take_out(draft, id, key)
    _hide_again(draft, id)


def _part_from_old_value(draft: Draft, id: str) -> None:
    note = present(draft, id)
    assert note.hidden_fact is not None
    keep_in_hidden_note(draft, note.nugget_name, note.hidden_fact)
    draft.put(replace(note, hidden_fact=None, archived_at=None))


def _bring_back(draft: Draft, id: str, fact: Fact, index: int) -> None:
    note = present(draft, id)
    draft.put_fact(note.nugget_name, fact, index)
    draft.put(replace(note, hidden_fact=None, archived_at=None))


def still_recalled(view: VerifyView) -> Iterator[RepairableFinding]:
    """Facts that agents recall although their notes are hidden: a stale save brought them back."""
    if view.unsure_notes:
        return
    for place, fact in view.facts():
        note = hidden_note_of(view, place, fact)
        if note is not None:
            detail = (
                f"The note {name_of(note)} is hidden, but agents still recall its fact {quote(fact.key)}."
            )
            repair = "removes the fact from the fact file and keeps it in the hidden note"
            apply_repair = partial(_take_out, id=note.id, key=fact.key)
            yield view.repairable("hidden-but-recalled", note, detail, repair, apply_repair)


def hidden_note_of(view: VerifyView, place: FactPlace, fact: Fact) -> Note | None:
    """The hidden note that says what a fact says, unless a visible note stands for the fact."""
    if view.mirrors.get(place) or view.half_hidden.get(place):
        return None
    notes = [note for note in view.hidden_mirrors.get(place, ()) if alike(_hidden_value(note), fact.value)]
    return min(notes, key=lambda note: note.hidden_fact is None, default=None)


def _hidden_value(note: Note) -> str:
    return note.hidden_fact.value if note.hidden_fact is not None else note.content


def _take_out(draft: Draft, id: str, key: str) -> None:
    """Takes a fact out of its file and into its note; one that waits there already keeps its place."""
    note = present(draft, id)
    taken = draft.take_fact(note.nugget_name, key)
    assert taken is not None
    kept = as_hidden_fact(taken[1], taken[0])
    former = note.hidden_fact
    if former is not None:
        latest = max(former, kept, key=lambda fact: fact.hits)
        kept = msgspec.structs.replace(
            former, key=kept.key, hits=latest.hits, last_hit_session=latest.last_hit_session
        )
    draft.put(replace(note, hidden_fact=kept))
