"""Keeping searches, golden ones, and turning the weights while hits and golden searches follow."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, WIDE, Driver, agent_on, assert_harmless, opened
from kits.hostile import HOSTILE

from core.graph.edits import create_note, delete_note
from core.memory import Memory
from core.model.saved_search import SavedSearch
from nuggets_tui.screens.confirm import ConfirmScreen
from nuggets_tui.screens.searches import SaveSearchScreen, SearchesScreen
from nuggets_tui.screens.tuning import TuningScreen
from nuggets_tui.widgets.row_list import RowList

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("former_keys")]


async def search(app: Driver, text: str) -> None:
    """Types a search, waits for what it finds, and goes to the results."""
    await app.press("slash")
    app.fill("#search", text)
    await app.until(lambda: app.view.found is not None and app.view.found.query == text, text)
    await app.press("down")


def golden_on(home: Path, query: str, within: int = 1, name: str = "the golden one") -> Memory:
    """A memory whose best hit for a query is to stay among the first."""
    memory = agent_on(home)
    note = memory.search(query, 1)[0].note
    memory.save_search(SavedSearch(name, query, note.id, note.title, within))
    return memory


async def test_a_search_is_kept_as_a_golden_one_listed_run_and_let_go(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "jwt tokens")
        shown = app.view.note
        assert shown is not None
        await app.press("K")
        await app.screen(SaveSearchScreen)
        app.fill("#name", "tokens")
        app.fill("#within", "many")
        await app.press("ctrl+s")
        await app.until(lambda: "must be a number" in app.text)
        app.fill("#within", "2")
        await app.press("ctrl+s")
        await app.back_on_main()
        memory = app.main.session.memory
        assert memory.searches == (SavedSearch("tokens", "jwt tokens", shown.id, shown.title, 2),)
        assert 'Saved the search "tokens"' in app.notices
        await app.press("escape", "Q")
        await app.screen(SearchesScreen)
        await app.until(lambda: "found at #1" in app.text)
        assert "✓" in app.text
        await app.press("enter")
        await app.back_on_main()
        await app.until(lambda: app.view.found is not None and app.view.found.query == "jwt tokens")
        await app.press("Q")
        await app.screen(SearchesScreen)
        await app.until(lambda: "found at #1" in app.text)
        await app.press("x")
        await app.until(lambda: memory.searches == ())
        await app.press("u")
        await app.until(lambda: len(memory.searches) == 1)
        await app.press("u")
        await app.until(lambda: "There is nothing to undo here" in app.notices)
        assert len(memory.searches) == 1


async def test_a_kept_search_is_changed(home: Path) -> None:
    golden_on(home, "jwt tokens")
    async with opened(home, NARROW) as app:
        await app.press("Q")
        await app.screen(SearchesScreen)
        await app.until(lambda: "the golden one" in app.text)
        await app.press("e")
        await app.screen(SaveSearchScreen)
        app.fill("#name", "renamed")
        app.fill("#within", "")
        await app.press("enter")
        await app.until(lambda: app.main.session.memory.searches == (SavedSearch("renamed", "jwt tokens"),))
        await app.screen(SearchesScreen)


async def test_a_golden_search_that_is_lost_is_said_in_the_header_and_found_again(home: Path) -> None:
    memory = golden_on(home, "jwt tokens")
    async with opened(home) as app:
        note_id = memory.searches[0].must_find
        memory.change("gone", lambda draft: delete_note(draft, note_id))
        await app.until(lambda: app.view.lost_searches == ("the golden one",), "lost")
        assert "✗ 1 search check failed: Q" in app.text
        await app.until(lambda: "no longer finds its note" in app.notices, "the notice")
        memory.undo()
        await app.until(lambda: app.view.lost_searches == (), "found again")
        assert "search check failed" not in app.text


@pytest.mark.parametrize("size", [NARROW, WIDE, (160, 50)])
async def test_hits_and_golden_searches_follow_the_weights_and_nothing_is_kept_before_it_is_saved(
    home: Path, size: tuple[int, int]
) -> None:
    golden_on(home, "jwt tokens zebra")
    settings = home / "settings.toml"
    settings.write_text("# mine\n[search]\nrelevance_floor = 0.1 # low\n", encoding="utf-8")
    async with opened(home, size) as app:
        await search(app, "jwt tokens")
        await app.press("percent_sign")
        screen = await app.screen(TuningScreen)
        await app.until(lambda: screen.found is not None and screen.verdicts and screen.stood)
        assert "✓ all found" in app.text
        weights = screen.query_one("#weights", RowList)
        assert weights.move_to("relevance_floor")
        before = screen.found
        await app.press(*["right"] * 18)
        assert screen.tried.relevance_floor == 1.0
        await app.until(lambda: screen.found is not before and screen.verdicts[0].lost)
        await app.until(lambda: "✗ 1 failed" in app.text and "#1 → –" in app.text)
        assert "not saved" in app.text
        assert app.main.session.memory.settings.search.relevance_floor == 0.1
        await app.press("escape")
        await app.screen(ConfirmScreen)
        await app.press("n")
        await app.screen(TuningScreen)
        await app.press("d", "shift+right")
        assert screen.tried.relevance_floor == 0.16
        await app.press("ctrl+s")
        await app.back_on_main()
        assert settings.read_text(encoding="utf-8") == "# mine\n[search]\nrelevance_floor = 0.16 # low\n"
        assert "Saved the weights" in app.notices
        await app.press("u")
        await app.until(lambda: app.main.session.memory.settings.search.relevance_floor == 0.1)


async def test_hits_bear_how_they_moved(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "jwt tokens auth")
        await app.press("percent_sign")
        screen = await app.screen(TuningScreen)
        await app.until(lambda: screen.found is not None)
        first = screen.found
        assert first is not None
        await app.press(*["left"] * 12, "down", *["left"] * 12)
        assert (screen.tried.text_weight, screen.tried.vector_weight) == (0.0, 0.0)
        await app.until(lambda: screen.found is not first and screen.tried.vector_weight == 0)
        await app.press("D")
        await app.until(lambda: "unchanged" in app.text)
        await app.press("escape")
        await app.back_on_main()


async def test_without_a_search_each_key_says_what_comes_first(home: Path) -> None:
    async with opened(home, NARROW) as app:
        await app.press("K")
        await app.until(lambda: "Search first" in app.notices)
        await app.press("percent_sign")
        await app.screen(TuningScreen)
        assert "Search for something first" in app.text
        await app.press("right", "left", "escape")
        await app.back_on_main()


async def test_hostile_names_queries_and_titles_are_shown_harmlessly(home: Path) -> None:
    memory = agent_on(home)
    for number, text in enumerate(HOSTILE):
        title, said = text.strip() or "x", f"zebra {text}"
        note = memory.change("made", lambda draft, t=title, s=said: create_note(draft, "", t, s))[0]
        name = "".join(char for char in text if char.isprintable() and not "\ud800" <= char <= "\udfff")
        memory.save_search(SavedSearch(f"{number} {name[:80]}", f"zebra {name[:80]}", note.id, title, 1))
    async with opened(home, NARROW) as app:
        await app.press("Q")
        screen = await app.screen(SearchesScreen)
        await app.until(lambda: len(screen.known) == len(HOSTILE))
        for _ in HOSTILE:
            assert_harmless(app)
            await app.press("down")
        await app.press("home", "e")
        await app.screen(SaveSearchScreen)
        assert_harmless(app)
        await app.press("escape")
        await app.press("escape")
        await app.back_on_main()
        await search(app, "zebra")
        await app.press("percent_sign")
        tuning = await app.screen(TuningScreen)
        await app.until(lambda: tuning.found is not None and len(tuning.verdicts) == len(HOSTILE))
        assert_harmless(app)
