"""Reflection and promotion: everything is shown before it happens, and happens only as far as it is accepted."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from kits.app_kit import opened, small_memory
from textual.widgets import Input

from core.graph.edits import create_note
from core.memory import Memory
from core.model.note import replace
from nuggets_tui.screens.dialog import AskScreen
from nuggets_tui.screens.review import ReviewScreen

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memory with two near-duplicates and notes worth linking."""
    memory = small_memory(tmp_path / "memory")
    text = "The test database listens on port 5433, user postgres, in the compose file."
    for title in ("Test database", "Test data base"):
        memory.change("twice", partial(create_note, nugget="project", title=title, content=text))
    return tmp_path / "memory"


async def test_promotion_names_the_file_and_shows_the_difference_first(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "claude"
    target.mkdir()
    memory_file = target / "MEMORY.md"
    memory_file.write_text("# Mine\n\nA line of my own.\n")
    (home / "settings.toml").write_text(f'[promotion]\nmemory_dir = "{target}"\n')
    memory = Memory.open(home)
    note = next(note for note in memory.snapshot.notes if note.title == "Session store")
    memory.change("recalled", lambda draft: draft.put(replace(note, hits=5)))
    async with opened(home) as app:
        await app.press("p")
        await app.screen(ReviewScreen)
        assert "MEMORY.md" in app.text
        assert "Redis holds sessions" in app.text
        assert memory_file.read_text() == "# Mine\n\nA line of my own.\n"
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "Wrote 1 new line" in app.notices)
        written = memory_file.read_text()
        assert "A line of my own." in written
        assert "Redis holds sessions" in written
        await app.press("u")
        await app.until(lambda: "Undid" in app.notices)
        assert memory_file.read_text() == "# Mine\n\nA line of my own.\n"


async def test_promotion_without_a_target_asks_for_the_folder_and_goes_on(home: Path, tmp_path: Path) -> None:
    memory = Memory.open(home)
    note = next(note for note in memory.snapshot.notes if note.title == "Session store")
    memory.change("recalled", lambda draft: draft.put(replace(note, hits=5)))
    memory_file = tmp_path / "notes" / "MEMORY.md"
    async with opened(home) as app:
        await app.press("p")
        await app.screen(AskScreen)
        app.fill("#line", str(memory_file.parent))
        await app.press("enter")
        await app.screen(ReviewScreen)
        assert "Redis holds sessions" in app.text
        assert not memory_file.exists()
        await app.press("escape")
        await app.back_on_main()
        await app.press("p")
        asked = await app.screen(AskScreen)
        assert asked.query_one("#line", Input).value == str(memory_file.parent)
        await app.press("enter")
        await app.screen(ReviewScreen)
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "Wrote 1 new line" in app.notices)
        assert "Redis holds sessions" in memory_file.read_text()
        await app.press("u")
        await app.until(lambda: "Undid" in app.notices)
        assert not memory_file.exists()
