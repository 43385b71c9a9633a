"""Choosing the MEMORY.md to promote to, when more than one is known."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.content import Content

from nuggets_tui.safe_text import content
from nuggets_tui.screens.choice import ChoiceScreen
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED, cut_middle, sides
from nuggets_tui.words import plural, time_ago

if TYPE_CHECKING:
    from core.memory import PromotionTarget

ANOTHER: Final = "another folder"


class TargetsScreen(ChoiceScreen):
    """Answers with the chosen file's folder, or ANOTHER. Those whose folder is gone are told and cannot be chosen."""

    heading = "Promote: which MEMORY.md?"
    keys = "⏎  show what would be written · ↑↓  choose · esc  close"
    said = "Choosing one shows what would be written. Nothing is written before you have seen it."

    def __init__(self, targets: tuple[PromotionTarget, ...], now: datetime) -> None:
        """`targets`: the present project first, then those written to last."""
        another = Row(ANOTHER, (content("Another folder …", "bold"), Content("")))
        super().__init__([*(_row(target, now) for target in targets), another])


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
    written = (
        f"{plural(target.count, 'note')}, {time_ago(target.at, now)}" if target.at else "not written to yet"
    )
    head = sides(title, Content.assemble(said, content(f"  {written}", MUTED)))
    return Row(
        str(folder), (head, lambda width: content(cut_middle(target.path, width - 1), MUTED)), target.there
    )
