"""Typing a moment to look back to."""

from __future__ import annotations

from datetime import datetime

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input, Static

from core.errors import InvalidInputError
from nuggets_tui.cli.moments import moment
from nuggets_tui.notices import say_error
from nuggets_tui.safe_text import content
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.fields import Field


class MomentScreen(Dialog[datetime]):
    """Answers with the moment that was typed, as `nuggets restore` takes it."""

    heading = "Look back to when?"
    keys = "⏎  go there · esc  close"

    def __init__(self, now: datetime) -> None:
        super().__init__(classes="small")
        self._now = now

    def compose_inside(self) -> ComposeResult:
        """What can be typed, and the line."""
        said = "A day (2026-11-20: its end), a time (2026-11-20 14:30, or 14:30), an age (2h, 3d), yesterday."
        yield Static(content(said), classes="words")
        yield Field("Moment", id="moment", hint="such as: yesterday")

    def on_mount(self) -> None:
        """The cursor goes into the line."""
        self.query_one("#moment", Input).focus()

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """Closes with the moment; stays, with what was typed, when it names none."""
        event.stop()
        try:
            found = moment(event.value, self._now.astimezone(), end_of_day=True)
        except InvalidInputError as error:
            say_error(self, error)
            return
        self.dismiss(found)
