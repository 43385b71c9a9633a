"""The rule about notes that mirror one fact."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from core.model.draft import Draft
from core.model.note import replace
from core.verify.finding import RepairableFinding, name_of, quote
from core.verify.repair_edits import present
from core.verify.view import VerifyView


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
