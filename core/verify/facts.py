"""Rules about a fact and its note: both exist once, say the same and are hidden alike."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import msgspec

from core.model.build import as_hidden_fact, as_visible_fact, new_note
from core.model.compare import alike
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.note import HiddenFact, Note, replace
from core.verify.finding import (
    Finding,
    RepairableFinding,
    RepairKind,
    change_note,
    name_of,
    place_of_fact,
    present,
    quote,
)
from core.verify.view import FactPlace, VerifyView

# Keys and copies


def other_keys(view: VerifyView) -> Iterator[RepairableFinding]:
    """Notes whose key differs from their fact's by a scope before it, or by case."""
    pairs = [*view.renamed.items(), *((place, notes[0]) for place, notes in view.mirrors.items())]
    for place, note in pairs:
        key = view.fact(place).key
        if note.key != key:
            detail = f"The note {name_of(note)} calls its fact {quote(note.key)}, but the fact file says {quote(key)}."
            title = key if note.title == note.key else note.title
            rename = partial(change_note, id=note.id, stamp="updated_at", source_key=key, title=title)
            yield view.repairable(
                "key-differs", note, detail, f"renames it to {quote(key)} in the note", rename
            )


def several_notes(view: VerifyView) -> Iterator[RepairableFinding]:
    """Visible notes that mirror one fact: the one that says what the fact says stays."""
    for place, notes in view.mirrors.items():
        for note in notes[1:]:
            detail = (
                f"The note {name_of(note)} mirrors the fact {quote(view.fact(place).key)}, which the note "
            )
            detail += f"{notes[0].id} mirrors already."
            hide = partial(change_note, id=note.id, stamp="archived_at", hidden=True)
            yield view.repairable("several-notes", note, detail, "hides it", hide)


# What is missing


def lost_files(view: VerifyView) -> Iterator[RepairableFinding]:
    """Nuggets whose fact file is gone while notes still mirror its facts."""
    notes: dict[str, list[Note]] = {}
    for note in _notes_without_fact(view):
        if note.nugget_name not in view.snapshot.by_name:
            notes.setdefault(note.nugget_name, []).append(note)
    for nugget, mirrors in notes.items():
        count = f"{len(mirrors)} notes mirror its facts" if mirrors[1:] else "one note mirrors a fact of it"
        detail = f"The nugget {quote(nugget)} has no fact file, but {count}."
        ids = [note.id for note in mirrors if _is_whole(note)]
        if not view.may_hold_facts(nugget):
            detail += " No file can have this name: store the facts in another nugget."
        elif not ids:
            detail += " Their texts or keys are empty: edit the notes or hide them."
        else:
            repair = f"creates it again with {len(ids)} {'facts' if ids[1:] else 'fact'} from the notes"
            finding = Finding("missing-file", nugget, detail, repair, RepairKind.CHANGE)
            yield RepairableFinding(finding, partial(_put_back, ids=ids))
            continue
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
            group = (note.nugget_name, note.key.strip().casefold())
            repair, put_back = "restores the fact with the note's text", partial(_put_back, ids=[note.id])
            yield view.repairable("missing-fact", note, detail, repair, put_back, where=where, group=group)
        else:
            detail += f" The note {note.id} lacks the text or key of the fact: edit it or hide it."
            yield RepairableFinding(Finding("missing-fact", where, detail))


def _notes_without_fact(view: VerifyView) -> Iterator[Note]:
    renamed = {note.id for note in view.renamed.values()}
    for note in view.visible_mirrors():
        known = view.unsure(note.nugget_name) or view.find(note.nugget_name, note.key) is not None
        if not known and note.id not in renamed:
            yield note


def _is_whole(note: Note) -> bool:
    return bool(note.key.strip() and note.content.strip())


def _put_back(draft: Draft, ids: list[str]) -> None:
    keys: set[str] = set()
    for note in (present(draft, id) for id in ids):
        key = note.key.strip().casefold()
        if key not in keys:
            keys.add(key)
            fact = Fact(
                key=note.key, value=note.content, hits=note.hits, last_hit_session=note.last_hit_session
            )
            draft.put_fact(note.nugget_name, fact)


def unnoted_facts(view: VerifyView) -> Iterator[RepairableFinding]:
    """Facts that no note stands for, so that panes, search and promotion do not know them."""
    for place, fact in view.facts() if not view.unsure_notes else ():
        stand_ins = view.mirrors.get(place) or view.half_hidden.get(place) or place in view.renamed
        if stand_ins or _hidden_note_of(view, place, fact) is not None:
            continue
        detail = f"The fact {quote(fact.key)} has no note, so search and promotion miss it."
        where = place_of_fact(place[0], fact.key)
        finding = Finding("missing-note", where, detail, "creates its note", RepairKind.CHANGE)
        yield RepairableFinding(finding, partial(_make_note, nugget=place[0], fact=fact))


def _make_note(draft: Draft, nugget: str, fact: Fact) -> None:
    note = new_note(draft, "fact", nugget, fact.key, fact.value)
    draft.put(replace(note, hits=fact.hits, last_hit_session=fact.last_hit_session))


# What differs


def differing_values(view: VerifyView) -> Iterator[RepairableFinding]:
    """Facts whose note says something else. Which is newer cannot be told, so neither is lost.

    The note's text wins: it is what people are shown and what is promoted.
    """
    for place, notes in view.mirrors.items():
        fact, note = view.fact(place), notes[0]
        if alike(fact.value, note.content):
            continue
        detail = f"Agents recall {quote(fact.value)} for {quote(fact.key)}, but its note says {quote(note.content)}."
        repair = "gives the fact the note's text"
        if fact.value.strip():
            repair += f" and keeps {quote(fact.value)} in a hidden note"
        apply_repair = partial(_take_text, id=note.id, nugget=place[0], fact=fact)
        if not note.content.strip():
            repair = "gives the note the fact's value"
            apply_repair = partial(change_note, id=note.id, stamp="updated_at", content=fact.value)
        where = place_of_fact(place[0], fact.key)
        yield view.repairable("value-differs", note, detail, repair, apply_repair, where=where)


def _take_text(draft: Draft, id: str, nugget: str, fact: Fact) -> None:
    draft.put_fact(nugget, msgspec.structs.replace(fact, value=present(draft, id).content))
    if fact.value.strip():
        # At the end: the old value leaves no gap among the facts that the places of others would count.
        keep_in_hidden_note(draft, nugget, as_hidden_fact(fact, draft.end_of_facts(nugget)))


# What is hidden


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
    if view.mirrors.get(place):
        detail = f"The note {name_of(note)} is visible, although it keeps a hidden fact; "
        detail += f"another note now mirrors the fact {quote(fact.key)}."
        repair, apply_repair = "hides it again", partial(_hide_again, id=note.id)
    elif alike(fact.value, kept.value):
        detail = f"The note {name_of(note)} was hidden with its fact, and another program restored both."
        repair = f"hides it again and removes the fact {quote(fact.key)} from the fact file"
        apply_repair = partial(_hide_again, id=note.id, key=fact.key)
    else:
        detail = f"The note {name_of(note)} was hidden with its fact; the key {quote(fact.key)} now has another value."
        repair = f"links it to the new value and keeps {quote(kept.value)} in a hidden note"
        apply_repair = partial(_part_from_old_value, id=note.id)
    return view.repairable("half-hidden", note, detail, repair, apply_repair, group=(place[0], fact.key))


def _without_its_fact(view: VerifyView, note: Note, kept: HiddenFact) -> RepairableFinding:
    detail = f"The note {name_of(note)} is visible, but its fact {quote(kept.key)} is still hidden in it "
    detail += "and agents do not recall it."
    fact = as_visible_fact(kept)
    if note.is_fact and note.key.strip():
        fact = msgspec.structs.replace(fact, key=note.key)
    if not view.may_hold_facts(note.nugget_name):
        detail += f" No file can have the name {quote(note.nugget_name)}: store the fact in another nugget."
    elif not fact.key.strip():
        detail += " The fact has no key: give the note a title, or hide it."
    else:
        bring_back = partial(_bring_back, id=note.id, fact=fact, index=kept.index)
        repair, group = "restores the fact to the fact file", (note.nugget_name, fact.key)
        return view.repairable("half-hidden", note, detail, repair, bring_back, group=group)
    return RepairableFinding(Finding("half-hidden", note.id, detail))


def _hide_again(draft: Draft, id: str, key: str = "") -> None:
    if key:
        _take_out(draft, id, key)
    note = present(draft, id)
    draft.put(replace(note, hidden=True, archived_at=note.archived_at or draft.at))


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
    for place, fact in view.facts() if not view.unsure_notes else ():
        note = _hidden_note_of(view, place, fact)
        if note is not None:
            detail = (
                f"The note {name_of(note)} is hidden, but agents still recall its fact {quote(fact.key)}."
            )
            repair = "removes the fact from the fact file and keeps it in the hidden note"
            take_out = partial(_take_out, id=note.id, key=fact.key)
            yield view.repairable("hidden-but-recalled", note, detail, repair, take_out)


def _hidden_note_of(view: VerifyView, place: FactPlace, fact: Fact) -> Note | None:
    """The hidden note that says what a fact says, unless a visible note stands for the fact."""
    if view.mirrors.get(place) or view.half_hidden.get(place):
        return None
    said = (
        (note, note.content if note.hidden_fact is None else note.hidden_fact.value)
        for note in view.hidden_mirrors.get(place, ())
    )
    notes = [note for note, value in said if alike(value, fact.value)]
    return min(notes, key=lambda note: note.hidden_fact is None, default=None)


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


def keep_in_hidden_note(draft: Draft, nugget: str, kept: HiddenFact) -> Note:
    """Makes the note that forgetting such a fact would leave behind, from which it can be brought back."""
    note = new_note(draft, "fact", nugget, kept.key, kept.value)
    counts = {"hits": kept.hits, "last_hit_session": kept.last_hit_session}
    return draft.put(replace(note, **counts, hidden=True, archived_at=draft.at, hidden_fact=kept))


# In this order: each leaves nothing to the ones before it.
RULES: Final = (
    half_hidden, other_keys, lost_files, lost_facts, several_notes, differing_values, still_recalled, unnoted_facts,
)  # fmt: skip
