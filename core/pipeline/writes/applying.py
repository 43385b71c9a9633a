"""Lays a change of a note over a draft: written, already so, or left to the person who changed the note."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, Literal

from core.errors import ConflictError, NuggetsError
from core.graph.edits import edit_note, hide_note, link_notes
from core.model.compare import alike
from core.model.draft import Draft
from core.model.note import Note, custom_tags, replace
from core.pipeline.database.note_edits import NoteEdit
from core.pipeline.intake.normalisation import normalise
from core.pipeline.records import ProposalReason
from core.pipeline.writes.note_of import fact_of, note_ids, note_of, title_of
from core.text.normalise import normalise_content

RowOutcome = Literal["written", "unchanged", "conflict", "failed"]
_MOST_IDS: Final = 64
# The reason of the link between a note and the one whose place it took.
_REPLACES: Final = "replaces"
_REWORDED: Final = "the note has changed since"
_GONE: Final = "the note no longer exists"
_HIDDEN: Final = "the note has been hidden since"


@dataclass(frozen=True, slots=True)
class AppliedRow:
    """What became of a row. note_id: of the note, another than the row's where that one was taken. error: why not.

    former, now: the note's text before and after; where it had moved on, the former alone.
    """

    row: NoteEdit
    outcome: RowOutcome
    note_id: str
    reason: ProposalReason = ProposalReason.WRITTEN
    error: str = ""
    former: str = ""
    now: str = ""


def apply_row(draft: Draft, row: NoteEdit, taken: Callable[[str, str], bool]) -> AppliedRow:
    """Lays a row over the draft; what it cannot do it leaves as it is, and says why.

    Doing it again changes nothing: a note that is there already, or was there and was taken out since, is not made
    again, and a text that is there already is not written again.
    """
    if row.op != "hide" and not normalise_content(row.text("content")):
        return AppliedRow(row, "failed", row.note_id, error="the text is empty")
    try:
        if row.op == "add":
            return _add(draft, row, taken)
        if row.op == "update":
            return _update(draft, row)
        return _hide(draft, row)
    except ConflictError as error:
        return AppliedRow(row, "conflict", row.note_id, ProposalReason.TARGET_CHANGED, error.what)
    except NuggetsError as error:
        return AppliedRow(row, "failed", row.note_id, error=error.message)


def _add(draft: Draft, row: NoteEdit, taken: Callable[[str, str], bool]) -> AppliedRow:
    content = row.text("content")
    further = note_ids(row.text("nugget"), normalise(content).content_hash)
    # Whoever accepted it chose; the others are for when somebody made a note of that id meanwhile.
    for id in chain((row.note_id,), islice(further, _MOST_IDS)):
        there = draft.note(id)
        if there is not None and fact_of(there) == row.fact_id != "":
            return _found(row, there, content)
        if there is None and not draft.exists(id) and not taken(id, row.fact_id):
            made = _made(draft, row, id)
            return AppliedRow(row, "written", id, now=made.content)
    return AppliedRow(row, "failed", row.note_id, error="no id is free for the note")


def _made(draft: Draft, row: NoteEdit, id: str) -> Note:
    """A new note; in the place of an old one it bears that one's tags, and the two are linked."""
    note, old = note_of(draft, row, id), draft.note(row.text("replaces"))
    if old is None:
        return draft.put(note)
    draft.put(replace(note, tags=tuple(dict.fromkeys((*note.tags, *custom_tags(old))))))
    return link_notes(draft, note.id, old.id, _REPLACES)[0]


def _found(row: NoteEdit, note: Note, content: str) -> AppliedRow:
    if alike(note.content, normalise_content(content)):
        return AppliedRow(row, "unchanged", note.id)
    return AppliedRow(row, "conflict", note.id, error=_REWORDED)


def _update(draft: Draft, row: NoteEdit) -> AppliedRow:
    content = normalise_content(row.text("content"))
    note = draft.note(row.note_id)
    if note is None:
        return AppliedRow(row, "conflict", row.note_id, ProposalReason.TARGET_GONE, _GONE)
    if alike(note.content, content):
        return AppliedRow(row, "unchanged", note.id)
    if note.hidden:
        return AppliedRow(row, "conflict", note.id, ProposalReason.TARGET_GONE, _HIDDEN)
    if not _is_as_expected(note, row):
        return _moved_on(row, note)
    named_so = not note.is_fact and note.title == title_of(note.content)
    edit_note(draft, note.id, content=content, title=title_of(content) if named_so else None)
    return AppliedRow(row, "written", note.id, former=note.content, now=content)


def _hide(draft: Draft, row: NoteEdit) -> AppliedRow:
    note = draft.note(row.note_id)
    if note is None or note.hidden:
        return AppliedRow(row, "unchanged", row.note_id)
    if not _is_as_expected(note, row):
        return _moved_on(row, note)
    hide_note(draft, note.id)
    return AppliedRow(row, "written", note.id, former=note.content)


def _moved_on(row: NoteEdit, note: Note) -> AppliedRow:
    return AppliedRow(row, "conflict", note.id, ProposalReason.TARGET_CHANGED, _REWORDED, former=note.content)


def _is_as_expected(note: Note, row: NoteEdit) -> bool:
    return alike(note.content, normalise_content(row.text("expected")))
