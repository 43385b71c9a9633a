"""Marks what a person refused to have in MEMORY.md on the note, so that the same text is not proposed again."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from core.model.draft import Draft
from core.model.note import Note, replace
from core.text.memory_page import digest

# A field that the original does not know, and so keeps.
REFUSED: Final = "promotionRefused"
_MOST: Final = 20


def mark_of(path: str, *said: str) -> str:
    """A short mark that follows from the file and what is proposed for it: ten hexadecimal digits."""
    return digest((path, *said), size=5)


def marks_of(note: Note) -> list[str]:
    """The marks of what was refused of a note, oldest first."""
    found = note.extra.get(REFUSED)
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def all_marks(notes: Iterable[Note], others: Iterable[str]) -> frozenset[str]:
    """The marks of all notes, and others."""
    return frozenset([*others, *(mark for note in notes if REFUSED in note.extra for mark in marks_of(note))])


def remember_refusals(
    draft: Draft, others: Iterable[str], refused: Iterable[tuple[str, str]], accepted: Collection[str]
) -> tuple[str, ...]:
    """Lays refusals over a draft, and takes back those that were accepted after all.

    others: the marks that no note bears. refused: ids of notes, each with a mark. accepted: marks. Returns the marks
    that no note can bear.
    """
    rest = [mark for mark in others if mark not in accepted]
    for holder in [note for note in draft.notes() if accepted and REFUSED in note.extra]:
        _put(draft, holder, [mark for mark in marks_of(holder) if mark not in accepted])
    for note_id, mark in refused:
        note = draft.note(note_id)
        if note is None:
            rest.append(mark)
        else:
            _put(draft, note, [*(known for known in marks_of(note) if known != mark), mark])
    return tuple(dict.fromkeys(rest))[-10 * _MOST :]


def _put(draft: Draft, note: Note, marks: list[str]) -> None:
    if marks == marks_of(note):
        return
    extra = {name: value for name, value in note.extra.items() if name != REFUSED}
    draft.put(replace(note, extra=extra | {REFUSED: marks[-_MOST:]} if marks else extra))
