"""The overview of the memory fills the screen, leads to a note, and gives way again."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, WIDE, Driver, assert_harmless, opened, small_memory

from nuggets_tui.demo import DEMO_NOW, write_demo
from nuggets_tui.widgets.graph import GraphPane
from nuggets_tui.widgets.graph_overview import GraphOverview
from nuggets_tui.widgets.panes import Panes

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


async def overview_of(app: Driver) -> GraphOverview:
    """Opens the overview; its picture, once it is laid out."""
    await app.press("G")
    await app.until(lambda: list(app.main.query(GraphOverview)), "the overview")
    picture = app.main.query_one(GraphOverview)
    await app.until(lambda: picture.overview is not None, "the layout")
    await app.pilot.pause()
    return picture


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_overview_fills_the_screen_and_enter_opens_the_marked_note(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    small_memory(tmp_path)
    async with opened(tmp_path, size) as app:
        await app.show("Auth middleware")
        picture = await overview_of(app)
        panes = app.main.query_one(Panes)
        assert panes.zoomed
        assert picture.size.height > size[1] - 9
        assert "◉" in app.text
        assert "Auth middleware" in app.text
        assert "5 Graph · overview" in app.text
        assert_harmless(app)
        marked = picture.cursor_id
        for key in ("right", "left", "up", "down"):
            await app.press(key)
            under_cursor = app.view.snapshot.by_id[picture.cursor_id].title
            assert f"x hide {under_cursor[:6]}" in app.text.splitlines()[-1]
        moved = picture.cursor_id
        await app.press("shift+left", "plus", "n", "n", "minus")
        chosen = picture.cursor_id
        assert {marked, moved, chosen} - {marked}
        await app.press("enter")
        await app.until(lambda: app.view.note_id == chosen, "the chosen note")
        assert not app.main.query_one(GraphPane).overview
        assert not panes.zoomed
        await app.press("backspace")
        assert app.view.note_id == marked


@pytest.mark.parametrize("key", ["escape", "G"])
async def test_the_overview_gives_way_to_what_was_there_before(tmp_path: Path, key: str) -> None:
    small_memory(tmp_path)
    async with opened(tmp_path) as app:
        await app.press("1")
        await overview_of(app)
        await app.press("v")
        assert app.view.show_hidden
        assert app.main.query_one(GraphOverview).show_hidden
        await app.press(key)
        await app.pilot.pause()
        assert not app.main.query_one(GraphPane).overview
        assert not app.main.query_one(Panes).zoomed
        assert app.main.query_one(Panes).active == "facts"


async def test_the_overview_stays_in_its_pane_and_follows_the_note_shown(tmp_path: Path) -> None:
    small_memory(tmp_path)
    async with opened(tmp_path, (170, 45)) as app:
        picture = await overview_of(app)
        await app.press("z", "2")
        assert not app.main.query_one(Panes).zoomed
        assert app.main.query_one(GraphPane).overview
        await app.show("Session store")
        await app.until(lambda: picture.cursor_id == app.view.note_id, "the note shown")
        await app.press("5", "escape")
        await app.until(lambda: not app.main.query_one(GraphPane).overview, "the surroundings")


async def test_the_marked_note_stays_in_view_when_the_terminal_gets_smaller(tmp_path: Path) -> None:
    write_demo(tmp_path / "demo")
    async with opened(tmp_path / "demo", (200, 60), clock=lambda: DEMO_NOW) as app:
        picture = await overview_of(app)
        assert "• note  ◆ fact  ● several · colours: nuggets" in app.text
        await app.press("plus", "plus", "plus", "right", "right", "down", "down")
        await app.pilot.resize_terminal(*NARROW)
        await app.until(lambda: picture.size.width < NARROW[0])
        await app.pilot.pause()
        scene = picture.scene
        assert scene is not None
        number = scene.overview.number[picture.cursor_id]
        column, row = scene.cell(number)
        assert 0 <= column < scene.camera.width
        assert 0 <= row < scene.camera.height


async def test_where_the_overview_marks_nothing_no_command_of_a_row_acts_or_is_offered(
    tmp_path: Path,
) -> None:
    small_memory(tmp_path)
    async with opened(tmp_path) as app:
        picture = await overview_of(app)
        await app.press("right", "right")
        title = app.view.snapshot.by_id[picture.cursor_id].title
        offered = [command.name for command in app.main.key_bar.commands]
        assert {"open_point", "hide"} <= set(offered)
        assert "⏎ open" in app.text
        await app.press("x")
        await app.until(lambda: "arrow keys select one" in app.text, "nothing is marked")
        await app.until(lambda: not app.main.key_bar.object)
        assert not {"open_point", "hide"} & {command.name for command in app.main.key_bar.commands}
        assert "⏎ open" not in app.text
        assert not app.main.selection.under_cursor
        hidden = [note.title for note in app.view.snapshot.notes if note.hidden]
        assert title in hidden
        await app.press("x", "t", "e", "enter")
        await app.pilot.pause()
        assert app.app.screen is app.main
        assert [note.title for note in app.view.snapshot.notes if note.hidden] == hidden
        await app.press("right")
        assert app.main.selection.target() is not None
        await app.until(lambda: "open_point" in {command.name for command in app.main.key_bar.commands})
