"""A search that finds nothing leaves no other note beside it, and says what is nearest."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import Driver, opened

from nuggets_tui.widgets.note_view import NeighboursPane
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.search_box import SearchBox

pytestmark = pytest.mark.slow


async def search(app: Driver, text: str) -> None:
    app.main.query_one(SearchBox).focus()
    app.main.query_one(SearchBox).value = text
    await app.until(lambda: app.view.found is not None and app.view.found.query == text)
    await app.pilot.pause()


async def test_nothing_found_leaves_no_note_and_the_end_of_the_search_brings_it_back(home: Path) -> None:
    async with opened(home) as app:
        await app.show("JWT token format")
        shown = app.view.note_id
        await search(app, "zzzqqq")
        await app.until(lambda: not app.view.note_id)
        assert "No note matches the search" in app.text
        assert "RS256" not in app.text
        assert app.main.query_one(NeighboursPane).count == 0
        assert not app.main.can("hide")
        await search(app, "redis")
        await app.until(lambda: app.view.note is not None and app.view.note.title == "Session store")
        await search(app, "zzzqqq")
        await app.until(lambda: not app.view.note_id)
        await app.press("escape", "escape")
        await app.until(lambda: app.view.found is None and app.view.note is not None)
        row = app.main.query_one(NotesPane).cursor_row
        assert row is not None
        assert row.key == app.view.note_id
        assert shown in app.view.snapshot.by_id
