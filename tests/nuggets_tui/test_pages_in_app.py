"""The app on a folder of Claude Code's pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import WIDE, opened, small_memory
from kits.claude_pages import tree, write_folder
from textual.widgets import TextArea

from nuggets_tui.screens.dialog import ChoiceScreen
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.screens.memories import PagesScreen

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


async def test_pages_are_shown_edited_and_undone_and_the_header_says_what_they_are(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    before = tree(folder)
    async with opened(folder, WIDE) as app:
        await app.until(lambda: "deploy-needs-vpn" in app.text)
        assert "Claude Code: home-me-app" in app.text
        await app.show("prefers-pnpm")
        await app.until(lambda: "Use pnpm." in app.text)
        await app.press("e")
        screen = await app.screen(EditorScreen)
        area = screen.query_one(TextArea)
        area.text = area.text.replace("Use pnpm.", "Use pnpm 9.")
        await app.press("ctrl+s")
        await app.back_on_main()
        page = folder / "feedback_pnpm.md"
        await app.until(lambda: "Use pnpm 9." in page.read_text())
        await app.press("u")
        await app.until(lambda: tree(folder) == before)


async def test_what_claude_writes_meanwhile_appears(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    async with opened(folder, WIDE) as app:
        await app.until(lambda: "deploy-needs-vpn" in app.text)
        (folder / "just-learnt.md").write_text("---\nname: just-learnt\n---\n\nA new page.\n")
        await app.until(lambda: "just-learnt" in app.text)


async def test_a_folder_of_pages_is_opened_from_the_list_of_memories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = tmp_path / "person"
    folder = write_folder(person)
    (person / "claude").rename(person / ".claude")
    folder = person / ".claude" / folder.relative_to(person / "claude")
    monkeypatch.setenv("HOME", str(person))
    small_memory(tmp_path / "own")
    async with opened(tmp_path / "own", WIDE) as app:
        await app.press("C")
        await app.screen(ChoiceScreen)
        await app.until(lambda: "-home-me-app" in app.text)
        await app.press("enter")
        await app.screen(PagesScreen)
        await app.press("o")
        await app.back_on_main()
        await app.until(lambda: app.view.loaded and app.view.home == str(folder))
        await app.until(lambda: "Claude Code: home-me-app" in app.text)
