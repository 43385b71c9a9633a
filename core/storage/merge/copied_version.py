"""Plans the changes that would take a conflict copy's version where both sides changed something."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import msgspec

from core.errors import InvalidInputError
from core.model.build import new_note
from core.model.change import FactChange, NoteChange
from core.model.draft import Draft
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import FILE_NAMES, Note, replace
from core.model.snapshot import Snapshot
from core.storage.format.documents import Document, GraphDocument, NuggetDocument


def copied_version(
    conflict: Conflict,
    documents: Iterable[Document],
    present: Snapshot,
    *,
    now: datetime,
    ids: Callable[[], str],
) -> tuple[tuple[NoteChange, ...], tuple[FactChange, ...]]:
    """The changes that give what the copies say of the thing that the conflict is about.

    conflict: `ours` is the copy's version, `theirs` the memory's own.
    """
    documents = tuple(documents)
    graphs = [one for one in documents if isinstance(one, GraphDocument)]
    copied = [note for one in graphs for note in one.notes if note is not None and note.id == conflict.where]
    if copied:
        # Of several copies the one of which the conflict tells.
        note = min(copied, key=lambda note: _text(note, conflict.field) != conflict.ours)
        change = _copied_note(note, present.by_id.get(note.id), conflict.field)
        return _with_its_fact(change, conflict.field, Draft(present, now=now, ids=ids))
    named = [item for item in _named_facts(documents) if _place(item) == conflict.where]
    # Of several copies the one of which the conflict tells.
    named.sort(key=lambda item: item[1].value != conflict.ours)
    return _copied_fact(*named[0], conflict.field, Draft(present, now=now, ids=ids)) if named else ((), ())


def _named_facts(documents: Iterable[Document]) -> Iterable[tuple[str, Fact]]:
    """Nugget and fact, of all fact files first, then as the notes of facts tell it."""
    documents = tuple(documents)
    for one in documents:
        if isinstance(one, NuggetDocument):
            yield from ((one.meta.name, fact) for fact in one.facts if fact is not None)
    for one in documents:
        if isinstance(one, GraphDocument):
            for note in one.notes:
                if note is not None and note.is_fact:
                    yield note.nugget_name, Fact(key=note.key, value=note.content)


def _place(item: tuple[str, Fact]) -> str:
    return f"{item[0]}: {item[1].key}"


def _copied_note(copied: Note, present: Note | None, field: str) -> NoteChange:
    """What taking a copy's version would do: to the field that conflicts, else to the whole note."""
    if present is None or field not in FILE_NAMES:
        return NoteChange(id=copied.id, before=None, after=copied)
    after = replace(present, **{field: getattr(copied, field)})
    return NoteChange(id=copied.id, before=present, after=after)


def _text(note: Note, field: str) -> str:
    return str(getattr(note, field)) if field in FILE_NAMES else note.content


def _with_its_fact(
    change: NoteChange, field: str, draft: Draft
) -> tuple[tuple[NoteChange, ...], tuple[FactChange, ...]]:
    """A text of the note of a fact is that of the fact as well."""
    before, after = change.before, change.after
    held = None
    if (
        before is not None
        and after is not None
        and field == "content"
        and before.is_fact
        and not before.hidden
    ):
        held = draft.find_fact(before.nugget_name, before.key)
    if held is None or after is None:
        return (change,), ()
    draft.put(after)
    draft.put_fact(after.nugget_name, msgspec.structs.replace(held[1], value=after.content))
    made = draft.change_set("", kind="import")
    return made.notes, made.facts


def _copied_fact(
    nugget: str, copied: Fact, field: str, draft: Draft
) -> tuple[tuple[NoteChange, ...], tuple[FactChange, ...]]:
    """The same for a fact, whose note says what it says."""
    holder = draft.nugget(nugget)
    held = next((fact for fact in holder.facts if fact.key == copied.key), None) if holder else None
    try:
        draft.put_fact(nugget, copied if held is None else _with_field(held, copied, field))
    except InvalidInputError:
        return (), (FactChange(nugget=nugget, key=copied.key, before=None, after=copied),)
    if held is None or field in ("", "value"):
        note = draft.fact_note(nugget, copied.key, hidden=False)
        if note is None:
            new_note(draft, "fact", nugget, copied.key, copied.value)
        else:
            draft.put(replace(note, content=copied.value, updated_at=draft.at))
    made = draft.change_set("", kind="import")
    return made.notes, made.facts


def _with_field(held: Fact, copied: Fact, field: str) -> Fact:
    if field in ("", "value"):
        return msgspec.structs.replace(held, value=copied.value)
    extra: dict[str, Any] = dict(held.extra)
    if field in copied.extra:
        extra[field] = copied.extra[field]
    return msgspec.structs.replace(held, extra=extra)
