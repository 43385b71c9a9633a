"""The row that keys act on is seen: at every size, after every change, under no notice, and named in the footer."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from kits.app_kit import Driver, agent_on, opened

from core.facts.edits import remember
from core.graph.edits import create_note
from core.memory import Memory
from core.model.draft import Draft
from nuggets_tui.widgets.header import KeyBar
from nuggets_tui.widgets.row_list import RowList

pytestmark = pytest.mark.slow

SIZES: Final = [(60, 15), (80, 24), (100, 30), (120, 40), (200, 60)]
COUNT: Final = 70


def _fill(draft: Draft) -> None:
    for number in range(COUNT):
        remember(draft, f"n{number // 35}", f"key {number}", f"value {number}")
        create_note(draft, "project", f"Incident {number:02}: the payment webhook", f"Text {number}.")


@pytest.fixture
def many(home: Path) -> Path:
    agent_on(home).change("many", _fill)
    return home


def rows_in_focus(app: Driver) -> RowList:
    focused = app.main.focused
    assert isinstance(focused, RowList)
    return focused


def line_of_cursor(app: Driver) -> str:
    return app.text.splitlines()[rows_in_focus(app).cursor_line]


def title_under_cursor(app: Driver) -> str:
    note = app.main.selection.target()
    return note.title if note is not None else ""


def is_seen(app: Driver) -> bool:
    return "▌" in line_of_cursor(app) and title_under_cursor(app)[:6] in line_of_cursor(app)


@pytest.mark.parametrize("size", SIZES)
async def test_after_the_last_fact_of_a_nugget_went_the_next_one_is_in_sight(
    many: Path, size: tuple[int, int]
) -> None:
    async with opened(many, size) as app:
        await app.press("1", "home")
        rows = rows_in_focus(app)
        while app.main.facts_pane.current_nugget != "n1":
            await app.press("down")
        await app.press("up")
        for _ in range(2):
            key = rows.cursor_row.key if rows.cursor_row else ""
            await app.press("x")
            await app.until(lambda key=key: rows.cursor_row and rows.cursor_row.key != key)  # type: ignore[misc]
            await app.pilot.pause()
            assert is_seen(app)
            assert title_under_cursor(app)[:8] in app.text.splitlines()[-1]


@pytest.mark.parametrize("size", SIZES[::2])
@pytest.mark.parametrize("hidden_behind", [("6",), ("6", "z")])
async def test_a_list_that_comes_back_shows_the_row_its_cursor_came_to_meanwhile(
    many: Path, size: tuple[int, int], hidden_behind: tuple[str, ...]
) -> None:
    async with opened(many, size) as app:
        await app.press("2", "end", *hidden_behind)
        ids = [note.id for note in app.main.session.memory.snapshot.visible]
        app.main.notes_pane.move_to(ids[len(ids) // 2])
        await app.press(*(["escape"] if len(hidden_behind) > 1 else []), "2")
        assert is_seen(app)


async def test_a_key_on_a_row_without_room_does_nothing(many: Path) -> None:
    async with opened(many, (80, 4)) as app:
        pane = app.main.notes_pane
        await app.press("2")
        assert not pane.scrollable_content_region.height
        before = [note.hidden for note in app.view.snapshot.notes]
        await app.press("x")
        await app.pilot.pause()
        assert [note.hidden for note in Memory.open(many).snapshot.notes] == before


async def test_an_accepted_suggestion_keeps_the_cursor_and_a_second_plus_links_nothing(home: Path) -> None:
    def near(draft: Draft) -> None:
        create_note(draft, "project", "Redis sessions", "Redis holds many sessions.")
        create_note(draft, "project", "Redis expiry", "Redis drops sessions after an hour.")

    agent_on(home).change("near", near)
    async with opened(home, (80, 24)) as app:
        await app.show("Session store")
        await app.until(lambda: len(app.view.suggested) > 1, "suggestions")
        await app.press("4", "home")
        while app.main.neighbours_pane.neighbour and not app.main.neighbours_pane.neighbour.suggestion:
            await app.press("down")
        accepted, title = app.main.selection.under_cursor, title_under_cursor(app)
        links = len(stored_links(home))
        await app.press("plus")
        await app.until(lambda: len(stored_links(home)) == links + 1)
        await app.until(lambda: accepted not in [one.note.id for one in app.view.suggested])
        await app.pilot.pause()
        assert app.main.selection.under_cursor == accepted
        assert app.main.query_one(KeyBar).object == title
        await app.press("plus")
        await app.pilot.pause()
        assert len(stored_links(home)) == links + 1


def stored_links(home: Path) -> list[str]:
    note = next(note for note in Memory.open(home).snapshot.notes if note.title == "Session store")
    return [link.to for link in note.links]
