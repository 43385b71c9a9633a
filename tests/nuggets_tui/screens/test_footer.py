"""The footer says what the keys do now: on what is selected, in the overview, in a search, in a narrow terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, Driver, opened

pytestmark = pytest.mark.slow


def footer(app: Driver) -> str:
    """The last line of the screen."""
    return app.text.splitlines()[-1]


@pytest.mark.parametrize("size", [(120, 40), NARROW])
async def test_with_a_selection_it_shows_what_acts_on_all_of_it(home: Path, size: tuple[int, int]) -> None:
    async with opened(home, size) as app:
        await app.press("space", "space", "space")
        for said in ("x hide 3", "t tags", "esc deselect"):
            assert said in footer(app)
        await app.press("escape")
        assert "deselect" not in footer(app)
        assert "x hide 3" not in footer(app)


async def test_in_note_it_explains_the_hit_while_one_searches(home: Path) -> None:
    async with opened(home) as app:
        await app.press("3")
        assert "w why" not in footer(app)
        await app.press("slash", *"redis")
        await app.until(lambda: app.view.found is not None and app.view.found.query == "redis")
        await app.press("enter", "3")
        assert footer(app).strip().startswith("w why")


@pytest.mark.parametrize("pane", ["1", "2", "3", "4"])
async def test_a_narrow_one_names_undo_and_time_travel(home: Path, pane: str) -> None:
    async with opened(home, NARROW) as app:
        await app.press(pane)
        for said in ("u undo", "T time", "? help", "q quit", "/ search"):
            assert said in footer(app)


@pytest.mark.parametrize("size", [(120, 40), NARROW])
async def test_the_overview_shows_its_own_keys(home: Path, size: tuple[int, int]) -> None:
    async with opened(home, size) as app:
        await app.until(lambda: app.main.complete)
        await app.press("G")
        await app.until(lambda: getattr(app.main.focused, "overview", False))
        await app.pilot.pause()
        assert "⏎ open" in footer(app)
        assert "+ zoom in" in footer(app)
        for other in ("nearer", "farther", "+ more", "n note"):
            assert other not in footer(app)
        await app.press("escape")
        await app.pilot.pause()
        assert "zoom in" not in footer(app)
