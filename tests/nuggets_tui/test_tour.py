"""The tour of the demo: offered once, four keys, left at any other, never over what it points at."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from kits.app_kit import NARROW, NOW, WIDE, Driver, small_memory
from kits.frames import wait_with_frames
from textual.geometry import Region
from textual.screen import ModalScreen

from core.tried import keep_tried, read_tried, tried_file
from nuggets_tui.application import NuggetsApp
from nuggets_tui.opening import Opening
from nuggets_tui.screens.reflection_review import ReflectionReview
from nuggets_tui.screens.why import WhyScreen
from nuggets_tui.widgets.tour_line import TourLine


@asynccontextmanager
async def demo(home: Path, size: tuple[int, int] = NARROW, *, is_demo: bool = True) -> AsyncIterator[Driver]:
    if not home.exists():
        small_memory(home)
    opening = Opening(home, lambda: NOW)
    opening.open()
    app = NuggetsApp(opening, demo=is_demo)
    wait_with_frames(app)
    async with app.run_test(size=size) as pilot:
        driver = Driver(app, pilot)
        await driver.ready()
        await driver.until(lambda: driver.main.complete)
        await driver.until(lambda: not driver.main.context.running("tour", "tips"))
        await pilot.pause()
        yield driver


def tour(app: Driver) -> TourLine | None:
    return next(iter(app.main.query(TourLine)), None)


def assert_beside_everything(app: Driver) -> None:
    line = tour(app)
    assert line is not None
    assert line.region.height == 1
    assert Region(0, 0, *app.app.size).contains_region(line.region)
    others = [one for one in app.main.children if one is not line and one.display and one.region.area]
    assert {"search", "panes", "keys"} <= {one.id for one in others}
    for other in others:
        if other.id is not None:
            assert not other.region.overlaps(line.region), other
    shown = app.text.split("\n")[line.region.y]
    assert f"Tour {line.step}" in shown
    assert f"press {line.key}  {line.sees}" in shown
    assert "…" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_tour_goes_from_key_to_key_and_covers_nothing(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with demo(tmp_path / "demo", size) as app:
        before = (tmp_path / "demo" / "graph" / "graph.json").read_bytes()
        line = tour(app)
        assert line is not None
        assert (line.step, line.key) == ("1/4", "G")
        assert_beside_everything(app)
        await app.press("G")
        await app.until(lambda: line.key == "T" and "overview" in app.text)
        assert_beside_everything(app)
        await app.press("T")
        await app.until(lambda: line.key == "w" and app.view.past is not None)
        assert_beside_everything(app)
        await app.press("w")
        await app.screen(WhyScreen)
        await app.press("escape")
        await app.back_on_main()
        assert app.view.past is None
        assert line.key == "esc, then r"
        assert_beside_everything(app)
        await app.press("r")
        await app.until(lambda: tour(app) is None)
        await app.until(
            lambda: isinstance(app.app.screen, ReflectionReview) or "Nothing to clean up" in app.notices
        )
        assert (tmp_path / "demo" / "graph" / "graph.json").read_bytes() == before


@pytest.mark.slow
async def test_the_tour_is_offered_once_and_kept_outside_the_memory(tmp_path: Path) -> None:
    async with demo(tmp_path / "demo") as app:
        assert tour(app) is not None
    assert "tour" in read_tried()
    assert not tried_file().is_relative_to(tmp_path / "demo")
    async with demo(tmp_path / "demo") as app:
        assert tour(app) is None
    async with demo(tmp_path / "another") as app:
        assert tour(app) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "key", ["escape", "j", "slash", "n", "u", "T", "question_mark", "ctrl+p", "tab", "1"]
)
async def test_any_other_key_leaves_the_tour_and_does_what_it_does(tmp_path: Path, key: str) -> None:
    async with demo(tmp_path / "demo") as app:
        await app.press(key)
        await app.until(lambda: tour(app) is None)
        assert app.main.tour.step == ""
        dialogs = {"n", "question_mark", "ctrl+p"}
        assert isinstance(app.app.screen, ModalScreen) == (key in dialogs)
        assert (app.view.past is not None) == (key == "T")


@pytest.mark.slow
async def test_a_memory_of_ones_own_has_no_tour(tmp_path: Path) -> None:
    async with demo(tmp_path / "memory", is_demo=False) as app:
        assert tour(app) is None
    assert "tour" not in read_tried()


@pytest.mark.parametrize("content", [b"", b"not JSON", b'{"a": 1}', b"[1, 2]", b"\xff\xfe", b"[" * 100_000])
def test_a_broken_file_of_what_was_tried_is_as_none_and_is_replaced(content: bytes) -> None:
    tried_file().parent.mkdir(parents=True, exist_ok=True)
    tried_file().write_bytes(content)
    assert read_tried() == frozenset()
    assert keep_tried(["undo"])
    assert read_tried() == {"undo"}


def test_where_nothing_can_be_kept_nothing_fails() -> None:
    tried_file().parent.parent.mkdir(parents=True, exist_ok=True)
    tried_file().parent.write_text("a file where the folder would be")
    assert read_tried() == frozenset()
    assert not keep_tried(["undo"])
