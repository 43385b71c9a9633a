"""Rules about a fact and its note: both must exist and say the same."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from core.model.build import as_hidden_fact, new_note
from core.model.compare import alike
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.note import Note, replace
from core.verify.finding import Finding, RepairableFinding, RepairKind, name_of, place_of_fact, quote
from core.verify.hiding import hidden_note_of
from core.verify.repair_edits import keep_in_hidden_note, present
from core.verify.view import FactPlace, VerifyView


def other_keys(view: VerifyView) -> Iterator[RepairableFinding]:
    """Notes whose key differs from their fact's by a scope before it, or by case."""
    pairs = [*view.renamed.items(), *((place, notes[0]) for place, notes in view.mirrors.items())]
    for place, note in pairs:
        key = view.fact(place).key
        if note.key != key:
            detail = f"The note {name_of(note)} calls its fact {quote(note.key)}, but the fact file says {quote(key)}."
            apply_repair = partial(_name_as, id=note.id, key=key)
            yield view.repairable(
                "key-differs", note, detail, f"renames it to {quote(key)} in the note", apply_repair
            )


def _name_as(draft: Draft, id: str, key: str) -> None:
    note = present(draft, id)
    title = key if note.title == note.key else note.title
    draft.put(replace(note, source_key=key, title=title, updated_at=draft.at))


def lost_files(view: VerifyView) -> Iterator[RepairableFinding]:
    """Nuggets whose fact file is gone while notes still mirror its facts."""
    notes: dict[str, list[Note]] = {}
    for note in _notes_without_fact(view):
        if note.nugget_name not in view.snapshot.by_name:
            notes.setdefault(note.nugget_name, []).append(note)
    for nugget, mirrors in notes.items():
        count = (
            f"{len(mirrors)} notes mirror its facts" if len(mirrors) > 1 else "one note mirrors a fact of it"
        )
        detail = f"The nugget {quote(nugget)} has no fact file, but {count}."
        if not view.may_hold_facts(nugget):
            detail += " No file can have this name: store the facts in another nugget."
            yield RepairableFinding(Finding("missing-file", nugget, detail))
            continue
        whole = [note for note in mirrors if _is_whole(note)]
        if whole:
            repair = (
                f"creates it again with {len(whole)} {'fact' if len(whole) == 1 else 'facts'} from the notes"
            )
            apply_repair = partial(_put_back_all, ids=[note.id for note in whole])
            yield RepairableFinding(
                Finding("missing-file", nugget, detail, repair, RepairKind.CHANGE), apply_repair
            )
        else:
            detail += " Their texts or keys are empty: edit the notes or hide them."
            yield RepairableFinding(Finding("missing-file", nugget, detail))


def lost_facts(view: VerifyView) -> Iterator[RepairableFinding]:
    """Visible fact notes whose fact is not in its file, so that no agent recalls it."""
    for note in _notes_without_fact(view):
        if note.nugget_name not in view.snapshot.by_name:
            continue
        where = place_of_fact(note.nugget_name, note.key)
        detail = (
            f"The fact {quote(note.key)} is in its note, but not in the fact file: agents do not recall it."
        )
        if _is_whole(note):
            apply_repair = partial(_put_back, id=note.id)
            repair = "restores the fact with the note's text"
            group = (note.nugget_name, note.key.strip().casefold())
            yield view.repairable(
                "missing-fact", note, detail, repair, apply_repair, where=where, group=group
            )
        else:
            detail += f" The note {note.id} lacks the text or key of the fact: edit it or hide it."
            yield RepairableFinding(Finding("missing-fact", where, detail))


def _notes_without_fact(view: VerifyView) -> Iterator[Note]:
    renamed = {note.id for note in view.renamed.values()}
    for note in view.snapshot.notes:
        if (
            note.is_fact
            and not note.hidden
            and note.hidden_fact is None
            and not view.unsure(note.nugget_name)
            and view.find(note.nugget_name, note.key) is None
            and note.id not in renamed
        ):
            yield note


def _is_whole(note: Note) -> bool:
    return bool(note.key.strip() and note.content.strip())


def _put_back(draft: Draft, id: str) -> None:
    note = present(draft, id)
    fact = Fact(key=note.key, value=note.content, hits=note.hits, last_hit_session=note.last_hit_session)
    draft.put_fact(note.nugget_name, fact)


def _put_back_all(draft: Draft, ids: list[str]) -> None:
    keys: set[str] = set()
    for id in ids:
        key = present(draft, id).key.strip().casefold()
        if key not in keys:
            keys.add(key)
            _put_back(draft, id)


def unnoted_facts(view: VerifyView) -> Iterator[RepairableFinding]:
    """Facts that no note stands for, so that panes, search and promotion do not know them."""
    if view.unsure_notes:
        return
    for place, fact in view.facts():
        stand_ins = view.mirrors.get(place) or view.half_hidden.get(place) or place in view.renamed
        if stand_ins or hidden_note_of(view, place, fact) is not None:
            continue
        where = place_of_fact(place[0], fact.key)
        detail = f"The fact {quote(fact.key)} has no note, so search and promotion miss it."
        apply_repair = partial(_make_note, nugget=place[0], fact=fact)
        yield RepairableFinding(
            Finding("missing-note", where, detail, "creates its note", RepairKind.CHANGE), apply_repair
        )


def _make_note(draft: Draft, nugget: str, fact: Fact) -> None:
    note = new_note(draft, "fact", nugget, fact.key, fact.value)
    draft.put(replace(note, hits=fact.hits, last_hit_session=fact.last_hit_session))


def differing_values(view: VerifyView) -> Iterator[RepairableFinding]:
    """Facts whose note says something else. Which is newer cannot be told, so neither is lost.

    The note's text wins: it is what people are shown and what is promoted.
    """
    for place, notes in view.mirrors.items():
        fact, note = view.fact(place), notes[0]
        if alike(fact.value, note.content):
            continue
        where = place_of_fact(place[0], fact.key)
        detail = f"Agents recall {quote(fact.value)} for {quote(fact.key)}, but its note says {quote(note.content)}."
        if not note.content.strip():
            repair, apply_repair = (
                "gives the note the fact's value",
                partial(_take_value, id=note.id, value=fact.value),
            )
            yield view.repairable("value-differs", note, detail, repair, apply_repair, where=where)
            continue
        repair = "gives the fact the note's text"
        if fact.value.strip():
            repair += f" and keeps {quote(fact.value)} in a hidden note"
        apply_repair = partial(_take_text, id=note.id, place=place, fact=fact)
        yield view.repairable("value-differs", note, detail, repair, apply_repair, where=where)


def _take_value(draft: Draft, id: str, value: str) -> None:
    draft.put(replace(present(draft, id), content=value, updated_at=draft.at))


def _take_text(draft: Draft, id: str, place: FactPlace, fact: Fact) -> None:
    nugget = place[0]
    draft.put_fact(nugget, msgspec.structs.replace(fact, value=present(draft, id).content))
    if fact.value.strip():
        # At the end: the old value leaves no gap among the facts that the places of others would count.
        keep_in_hidden_note(draft, nugget, as_hidden_fact(fact, draft.end_of_facts(nugget)))
