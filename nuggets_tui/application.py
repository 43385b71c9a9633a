"""The Textual app: themes, style sheet, palette, and the way from one memory to another."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual.app import App, SystemCommand
from textual.driver import Driver
from textual.events import Event, InputEvent
from textual.reactive import Initialize, Reactive
from textual.screen import Screen
from textual.theme import Theme

from core.settings import Settings
from nuggets_tui import garbage
from nuggets_tui.app import TURN, Opening, settings_ahead
from nuggets_tui.input_bytes import reading_any_bytes
from nuggets_tui.key_input import KeysInTurn
from nuggets_tui.key_map import key_map
from nuggets_tui.keys import nearest
from nuggets_tui.pace import PACE
from nuggets_tui.screens.main import MainScreen
from nuggets_tui.themes import DARK, LIGHT, ansi_themes

if TYPE_CHECKING:
    from textual.command import Provider


def _catalogue() -> type[Provider]:
    """The commands in the palette, loaded when it is opened."""
    from nuggets_tui.palette import CommandProvider

    return CommandProvider


class NuggetsApp(KeysInTurn):
    """One window on one memory. key_map: the keys that commands have."""

    TITLE = "nuggets"
    CSS_PATH = "styles/main.tcss"
    # Set as the default rather than on mounting: changing the theme makes every style anew.
    theme: Reactive[str] = Reactive(Initialize(lambda app: cast("NuggetsApp", app).first_theme()))
    COMMANDS = App.COMMANDS | {_catalogue}

    def __init__(self, opening: Opening, *, notice: str = "") -> None:
        # Before anything is drawn, and so before the memory is there.
        self._settings = settings_ahead(opening.home)
        self.key_map = key_map(self._settings)
        self.vim = self.key_map.vim
        super().__init__()
        self.set_keymap(self.key_map.bound)
        self._opening = opening
        self._notice = notice
        self._copies: list[Path] = []

    @property
    def available_themes(self) -> dict[str, Theme]:
        """Our own themes and all of Textual's. They are there before the first style is made."""
        return {DARK.name: DARK, LIGHT.name: LIGHT, **super().available_themes, **ansi_themes()}

    def first_theme(self) -> str:
        """The theme to begin with: what the environment says, else the settings, else our dark one."""
        for name in (os.environ.get("TEXTUAL_THEME", ""), self._settings.app.theme):
            theme = self.get_theme(name) if name else None
            if theme is not None:
                return theme.name
        return DARK.name

    def take_settings(self, settings: Settings) -> tuple[str, ...]:
        """Follows settings that are other than before: keys, vim, theme. Returns what of them cannot be followed."""
        before, self._settings = self._settings, settings
        if (before.keys, before.app.vim) != (settings.keys, settings.app.vim):
            self.key_map = key_map(settings)
            self.vim = self.key_map.vim
            self.set_keymap(self.key_map.bound)
        if before.app.theme != settings.app.theme:
            self.theme = self.first_theme()
        return (*self.key_map.wrong, *self._wrong_theme())

    def watch_theme(self, name: str) -> None:
        """A theme that was chosen here is kept for the next start."""
        main = self.screen_stack[0] if self._running and self.screen_stack else None
        if isinstance(main, MainScreen):
            main.keep_theme(name, self.first_theme)

    def _wrong_theme(self) -> tuple[str, ...]:
        name = self._settings.app.theme
        if not name or self.get_theme(name) is not None:
            return ()
        near = nearest(name, tuple(self.available_themes))
        said = f'There is no theme "{name[:40]}"'
        return (f"{said}; did you mean {near}?" if near else f"{said}.",)

    def get_driver_class(self) -> type[Driver]:
        """The driver of this platform, which a stray byte does not stop."""
        return reading_any_bytes(super().get_driver_class())

    def get_default_screen(self) -> Screen[None]:
        """The main screen is the first one; no blank one is made before it."""
        return MainScreen(self._opening, notice=self._notice)

    async def on_event(self, event: Event) -> None:
        """Work in the background steps aside for whoever is here."""
        if isinstance(event, InputEvent):
            PACE.touched()
        await super().on_event(event)

    def first_frame_shown(self) -> None:
        """Everything loaded so far stays. From now on threads work beside the screen's own, which must not wait."""
        garbage.begin()
        sys.setswitchinterval(TURN)

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

    def is_copy(self, home: Path) -> bool:
        """Whether a folder goes when the app ends."""
        return home in self._copies

    def remove_copies(self) -> None:
        """Takes away what only this run needed."""
        for home in self._copies:
            shutil.rmtree(home, ignore_errors=True)
