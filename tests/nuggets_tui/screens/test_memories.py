"""Tests of the first minutes: what an empty or missing memory says, and the memories of other programs, read-only."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from kits.app_kit import NARROW, WIDE, agent_on, assert_harmless, opened, small_memory
from textual import events
from textual.widgets import Input

from core.facts.edits import remember
from core.memory import Memory
from nuggets_tui.screens.dialog import ChoiceScreen
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.screens.memories import PagesScreen

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's folder with pages of Claude Code in it and a memory as agents keep it."""
    home = tmp_path / "person"
    pages = home / ".claude" / "projects" / "-work-web" / "memory"
    pages.mkdir(parents=True)
    (pages / "MEMORY.md").write_text("# What I know\n\n- Tests run with `pytest -q`\n")
    (pages / "debugging.md").write_text("\x1b]0;owned\x07 [/red] **bold** \u202e\n")
    small_memory(home / ".nuggets")
    monkeypatch.setenv("HOME", str(home))
    return home


def files(folder: Path) -> dict[Path, tuple[int, bytes]]:
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()
    }


async def test_the_pages_of_claude_code_are_read_and_never_written(person: Path, home: Path) -> None:
    before = files(person / ".claude")
    async with opened(home) as app:
        await app.press("C")
        await app.screen(ChoiceScreen)
        await app.until(lambda: "-work-web" in app.text)
        assert "2 pages" in app.text
        await app.press("enter")
        await app.screen(PagesScreen)
        await app.until(lambda: "Tests run with pytest -q" in app.text)
        assert "read-only" in app.text
        await app.press("down")
        await app.until(lambda: "bold" in app.text)
        assert_harmless(app)
        await app.press("n", "e", "x", "X", "ctrl+s", "f1")
        await app.press("escape", "escape")
        await app.screen(ChoiceScreen)
        await app.press("escape")
        await app.back_on_main()
    assert files(person / ".claude") == before


async def test_another_memory_is_opened_in_place_of_the_present_one(person: Path, tmp_path: Path) -> None:
    present = tmp_path / "present"
    small_memory(present)
    agent_on(present).change("more", lambda draft: remember(draft, "here", "colour", "blue"))
    async with opened(present, NARROW) as app:
        await app.press("C")
        await app.screen(ChoiceScreen)
        await app.until(lambda: "open now" in app.text)
        await app.press("down", "enter")
        await app.back_on_main()
        await app.until(lambda: app.view.loaded and app.view.home == str(person / ".nuggets"))
        assert "Opened" in app.notices


async def test_keys_typed_while_another_memory_opens_wait_for_it(
    person: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = tmp_path / "present"
    small_memory(present)
    there = threading.Event()
    at_once = Memory.open

    def slowly(*given: Any, **named: Any) -> Memory:
        there.wait()
        return at_once(*given, **named)

    async with opened(present, NARROW) as app:
        await app.press("C")
        await app.screen(ChoiceScreen)
        await app.until(lambda: "person/.nuggets" in app.text)
        monkeypatch.setattr(Memory, "open", slowly)
        for key in ("down", "enter", "n", "h", "i"):
            app.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await app.until(
            lambda: app.view.home == str(person / ".nuggets") and len(app.app.key_queue.waiting) == 3
        )
        assert not app.view.loaded
        there.set()
        screen = await app.screen(EditorScreen)
        await app.until(lambda: screen.query(Input).first().value == "hi", "the typed letters")
        await app.press("escape", "y")


async def test_a_mistyped_folder_is_no_new_memory_but_a_question(person: Path) -> None:
    slip = person / ".nugets"
    async with opened(slip) as app:
        assert "There is no such folder." in app.text
        await app.until(lambda: "Memories nearby" in app.text)
        assert "~/.nuggets" in app.text
        assert "Welcome" not in app.text
        await app.press("C", "down", "enter")
        await app.until(lambda: app.view.home == str(person / ".nuggets") and app.view.loaded)
        assert "Auth middleware" in app.text
    assert not slip.exists()


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_an_empty_memory_begins_with_what_is_here_then_the_demo_then_starting_empty(
    person: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    async with opened(empty, size) as app:
        await app.until(lambda: "1 project with 2 pages" in app.text)
        said = [
            "Found on this machine",
            "1 project with 2 pages",
            "~/.nuggets",
            "sample memory",
            "Start empty",
        ]
        places = [app.text.index(words) for words in said]
        assert places == sorted(places)
        assert "first note" in app.text
    assert list(empty.iterdir()) == []
