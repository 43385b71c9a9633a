"""Opening the app on a small memory in a test, and waiting for what it shows without sleeping."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from textual.pilot import Pilot
from textual.widgets import Input

from core.daily import count_as_daily
from core.facts.edits import remember
from core.graph.edits import create_note, hide_note, link_notes
from core.memory import Memory
from core.model.change import Author
from core.model.draft import Draft
from kits.frames import pause_undrawn, wait_with_frames
from kits.hostile import RAW
from nuggets_tui.application import NuggetsApp
from nuggets_tui.log import LogLine
from nuggets_tui.opening import Opening
from nuggets_tui.screens.main import MainScreen
from nuggets_tui.view import View

NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)
WIDE, NARROW = (120, 40), (80, 24)
_PATIENCE = 1500
# One turn of so many draws, for what follows from being drawn.
_DRAWN = 4
_Screen = TypeVar("_Screen")


def small_memory(home: Path, *, reflection_due: bool = False) -> Memory:
    """A memory of six notes and two facts: links, tags, a hidden note and a near-duplicate among them.

    reflection_due: today's pass has not run, and waits where the settings say so.
    """
    counter = itertools.count(1)
    memory = Memory.open(home, clock=lambda: NOW, ids=lambda: f"{next(counter):08x}")

    def fill(draft: Draft) -> None:
        auth = create_note(
            draft,
            "project",
            "Auth middleware",
            "Handled in `src/auth.ts`, with **JWT** tokens.",
            tags=["auth"],
        )
        token = create_note(draft, "project", "JWT token format", "RS256, claims sub and tid.", tags=["auth"])
        create_note(draft, "project", "Session store", "Redis holds sessions for an hour.", tags=["redis"])
        create_note(draft, "project", "Deploy day", "Deploys go out on Tuesdays.", tags=["release"])
        old = create_note(draft, "project", "Old scratch", "No longer needed at all.", tags=["scratch"])
        link_notes(draft, auth.id, token.id, "uses JWT tokens")
        remember(draft, "project", "test command", "pytest -q")
        remember(draft, "project", "deploy command", "make ship")
        hide_note(draft, old.id)

    memory.change("filled", fill)
    if not reflection_due:
        count_as_daily(memory, NOW, {})
    return memory


def agent_on(home: Path, name: str = "claude", at: datetime = NOW) -> Memory:
    """The memory as an agent opens it, that uses this project's engine. at: the time that it reads."""
    return Memory.open(home, author=Author("agent", name), clock=lambda: at)


class Driver:
    """A running app: its pilot, its screens, and waiting for a condition."""

    def __init__(self, app: NuggetsApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def main(self) -> MainScreen:
        """The main screen."""
        screen = self.app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    @property
    def view(self) -> View:
        """What the main screen shows."""
        return self.main.view

    @property
    def log(self) -> tuple[LogLine, ...]:
        """The lines of the audit log, as far as they were read, newest first."""
        return self.view.log.lines

    async def ready(self) -> None:
        """Waits until what the first frame does without is there: files settled, log read."""
        await self.until(lambda: self.main.reconciled and self.view.log.loaded, "the log")

    async def press(self, *keys: str) -> None:
        """Presses keys and lets the app handle them."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Waits until a condition holds, for a bounded number of turns."""
        for turn in range(_PATIENCE):
            if condition():
                return
            await (self.pilot.pause(0.01) if turn % _DRAWN == 0 else pause_undrawn(self.pilot, 0.01))
        raise AssertionError(f"never came true: {what or condition}; on screen:\n{self.text}")

    async def screen(self, kind: type[_Screen]) -> _Screen:
        """The screen of a kind, once it is on top."""
        await self.until(lambda: isinstance(self.app.screen, kind), kind.__name__)
        await self.pilot.pause()
        assert isinstance(self.app.screen, kind)
        return self.app.screen

    async def back_on_main(self) -> None:
        """Waits until dialogs are closed."""
        await self.until(lambda: self.app.screen is self.main, "the main screen")
        await self.pilot.pause()

    def fill(self, selector: str, text: str) -> None:
        """Puts a text into a field."""
        self.app.screen.query_one(selector, Input).value = text

    async def show(self, title: str) -> None:
        """Puts the cursor on the note of a title: in a list where one holds it, else in Note."""
        note = next(note for note in self.view.snapshot.notes if note.title == title)
        self.main.show_note(note.id)
        self.main.reading.reveal()
        if self.main.selection.under_cursor != note.id:
            self.main.go_to("note")
        await self.pilot.pause()

    @property
    def text(self) -> str:
        """Everything on screen as text."""
        return screen_text(self.app)

    @property
    def notices(self) -> str:
        """All notices that are up."""
        return "\n".join(f"{notice.title} {notice.message}" for notice in self.app._notifications)


def assert_harmless(app: Driver) -> None:
    """Nothing that a terminal would obey stands on the screen."""
    assert not RAW.search(app.text.replace("\n", ""))


def screen_text(app: NuggetsApp) -> str:
    """What stands on the screen, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips(app.size)
    return "\n".join("".join(segment.text for segment in strip)[:width] for strip in lines[:height])


@asynccontextmanager
async def opened(
    home: Path, size: tuple[int, int] = WIDE, *, clock: Callable[[], datetime] | None = None, notice: str = ""
) -> AsyncIterator[Driver]:
    """The app on a memory, ready for keys. The folder need not exist."""
    opening = Opening(home, clock or (lambda: NOW))
    opening.open()
    app = NuggetsApp(opening, notice=notice)
    wait_with_frames(app)
    async with app.run_test(size=size) as pilot:
        driver = Driver(app, pilot)
        await pilot.pause()
        if opening.future.exception() is None:
            await driver.ready()
        yield driver
    app.remove_copies()
