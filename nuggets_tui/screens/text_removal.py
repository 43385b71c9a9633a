"""What the removal of a text would do, before it is done."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.pipeline_details import removal_lines

if TYPE_CHECKING:
    from core.pipeline.records import PlannedRemoval, RawMemory


class RemovalReview(Dialog[bool]):
    """Answers whether the text is to be removed. titles: of the notes that would be hidden."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "remove", "remove", show=False),
        Binding("n", "close", "no", show=False),
    ]
    heading = "Remove this text?"
    keys = "y  remove · ↑↓  scroll · n  cancel"
    about = "Nothing is done before you press y. In Jobs, u brings it back with its notes."

    def __init__(self, planned: PlannedRemoval, titles: Sequence[str], raw: RawMemory) -> None:
        super().__init__(classes="large")
        self._lines = partial(removal_lines, planned, titles, raw)

    def compose_inside(self) -> ComposeResult:
        """What it would do."""
        yield LineView(self._lines, id="lines")

    def on_mount(self) -> None:
        """Keys scroll it."""
        self.query_one("#lines").focus()

    def action_remove(self) -> None:
        """Closes with a yes."""
        self.dismiss(True)
