"""Edits of many notes at once, laid over one draft note by note, so that they are one change set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.errors import NuggetsError
from core.graph.edits import edit_note, existing, link_notes
from core.model.draft import Draft
from core.model.infer import MetaInput, infer_stability, subject_of
from core.model.note import Note

EditOne = Callable[[Draft, str], object]
"""Edits the note of an id; it leaves the draft as it was when it raises."""


@dataclass(frozen=True)
class EditedEach:
    """The result of editing many notes: ids of those that changed, in the order given, and why others could not be
    edited.
    """

    changed: tuple[str, ...]
    refused: tuple[tuple[str, NuggetsError], ...]


def edit_each(
    draft: Draft, ids: Iterable[str], edit: EditOne, *, report: Callable[[int], object] | None = None
) -> EditedEach:
    """Edits each of some notes; one that cannot be edited does not stop the others. tell: called before each note with
    how many are done; an exception from it ends the work.
    """
    changed: list[str] = []
    refused: list[tuple[str, NuggetsError]] = []
    for done, id in enumerate(dict.fromkeys(ids)):
        if report is not None:
            report(done)
        before = draft.note(id)
        try:
            edit(draft, id)
        except NuggetsError as error:
            refused.append((id, error))
        else:
            if draft.note(id) is not before:
                changed.append(id)
    return EditedEach(tuple(changed), tuple(refused))


def retag(draft: Draft, id: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Note:
    """Gives a note tags and takes others off; nugget, scope and type stay."""
    return edit_note(draft, id, add_tags=add, remove_tags=remove)


def link_to(draft: Draft, id: str, *, target: str, reason: str = "related") -> None:
    """Links a note to another one, both ways; skips that other note itself."""
    if id != target:
        link_notes(draft, id, target, reason)


def move_to_scope(draft: Draft, id: str, *, scope: str) -> Note:
    """Moves a note to another scope. What was inferred from the scope follows it: whom it is about, how long it lasts.

    A subject or a stability that somebody chose stays. Raises NotFoundError, InvalidInputError for an unknown scope.
    """
    note = existing(draft, id)
    MetaInput(scope=scope).checked()
    inferred = infer_stability(note.scope, note.title, draft.rules)
    return edit_note(
        draft,
        id,
        meta=MetaInput(
            scope=scope,
            subject=subject_of(scope) if note.subject == subject_of(note.scope) else None,
            stability=infer_stability(scope, note.title, draft.rules) if note.stability == inferred else None,
        ),
    )
