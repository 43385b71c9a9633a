"""Why a note is among the results, or why it is not: asked with a key, answered in words and bars that add up."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, WIDE, Driver, opened

from core.graph.edits import delete_note
from nuggets_tui.screens.picker import PickerScreen
from nuggets_tui.screens.why import WhyScreen
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_list import RowList

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

SIZES = [NARROW, WIDE, (160, 50)]


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


async def choose(app: Driver, title: str) -> str:
    """Asks with W why a note is not among the results."""
    await app.press("W")
    screen = await app.screen(PickerScreen)
    app.fill("#words", title)
    choices = screen.query_one(RowList)
    chosen = next(note.id for note in app.view.snapshot.notes if note.title == title)
    await app.until(lambda: choices.cursor_row is not None and choices.cursor_row.key == chosen, title)
    await app.press("enter")
    return await answer(app)


@pytest.mark.parametrize("size", SIZES)
async def test_the_score_of_a_hit_is_taken_apart(home: Path, size: tuple[int, int]) -> None:
    async with opened(home, size) as app:
        await search(app, "jwt tokn")
        assert "w why" in app.text
        await app.press("w")
        said = await answer(app)
        assert "Hit 1 of 2." in said
        assert '"tokn" read as "tokens"' in said or '"tokn" read as "token"' in said
        for part in ("words", "vector", "boost", "score"):
            assert f"\n{part} " in said
        assert "█" in app.text
        assert all(len(line) <= size[0] for line in said.splitlines())
        await app.press("escape")
        await app.back_on_main()


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


async def test_a_note_that_is_not_among_the_results_says_why(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "jwt tag:auth")
        for title, why in (
            ("Session store", "It does not meet: tag auth."),
            ("Old scratch", "It is hidden"),
            ("JWT token format", "Hit "),
        ):
            assert why in await choose(app, title), title
            await app.press("escape")
            await app.back_on_main()


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
