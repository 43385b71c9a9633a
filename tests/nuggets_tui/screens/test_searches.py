"""Saving a search, listing, running, changing and deleting it."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, Driver, agent_on, opened

from core.model.saved_search import SavedSearch
from nuggets_tui.screens.forms import SaveSearchScreen, SearchesScreen

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


async def search(app: Driver, text: str) -> None:
    """Types a search, waits for what it finds, and goes to the results."""
    await app.press("slash")
    app.fill("#search", text)
    await app.until(lambda: app.view.found is not None and app.view.found.query == text, text)
    await app.press("down")


async def test_a_search_is_saved_run_deleted_and_taken_back(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "jwt tokens")
        await app.press("K")
        await app.screen(SaveSearchScreen)
        app.fill("#name", "tokens")
        await app.press("ctrl+s")
        await app.back_on_main()
        memory = app.main.session.memory
        assert memory.searches.all == (SavedSearch("tokens", "jwt tokens"),)
        await app.press("escape", "Q")
        await app.screen(SearchesScreen)
        await app.until(lambda: "jwt tokens" in app.text)
        await app.press("enter")
        await app.back_on_main()
        await app.until(lambda: app.view.found is not None and app.view.found.query == "jwt tokens")
        await app.press("Q")
        await app.screen(SearchesScreen)
        await app.until(lambda: "jwt tokens" in app.text)
        await app.press("x")
        await app.until(lambda: memory.searches.all == ())
        await app.press("u")
        await app.until(lambda: len(memory.searches.all) == 1)
        await app.press("u")
        await app.until(lambda: "There is nothing to undo here" in app.notices)
        assert len(memory.searches.all) == 1


async def test_a_saved_search_is_changed(home: Path) -> None:
    agent_on(home).searches.save(SavedSearch("mine", "jwt tokens"))
    async with opened(home, NARROW) as app:
        await app.press("Q")
        await app.screen(SearchesScreen)
        await app.until(lambda: "mine" in app.text)
        await app.press("e")
        await app.screen(SaveSearchScreen)
        app.fill("#name", "renamed")
        await app.press("enter")
        await app.until(
            lambda: app.main.session.memory.searches.all == (SavedSearch("renamed", "jwt tokens"),)
        )
        await app.screen(SearchesScreen)


async def test_without_a_search_the_key_says_what_comes_first(home: Path) -> None:
    async with opened(home, NARROW) as app:
        await app.press("K")
        await app.until(lambda: "Search first" in app.notices)
