"""Panes are made larger and smaller with keys and with the mouse, and dialogs answer to clicks on their keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, Driver, opened, small_memory
from textual.geometry import Offset

from nuggets_tui.pane_sizes import saved_panes
from nuggets_tui.widgets.pane_shapes import PANES, USUAL, shape_for
from nuggets_tui.widgets.panes import Panes

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("former_keys")]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    small_memory(tmp_path / "memory")
    return tmp_path / "memory"


def width(app: Driver, pane: str) -> int:
    """How wide a pane is on screen."""
    return int(app.main.query_one(f"#{pane}").outer_size.width)


async def test_keys_make_the_pane_with_the_cursor_wider_and_higher_and_back(home: Path) -> None:
    async with opened(home) as app:
        before = width(app, "notes")
        await app.press("greater_than_sign")
        await app.until(lambda: width(app, "notes") == before + 4)
        await app.press("less_than_sign")
        await app.until(lambda: width(app, "notes") == before)
        high = app.main.query_one("#audit").outer_size.height
        await app.press("6", "right_curly_bracket")
        await app.until(lambda: app.main.query_one("#audit").outer_size.height == high + 2)
        await app.main.action_command("usual_panes")
        await app.until(lambda: app.main.query_one("#audit").outer_size.height == high)


async def test_the_mouse_pulls_the_line_between_two_panes_and_opens_nothing(home: Path) -> None:
    async with opened(home) as app:
        panes = app.main.query_one(Panes)
        divider = shape_for(panes.size, panes.shares).named("facts")
        shown, x, y = app.view.note_id, panes.region.x + divider.at, panes.region.y + 5
        await app.pilot.mouse_down(offset=(x, y))
        await app.pilot.hover(offset=(x + 9, y))
        await app.pilot.mouse_up(offset=(x + 9, y))
        await app.until(lambda: width(app, "facts") == divider.at + 9)
        assert app.view.note_id == shown
        await app.pilot.hover(offset=(x + 20, y))
        assert width(app, "facts") == divider.at + 9


async def test_two_clicks_on_a_title_show_that_pane_alone_and_the_tab_line_brings_all_back(
    home: Path,
) -> None:
    async with opened(home) as app:
        place = app.main.query_one("#audit").region.offset + Offset(8, 0)
        await app.pilot.click(offset=place, times=2)
        await app.until(
            lambda: [pane for pane in PANES if app.main.query_one(f"#{pane}").display] == ["audit"]
        )
        line = str(app.main.query_one("#tabs").render())
        await app.pilot.click("#tabs", offset=(line.index("all panes"), 0))
        await app.until(lambda: all(app.main.query_one(f"#{pane}").display for pane in PANES))
        assert app.main.query_one(Panes).shares == USUAL


async def test_where_panes_are_tabs_the_keys_say_that_there_is_nothing_to_resize(home: Path) -> None:
    async with opened(home, NARROW) as app:
        await app.press("greater_than_sign")
        await app.until(lambda: "panes are tabs" in app.notices)
        assert "all panes" not in str(app.main.query_one("#tabs").render())


async def test_a_click_on_a_key_of_a_dialog_presses_it(home: Path) -> None:
    async with opened(home) as app:
        await app.press("question_mark")
        await app.until(lambda: len(app.app.screen_stack) == 2)
        keys = app.app.screen.query_one("#dialog-keys")
        await app.pilot.click("#dialog-keys", offset=(str(keys.render()).index("close"), 0))
        await app.until(lambda: len(app.app.screen_stack) == 1)


async def test_an_arrangement_is_there_at_the_next_start_and_makes_no_entry_of_the_log(home: Path) -> None:
    async with opened(home) as app:
        before, entries = width(app, "notes"), app.view.log
        await app.press("greater_than_sign", "greater_than_sign")
        await app.until(lambda: width(app, "notes") == before + 8)
        await app.until(lambda: bool(saved_panes(home)), "it is kept")
        assert app.view.log == entries
    async with opened(home) as app:
        await app.until(lambda: width(app, "notes") == before + 8)
        await app.main.action_command("usual_panes")
        await app.until(lambda: saved_panes(home) == dict(USUAL))
    async with opened(home) as app:
        await app.pilot.pause()
        assert width(app, "notes") == before
