"""What somebody waits for is painted when it is ready; the rest when the screen's clock ticks."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.screen import Screen

from nuggets_tui.safe_text import content
from nuggets_tui.widgets.row_list import Row, RowList

pytestmark = pytest.mark.slow

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
        app.rows.action_move("down")
        assert await frames_after(app) == 1


def painted(app: App[None], rows: RowList) -> list[str]:
    """The lines of a list as they stand on the screen."""
    region = rows.region
    strips = app.screen._compositor.render_strips()[region.y : region.bottom]
    return [str(strip.crop(region.x, region.right)._segments) for strip in strips]


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_rows_come_and_go_the_screen_shows_those_that_are_there(seed: int) -> None:
    dice = random.Random(seed)
    app = Lists()
    kept = [Row(str(number), (content(f"Row {number}"),) * dice.choice((1, 1, 2))) for number in range(60)]
    async with app.run_test(size=(40, 12)) as pilot:
        for _ in range(60):
            begin = dice.choice((0, 0, 0, 1, 30))
            shown = kept[begin : begin + dice.choice((0, 3, 12, 40, 40))]
            if dice.random() < 0.2:
                dice.shuffle(shown)
            if shown and dice.random() < 0.3:
                other = dice.randrange(len(shown))
                shown[other] = Row(shown[other].key, (content(f"Other {dice.random()}"),))
            app.rows.set_rows(shown, keep_cursor=dice.random() < 0.8)
            for _ in range(dice.randrange(4)):
                app.rows.action_move(dice.choice(("down", "pagedown", "home")))
            if dice.random() < 0.2:
                app.rows.light(frozenset(row.key for row in shown[:2]))
            await pilot.pause()
            before = painted(app, app.rows)
            app.rows._styles_cache.clear()
            assert before == painted(app, app.rows)


async def test_rows_that_show_what_they_showed_are_not_painted_again() -> None:
    app = Lists()
    rows = [Row(str(number), (content(f"Row {number}"),)) for number in range(99)]
    async with app.run_test(size=(40, 12)) as pilot:
        app.rows.set_rows(rows)
        app.rows.action_move("end")
        await pilot.pause()
        drawn: list[int] = []
        render = app.rows.render_line
        app.rows.render_line = lambda y: (drawn.append(y), render(y))[1]  # type: ignore[method-assign]
        app.rows.set_rows([Row("new", (content("New"),)), *rows])
        await pilot.pause()
        assert drawn == []
        app.rows.set_rows([*rows[:-1], Row("98", (content("Changed"),))])
        await pilot.pause()
        assert drawn == [11]
