"""The question whether the daily pass may write MEMORY.md, asked once."""

from __future__ import annotations

from core.daily import lines_of
from core.promotion import PromotionResult
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.choice import ChoiceScreen
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.words import plural

SHOW = "show"
_ANSWERS = (
    ("project", "Yes, for this project", "each daily pass writes this MEMORY.md, and no other"),
    ("always", "Always", "this one, and every MEMORY.md that you promoted to"),
    ("never", "Never", "promote by hand, whenever you like"),
    (SHOW, "Show me the lines first", "and ask me another time"),
)


class AutomaticScreen(ChoiceScreen):
    """Answers as `core.daily.answer_promotion` takes it, or SHOW."""

    heading = "Promote with the daily pass?"
    keys = "⏎  choose · ↑↓  move · esc  not now"

    def __init__(self, result: PromotionResult) -> None:
        lines = plural(lines_of(result), "line")
        self.said = f"What was recalled often can go into MEMORY.md by itself: now {lines} of {safe_line(result.path)}."
        super().__init__([Row(key, (content(said), content(more, MUTED))) for key, said, more in _ANSWERS])
