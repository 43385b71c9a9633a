"""The note shown: which one it is, the way back to those before, and what belongs to it that takes a moment."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from core.model.change import PROGRAM, Author
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.safe_text import safe_line
from nuggets_tui.threads import run_in_thread
from nuggets_tui.widgets.facts import fact_key

if TYPE_CHECKING:
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.widgets.panes import PaneName

_PAUSE: Final = 0.1
_TITLE: Final = 60
# Seconds in which the same is told once of a note that is written again and again.
_AGAIN: Final = 10.0


class ReadingController(Controller):
    """Shows one note after the other. `trail` holds those that backspace goes back to."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self.trail: list[str] = []
        # What was last told of which note, and when.
        self._last_notified: tuple[str, float] = ("", 0.0)

    def show_note(self, note_id: str, *, follow: bool = False) -> None:
        """Shows a note. `follow`: backspace comes back to the one before."""
        before = self.view.note_id
        if note_id == before or self.view.find(note_id) is None:
            return
        if follow and before:
            self.trail.append(before)
        self.main.show(note_id=note_id, suggested=())
        self.find_suggestions()
        self.main.refresh_bindings()

    def back(self) -> bool:
        """Back to the note that was shown before; False where there is none."""
        while self.trail:
            note_id = self.trail.pop()
            if self.view.find(note_id) is not None and note_id != self.view.note_id:
                self.show_note(note_id)
                self.reveal()
                return True
        return False

    def open_fact(self, nugget: str, key: str) -> None:
        from nuggets_tui.screens.recall import recall_screen

        self.app.push_screen(recall_screen(self.session, nugget, key))

    def leaving(self) -> None:
        """Notes of one memory lead to none of another."""
        self.trail = []

    def move_cursors(self) -> None:
        """Puts the cursors of the lists on the note shown, and so brings its rows into view."""
        note = self.view.note
        if note is None:
            return
        self.main.notes_pane.move_to(note.id)
        if note.is_fact:
            self.main.facts_pane.move_to(fact_key(note.nugget_name, note.key))

    def reveal(self) -> None:
        """Puts the cursors of the lists on the note shown, and from Notes or Facts goes to the one that lists it."""
        note = self.view.note
        if note is None:
            return
        self.move_cursors()
        # The cursor stands on what commands act on.
        focused = self.main.focused
        if focused is self.main.notes_pane and self.list_with_note("notes") == "facts":
            self.main.go_to("facts")
        elif focused is self.main.facts_pane and self.main.facts_pane.note is not note:
            self.main.go_to("notes")

    def follow_facts(self) -> None:
        """With the cursor in Facts, the note of its row is shown: commands act on what the cursor marks."""
        facts = self.main.facts_pane
        if self.main.focused is not facts or facts.fact is None:
            return
        if facts.note is not None:
            self.show_note(facts.note.id)
        elif self.view.note_id:
            self.main.show(note_id="", suggested=())
            self.main.refresh_bindings()

    def list_with_note(self, pane: PaneName) -> PaneName:
        """The pane, or Facts in place of Notes where only Facts lists the note shown."""
        note = self.view.note
        if pane != "notes" or note is None or not note.is_fact or self.main.notes_pane.holds(note.id):
            return pane
        return "facts" if self.main.facts_pane.holds(fact_key(note.nugget_name, note.key)) else pane

    def note_under_cursor(self) -> None:
        """Shows the note on which the cursor of Notes came to stand, when none is shown."""
        row = self.main.notes_pane.cursor_row
        if not self.view.note_id and row is not None and isinstance(row.data, str):
            self.show_note(row.data)

    def first_frame_shown(self) -> None:
        """What belongs to the first note shown comes behind the first frame."""
        self.find_suggestions()

    def snapshot_shown(self) -> None:
        """Another state has other facts, and other suggestions."""
        self.follow_facts()
        self.find_suggestions()

    @background("suggestions", exclusive=True)
    async def find_suggestions(self) -> None:
        """Looks for notes that might be linked to the one shown."""
        note_id = self.view.note_id
        # Somebody who holds an arrow key down passes over many notes.
        await asyncio.sleep(_PAUSE)
        note = self.view.find(note_id)
        if not self.view.loaded or note is None:
            return
        from nuggets_tui.origin import origin_of

        session = self.main.session_of(note_id)
        found = await session.suggestions(self.view.holder(note_id), note_id)
        if note_id == self.view.note_id:
            self.main.show(suggested=found)
        # The log may be in use for a while; the suggestions do not wait for it.
        origin = await run_in_thread(origin_of, session.memory, note)
        if session is self.main.open_session:
            origin = await self.main.pipeline.with_trail(origin, note)
        if note_id == self.view.note_id and origin != self.view.origin:
            self.main.show(origin=origin)

    # Changes from elsewhere

    def notify_change(self, before: Note | None, after: Snapshot) -> None:
        """Says who changed, hid or deleted the note shown, unless it was the person at the keyboard; of all else the
        log tells. before: the note as it was shown.
        """
        if before is None or self.view.past is not None or not self.view.loaded:
            return
        said = _what_became_of(before, after.by_id.get(before.id))
        told, at = self._last_notified
        if said and not (told == f"{said} {before.id}" and time.monotonic() - at < _AGAIN):
            self._notify_unless_own(before, said)

    @background("elsewhere", exclusive=True)
    async def _notify_unless_own(self, note: Note, said: str) -> None:
        memory = self.session.memory
        try:
            makers = await run_in_thread(memory.history.makers, note.id)
        except NuggetsError:
            makers = ()
        author: Author = makers[-1][0] if makers else PROGRAM
        if author == memory.author:
            return
        self._last_notified = f"{said} {note.id}", time.monotonic()
        who, title = safe_line(str(author), _TITLE), safe_line(note.title, _TITLE)
        self.notify(f'"{title}", the note shown, was {said} by {who}.')


def _what_became_of(before: Note, after: Note | None) -> str:
    """What became of a note, as a participle; "" when it says what it said, recalls left out."""
    if after is None:
        return "deleted"
    if before.hidden != after.hidden:
        return "hidden" if after.hidden else "brought back"
    counted = {"hits": 0, "last_hit_session": "", "last_accessed_at": "", "updated_at": ""}
    return "" if replace(before, **counted) == replace(after, **counted) else "changed"
