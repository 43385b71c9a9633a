"""Parts of documents stand among the results of a search, and enter opens the whole document."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import Driver, assert_harmless, opened
from kits.hostile import HOSTILE

from core.pipeline.service import Pipeline
from nuggets_tui.screens.dialog import LinesScreen

pytestmark = pytest.mark.slow
REST = "Nothing is tried a sixth time."


def with_document(home: Path, title: str) -> None:
    text = f"The quetzal client retries five times.\n\n{REST}"
    with Pipeline.open(home) as pipeline:
        pipeline.documents.add("text", "", text.encode(), title=title)
        while pipeline.tick().did_something:
            pass


async def search(app: Driver, text: str) -> None:
    await app.press("slash")
    app.fill("#search", text)
    await app.until(lambda: app.view.found is not None and app.view.found.query == text, text)


@pytest.mark.parametrize("title", ["Retry policy", "".join(HOSTILE).replace("\0", "")])
async def test_enter_opens_the_document_of_a_result(home: Path, title: str) -> None:
    with_document(home, title)
    async with opened(home) as app:
        await search(app, "quetzal client is:document")
        await app.until(lambda: "document  " in app.text, "the part is listed")
        assert "0 hits, 1 part of documents ·" in app.text
        await app.press("down")
        await app.press("enter")
        await app.screen(LinesScreen)
        await app.until(lambda: REST in app.text and "The whole document" in app.text, "the whole text")
        assert "part 1" in app.text
        assert_harmless(app)
        await app.press("escape")


async def test_a_part_of_a_document_leaves_the_notes_where_they_are(home: Path) -> None:
    with_document(home, "Retry policy")
    async with opened(home) as app:
        await search(app, "quetzal jwt tokens")
        found = app.view.found
        assert found is not None
        assert found.passages
        listed = [hit.note.id for hit in found.hits]
        (home / "settings.toml").write_text("[search]\npassages = 0\n")
        await search(app, "quetzal jwt tokens ")
        assert [hit.note.id for hit in app.view.found.hits] == listed  # type: ignore[union-attr]
