"""Our themes on every kind of screen: text, frames and bars can be told from what they stand on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from kits.app_kit import NOW, Driver, opened
from kits.contrast import faint_parts
from textual.notifications import Notification, SeverityLevel
from textual.widgets import Input, Select
from textual.widgets._toast import Toast

from core.facts.edits import remember
from core.graph.edits import create_note
from core.memory import Memory
from core.model.draft import Draft
from nuggets_tui.application import DARK, LIGHT
from nuggets_tui.controllers.maintenance import SettingsController
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.widgets.search_box import SearchBox

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

KINDS_OF_NOTICE: tuple[SeverityLevel, ...] = ("information", "warning", "error")
Go = Callable[[Driver], Awaitable[None]]


def pressing(*keys: str) -> Go:
    """Goes to a screen by keys from the main screen."""

    async def go(app: Driver) -> None:
        await app.show("Auth middleware")
        await app.press(*keys)

    return go


async def searching(app: Driver) -> None:
    """Results with their bars; the cursor on one, another selected, a hidden one among them; notices of every kind."""
    await app.press("R", "v", "slash")
    app.main.query_one(SearchBox).value = "auth token scratch"
    await app.until(lambda: app.view.found is not None and app.view.found.query == "auth token scratch")
    await app.press("enter", "down", "space", "down")
    assert app.view.selected
    # A pilot shows no notices by itself.
    await app.main.mount(
        *(Toast(Notification("It says so.", "A notice", severity=kind)) for kind in KINDS_OF_NOTICE)
    )
    await app.until(lambda: app.text.count("It says so.") == len(KINDS_OF_NOTICE))


async def dialog(app: Driver) -> None:
    """A dialog with fields, and a list that dropped down."""
    await pressing("e")(app)
    screen = await app.screen(EditorScreen)
    choice = screen.query(Select).first()
    choice.focus()
    await app.press("enter")
    assert choice.expanded


async def field(app: Driver) -> None:
    """A dialog with a field whose text is marked, and one that is empty."""
    await pressing("f")(app)
    screen = await app.screen(Dialog)
    await app.press(*"some", "shift+home")
    screen.query(Input).last().value = ""


# How to get to a screen, and the keys between the looks at it: each pane in use, a search that is typed and marked.
STATES: dict[str, tuple[Go, tuple[tuple[str, ...], ...]]] = {
    "main": (searching, (("1",), ("3",), ("4",), ("5",), ("6",), ("slash", "shift+home"), ("escape", "2"))),
    "overview": (pressing("G"), ()),
    "past": (pressing("T", "left"), (("2",), ("escape", "T"))),
    "entry": (pressing("6", "enter"), (("question_mark",), ("escape",))),
    "pipeline": (pressing("J"), (("2",), ("1",))),
    "dialog": (dialog, ()),
    "field": (field, ()),
    "palette": (pressing("ctrl+p", *"note"), ()),
}


@pytest.mark.parametrize("state", STATES)
async def test_everything_stands_out_in_both_themes(
    home: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SettingsController, "save_theme", lambda *_: None)
    _more_in(home)
    go, steps = STATES[state]
    wrong = set()
    async with opened(home) as app:
        await go(app)
        for keys in ((), *steps):
            if keys:
                await app.press(*keys)
            for theme in (LIGHT, DARK):
                app.app.theme = theme.name
                await app.pilot.pause()
                screen, whole = app.app.screen, app.app.size.region
                # What lies under a dialog stands back on purpose.
                within = screen.query_one("#box").region if isinstance(screen, Dialog) else whole
                wrong |= {(theme.name, one) for one in faint_parts(app.app) if within.contains(one.x, one.y)}
    assert not wrong, wrong


def _more_in(home: Path) -> None:
    """More facts, a recall in the log, and a note with all that Markdown has."""

    def fill(draft: Draft) -> None:
        for number in range(3):
            remember(draft, "prefs", f"key {number}", "value")
        create_note(draft, "prefs", "Marked", "# One\n\n> two\n\n`three` [four](http://x)\n\n- five")

    memory = Memory.open(home, clock=lambda: NOW)
    memory.change("more", fill)
    memory.history.undo()
