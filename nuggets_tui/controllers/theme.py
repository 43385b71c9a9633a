"""The theme: changed with a key, and found again at the next start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from nuggets_tui.controllers.controller import Controller, background

# Somebody who looks through the themes means the one where they stop.
_PAUSE: Final = 0.5


class ThemeController(Controller):
    """Keeps the theme that was chosen."""

    def toggle(self) -> None:
        """Dark to light, and back."""
        self.context.app.action_toggle_theme()

    @background("theme", exclusive=True)
    async def keep(self, name: str, kept: Callable[[], str]) -> None:
        """Puts a theme into settings.toml, unless it is the one that the next start would show anyway, as `kept` says.
        A folder that is not there yet is not made for it.
        """
        await asyncio.sleep(_PAUSE)
        desk = self.context.open_desk
        if desk is not None and name != kept() and Path(self.view.home).is_dir():
            await self.context.attempt(asyncio.to_thread(desk.memory.save_settings, {"app.theme": name}))
