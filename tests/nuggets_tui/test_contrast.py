"""Every theme of the library on every kind of screen: text, frames and bars can be told from what they stand on."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from kits.app_kit import NOW, Driver, opened
from kits.contrast import Pair, contrasts, is_probe, painted, probe, wanted
from textual.color import Color
from textual.geometry import Region
from textual.notifications import Notification, SeverityLevel
from textual.theme import BUILTIN_THEMES, Theme
from textual.widgets import Input, Select
from textual.widgets._toast import Toast

from core.facts.edits import remember
from core.graph.edits import create_note
from core.memory import Memory
from core.model.draft import Draft
from nuggets_tui.contrast import SHAPE, TEXT, contrast, pushed, readable
from nuggets_tui.controllers.theme import ThemeController
from nuggets_tui.palette import Palette
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.themes import DARK, LIGHT
from nuggets_tui.widgets.search_box import SearchBox

pytestmark = pytest.mark.usefixtures("former_keys")

THEMES = {theme.name: theme for theme in (DARK, LIGHT, *BUILTIN_THEMES.values())}
# Styles may differ by these kinds of themes, and by nothing else.
KINDS = ("nuggets-dark", "nuggets-light", "ansi-dark", "ansi-light")
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


async def palette(app: Driver) -> None:
    """All commands, some of them found by letters."""
    await app.press("ctrl+p", *"note")
    await app.until(lambda: isinstance(app.app.screen, Palette) and "Write a new note" in app.text)


# How to get to a screen, and the keys between the looks at it: each pane in use, a search that is typed and marked.
STATES: dict[str, tuple[Go, tuple[tuple[str, ...], ...]]] = {
    "main": (searching, (("1",), ("3",), ("4",), ("5",), ("6",), ("slash", "shift+home"), ("escape", "2"))),
    "overview": (pressing("G"), ()),
    "past": (pressing("T", "left"), (("2",), ("escape", "T"))),
    "entry": (pressing("6", "enter"), (("question_mark",), ("escape",))),
    "pipeline": (pressing("i"), (("2",), ("1",))),
    "dialog": (dialog, ()),
    "field": (field, ()),
    "palette": (palette, ()),
}
SLOW = pytest.mark.slow


def _in_use(app: Driver) -> list[Region]:
    """Where something is to be read: what lies under a dialog stands back on purpose."""
    screen = app.app.screen
    return [screen.query_one("#box").region if isinstance(screen, Dialog) else app.app.size.region]


@SLOW
@pytest.mark.parametrize("state", STATES)
async def test_everything_stands_out_in_every_theme(
    home: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is painted with which variables is found once for each kind of theme, and computed for all of its kind."""
    monkeypatch.setattr(
        "nuggets_tui.application.readable", lambda one: one if is_probe(one) else readable(one)
    )
    monkeypatch.setattr(ThemeController, "save", lambda *_: None)
    _more_in(home)
    wrong = set()
    for kind in KINDS:
        copy = shutil.copytree(home, home.with_name(kind))
        pairs = await _painted_in(copy, state, probe(readable(THEMES[kind])))
        assert len(pairs) > 3
        wrong |= {
            f"{name}: {pair.front} on {pair.ground}: {pair.example}"
            for name, theme in THEMES.items()
            if (theme.ansi, theme.dark) == (THEMES[kind].ansi, THEMES[kind].dark)
            for pair in pairs
            if not _stands_out(name, pair)
        }
    assert not wrong, "\n".join(sorted(wrong))


async def _painted_in(home: Path, state: str, theme: Theme) -> set[Pair]:
    go, steps = STATES[state]
    pairs: set[Pair] = set()
    async with opened(home) as app:
        app.app.register_theme(theme)
        app.app.theme = theme.name
        await app.pilot.pause()
        await go(app)
        for keys in ((), *steps):
            if keys:
                await app.press(*keys)
            for place in _in_use(app):
                pairs |= painted(app.app, place)
    return pairs


def _stands_out(name: str, pair: Pair) -> bool:
    return not pair.dim and min(contrasts(readable(THEMES[name]), pair), default=0) >= wanted(pair.text)


def _more_in(home: Path) -> None:
    """More facts, a recall in the log, and a note with all that Markdown has."""

    def fill(draft: Draft) -> None:
        for number in range(3):
            remember(draft, "prefs", f"key {number}", "value")
        create_note(draft, "prefs", "Marked", "# One\n\n> two\n\n`three` [four](http://x)\n\n- five")

    memory = Memory.open(home, clock=lambda: NOW)
    memory.change("more", fill)
    memory.undo()


@SLOW
async def test_an_empty_pane_has_no_trough(home: Path) -> None:
    async with opened(home) as app:
        for name in app.app.available_themes:
            app.app.theme = name
            await app.pilot.pause()
            ground = app.main.query_one("#neighbours").visual_style.rich_style.bgcolor
            for pane in ("notes", "neighbours", "note"):
                place = app.main.query_one(f"#{pane}").region
                strips = app.app.screen._compositor.render_strips(app.app.size)
                last = strips[place.bottom - 2].crop(place.right - 2, place.right - 1)
                assert {segment.style.bgcolor for segment in last if segment.style} == {ground}, (name, pane)


@pytest.mark.parametrize("name", THEMES)
def test_a_theme_that_is_made_readable_keeps_its_colours_where_they_can_be_told(name: str) -> None:
    given, made = THEMES[name], readable(THEMES[name])
    assert made.name == given.name
    assert (made.background, made.primary, made.dark, made.ansi) == (
        given.background, given.primary, given.dark, given.ansi,
    )  # fmt: skip
    assert readable(made) is made or readable(given) is made


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_the_own_themes_are_written_down_as_they_would_be_made_readable(theme: Theme) -> None:
    """The app takes them as they stand; of a copy under another name all colours are found anew."""
    made = readable(replace(theme, name=f"copy of {theme.name}"))
    assert readable(theme) is theme
    assert _colours(made) == _colours(theme)


def _colours(theme: Theme) -> dict[str, str]:
    named = {**theme.to_color_system().generate(), **theme.variables}
    return {name: said.upper() for name, said in named.items()}


@pytest.mark.parametrize("ground", ["#000000", "#777777", "#808080", "#ffffff", "#0000ff", "#fdf6e3"])
@pytest.mark.parametrize("colour", ["#000000", "#777777", "#ffffff", "#d9a94e", "#ff0000"])
def test_a_colour_is_pushed_until_it_can_be_told_and_no_further(colour: str, ground: str) -> None:
    start, below = Color.parse(colour), Color.parse(ground)
    for ratio in (SHAPE, TEXT):
        made = pushed(start, (below,), ratio)
        assert contrast(made, below) >= ratio
        if contrast(start, below) >= ratio:
            assert made == start
        elif made.rgb not in ((0, 0, 0), (255, 255, 255)):
            # One step less would not do.
            assert contrast(made, below) < ratio * 1.15
