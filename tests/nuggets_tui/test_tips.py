"""The header of a young memory names what is worth trying next, until it was tried."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from kits.app_kit import NOW, Driver, opened, small_memory

from core.tried import keep_tried, read_tried
from core.user_settings import save_user_settings

pytestmark = pytest.mark.slow

# Wide: what is worth trying takes room from nothing else.
SIZE = (160, 40)


def head(app: Driver) -> str:
    return app.text.split("\n")[0]


async def settled(app: Driver) -> None:
    await app.until(lambda: not app.main.context.running("tips"))
    await app.pilot.pause()


async def test_after_the_first_change_the_header_names_undo_until_it_was_used(tmp_path: Path) -> None:
    small_memory(tmp_path / "memory")
    async with opened(tmp_path / "memory", SIZE) as app:
        await app.until(lambda: "try u undo" in head(app))
        await app.press("x")
        await app.until(lambda: app.view.log.lines[0].deed.verb == "hid")
        await app.press("u")
        await app.until(lambda: "try / search" in head(app))
        await settled(app)
    assert "undo" in read_tried()
    async with opened(tmp_path / "memory", SIZE) as app:
        await settled(app)
        assert "try u" not in head(app)


async def test_while_something_is_searched_the_header_names_why(tmp_path: Path) -> None:
    small_memory(tmp_path / "memory")
    keep_tried(["undo"])
    async with opened(tmp_path / "memory", SIZE) as app:
        await app.until(lambda: "try / search" in head(app))
        await app.press("slash", *"token")
        await app.until(lambda: "try w why" in head(app))


async def test_whoever_wants_no_tips_gets_none(tmp_path: Path) -> None:
    small_memory(tmp_path / "memory")
    save_user_settings({"app.tips": False})
    async with opened(tmp_path / "memory", SIZE) as app:
        await settled(app)
        assert (app.view.tip, "try " in head(app)) == ("", False)


async def test_a_memory_that_was_used_for_long_has_no_tips(tmp_path: Path) -> None:
    small_memory(tmp_path / "memory")
    async with opened(tmp_path / "memory", SIZE, clock=lambda: NOW + timedelta(days=15)) as app:
        await settled(app)
        assert (app.view.tip, "try " in head(app)) == ("", False)
