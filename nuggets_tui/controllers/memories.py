"""Other memories on this machine: looking for them, and opening one in place of the present one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nuggets_tui.controllers.context import Context
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.threads import run_in_thread
from nuggets_tui.widgets.header import short_path

if TYPE_CHECKING:
    from nuggets_tui.controllers.opening import OpeningController


class MemoriesController(Controller):
    """Lists other memories, and shows them to somebody whose own holds nothing yet."""

    def __init__(self, context: Context, opening: OpeningController) -> None:
        super().__init__(context)
        self._opening = opening

    def choose(self) -> None:
        """A list of the memories found, to read or to open."""
        from nuggets_tui.screens.memories import MemoriesScreen

        self.context.open_dialog(MemoriesScreen(self.view.home, self._opening.clock()), self._open_found)

    def _open_found(self, path: str | None) -> None:
        if path is None:
            return
        if path == self.view.home:
            self.context.notify("This memory is open already.")
            return
        self._opening.open_another(
            Path(path),
            f"Opened {short_path(path)}. To start with it, run `nuggets --home {short_path(path)}`.",
        )

    def welcomed(self) -> None:
        """Looks for memories that are there already."""
        self._find_memories()

    @background("memories", exclusive=True)
    async def _find_memories(self) -> None:
        """Shows how to begin with the memories that are there already, once they are found."""
        from nuggets_tui.screens.first_minutes import welcome_lines
        from nuggets_tui.screens.memories import memories_here

        home = self.view.home
        found = await self.context.attempt(run_in_thread(memories_here, home))
        if found is not None and self.view.empty and self.view.home == home:
            self._opening.show_message(welcome_lines(self.view, found), trouble=False)
