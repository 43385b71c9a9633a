"""Choosing the MEMORY.md to promote to, when more than one is known."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from nuggets_tui.safe_text import content
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, cut_middle, sides
from nuggets_tui.words import ago, plural

if TYPE_CHECKING:
    from core.memory import PromotionTarget

ANOTHER: Final = "another folder"
_SAID: Final = "Choosing one shows what would be written. Nothing is written before you have seen it."


class TargetsScreen(Dialog[str]):
    """Answers with the chosen file's folder, or ANOTHER. Those whose folder is gone are told and cannot be chosen."""

    heading = "Promote: which MEMORY.md?"
    keys = "⏎  show what would be written · ↑↓  choose · esc  close"

    def __init__(self, targets: tuple[PromotionTarget, ...], now: datetime) -> None:
        super().__init__(classes="large")
        self._targets = targets
        self._now = now

    def compose_inside(self) -> ComposeResult:
        """The present project first, then those written to last."""
        yield Static(content(_SAID, MUTED), classes="words")
        rows = [_row(target, self._now) for target in self._targets]
        rows.append(Row(ANOTHER, (content("Another folder …", "bold"), Content(""))))
        yield RowList(rows, id="choices")

    def on_mount(self) -> None:
        """Begins with the present project."""
        self.query_one(RowList).focus()

    @on(RowList.RowSelected)
    def take(self, event: RowList.RowSelected) -> None:
        """Closes with the choice."""
        event.stop()
        self.dismiss(event.row.key)


def _row(target: PromotionTarget, now: datetime) -> Row:
    folder = Path(target.path).parent
    name = Path(target.cwd).name if target.cwd else folder.name
    title = content(name or str(folder), "bold" if target.there else MUTED)
    if not target.there:
        said = content("left out: its folder is gone", "$text-warning")
    elif target.current:
        said = content("the present project", "$text-success")
    else:
        said = Content("")
    age = ago(target.at, now)
    written = (
        f"{plural(target.count, 'note')}, {age if age == 'now' else age + ' ago'}"
        if target.at
        else "not written to yet"
    )
    head = sides(title, Content.assemble(said, content(f"  {written}", MUTED)))
    return Row(
        str(folder), (head, lambda width: content(cut_middle(target.path, width - 1), MUTED)), target.there
    )
