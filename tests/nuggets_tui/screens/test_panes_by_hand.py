"""Two clicks show a pane alone, and dialogs answer to clicks on their keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import opened, small_memory
from textual.geometry import Offset

from nuggets_tui.widgets.panes import PANES

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    small_memory(tmp_path / "memory")
    return tmp_path / "memory"


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
        await app.until(
            lambda: all(app.main.query_one(f"#{pane}").display for pane in PANES if pane != "graph")
        )


async def test_a_click_on_a_key_of_a_dialog_presses_it(home: Path) -> None:
    async with opened(home) as app:
        await app.press("question_mark")
        await app.until(lambda: len(app.app.screen_stack) == 2)
        keys = app.app.screen.query_one("#dialog-keys")
        await app.pilot.click("#dialog-keys", offset=(str(keys.render()).index("close"), 0))
        await app.until(lambda: len(app.app.screen_stack) == 1)
