"""Rules about hidden facts: a fact that is hidden waits in its note and is not recalled, and the other way round."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from core.model.build import brought_back, waiting
from core.model.compare import alike
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.note import HiddenFact, Note, replace
from core.verify.finding import Finding, Trouble, name_of, said
from core.verify.mending import keep_in_hidden_note, present
from core.verify.view import FactPlace, View


def half_hidden(view: View) -> Iterator[Trouble]:
    """Visible notes in which a fact waits as if they were hidden: a stale save, or the work of another program."""
    for note in view.snapshot.notes:
        if note.hidden or note.hidden_fact is None or view.unsure(note.nugget_name):
            continue
        place = view.waiting_place(note)
        if place is None:
            yield _without_its_fact(view, note, note.hidden_fact)
        else:
            yield _beside_its_fact(view, note, note.hidden_fact, place)


def _beside_its_fact(view: View, note: Note, kept: HiddenFact, place: FactPlace) -> Trouble:
    fact = view.fact(place)
    group = (place[0], fact.key)
    if view.mirrors.get(place):
        detail = f"The note {name_of(note)} is visible, although it keeps a hidden fact; "
        detail += f"another note now mirrors the fact {said(fact.key)}."
        mend = partial(_hide_again, id=note.id)
        return view.trouble("half-hidden", note, detail, "hides it again", mend, group=group)
    if alike(fact.value, kept.value):
        detail = f"The note {name_of(note)} was hidden with its fact, and another program restored both."
        repair = f"hides it again and removes the fact {said(fact.key)} from the fact file"
        mend = partial(_hide_with_fact, id=note.id, key=fact.key)
        return view.trouble("half-hidden", note, detail, repair, mend, group=group)
    detail = (
        f"The note {name_of(note)} was hidden with its fact; the key {said(fact.key)} now has another value"
    )
    detail += "."
    repair = f"links it to the new value and keeps {said(kept.value)} in a hidden note"
    mend = partial(_part_from_old_value, id=note.id)
    return view.trouble("half-hidden", note, detail, repair, mend, group=group)


def _without_its_fact(view: View, note: Note, kept: HiddenFact) -> Trouble:
    detail = f"The note {name_of(note)} is visible, but its fact {said(kept.key)} is still hidden in it "
    detail += "and agents do not recall it."
    if not view.may_hold_facts(note.nugget_name):
        detail += f" No file can have the name {said(note.nugget_name)}: store the fact in another nugget."
        return Trouble(Finding("half-hidden", note.id, detail))
    fact = brought_back(kept)
    if note.is_fact and note.key.strip():
        fact = msgspec.structs.replace(fact, key=note.key)
    if not fact.key.strip():
        detail += " The fact has no key: give the note a title, or hide it."
        return Trouble(Finding("half-hidden", note.id, detail))
    mend = partial(_bring_back, id=note.id, fact=fact, index=kept.index)
    repair = "restores the fact to the fact file"
    return view.trouble("half-hidden", note, detail, repair, mend, group=(note.nugget_name, fact.key))


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


def still_recalled(view: View) -> Iterator[Trouble]:
    """Facts that agents recall although their notes are hidden: a stale save brought them back."""
    if view.unsure_notes:
        return
    for place, fact in view.facts():
        note = hidden_note_of(view, place, fact)
        if note is not None:
            detail = f"The note {name_of(note)} is hidden, but agents still recall its fact {said(fact.key)}."
            repair = "removes the fact from the fact file and keeps it in the hidden note"
            mend = partial(_take_out, id=note.id, key=fact.key)
            yield view.trouble("hidden-but-recalled", note, detail, repair, mend)


def hidden_note_of(view: View, place: FactPlace, fact: Fact) -> Note | None:
    """The hidden note that says what a fact says, unless a visible note stands for the fact."""
    if view.mirrors.get(place) or view.half_hidden.get(place):
        return None
    notes = [note for note in view.hidden_mirrors.get(place, ()) if alike(_waiting_value(note), fact.value)]
    return min(notes, key=lambda note: note.hidden_fact is None, default=None)


def _waiting_value(note: Note) -> str:
    return note.hidden_fact.value if note.hidden_fact is not None else note.content


def _take_out(draft: Draft, id: str, key: str) -> None:
    """Takes a fact out of its file and into its note; one that waits there already keeps its place."""
    note = present(draft, id)
    taken = draft.take_fact(note.nugget_name, key)
    assert taken is not None
    kept = waiting(taken[1], taken[0])
    former = note.hidden_fact
    if former is not None:
        latest = max(former, kept, key=lambda fact: fact.hits)
        kept = msgspec.structs.replace(
            former, key=kept.key, hits=latest.hits, last_hit_session=latest.last_hit_session
        )
    draft.put(replace(note, hidden_fact=kept))
