"""Rules about duplicates: ids, keys of facts, and notes that mirror one fact."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from core.model.build import as_hidden_fact
from core.model.compare import alike
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.note import Note, replace
from core.verify.finding import Finding, RepairableFinding, RepairKind, name_of, place_of_fact, quote
from core.verify.repair_edits import keep_in_hidden_note, present
from core.verify.view import VerifyView


def shared_ids(view: VerifyView) -> Iterator[RepairableFinding]:
    """Notes that bear the id of an earlier note: a copy goes, another note gets an id of its own."""
    notes = view.snapshot.notes
    namesakes = view.snapshot.namesakes
    if not namesakes:
        return
    shared = {notes[place].id for place in namesakes}
    later = set(namesakes)
    known: dict[tuple[object, ...], list[Note]] = {}
    for place, note in enumerate(notes):
        if note.id not in shared:
            continue
        marks = note.id, note.title, note.content, note.tags, note.hits, note.updated_at, note.created_at
        alike_ones = known.setdefault(marks, [])
        is_copy = note in alike_ones
        if place in later:
            yield _shared_id(view, place, is_copy=is_copy)
        if not is_copy:
            alike_ones.append(note)


def _shared_id(view: VerifyView, place: int, *, is_copy: bool) -> RepairableFinding:
    note = view.snapshot.notes[place]
    if is_copy:
        detail = f"The note {name_of(note)} is in the file twice, word for word."
        repair = "removes the second copy"
        return view.repairable(
            "duplicate-id", note, detail, repair, partial(Draft.drop_namesake, place=place)
        )
    detail = f"The notes {name_of(view.snapshot.by_id[note.id])} and {name_of(note)} have the same id."
    repair = f"gives {name_of(note)}, which comes later in the file, a new id"
    return view.repairable("duplicate-id", note, detail, repair, partial(Draft.give_own_id, place=place))


def repeated_keys(view: VerifyView) -> Iterator[RepairableFinding]:
    """Keys that a fact file holds several times: only the first is ever recalled."""
    for nugget in view.snapshot.nuggets:
        copies: dict[str, list[Fact]] = {}
        for fact in nugget.facts:
            copies.setdefault(fact.key, []).append(fact)
        for key, facts in copies.items():
            if len(facts) == 1 or not key.strip():
                continue
            where = place_of_fact(nugget.name, key)
            detail = (
                f"The fact file of {quote(nugget.name)} holds the key {quote(key)} {_times(len(facts))}; "
            )
            detail += "agents recall only the first."
            others = any(not alike(fact.value, facts[0].value) for fact in facts[1:])
            repair = "keeps the first" + (" and saves the other values in hidden notes" if others else "")
            apply_repair = partial(_leave_the_first, nugget=nugget.name, key=key, count=len(facts))
            yield RepairableFinding(
                Finding("duplicate-key", where, detail, repair, RepairKind.CHANGE), apply_repair
            )


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _leave_the_first(draft: Draft, nugget: str, key: str, count: int) -> None:
    taken = [found for _ in range(count) if (found := draft.take_fact(nugget, key)) is not None]
    first = taken[0][1]
    copies = [fact for _, fact in taken if alike(fact.value, first.value)]
    often = max(copies, key=lambda fact: fact.hits)
    draft.put_fact(
        nugget, msgspec.structs.replace(first, hits=often.hits, last_hit_session=often.last_hit_session)
    )
    for number, (index, fact) in enumerate(taken):
        if not alike(fact.value, first.value):
            # Its index was counted after those before it were removed.
            keep_in_hidden_note(draft, nugget, as_hidden_fact(fact, index + number))


def several_notes(view: VerifyView) -> Iterator[RepairableFinding]:
    """Visible notes that mirror one fact: the one that says what the fact says stays."""
    for place, notes in view.mirrors.items():
        fact = view.fact(place)
        for note in notes[1:]:
            detail = (
                f"The note {name_of(note)} mirrors the fact {quote(fact.key)}, which the note {notes[0].id} "
            )
            detail += "mirrors already."
            yield view.repairable("several-notes", note, detail, "hides it", partial(_hide, id=note.id))


def _hide(draft: Draft, id: str) -> None:
    draft.put(replace(present(draft, id), hidden=True, archived_at=draft.at))
