"""The theme: changed with a key, and found again at the next start, whatever memory is opened then."""

from __future__ import annotations

import asyncio
from typing import Final

from nuggets_tui.controllers.controller import Controller, background

# Somebody who looks through the themes means the one where they stop.
_PAUSE: Final = 0.5


class ThemeController(Controller):
    """Keeps the theme that was chosen."""

    def toggle(self) -> None:
        """Dark to light, and back."""
        self.context.app.action_toggle_theme()

    def choose(self) -> None:
        """Lists the themes."""
        self.context.app.action_change_theme()

    @background("theme", exclusive=True)
    async def save(self, name: str) -> None:
        """Puts a theme into the user's settings, unless it is the one that the next start would show anyway."""
        await asyncio.sleep(_PAUSE)
        app = self.context.app
        if name == app.first_theme():
            return
        if await self.context.attempt(asyncio.to_thread(_saved, name)):
            app.theme_saved(name)


def _saved(name: str) -> bool:
    from core.user_settings import save_user_settings

    save_user_settings({"app.theme": name})
    return True
