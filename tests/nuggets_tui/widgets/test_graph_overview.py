"""The overview of a memory is seen, walked and zoomed with keys and mouse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from core.model.note import Link, Note, replace
from core.model.snapshot import Snapshot
from nuggets_tui.widgets.graph_overview import WAYS, GraphOverview

SIZE = (60, 20)


def memory(title: str = "note", count: int = 60) -> Snapshot:
    return Snapshot(
        notes=tuple(
            Note(
                id=f"n{number}",
                nugget_name=("web", "ops", title)[number % 3],
                title=f"{title} {number}" if title else "",
                content="",
                tags=(("auth", "deploy", "auth", "deploy", title, "cache")[number % 6],),
                links=(Link(to=f"n{number // 2}"),),
                hidden=number % 10 == 9,
            )
            for number in range(count)
        )
    )


class Harness(App[None]):
    """An app with nothing but an overview."""

    def __init__(self) -> None:
        super().__init__()
        self.view = GraphOverview()
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_graph_overview_chosen(self, event: GraphOverview.Chosen) -> None:
        self.chosen.append(event.note_id)


def screen(view: GraphOverview) -> list[str]:
    return [view.render_line(y).text for y in range(view.size.height)]


@asynccontextmanager
async def showing(snapshot: Snapshot, note_id: str = "") -> AsyncIterator[tuple[Harness, Pilot[None]]]:
    app = Harness()
    async with app.run_test(size=SIZE) as pilot:
        app.view.show(snapshot, note_id)
        await laid_out(app, pilot)
        yield app, pilot


async def laid_out(app: Harness, pilot: Pilot[None]) -> None:
    await pilot.pause()
    await app.workers.wait_for_complete()
    await pilot.pause()


def seen(view: GraphOverview) -> bool:
    """Whether the marked note can be seen: its point, and its title beside it or in the last row."""
    lines = screen(view)
    return any("◉" in line for line in lines[:-1])


@pytest.mark.slow
async def test_the_marked_note_is_seen_wherever_the_cursor_and_the_zoom_are() -> None:
    async with showing(memory(), "n4") as (app, _):
        view = app.view
        assert any("◉ note 4 " in line or " note 4 ◉" in line for line in screen(view))
        for step, way in enumerate(["right", "down", "left", "up"] * 6):
            view.walk(WAYS[way], far=step % 5 == 0)
            view.zoom_by(1 if step % 3 else -1)
            assert seen(view)
        view.toggle_nugget()
        assert seen(view)
        assert view.nugget is not None
        assert all(cell_len(line) == SIZE[0] for line in screen(view))


@pytest.mark.slow
async def test_enter_and_a_second_click_choose_and_a_click_takes_the_nearest() -> None:
    async with showing(memory(), "n4") as (app, pilot):
        app.view.choose()
        await pilot.pause()
        assert app.chosen == ["n4"]
        scene = app.view.scene
        assert scene is not None
        place = scene.cell(scene.overview.number["n10"])
        await pilot.click(GraphOverview, offset=place)
        marked = app.view.cursor_id
        assert scene.cell(scene.overview.number[marked]) == place
        await pilot.click(GraphOverview, offset=place)
        assert app.chosen == ["n4", marked]


@pytest.mark.slow
async def test_hidden_notes_come_and_go_without_moving_the_others() -> None:
    async with showing(memory()) as (app, _):
        before = app.view.scene
        assert before is not None
        app.view.show_hidden = True
        after = app.view.scene
        assert after is not None
        assert after.in_view.size == before.in_view.size + 6
        assert (after.dots == before.dots).all()


@pytest.mark.slow
async def test_a_changed_memory_keeps_cursor_zoom_and_picture_until_it_is_laid_out() -> None:
    async with showing(memory(), "n4") as (app, pilot):
        app.view.zoom_by(2)
        before = screen(app.view)
        more = Snapshot(notes=(*memory().notes, replace(memory().notes[4], id="new")))
        app.view.show(more, "")
        assert screen(app.view) == before
        await laid_out(app, pilot)
        assert app.view.overview is not None
        assert "new" in app.view.overview.number
        assert (app.view.cursor_id, app.view.zoom) == ("n4", 2)
        app.view.show(Snapshot(notes=more.notes[10:]), "")
        await laid_out(app, pilot)
        assert app.view.cursor_id == ""
        app.view.walk(WAYS["left"])
        assert seen(app.view)


@pytest.mark.slow
async def test_before_the_first_layout_it_says_how_far_it_is_and_leaving_ends_it() -> None:
    app = Harness()
    async with app.run_test(size=SIZE) as pilot:
        assert screen(app.view)[0].startswith("The overview shows notes")
        app.view.show(memory(count=3000), "")
        assert screen(app.view)[0].startswith("placing 3,000 notes")
        app.view.leave()
        await pilot.pause()
        while app.view.busy:
            await pilot.pause()
        assert app.view.overview is None
        app.view.show(memory(count=30), "")
        await laid_out(app, pilot)
        assert app.view.overview is not None


@pytest.mark.parametrize("size", [(0, 0), (1, 1), (3, 2), (9, 3), (200, 2)])
async def test_no_size_is_too_small(size: tuple[int, int]) -> None:
    async with showing(memory(), "n4") as (app, pilot):
        app.view.styles.width, app.view.styles.height = size
        await pilot.pause()
        for way in WAYS.values():
            app.view.walk(way)
        app.view.zoom_by(3)
        assert all(cell_len(line) == app.view.size.width for line in screen(app.view))


@pytest.mark.parametrize("snapshot", [Snapshot(), memory(count=1), memory(count=10)])
async def test_nothing_a_single_note_and_hidden_notes_alone_are_no_trouble(snapshot: Snapshot) -> None:
    hidden = Snapshot(notes=tuple(replace(note, hidden=True) for note in snapshot.notes))
    async with showing(snapshot) as (app, pilot):
        for _ in range(3):
            app.view.walk(WAYS["right"])
            app.view.zoom_by(1)
            app.view.choose()
            app.view.toggle_nugget()
        app.view.show(hidden, "")
        await laid_out(app, pilot)
        assert ("hidden" in screen(app.view)[0]) == bool(snapshot.notes)
