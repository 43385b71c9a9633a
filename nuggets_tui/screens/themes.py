"""All themes in a list: the one under the cursor is shown, enter keeps it, esc goes back to the former one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from textual import on, work
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.content import Content

from nuggets_tui import pace
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides

if TYPE_CHECKING:
    from nuggets_tui.application import NuggetsApp


class ThemesScreen(Dialog[str]):
    """Answers with the name of the theme that is kept; None for the former one."""

    heading = "Theme"
    keys = "⏎  apply · ↑↓  preview · esc  cancel"
    about = "You see the theme under the cursor at once. It is saved in your own settings, for all memories."

    def __init__(self) -> None:
        super().__init__(classes="themes")
        self._former = ""

    @property
    def _nuggets(self) -> NuggetsApp:
        return cast("NuggetsApp", self.app)

    def compose_inside(self) -> ComposeResult:
        """The list."""
        yield RowList(id="choices")

    def on_mount(self) -> None:
        """The cursor begins on the theme in use."""
        self._former = self.app.theme
        self._nuggets.previewing = True
        rows = self.query_one(RowList)
        rows.set_rows([self._row(name) for name in self.app.available_themes])
        rows.move_to(self._former)
        rows.focus()

    def _row(self, name: str) -> Row:
        theme = self.app.available_themes[name]
        kind = "the terminal's own colours" if theme.ansi else "dark" if theme.dark else "light"
        now = " · now" if name == self._former else ""
        return Row(name, (sides(Content(name), Content.styled(f"{kind}{now}", MUTED)),))

    @on(RowList.RowHighlighted)
    def preview(self, event: RowList.RowHighlighted) -> None:
        """Shows the theme where the cursor comes to rest: each makes every style anew."""
        event.stop()
        self.show_theme(event.row.key)

    @work(group="preview", exclusive=True, exit_on_error=False)
    async def show_theme(self, name: str) -> None:
        """Shows a theme, if the cursor rests on it."""
        await asyncio.sleep(pace.REST)
        if self.is_current:
            self.app.theme = name

    @on(RowList.RowSelected)
    def take(self, event: RowList.RowSelected) -> None:
        """Keeps the theme under the cursor."""
        event.stop()
        self.dismiss(event.row.key)

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        """Closes with the theme that was chosen, or the former one."""
        self.workers.cancel_group(self, "preview")
        app, name = self._nuggets, result or self._former
        app.previewing = False
        if app.theme == name:
            # It is shown already, so that nothing changes that would keep it.
            app.watch_theme(name)
        else:
            app.theme = name
        return super().dismiss(result)
