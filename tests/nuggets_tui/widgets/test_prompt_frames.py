"""What somebody waits for is painted when it is ready; the rest when the screen's clock ticks."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from app_kit import opened
from textual.app import App, ComposeResult
from textual.screen import Screen

from nuggets_tui.safe_text import content
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.search_box import SearchBox

_TURNS = 200


@pytest.fixture(autouse=True)
def _clock_that_never_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textual.screen.UPDATE_PERIOD", 3600.0)


class Lists(App[None]):
    """An app with one list, which tells of its frames."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = RowList([Row(str(number), (content(f"Row {number}"),)) for number in range(9)])
        self.frames = 0

    def compose(self) -> ComposeResult:
        yield self.rows

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        self.frames += 1
        super()._display(screen, renderable)


async def frames_after(app: Lists) -> int:
    """How many frames come of what was just done, without anybody waiting for one."""
    before = app.frames
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    return app.frames - before


async def test_a_step_of_the_cursor_does_not_wait_for_the_clock() -> None:
    app = Lists()
    async with app.run_test() as pilot:
        await pilot.pause()
        app.rows.refresh()
        assert await frames_after(app) == 0
        await pilot.pause()
        app.rows.action_cursor_down()
        assert await frames_after(app) == 1


async def test_steps_at_once_are_one_frame() -> None:
    app = Lists()
    async with app.run_test() as pilot:
        await pilot.pause()
        for _ in range(5):
            app.rows.action_cursor_down()
        assert await frames_after(app) == 1


async def test_a_list_that_goes_asks_for_nothing() -> None:
    app = Lists()
    async with app.run_test() as pilot:
        await pilot.pause()
        app.rows.action_cursor_down()
        await app.rows.remove()
        await frames_after(app)
        assert app.is_running


async def test_results_do_not_wait_for_the_clock(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(home) as app:
        shown = asyncio.Event()
        display = app.app._display

        def told(screen: Screen[Any], renderable: Any) -> None:
            display(screen, renderable)
            if app.view.found is not None:
                shown.set()

        monkeypatch.setattr(app.app, "_display", told)
        app.main.query_one(SearchBox).value = "token"
        await asyncio.wait_for(shown.wait(), 30)
        assert app.view.found is not None
        assert app.view.found.hits
