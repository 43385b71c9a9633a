"""What a person chooses in the app and finds again at the next start: the theme."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from textual import work

from nuggets_tui.screens.main_state import MainState

# Somebody who looks through the themes means the one where they stop.
_PAUSE: Final = 0.5


class MainSettings(MainState):
    """The part of the main screen that keeps what was chosen."""

    @work(group="theme", exclusive=True, exit_on_error=False)
    async def keep_theme(self, name: str, kept: Callable[[], str]) -> None:
        """Puts a theme into settings.toml, unless it is the one that the next start would show anyway, as `kept` says.
        A folder that is not there yet is not made for it.
        """
        await asyncio.sleep(_PAUSE)
        if self._desk is not None and name != kept() and Path(self.view.home).is_dir():
            await self.attempt(asyncio.to_thread(self.desk.memory.save_settings, {"app.theme": name}))
