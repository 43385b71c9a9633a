"""What Textual brings along, the mouse and the palette, stands what a person does to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import WIDE, opened, small_memory
from kits.frames import every_frame
from textual import events
from textual.widgets import Static

from nuggets_tui.palette import Palette
from nuggets_tui.screens.help import HelpScreen
from nuggets_tui.widgets.row_list import RowList

pytestmark = pytest.mark.slow


async def test_what_was_just_taken_away_may_be_clicked_again(tmp_path: Path) -> None:
    small_memory(tmp_path)
    async with opened(tmp_path, WIDE) as driver:
        notice = Static("Something was done.")
        await driver.main.mount(notice, before="#panes")
        await driver.until(lambda: bool(notice.region))
        x, y = notice.region.x + 2, notice.region.y
        # Still drawn, but no part of the screen any more.
        notice._detach()
        assert driver.main.get_widget_and_offset_at(x, y)[0] is notice
        for kind in (events.MouseDown, events.MouseMove, events.MouseUp):
            await driver.app.on_event(kind(None, x, y, 0, 0, 1, False, False, False, x, y))
        assert driver.app._exception is None
        notice._attach(driver.main)


async def test_a_key_may_come_before_the_palette_has_laid_its_list_out(tmp_path: Path) -> None:
    small_memory(tmp_path)
    async with opened(tmp_path, WIDE) as driver:
        await driver.pilot.press("ctrl+p")
        palette = await driver.screen(Palette)
        palette.query_one(RowList).set_rows([])
        await driver.press("pageup", "pagedown", "ctrl+end", "enter")
        assert driver.app.screen is palette
        assert driver.app._exception is None


async def test_the_palette_closes_once_and_nothing_else_with_it(tmp_path: Path) -> None:
    small_memory(tmp_path)
    async with opened(tmp_path, WIDE) as driver:
        await driver.pilot.press("ctrl+p")
        await driver.until(lambda: isinstance(driver.app.screen, Palette))
        palette = driver.app.screen
        for _ in range(3):
            palette.dismiss()
        await driver.until(lambda: driver.app.screen is driver.main)
        assert driver.app.is_running
        assert driver.app._exception is None


async def test_a_key_for_a_dialog_that_is_not_made_yet_does_nothing(tmp_path: Path) -> None:
    small_memory(tmp_path / "memory")
    async with opened(tmp_path / "memory") as app:
        half_made = HelpScreen()
        await app.app.push_screen(half_made)
        await half_made.query("*").remove()
        half_made.action_switch = lambda: half_made.query_one("#lines")  # type: ignore[attr-defined]
        assert await app.app.run_action("switch", half_made) is False
        assert app.app.is_running


async def test_a_key_that_comes_before_its_dialog_is_made_is_obeyed_once_it_is(tmp_path: Path) -> None:
    small_memory(tmp_path / "memory")
    async with opened(tmp_path / "memory") as driver:
        dialog = HelpScreen()
        driver.app.push_screen(dialog)
        assert not dialog.is_mounted
        assert await driver.app.run_action("close", dialog)
        assert driver.app.screen is dialog
        await driver.back_on_main()


async def test_dialogs_over_each_other_are_drawn_wherever_the_mouse_is(tmp_path: Path) -> None:
    small_memory(tmp_path / "memory")
    async with opened(tmp_path / "memory", WIDE) as driver:
        with every_frame(driver.app):
            lowest, middle, highest = HelpScreen(), HelpScreen(), HelpScreen()
            for dialog in (lowest, middle, highest):
                await driver.app.push_screen(dialog)
                await driver.pilot.pause()
            # What the mouse asks the dialog that was under it a moment ago.
            lowest.refresh()
            lowest.get_style_at(0, 0)
            await driver.app.pop_screen()
            await driver.pilot.pause()
            lowest.refresh()
            middle.refresh()
            await driver.pilot.pause()
        assert driver.app._exception is None
