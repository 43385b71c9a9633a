"""Choosing a backup to go back to."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from nuggets_tui.safe_text import content
from nuggets_tui.screens.choice import ChoiceScreen
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import data_size, local_time, time_ago

if TYPE_CHECKING:
    from core.memory import Backup


class BackupsScreen(ChoiceScreen):
    """Answers with the name of the chosen backup."""

    heading = "Go back to a backup"
    keys = "⏎  show what would change · ↑↓  choose · esc  close"
    said = "Choosing one shows what going back would change. Nothing is written before you have seen it."

    def __init__(self, backups: tuple[Backup, ...], now: datetime) -> None:
        super().__init__([_row(backup, now) for backup in backups])


def _row(backup: Backup, now: datetime) -> Row:
    when = Content.assemble(
        (local_time(backup.at), "bold"), (f"  {time_ago(backup.at, now) or 'now'}", MUTED)
    )
    said = content(f"{backup.reason} · {data_size(backup.size)}", MUTED)
    return Row(backup.name, (sides(when, said),))
