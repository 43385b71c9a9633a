"""Choosing a note: type words, walk the list with the arrow keys, enter takes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from core.model.note import Note
from core.model.snapshot import Snapshot
from nuggets_tui.desk import Desk
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.threads import aside
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, note_marks, sides, title_style

_MOST: Final = 100
_REASON: Final = "related"


class PickerScreen(Dialog[tuple[str, str]]):
    """Answers with the id of the chosen note and the reason typed ("" when none is asked for)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "down", show=False, priority=True),
        Binding("up", "move(-1)", "up", show=False, priority=True),
        Binding("ctrl+s", "take", "take", show=False),
    ]

    def __init__(
        self,
        desk: Desk,
        snapshot: Snapshot,
        note: Note | None,
        heading: str,
        *,
        ask_reason: bool = False,
        hidden: bool = False,
    ) -> None:
        """`note`: the one that another is chosen for, if any; it is not offered. `hidden`: hidden notes too."""
        super().__init__(classes="large")
        self.heading = heading
        if note is not None:
            self.heading += f" “{note.title}”" if ask_reason else f": {note.title}"
        self.keys = "⏎  take · ↑↓  choose · esc  close"
        if ask_reason:
            self.keys = "⏎  to the reason, then link · ↑↓  choose · esc  close"
        self._desk = desk
        self._snapshot = snapshot
        self._known = {note.id} if note is not None else set()
        self._hidden = hidden
        self._looks = 0
        self._ask_reason = ask_reason

    def compose_inside(self) -> ComposeResult:
        """The words, the list, and the reason."""
        yield Field("Which note?", id="words", hint="words of its title or text")
        yield RowList(id="choices", empty_text="No other note fits.")
        if self._ask_reason:
            yield Field("Reason", _REASON, id="reason")

    def on_mount(self) -> None:
        """Begins with the newest notes."""
        self.query_one("#words", Input).focus()
        self.look("")

    @on(Input.Changed, "#words")
    def typed(self, event: Input.Changed) -> None:
        """Other words, other notes."""
        self.look(event.value)

    @work(group="pick", exclusive=True, exit_on_error=False)
    async def look(self, text: str) -> None:
        """Shows the notes that fit."""
        self._looks += 1
        found = await self.attempt(aside(self._fitting, text, self._looks))
        if found is not None:
            self.query_one(RowList).set_rows([_row(note) for note in found], keep_cursor=False)

    def _fitting(self, text: str, look: int) -> Sequence[Note]:
        words = text.casefold().split()
        offered = self._snapshot.notes if self._hidden else self._snapshot.visible
        notes = [note for note in offered if note.id not in self._known]
        notes.sort(key=lambda note: max(note.updated_at, note.created_at), reverse=True)
        if not words:
            return notes[:_MOST]
        titled = [note for note in notes if all(word in note.title.casefold() for word in words)]
        known = {note.id for note in titled} | self._known
        from core.search import Filters

        filters = Filters(include_hidden=self._hidden)
        # Those who typed on wait for no answer to what they typed before.
        hits = self._desk.memory.search(text, _MOST, filters, stopped=lambda: look != self._looks)
        return [*titled, *(hit.note for hit in hits if hit.note.id not in known)][:_MOST]

    def action_move(self, step: int) -> None:
        """Walks the list while the cursor stays in the field."""
        choices = self.query_one(RowList)
        choices.action_cursor_down() if step > 0 else choices.action_cursor_up()

    @on(Input.Submitted)
    def enter(self, event: Input.Submitted) -> None:
        """Goes on to the reason, if one is asked for; from there takes the note under the list's cursor."""
        event.stop()
        self._go_on(event.input)

    @on(RowList.RowSelected)
    def clicked(self, event: RowList.RowSelected) -> None:
        """A click on the row under the cursor goes on with it."""
        event.stop()
        self._go_on(self.query_one(RowList))

    def _go_on(self, widget: Widget) -> None:
        if not self._ask_reason or widget.id == "reason":
            self.action_take()
        elif self.query_one(RowList).cursor_row is not None:
            reason = self.query_one("#reason", Input)
            reason.focus()
            reason.select_all()

    def action_take(self) -> None:
        """Closes with the choice."""
        row = self.query_one(RowList).cursor_row
        if row is None:
            return
        reason = self.query_one("#reason", Input).value if self._ask_reason else ""
        self.dismiss((row.key, reason))


def _row(note: Note) -> Row:
    title = Content.assemble(note_marks(note), content(note.title, title_style(note)))
    return Row(note.id, (sides(title, content(safe_line(note.nugget_name, 30), MUTED)),))
