"""The Neighbours pane: links out of the note, links into it, and suggested ones."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec
from textual import on
from textual.content import Content
from textual.reactive import reactive

from core.model.note import Link, Note
from nuggets_tui.key_map import DEFAULT, KeyMap
from nuggets_tui.messages import Asked
from nuggets_tui.safe_text import content
from nuggets_tui.view import View, changed_between
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, columns, empty_words, set_border_text, title_style
from nuggets_tui.words import ago

if TYPE_CHECKING:
    from datetime import datetime

    from core.graph.neighbours import Suggestion

# Cells of a row that has room for the age of its link.
_DATED: Final = 36
_SIGN_STYLES: Final = {"→": "$text-secondary", "←": "$text-secondary", "+": "bold $text-success"}


def _empty(keys: KeyMap) -> Content:
    return empty_words(keys, "No links yet.", ("link", "in Notes links the note to another"))


class Neighbour(msgspec.Struct, frozen=True):
    """What a row stands for: a note, the reason of its link, and the suggestion when the link is not made yet."""

    note_id: str
    reason: str
    suggestion: Suggestion | None = None


class NeighboursPane(RowList):
    """Links of the note shown in Note."""

    view: reactive[View] = reactive(View(), repaint=False)

    def __init__(self) -> None:
        super().__init__(id="neighbours", classes="pane", empty_text=_empty(DEFAULT))
        self.border_title = Content("4 Neighbours")

    def watch_view(self, before: View, after: View) -> None:
        if before.note_id == after.note_id and not changed_between(
            before, after, "snapshot", "team", "suggested", "keys", "now"
        ):
            return
        self.empty_text = _empty(after.keys) if after.loaded and after.note is not None else ""
        whose = content(f" · {after.note.title}", MUTED) if after.note is not None else ""
        set_border_text(self, Content.assemble("4 Neighbours", whose))
        self.set_rows(_rows(after), keep_cursor=before.note_id == after.note_id)

    @property
    def neighbour(self) -> Neighbour | None:
        """What the row under the cursor stands for."""
        row = self.cursor_row
        return row.data if row is not None and isinstance(row.data, Neighbour) else None

    @property
    def note_under_cursor(self) -> str:
        return self.neighbour.note_id if self.neighbour is not None else ""

    @on(RowList.RowSelected)
    def follow(self, event: RowList.RowSelected) -> None:
        event.stop()
        if isinstance(event.row.data, Neighbour):
            note_id = event.row.data.note_id
            self.post_message(Asked(lambda main: main.pick_note(note_id, follow=True)))


def _rows(view: View) -> list[Row]:
    if view.note is None or not view.loaded:
        return []
    from core.graph.neighbours import neighbours

    found = neighbours(view.around, view.note_id)
    rows = [_link_row("→", note, link, view.now) for note, link in found.outgoing]
    rows += [_link_row("←", note, link, view.now) for note, link in found.incoming]
    for suggestion in view.suggested:
        reason = "suggested: " + ", ".join(suggestion.shared)
        rows.append(_row("+", suggestion.note, reason, suggestion=suggestion))
    # Several links may join the same two notes. A suggestion that was accepted stays the same row, with the cursor.
    times: Counter[str] = Counter()
    for place, row in enumerate(rows):
        rows[place] = msgspec.structs.replace(row, key=f"{row.key} {times[row.key]}")
        times[row.key] += 1
    return rows


def _link_row(sign: str, note: Note, link: Link, now: datetime | None) -> Row:
    return _row(sign, note, link.reason, ago(link.created_at, now) if now is not None else "")


def _row(sign: str, note: Note, reason: str, age: str = "", suggestion: Suggestion | None = None) -> Row:
    hidden = Content.styled("⊘ ", "$text-warning") if note.hidden else Content("")
    title = Content.assemble((f"{sign} ", _SIGN_STYLES[sign]), hidden, content(note.title, title_style(note)))
    wanted = len(note.title) + 2 + len(hidden)
    dated = columns(title, content(reason, MUTED), Content.styled(age, MUTED), wanted=wanted, share=0.6)
    plain = columns(title, content(reason, MUTED), Content(""), wanted=wanted, share=0.6)

    def line(width: int) -> Content:
        # In a small pane the reason says more than the date.
        return dated(width) if width >= _DATED else plain(width)

    return Row(note.id, (line,), data=Neighbour(note.id, reason, suggestion))
