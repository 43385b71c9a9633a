"""An entry of the audit log, whole: who, when, why, and every difference."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from textual.app import ComposeResult
from textual.content import Content

from core.model.change import ChangeSet
from nuggets_tui.safe_text import content
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.diff_lines import TitleOf, change_lines
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.words import ago, deed, plural


class EntryScreen(Dialog[None]):
    """One change set."""

    def __init__(self, entry: ChangeSet, now: datetime | None, title_of: TitleOf = str) -> None:
        super().__init__(classes="large")
        told = deed(entry)
        self.heading = f"{entry.author} {told.verb} {told.what}"
        self._entry = entry
        self._now = now
        self._title_of = title_of

    def compose_inside(self) -> ComposeResult:
        """The differences."""
        yield LineView(partial(_lines, self._entry, self._now, self._title_of), id="lines")

    def on_mount(self) -> None:
        """The cursor keys scroll."""
        self.query_one(LineView).focus()


def _lines(entry: ChangeSet, now: datetime | None, title_of: TitleOf, width: int) -> list[Content]:
    age = ago(entry.at, now) if now else ""
    when = age if age in ("", "now") else f"{age} ago"
    head = " · ".join(part for part in (entry.reason, plural(entry.size, "thing"), when) if part)
    return [*content(head, "$text-muted").wrap(width), Content(""), *change_lines(entry, width, title_of)]
