"""What repairs would do, one by one, before any of them runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.pipeline_details import plan_lines

if TYPE_CHECKING:
    from core.pipeline.health.records import MaintenanceAction, MaintenancePlan


class RepairsReview(Dialog[tuple["MaintenanceAction", ...]]):
    """Answers with the repairs that are to run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "repair", "run", show=False),
        Binding("n", "close", "no", show=False),
    ]
    heading = "Repair this?"
    keys = "y  run · ↑↓  scroll · n  cancel"
    about = "Nothing is done before you press y. Repairs hide, merge and change no note; what they did is listed after."

    def __init__(self, plans: Sequence[MaintenancePlan], now: datetime) -> None:
        super().__init__(classes="large")
        self._plans = tuple(plans)
        self._now = now

    def compose_inside(self) -> ComposeResult:
        """What each would do."""
        yield LineView(partial(plan_lines, self._plans, self._now), id="lines")

    def on_mount(self) -> None:
        """Keys scroll it."""
        self.query_one("#lines").focus()

    def action_repair(self) -> None:
        """Closes with the repairs that were shown."""
        self.dismiss(tuple(plan.action for plan in self._plans))
