"""Notes that a program which had not seen our change took back to what they were before it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from core.errors import ErrorCode
from core.model.basis import settled
from core.model.change import NoteChange
from core.model.compare import alike
from core.model.entry import Conflict
from core.model.note import FILE_NAMES, Note, replace
from core.storage.merge.compare import HIT_FIELDS, UNSAID_FIELDS
from core.storage.merge.three_way import same_meaning
from core.storage.reconcile.claims import Case, Claim, FactStep, OwnChange, facts_of

# What says something: neither recalls nor what every write moves.
_MEANING: Final = tuple(
    name for name in FILE_NAMES if name != "id" and name not in HIT_FIELDS and name not in UNSAID_FIELDS
)
_SHOWN_FIRST: Final = ("content", "title", "hidden")


def taken_back(case: Case, passed_over: Collection[str]) -> list[Claim]:
    """A claim for each note that is to be as our last change of it left it. passed_over: ids judged otherwise."""
    found: list[Claim] = []
    gone: list[Claim] = []
    ours = _own_changes(case, passed_over)
    unseen = _unseen_since(case, ours)
    # Additions last: a note that goes makes way for the one that took its fact.
    for change, own in sorted(ours, key=lambda one: one[0].after is None):
        if own.note is None:
            continue
        leaving = {
            claim.item[1] for claim in found if claim.notes[0].after is None or claim.notes[0].note.hidden
        }
        restored = _restored(case, change, own, own.note, unseen, leaving)
        if restored is not None:
            shown = _conflict(change, own.note)
            claim = Claim(item=("note", change.id), finding="back", own=own, conflict=shown, notes=[restored])
            (gone if _went_with_its_fact(case, restored) else found).append(claim)
    # A new fact that is gone with its note was forgotten, unless it was an old copy that took them both away.
    stale = bool(found) or _drops_facts_of_standing_notes(case)
    found += (claim for claim in gone if stale or _brings_news(case, claim.notes[0].note))
    return _one_note_a_fact(found)


def overwritten(case: Case, back: Sequence[Claim], passed_over: Collection[str]) -> Iterator[Claim]:
    """Texts of ours over which a program that had not seen them wrote its own: both are put before a person.

    back: the notes that are restored; they tell how old the copy was that was saved.
    """
    proofs = (claim.own for claim in back if claim.notes[0].before is not None)
    unseen = max((own.seconds for own in proofs if own is not None and not own.noticed), default=-math.inf)
    for change, own in _own_changes(case, passed_over):
        ours, seen, now = own.note, change.before, change.after
        if ours is None or ours.before is None or ours.after is None or seen is None or now is None:
            continue
        fields = [name for name in _texts(now) if _was_overwritten(name, ours.before, ours.after, seen, now)]
        # Who had seen our change would have left its time, or given a later one.
        untouched = now.updated_at == ours.before.updated_at != ours.after.updated_at
        if not fields or not (own.noticed or own.seconds <= unseen or (own.recent and untouched)):
            continue
        after = replace(now, **{name: getattr(seen, name) for name in fields})
        shown = Conflict(
            what="changed in two ways",
            code=ErrorCode.CHANGED_IN_TWO_WAYS,
            where=change.id,
            field=fields[0],
            base=_text(fields[0], ours.before),
            ours=_text(fields[0], seen),
            theirs=_text(fields[0], now),
        )
        notes = [NoteChange(id=change.id, before=now, after=settled(after, case.now.by_id.__contains__))]
        claim = Claim(item=("note", change.id), finding="back", own=own, conflict=shown, notes=notes)
        claim.disputed = True
        fact = facts_of(case.now, now.nugget_name).get(now.key) if now.is_fact and not now.hidden else None
        if fact is not None and alike(fact.value, now.content):
            step = msgspec.structs.replace(fact, value=after.content)
            claim.facts.append(FactStep(nugget=now.nugget_name, key=now.key, after=step))
        yield claim


def _texts(note: Note) -> tuple[str, ...]:
    return ("content",) if note.is_fact else ("content", "title")


def _was_overwritten(name: str, before: Note, after: Note, seen: Note, now: Note) -> bool:
    old, new, was, found = (getattr(one, name) for one in (before, after, seen, now))
    return not alike(old, new) and alike(was, new) and not alike(found, old) and not alike(found, new)


def _one_note_a_fact(claims: list[Claim]) -> list[Claim]:
    """Of several notes that would come back for one fact, each made while the one before was gone, the newest."""
    newest: dict[tuple[str, str], Note] = {}
    for claim in claims:
        note = claim.notes[0].after
        if note is not None and note.is_fact and not note.hidden and claim.notes[0].before is None:
            place = note.nugget_name, note.key
            newest[place] = max(newest.get(place, note), note, key=lambda one: one.updated_at)
    kept = {note.id for note in newest.values()}
    return [
        claim
        for claim in claims
        if (note := claim.notes[0].after) is None
        or claim.notes[0].before is not None
        or note.id in kept
        or (note.nugget_name, note.key) not in newest
    ]


def _own_changes(case: Case, passed_over: Collection[str]) -> list[tuple[NoteChange, OwnChange]]:
    """What differs of notes that we changed last, each with that change of ours."""
    asked = ((c, case.own(("note", c.id))) for c in case.found.notes if c.id not in passed_over)
    return [(change, own) for change, own in asked if own is not None and own.note is not None]


def _unseen_since(case: Case, ours: Iterable[tuple[NoteChange, OwnChange]]) -> float:
    """How many seconds before the file the earliest change of ours was made that its writer surely had not seen.

    Who had not seen that one had not seen any after it. Minus infinity when there is none.
    """
    return max((own.seconds for change, own in ours if _proves(case, change, own)), default=-math.inf)


def _proves(case: Case, change: NoteChange, own: OwnChange) -> bool:
    """Whether a note is back at the very version before our change, beside something that is new."""
    ours, seen, now = own.note, change.before, change.after
    if ours is None or ours.before is None or ours.after is None or seen is None or now is None:
        return False
    # What was noticed before: what we wrote since may have been seen.
    back = not own.noticed and _is_back(ours.before, ours.after, seen, now)
    return back and _is_an_old_copy_with_news(case, ours.before, ours.after, now)


def _restored(
    case: Case,
    change: NoteChange,
    own: OwnChange,
    ours: NoteChange,
    unseen: float,
    leaving: Collection[str],
) -> NoteChange | None:
    """What puts the note back as we left it; None when it was changed on purpose.

    unseen: see _unseen_since. leaving: notes that will be hidden or gone.
    """
    seen, now = change.before, change.after
    stale = own.recent or own.seconds <= unseen
    if ours.before is None and ours.after is not None:
        gone = stale and now is None and seen is not None and same_meaning(seen, ours.after)
        if not gone or seen is None or _has_another_note(case, seen, leaving):
            return None
        return NoteChange(id=change.id, before=None, after=seen, index=change.index)
    if ours.after is None and ours.before is not None:
        back = stale and seen is None and now is not None and _is_the_same_again(ours.before, now)
        return NoteChange(id=change.id, before=now, after=None) if back else None
    if ours.before is None or ours.after is None or seen is None or now is None:
        return None
    if not _is_back(ours.before, ours.after, seen, now):
        return None
    if not stale:
        return None
    return NoteChange(
        id=change.id, before=ours.before, after=_with_recalls(ours.after, ours.before, seen, now)
    )


def _with_recalls(after: Note, before: Note, seen: Note, now: Note) -> Note:
    """Our version such that recalls which the file lost come back with it."""
    if now.hits >= seen.hits:
        return after
    return replace(after, hits=before.hits + seen.hits - now.hits, last_hit_session=seen.last_hit_session)


def _went_with_its_fact(case: Case, restored: NoteChange) -> bool:
    """Whether a visible fact note that would come back went together with its fact."""
    note = restored.after
    if restored.before is not None or note is None or not note.is_fact or note.hidden:
        return False
    place = note.nugget_name, note.key
    return any((change.nugget, change.key) == place and change.after is None for change in case.found.facts)


def _has_another_note(case: Case, note: Note, leaving: Collection[str]) -> bool:
    """Whether a visible fact note that is gone was replaced: two for one fact would be one too many."""
    if not note.is_fact or note.hidden:
        return False
    other = case.visible(note.nugget_name, note.key)
    return other is not None and other.id not in leaving


def _drops_facts_of_standing_notes(case: Case) -> bool:
    return any(
        change.after is None and case.readable(change.nugget) and case.visible(change.nugget, change.key)
        for change in case.found.facts
    )


def _brings_news(case: Case, made: Note) -> bool:
    """Whether what is newer than a note of ours came as the note went: who made it had not seen ours."""
    return any(_is_news(case, change, made.updated_at) for change in case.found.notes)


def _is_back(before: Note, after: Note, seen: Note, now: Note) -> bool:
    """Whether every field that we changed stood as we left it and is back as it was before us."""
    fields = [name for name in _MEANING if _moved(name, getattr(before, name), getattr(after, name))]
    extra = {
        name
        for name in {*before.extra, *after.extra}
        if before.extra.get(name, _MEANING) != after.extra.get(name, _MEANING)
    }
    if not fields and not extra:
        return False
    for name in fields:
        old, new = getattr(before, name), getattr(after, name)
        if not _bears(name, old, new, getattr(seen, name)) or not _bears(name, new, old, getattr(now, name)):
            return False
    for name in extra:
        old, new = (one.extra.get(name, _MEANING) for one in (before, after))
        if seen.extra.get(name, _MEANING) != new or now.extra.get(name, _MEANING) != old:
            return False
    if before.is_fact or before.updated_at == after.updated_at or now.updated_at == before.updated_at:
        return True
    # A later time is somebody's own edit, unless that edit was of something else in the note.
    return any(
        _moved(name, getattr(seen, name), getattr(now, name))
        if name not in fields
        else _came_beside(name, *(getattr(one, name) for one in (before, after, seen, now)))
        for name in (*_MEANING, "hits")
    )


def _came_beside(name: str, before: Any, after: Any, seen: Any, now: Any) -> bool:
    """Whether tags or links of another program's came or went when ours were taken back."""
    if name not in ("tags", "links"):
        return False
    old, new, was, found = (_marks(name, value) for value in (before, after, seen, now))
    return bool(was - (new - old) | (old - new) != found)


def _moved(name: str, old: Any, new: Any) -> bool:
    if name in ("tags", "links"):
        return _marks(name, old) != _marks(name, new)
    return not alike(old, new)


def _bears(name: str, old: Any, new: Any, value: Any) -> bool:
    """Whether a value shows a change from old to new: tags and links each for itself, anything else as a whole."""
    if name not in ("tags", "links"):
        return alike(value, new)
    was, becomes, found = _marks(name, old), _marks(name, new), _marks(name, value)
    return becomes - was <= found and not (was - becomes) & found


def _marks(name: str, value: Any) -> set[Any]:
    return {(link.to, link.reason) for link in value} if name == "links" else set(value)


def _is_the_same_again(before: Note, now: Note) -> bool:
    return same_meaning(before, now) and (before.is_fact or before.updated_at == now.updated_at)


def _is_an_old_copy_with_news(case: Case, before: Note, after: Note, now: Note) -> bool:
    """Whether a late return to the very old version came with something never seen, or newer than our change of it.

    Then it was saved by a program that never saw our change. Without, somebody may have put an old file back.
    """
    dated = (before.updated_at, before.archived_at) != (after.updated_at, after.archived_at)
    if now.updated_at != before.updated_at or not dated:
        return False
    if case.brings_new:
        return True
    ours = max(after.updated_at, after.archived_at or "")
    return ours > before.updated_at and any(_is_news(case, change, ours) for change in case.found.notes)


def _is_news(case: Case, change: NoteChange, ours: str) -> bool:
    note = change.after
    if note is None:
        return False
    if change.before is not None:
        return note.updated_at > ours and any(
            _moved(name, getattr(change.before, name), getattr(note, name)) for name in _MEANING
        )
    own = case.own(("note", note.id))
    removed_by_us = own is not None and own.note is not None and own.note.after is None
    return note.created_at > ours and not removed_by_us


def _conflict(change: NoteChange, ours: NoteChange) -> Conflict:
    field = _shown_field(ours) if change.after is not None else ""
    shown = field or "content"
    return Conflict(
        what="another program keeps taking this change back",
        code=ErrorCode.CHANGE_TAKEN_BACK,
        where=change.id,
        field=field,
        base=_text(shown, ours.before),
        ours=_text(shown, ours.after),
        theirs=_text(shown, change.after),
    )


def _shown_field(ours: NoteChange) -> str:
    if ours.before is None or ours.after is None:
        return ""
    before, after = ours.before, ours.after
    names = dict.fromkeys((*_SHOWN_FIRST, *_MEANING))
    return next((name for name in names if _moved(name, getattr(before, name), getattr(after, name))), "")


def _text(name: str, note: Note | None) -> str:
    if note is None:
        return ""
    if name == "tags":
        return ", ".join(note.tags)
    if name == "links":
        return "\n".join(f"{link.to} {link.reason}".strip() for link in note.links)
    return str(getattr(note, name))
