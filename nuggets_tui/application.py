"""The Textual app: themes, style sheet, palette, and the way from one memory to another."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from textual.app import App, SystemCommand
from textual.driver import Driver
from textual.reactive import Reactive
from textual.screen import Screen
from textual.theme import Theme

from nuggets_tui.app import Opening
from nuggets_tui.commands import CommandProvider
from nuggets_tui.input_bytes import reading_any_bytes
from nuggets_tui.screens.main import MainScreen
from nuggets_tui.themes import DARK, LIGHT


class NuggetsApp(App[None]):
    """One window on one memory."""

    TITLE = "nuggets"
    CSS_PATH = "styles/main.tcss"
    # Set as the default rather than on mounting: changing the theme makes every style anew.
    theme: Reactive[str] = Reactive(os.environ.get("TEXTUAL_THEME") or DARK.name)
    COMMANDS = App.COMMANDS | {CommandProvider}

    def __init__(self, opening: Opening, *, notice: str = "") -> None:
        super().__init__()
        self._opening = opening
        self._notice = notice
        self._copies: list[Path] = []

    @property
    def available_themes(self) -> dict[str, Theme]:
        """Our own themes and all of Textual's. They are there before the first style is made."""
        return {DARK.name: DARK, LIGHT.name: LIGHT, **super().available_themes}

    def get_driver_class(self) -> type[Driver]:
        """The driver of this platform, which a stray byte does not stop."""
        return reading_any_bytes(super().get_driver_class())

    def get_default_screen(self) -> Screen[None]:
        """The main screen is the first one; no blank one is made before it."""
        return MainScreen(self._opening, notice=self._notice)

    def first_frame_shown(self) -> None:
        """Everything loaded so far stays: keep it out of the garbage collector's way, and let that work again."""
        gc.freeze()
        gc.enable()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Of Textual's own commands those that a person needs here; the rest is in the catalogue."""
        wanted = {"Theme", "Screenshot"}
        return (command for command in super().get_system_commands(screen) if command.title in wanted)

    async def action_quit(self) -> None:
        """Leaves; where something typed would be lost, its dialog asks first."""
        screen = self.screen
        if getattr(screen, "unsaved", False):
            await screen.run_action("close")
        else:
            self.exit()

    def action_toggle_theme(self) -> None:
        """Dark to light, and back."""
        self.theme = DARK.name if self.theme == LIGHT.name else LIGHT.name

    async def make_demo(self) -> Path:
        """The folder of a new copy of the demo memory; it goes when the app ends."""
        from nuggets_tui.demo import copy_for_session, write_demo

        home = await asyncio.to_thread(copy_for_session)
        self._copies.append(home)
        await asyncio.to_thread(write_demo, home)
        return home

    def remove_copies(self) -> None:
        """Takes away what only this run needed."""
        for home in self._copies:
            shutil.rmtree(home, ignore_errors=True)
