"""The Notes pane: all notes in an order, or what a search found, with the answer an agent would get on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual import on
from textual.content import Content
from textual.reactive import reactive

from core.model.note import Note
from nuggets_tui.messages import NotePicked, PaneWanted
from nuggets_tui.safe_text import content
from nuggets_tui.view import ORDER_NAMES, View, care_reasons, changed_between, listed
from nuggets_tui.widgets.results import result_rows
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, note_marks, sides, title_style, with_reasons
from nuggets_tui.words import ago

if TYPE_CHECKING:
    from datetime import datetime

_EMPTY: Final = Content.assemble(
    "No notes yet. Notes are what agents\nwrote down, linked to each other.\n\n",
    ("n", "bold $text-accent"), "  writes one",
)  # fmt: skip
_ALL_HIDDEN: Final = Content.assemble(
    "Every note is hidden.\n\n", ("v", "bold $text-accent"), "  shows hidden notes"
)


class NotesPane(RowList):
    """Notes while nothing is searched, results while something is."""

    view: reactive[View] = reactive(View())

    def __init__(self) -> None:
        super().__init__(id="notes", classes="pane", empty_text=_EMPTY)
        self.border_title = Content("2 Notes")
        self._notes: Sequence[Note] = ()
        self._places: dict[str, int] = {}
        self._unseen = False

    def watch_view(self, before: View, after: View) -> None:
        """Shows other rows; the cursor stays on its note."""
        searched = after.found is not None
        if searched and changed_between(before, after, "found", "snapshot"):
            self._show_results(before, after)
        elif not searched and (
            before.found is not None
            or changed_between(before, after, "snapshot", "now")
            or (before.order, before.show_hidden) != (after.order, after.show_hidden)
        ):
            self._show_notes(before, after)
        if before.fresh is not after.fresh:
            self.glow(after.fresh)

    def on_show(self) -> None:
        """Comes from behind another pane: scrolls to the cursor if that was moved meanwhile."""
        if self._unseen:
            self._unseen = False
            self.call_after_refresh(self._show_cursor)

    def _show_notes(self, before: View, after: View) -> None:
        if (
            before.snapshot is not after.snapshot
            or (before.order, before.show_hidden) != (after.order, after.show_hidden)
            or not self._places
        ):
            self._notes = listed(after.snapshot, after.order, after.show_hidden)
            self._places = {note.id: place for place, note in enumerate(self._notes)}
        self.empty_text = _ALL_HIDDEN if after.snapshot.notes else _EMPTY
        # The list asks for the keys of its former rows too, so each source keeps its own notes.
        notes, places = self._notes, self._places
        self.set_source(
            len(notes),
            lambda index: self._note_row(notes[index]),
            key_at=lambda index: notes[index].id,
            index_of=places.get,
            keep_cursor=before.order == after.order,
        )
        if before.found is not None and after.note_id:
            self.move_to(after.note_id)
            # Behind another pane there is no height to scroll by; the cursor is sought again once there is.
            self._unseen = not self.scrollable_content_region.height or not self.display
            self.call_after_refresh(self._show_cursor)
        hidden = " · hidden too" if after.show_hidden else ""
        self.border_title = Content.assemble("2 Notes", (f" · {ORDER_NAMES[after.order]}{hidden}", MUTED))

    def _show_results(self, before: View, after: View) -> None:
        assert after.found is not None
        same = before.found is not None and before.found.query == after.found.query
        self.empty_text = Content.assemble(
            "Nothing found.\n\n",
            ("esc", "bold $text-accent"),
            "  clears the search\n",
            ("W", "bold $text-accent"),
            "    asks why a note is not here",
        )
        self.set_rows(result_rows(after.found, after.snapshot), keep_cursor=same)
        order = "best first" if after.found.weighed else ORDER_NAMES["newest"]
        self.border_title = Content.assemble("2 Results", (f" · {order}", MUTED))

    def _note_row(self, note: Note) -> Row:
        now = self.view.now
        title = Content.assemble(note_marks(note), content(note.title, title_style(note)))
        if self.view.order == "care":
            reasons = care_reasons(note, self.view.snapshot)
            return Row(note.id, (with_reasons(title, reasons),), data=note.id)
        return Row(note.id, (sides(title, self._aside(note, now)),), data=note.id)

    def _aside(self, note: Note, now: datetime | None) -> Content:
        if self.view.order == "recalls":
            return Content.styled(f"×{note.hits}", MUTED)
        stamp = max(note.updated_at, note.created_at)
        return Content.styled(ago(stamp, now) if now else "", MUTED)

    @on(RowList.RowHighlighted)
    def pick(self, event: RowList.RowHighlighted) -> None:
        """Shows the note in Note, unless another pane has the cursor and a note is shown already."""
        event.stop()
        if isinstance(event.row.data, str) and (self.has_focus or not self.view.note_id or self._leads()):
            self.post_message(NotePicked(event.row.data))

    def _leads(self) -> bool:
        """Whether the best hit is to be shown while words are typed."""
        return (
            self.view.found is not None
            and self.screen.focused is not None
            and self.screen.focused.id == "search"
        )

    def on_focus(self) -> None:
        """Shows the note that the cursor is on."""
        row = self.cursor_row
        if row is not None and isinstance(row.data, str):
            self.post_message(NotePicked(row.data))

    @on(RowList.RowSelected)
    def open(self, event: RowList.RowSelected) -> None:
        """Goes on to the note's text."""
        event.stop()
        if isinstance(event.row.data, str):
            self.post_message(NotePicked(event.row.data, follow=True))
            self.post_message(PaneWanted("note"))
