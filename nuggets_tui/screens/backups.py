"""Choosing a backup to go back to."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from nuggets_tui.safe_text import content
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import ago, local_time

if TYPE_CHECKING:
    from core.memory import Backup

_SAID = "Choosing one shows what going back would change. Nothing is written before you have seen it."


class BackupsScreen(Dialog[str]):
    """Answers with the name of the chosen backup."""

    heading = "Go back to a backup"
    keys = "⏎  show what would change · ↑↓  choose · esc  close"

    def __init__(self, backups: tuple[Backup, ...], now: datetime) -> None:
        super().__init__(classes="large")
        self._backups = backups
        self._now = now

    def compose_inside(self) -> ComposeResult:
        """The backups, newest first."""
        yield Static(content(_SAID, MUTED), classes="words")
        yield RowList([_row(backup, self._now) for backup in self._backups], id="choices")

    def on_mount(self) -> None:
        """Begins with the newest."""
        self.query_one(RowList).focus()

    @on(RowList.RowSelected)
    def take(self, event: RowList.RowSelected) -> None:
        """Closes with the choice."""
        event.stop()
        self.dismiss(event.row.key)


def _row(backup: Backup, now: datetime) -> Row:
    age = ago(backup.at, now)
    when = Content.assemble(
        (local_time(backup.at), "bold"), (f"  {age} ago" if age not in ("", "now") else "  now", MUTED)
    )
    said = content(f"{backup.reason} · {amount(backup.size)}", MUTED)
    return Row(backup.name, (sides(when, said),))


def amount(size: int) -> str:
    """A number of bytes as a person says it."""
    for unit, divisor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= divisor:
            return f"{size / divisor:.1f} {unit}"
    return f"{size} B"
