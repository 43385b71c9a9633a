"""A line above the keys that says what to press next and what one sees then; it has its own row and covers nothing."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

_LEAVE = "any other key ends the tour"


class TourLine(Widget):
    """One step of the tour. step: such as "1/4"; key: what to press; sees: what one sees then."""

    step: reactive[str] = reactive("")
    key: reactive[str] = reactive("")
    sees: reactive[str] = reactive("")

    def render(self) -> Content:
        """The line itself; how to leave gives way where there is little room."""
        said = Content.assemble(
            (f" Tour {self.step}  ", "bold $text-accent"),
            ("press ", "$text-muted"),
            (self.key, "bold $text-accent"),
            f"  {self.sees}",
        )
        width = self.size.width - 1
        gap = width - said.cell_length - len(_LEAVE)
        if gap < 2:
            return said.truncate(width, ellipsis=True)
        return Content.assemble(said, " " * gap, (_LEAVE, "$text-muted"))
