"""The Textual app: themes, style sheet, palette, and the way from one memory to another."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, cast, runtime_checkable

from msgspec.structs import replace
from textual.actions import ActionParseResult
from textual.app import App, ScreenStackError, SystemCommand
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.driver import Driver
from textual.events import Event, InputEvent, Key, MouseEvent
from textual.notifications import Notify
from textual.reactive import Initialize, Reactive
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES, Theme
from textual.widget import MountError
from textual.worker import WorkerFailed, get_current_worker

from core.settings import AppSettings, Settings
from nuggets_tui import process
from nuggets_tui.commands import KeyMap, key_map, nearest
from nuggets_tui.key_input import KeyQueue
from nuggets_tui.notices import make_room, notify
from nuggets_tui.opening import TURN, Opening, settings_ahead, user_settings_ahead
from nuggets_tui.pace import PACE
from nuggets_tui.safe_text import plain
from nuggets_tui.screens.main import MainScreen
from nuggets_tui.textual_adapter import (
    any_terminal,
    let_go_of_closed_widgets,
    make_caches_late,
    passing_over,
    reading_any_bytes,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nuggets_tui.screens.dialog import Here

_Answer = TypeVar("_Answer")
# What a shell is told of a program that was asked to end.
_TERMINATED: Final = 128 + signal.SIGTERM
# What a dialog meets that is still being made when the app leaves: its widgets are gone, or will never be there.
_TOO_LATE: Final = (NoMatches, MountError, ScreenStackError)


@runtime_checkable
class HasHelp(Protocol):
    """A screen that the help knows something of."""

    def here(self) -> Here | None:
        """What the help says first; None: nothing but what is so everywhere."""
        ...


def _comes_too_late(app: NuggetsApp, error: Exception) -> bool:
    cause = error.error if isinstance(error, WorkerFailed) else error
    return app.leaving and isinstance(cause, _TOO_LATE)


@passing_over(_comes_too_late)
class NuggetsApp(App[None]):
    """One window on one memory. key_map: the keys that commands have. leaving: whether it is about to end.

    demo: whether the memory is a copy of the demo.
    """

    TITLE = "nuggets"
    CSS_PATH = "styles/main.tcss"
    # Set as the default rather than on mounting: changing the theme makes every style anew.
    theme: Reactive[str] = Reactive(Initialize(lambda app: cast("NuggetsApp", app).first_theme()))
    leaving = False

    def __init__(self, opening: Opening, *, notice: str = "", demo: bool = False) -> None:
        # Before anything is drawn, and so before the memory is there.
        self._settings = settings_ahead(opening.home)
        self._user = user_settings_ahead()
        self.key_map = self._make_key_map()
        super().__init__()
        self.key_queue = KeyQueue(self, self._obey)
        self.key_queue.vim = self.key_map.vim
        any_terminal(self)
        let_go_of_closed_widgets()
        make_caches_late()
        self.set_keymap(self.key_map.bound)
        self._opening = opening
        self._notice = notice
        self._demo = opening.home if demo else None
        self._copies: list[Path] = []
        self._copied = ""
        # Whether the key before was ctrl+c.
        self._asked_to_quit = False

    def bell(self) -> None:
        """Rings nothing: a field that refuses a key says so on the screen."""

    @property
    def available_themes(self) -> dict[str, Theme]:
        """Our own themes and all of Textual's. They are there before the first style is made."""
        return {DARK.name: DARK, LIGHT.name: LIGHT, **super().available_themes}

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Of a theme that is not ours: the ground of header and footer while somebody looks at the past."""
        return {"ground-past": self.current_theme.to_color_system().generate()["panel"]}

    def first_theme(self) -> str:
        """The theme to begin with: what the environment says, else the user's settings, else our dark one."""
        names = (os.environ.get("TEXTUAL_THEME", ""), self._user.app.theme)
        return next((name for name in names if name and self.get_theme(name)), DARK.name)

    def take_settings(self, settings: Settings) -> tuple[str, ...]:
        """Follows keys that are other than before. Returns what of the settings cannot be followed."""
        before, self._settings = self._settings, settings
        if before.keys != settings.keys:
            self._follow_keys()
        return (*self.key_map.wrong, *self._wrong_theme(), *self._user.problems)

    def _make_key_map(self) -> KeyMap:
        """The memory's keys; vim's where the user says so."""
        return key_map(replace(self._settings, app=self._user.app))

    def _follow_keys(self) -> None:
        self.key_map = self._make_key_map()
        self.key_queue.vim = self.key_map.vim
        self.set_keymap(self.key_map.bound)

    @property
    def user_settings(self) -> AppSettings:
        """What the user has set for all memories."""
        return self._user.app

    def vim_saved(self, vim: bool) -> None:
        """The user's settings turn vim's keys on or off."""
        self._user = self._user._replace(app=replace(self._user.app, vim=vim))
        self._follow_keys()

    def watch_theme(self, name: str) -> None:
        main = self.screen_stack[0] if self.is_running and self.screen_stack else None
        if isinstance(main, MainScreen):
            main.settings.save_theme(name)

    def theme_saved(self, name: str) -> None:
        self._user = self._user._replace(app=replace(self._user.app, theme=name))

    def _wrong_theme(self) -> tuple[str, ...]:
        return missing_theme(self._user.app.theme, self.available_themes)

    def get_driver_class(self) -> type[Driver]:
        """The driver of this platform, which a stray byte does not stop."""
        return reading_any_bytes(super().get_driver_class())

    def get_default_screen(self) -> Screen[None]:
        """The main screen is the first one; no blank one is made before it."""
        return MainScreen(self._opening, notice=self._notice)

    async def on_event(self, event: Event) -> None:
        if isinstance(event, InputEvent):
            PACE.touched()
        if isinstance(event, MouseEvent) and not event.is_forwarded and self._is_gone_under(event):
            return
        await self.key_queue.take(event)

    async def _obey(self, event: Event) -> None:
        """Obeys an event whose turn it is."""
        if isinstance(event, Key) and not event.is_forwarded:
            self._asked_to_quit &= event.key == "ctrl+c"
        await super().on_event(event)

    def on_notify(self, event: Notify) -> None:
        make_room(self, event.notification)

    def _is_gone_under(self, event: MouseEvent) -> bool:
        """Whether the mouse is on what was just taken away, such as a notice that was clicked: it is drawn still, but
        has no place among the widgets any more, which Textual does not expect.
        """
        if not self.screen_stack:
            return True
        widget, _ = self.screen.get_widget_and_offset_at(event.x, event.y)
        return widget is not None and not isinstance(widget, Screen) and widget.parent is None

    def first_frame_shown(self) -> None:
        """Keys are obeyed. Everything loaded so far stays. From now on threads work beside the screen's own, which must
        not wait.
        """
        self.call_later(self.key_queue.release)
        process.begin_collecting()
        sys.setswitchinterval(TURN)
        # Not on Windows.
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._leave_at_once)

    def _leave_at_once(self) -> None:
        """Ends as another program asks: the terminal is given back as it was, and what is being typed stays unsaved on
        disk. Who asks twice is obeyed by the system.
        """
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
        self.exit(return_code=_TERMINATED)

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Leaves; from now on nothing that comes too late is an error."""
        self.leaving = True
        super().exit(result, return_code, message)

    def action_command_palette(self) -> None:
        from nuggets_tui.palette import Entry, Palette, make_palette

        screen = self.screen
        if isinstance(screen, Palette):
            return

        def carry_out(entry: Entry | None) -> None:
            if entry is not None:
                screen.call_later(entry.run)

        self.push_screen(make_palette(self), carry_out)

    def copy_to_clipboard(self, text: str) -> None:
        """The terminal gets what may be pasted anywhere. Within the app, a text that was cut comes back as it was."""
        super().copy_to_clipboard(plain(text))
        self._copied = text

    @property
    def clipboard(self) -> str:
        """What was copied or cut last, as it was."""
        return self._copied

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Of Textual's own commands those that a person needs here; the rest is in the catalogue."""
        wanted = {"Screenshot"}
        return (command for command in super().get_system_commands(screen) if command.title in wanted)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Does what a key or a click asks for. One that comes while its dialog is still being made waits for it. One
        that comes when its dialog is already going finds nothing to act on: then nothing happens.
        """
        if isinstance(default_namespace, Screen) and not default_namespace.is_mounted:
            # Behind what sets it up.
            return default_namespace.call_later(self.run_action, action, default_namespace, namespaces)
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except NoMatches as error:
            self.log.error(error)
            return False

    async def ask(self, dialog: Screen[_Answer]) -> _Answer | None:
        """Opens a dialog and comes back with its answer; keys do not wait for who waits for that."""
        worker = get_current_worker()
        self.key_queue.asking.add(worker)
        try:
            return await self.push_screen_wait(dialog)
        finally:
            self.key_queue.asking.discard(worker)

    async def action_quit(self) -> None:
        from nuggets_tui.screens.dialog import Dialog

        for dialog in reversed(self.screen_stack):
            if isinstance(dialog, Dialog) and dialog.unsaved:
                while self.screen is not dialog:
                    self.pop_screen()
                await dialog.run_action("close")
                dialog.quitting = self.screen is not dialog
                return
        self.exit()

    def action_help_quit(self) -> None:
        if self._asked_to_quit:
            self.call_later(self.action_quit)
        else:
            self._asked_to_quit = True
            notify(self.screen, "Press ctrl+c again to quit.")

    def action_help(self) -> None:
        from nuggets_tui.screens.help import HelpScreen

        if isinstance(self.screen, HasHelp):
            main = self.screen_stack[0]
            usable = main.usable if isinstance(main, MainScreen) else None
            self.push_screen(HelpScreen(self.screen.here(), usable))

    def action_toggle_theme(self) -> None:
        self.theme = DARK.name if self.theme == LIGHT.name else LIGHT.name

    async def make_demo(self) -> Path:
        """The folder of a new copy of the demo memory; it goes when the app ends."""
        from nuggets_tui.demo import copy_for_session, write_visit

        home = await asyncio.to_thread(copy_for_session)
        self._copies.append(home)
        await asyncio.to_thread(write_visit, home)
        return home

    def is_copy(self, home: Path) -> bool:
        """Whether a folder goes when the app ends."""
        return home in self._copies

    def is_demo(self, home: str) -> bool:
        """Whether a folder is a copy of the demo memory."""
        return any(home == str(copy) for copy in (*self._copies, self._demo) if copy is not None)

    def remove_copies(self) -> None:
        """Takes away what only this run needed."""
        for home in self._copies:
            shutil.rmtree(home, ignore_errors=True)


_NAMED: Final = 40

DARK: Final = Theme(
    name="nuggets-dark",
    dark=True,
    primary="#d9a94e",
    secondary="#6fa8a6",
    accent="#e0b562",
    foreground="#d3cfc5",
    background="#16181c",
    surface="#1c1f24",
    panel="#262a31",
    success="#8fb573",
    warning="#dd9a5b",
    error="#d9736a",
    variables={
        "border": "#d9a94e",
        "border-blurred": "#71757c",
        "text-muted": "#9a9ea6",
        "text-disabled": "#8e929a",
        "text-accent": "#e0b562",
        "text-secondary": "#82bab8",
        "text-success": "#9cc281",
        "text-warning": "#e0a56c",
        "text-error": "#e5877e",
        "block-cursor-background": "#35322a",
        "block-cursor-foreground": "#f4ead2",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#23262c",
        "block-cursor-blurred-foreground": "#d3cfc5",
        "block-hover-background": "#20242a",
        "input-selection-background": "#3f3626",
        "scrollbar": "#60656c",
        "scrollbar-hover": "#606772",
        "scrollbar-active": "#d9a94e",
        "scrollbar-background": "#16181c",
        "scrollbar-background-hover": "#16181c",
        "scrollbar-background-active": "#16181c",
        "scrollbar-corner-color": "#16181c",
        "boost": "#16181c",
        "ground-past": "#222c2f",
        "screen-selection-background": "#3e3626",
        "foreground-muted": "#94928e",
        "screen-selection-foreground": "#d3cfc5",
    },
)

LIGHT: Final = Theme(
    name="nuggets-light",
    dark=False,
    primary="#9a6a10",
    secondary="#2d7472",
    accent="#8c5f0a",
    foreground="#33302a",
    background="#faf7f0",
    surface="#f4f0e6",
    panel="#eae4d6",
    success="#4b7a31",
    warning="#a85d12",
    error="#b23c34",
    variables={
        "border": "#9a6a10",
        "border-blurred": "#837e73",
        "text-muted": "#67625a",
        "text-disabled": "#666159",
        "text-accent": "#835808",
        "text-secondary": "#266765",
        "text-success": "#3f6a28",
        "text-warning": "#95500c",
        "text-error": "#ac372f",
        "block-cursor-background": "#f0e2c0",
        "block-cursor-foreground": "#2a2419",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#f1ece0",
        "block-cursor-blurred-foreground": "#33302a",
        "block-hover-background": "#f3eee2",
        "input-selection-background": "#e2d3b8",
        "scrollbar": "#958f84",
        "scrollbar-hover": "#948c7c",
        "scrollbar-active": "#9a6a10",
        "scrollbar-background": "#faf7f0",
        "scrollbar-background-hover": "#faf7f0",
        "scrollbar-background-active": "#faf7f0",
        "scrollbar-corner-color": "#faf7f0",
        "boost": "#faf7f0",
        "ground-past": "#d8e1da",
        "screen-selection-background": "#dccbab",
        "foreground-muted": "#63615c",
        "screen-selection-foreground": "#33302a",
    },
)


def missing_theme(name: str, names: Collection[str]) -> tuple[str, ...]:
    """Says that there is no theme of this name, and which one may be meant; nothing for none asked for, or a known
    one.
    """
    if not name or name in names:
        return ()
    near = nearest(name[:_NAMED], tuple(names))
    said = f'There is no theme "{name[:_NAMED]}"'
    return (f"{said}; did you mean {near}?" if near else f"{said}.",)


def theme_names() -> frozenset[str]:
    """The names of our own themes and of Textual's."""
    return frozenset((DARK.name, LIGHT.name, *BUILTIN_THEMES))
