"""Tells a person when somebody else changes the very note that is being read; of all else the log tells."""

from __future__ import annotations

import time
from typing import Final

from core.errors import NuggetsError
from core.model.change import PROGRAM, Author
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from nuggets_tui.controllers.context import Context
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.safe_text import safe_line
from nuggets_tui.threads import aside

_TITLE: Final = 60
# Seconds in which the same is told once of a note that is written again and again.
_AGAIN: Final = 10.0


class ElsewhereController(Controller):
    """Compares the note shown before and after the files changed."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._told_of: tuple[str, float] = ("", 0.0)

    def tell_of_open_note(self, before: Note | None, after: Snapshot) -> None:
        """Says who changed, hid or deleted the note shown, unless it was the person at the keyboard."""
        if before is None or self.view.past is not None or not self.view.loaded:
            return
        said = _said(before, after.by_id.get(before.id))
        told, at = self._told_of
        if said and not (told == f"{said} {before.id}" and time.monotonic() - at < _AGAIN):
            self._tell_unless_own(before, said)

    @background("elsewhere", exclusive=True)
    async def _tell_unless_own(self, note: Note, said: str) -> None:
        memory = self.desk.memory
        try:
            makers = await aside(memory.makers, note.id)
        except NuggetsError:
            makers = ()
        author: Author = makers[-1][0] if makers else PROGRAM
        if author == memory.author:
            return
        self._told_of = f"{said} {note.id}", time.monotonic()
        who, title = safe_line(str(author), _TITLE), safe_line(note.title, _TITLE)
        self.context.say(f"The note shown was {said} by {who}: {title}.")


def _said(before: Note, after: Note | None) -> str:
    """What became of a note, as a participle; "" when it says what it said, recalls left out."""
    if after is None:
        return "deleted"
    if before.hidden != after.hidden:
        return "hidden" if after.hidden else "brought back"
    counted = {"hits": 0, "last_hit_session": "", "last_accessed_at": "", "updated_at": ""}
    return "" if replace(before, **counted) == replace(after, **counted) else "changed"
