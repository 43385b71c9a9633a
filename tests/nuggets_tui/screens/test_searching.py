"""Searching as one types: hits, the answer of a recall, filters, and the way in and out of the field."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from app_kit import NARROW, WIDE, Driver, opened, small_memory

from core.graph.edits import create_note
from core.memory import Memory
from core.model.draft import Draft
from nuggets_tui.query import parse_query
from nuggets_tui.widgets.notes import NotesPane


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A small memory."""
    small_memory(tmp_path / "memory")
    return tmp_path / "memory"


async def search(app: Driver, text: str) -> None:
    """Types a search and waits for what it finds."""
    await app.press("slash")
    app.fill("#search", text)
    await app.until(lambda: app.view.found is not None and app.view.found.query == text, text)
    await app.pilot.pause()


async def test_hits_come_as_one_types_with_bars_and_a_count(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "jwt tokens")
        assert "Results" in app.text
        assert "hits" in app.text
        assert "esc clears" in app.text
        assert "words" in app.text
        assert "vector" in app.text
        assert app.view.note is not None
        assert "JWT" in app.view.note.title + app.view.note.content


async def test_the_first_row_is_what_an_agent_would_be_answered_and_nothing_is_counted(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "test command")
        await app.until(lambda: app.view.found is not None and app.view.found.recall is not None)
        assert "recall" in app.text
        assert "sure" in app.text
        assert app.main.query_one(NotesPane).row(0).key == "recall"
    assert all(note.hits == 0 for note in Memory.open(home).snapshot.notes)


async def test_down_goes_to_the_first_hit_and_escape_leaves_and_clears(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "jwt")
        await app.press("down")
        assert app.main.focused is app.main.query_one(NotesPane)
        await app.press("slash", "escape")
        assert app.main.focused is app.main.query_one(NotesPane)
        assert app.view.found is not None
        await app.press("escape")
        assert app.view.found is None
        assert "Auth middleware" in app.text


async def test_searching_brings_the_hits_into_sight_where_one_pane_fills_the_screen(home: Path) -> None:
    async with opened(home) as app:
        await app.press("g")
        await search(app, "jwt tokens")
        assert app.main.query_one(NotesPane).display
        await app.press("escape", "escape", "escape")
        assert app.view.found is None
        assert app.main.query_one("#facts").display


async def test_enter_goes_to_the_first_hit_too(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "redis")
        await app.press("enter")
        assert app.main.focused is app.main.query_one(NotesPane)
        assert app.view.note is not None
        assert app.view.note.title == "Session store"


@pytest.mark.parametrize("title", ["needle 3", "needle 60", "needle 119"])
async def test_the_cursor_is_in_sight_after_the_search_is_cleared(tmp_path: Path, title: str) -> None:
    def fill(draft: Draft) -> None:
        for number in range(120):
            create_note(draft, "project", f"needle {number}", f"text {number}")

    Memory.open(tmp_path / "many").change("filled", fill)
    async with opened(tmp_path / "many") as app:
        notes = app.main.query_one(NotesPane)
        for typed in (title, "needle"):
            await search(app, typed)
            await app.press("down", *["down"] * (30 if typed == "needle" else 0), "escape")
            await app.until(lambda: app.view.found is None)
            await app.pilot.pause()
            await app.pilot.pause()
            assert notes.cursor_row is not None
            assert notes.cursor_row.key == app.view.note_id
            top = notes.scroll_offset.y
            assert top <= notes.cursor < top + notes.scrollable_content_region.height


@pytest.mark.parametrize("size", [NARROW, WIDE, (170, 50)])
async def test_the_cursor_is_in_sight_when_the_search_was_cleared_from_another_pane(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    def fill(draft: Draft) -> None:
        for number in range(120):
            create_note(draft, "project", f"needle {number}", f"text {number}")

    Memory.open(tmp_path / "many").change("filled", fill)
    async with opened(tmp_path / "many", size) as app:
        notes = app.main.query_one(NotesPane)
        await search(app, "needle 3")
        await app.press("enter", "enter")
        assert app.main.focused is app.main.query_one("#note")
        await app.press("escape")
        await app.until(lambda: app.view.found is None)
        await app.press("2")
        await app.pilot.pause()
        top = notes.scroll_offset.y
        assert notes.cursor_row is not None
        assert notes.cursor_row.key == app.view.note_id
        assert top <= notes.cursor < top + notes.scrollable_content_region.height


async def test_filters_narrow_and_stand_alone(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "tag:redis")
        assert [hit.note.title for hit in app.view.found.hits] == ["Session store"]  # type: ignore[union-attr]
        await search(app, "is:hidden scratch")
        assert [hit.note.title for hit in app.view.found.hits] == ["Old scratch"]  # type: ignore[union-attr]
        await search(app, "is:hidden")
        assert [hit.note.title for hit in app.view.found.hits] == ["Old scratch"]  # type: ignore[union-attr]
        await search(app, "is:fact command")
        assert {hit.note.title for hit in app.view.found.hits} == {"test command", "deploy command"}  # type: ignore[union-attr]
        await search(app, "is:pinned")
        assert app.view.found.hits == ()  # type: ignore[union-attr]
        await search(app, "nugget:none jwt")
        assert app.view.found.hits == ()  # type: ignore[union-attr]
        assert "Nothing found" in app.text


async def test_results_follow_the_files(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "redis")
        await app.press("down")
        await app.press("x")
        await app.until(lambda: app.view.found is not None and not app.view.found.hits, "the hit is gone")


async def test_stale_searches_are_dropped(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    gate = threading.Event()
    real = Memory.search

    def slow(self: Memory, text: str, *rest: Any, **named: Any) -> Any:
        begun.append(text)
        gate.wait(10)
        return real(self, text, *rest, **named)

    async with opened(home) as app:
        await app.until(lambda: type(app.main.query_one("#graph")).__name__ == "GraphPane")
        monkeypatch.setattr(Memory, "search", slow)
        await app.press("slash")
        for text in ("j", "jw", "jwt"):
            app.fill("#search", text)
            await app.pilot.pause()
        gate.set()
        await app.until(lambda: app.view.found is not None and app.view.found.query == "jwt")
        assert "jw" not in begun
        assert begun[-1] == "jwt"


def test_a_query_is_words_and_filters() -> None:
    query = parse_query("auth  scope:project tag:a-b http://x is:hidden re:mark scope:")
    assert query.text == "auth http://x re:mark"
    assert query.filters == {"scope": "project", "tag": "a-b"}
    assert query.hidden
    assert parse_query("is:open is:pinned is:fact").kinds == {"pinned", "fact"}
    assert parse_query("is:open is:pinned").text == "is:open"
    assert parse_query("   ").empty
    assert parse_query("scope:").empty
