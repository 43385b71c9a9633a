"""Why a note is among the results, or why it is not: asked with a key, answered in words and bars that add up."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import Driver, opened

from core.graph.edits import delete_note
from nuggets_tui.screens.picker import PickerScreen
from nuggets_tui.screens.why import WhyScreen
from nuggets_tui.widgets.line_view import LineView

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


async def search(app: Driver, text: str) -> None:
    """Types a search, waits for what it finds, and goes to the results."""
    await app.press("slash")
    app.fill("#search", text)
    await app.until(lambda: app.view.found is not None and app.view.found.query == text, text)
    await app.pilot.pause()
    await app.press("down")


async def answer(app: Driver) -> str:
    """The explanation, once it is there."""
    screen = await app.screen(WhyScreen)
    lines = screen.query_one(LineView)
    await app.until(lambda: "searched for" in lines.text, "the explanation")
    return lines.text


async def test_the_arrow_keys_go_on_to_the_next_hit_and_back(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "jwt tokens")
        await app.press("w")
        await answer(app)
        screen = await app.screen(WhyScreen)
        lines = screen.query_one(LineView)
        first = lines.text
        await app.press("right")
        await app.until(lambda: "Hit 2 of 2." in lines.text)
        await app.press("right")
        assert "Hit 2 of 2." in lines.text
        await app.press("left")
        await app.until(lambda: lines.text == first)


async def test_the_question_can_be_put_from_the_palette_while_typing(home: Path) -> None:
    async with opened(home) as app:
        await app.press("slash")
        app.fill("#search", "redis")
        await app.until(lambda: app.view.found is not None)
        await app.press("ctrl+p", *"missing from the results")
        await app.until(lambda: "Why a note is missing from the results" in app.text)
        await app.pilot.pause(0.3)
        await app.press("enter")
        await app.screen(PickerScreen)


async def test_a_note_that_went_meanwhile_is_said_to_be_gone(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "redis")
        note = app.view.note
        assert note is not None
        await app.press("w")
        await answer(app)
        screen = await app.screen(WhyScreen)
        await app.main.session.change("gone", lambda draft: delete_note(draft, note.id))
        screen.ask()
        await app.until(lambda: "no longer in the memory" in screen.query_one(LineView).text)
