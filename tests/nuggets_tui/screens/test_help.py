"""Tests of the help: where you are comes first, every dialog has its own, and a word is looked for by typing it."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, opened
from textual.content import Content

from nuggets_tui.commands import BY_NAME, key_map
from nuggets_tui.screens.dialog import dialog_here, key_content
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.screens.help import (
    DAILY,
    LATER,
    PLACES,
    HelpScreen,
    help_sections,
    section_lines,
)
from nuggets_tui.screens.picker import PickerScreen
from nuggets_tui.widgets.line_view import LineView

pytestmark = pytest.mark.slow


def lines_of(screen: HelpScreen) -> list[str]:
    return screen.query_one(LineView).text.splitlines()


async def test_the_help_begins_with_the_pane_in_use(home: Path) -> None:
    async with opened(home) as app:
        for key, begins in (("1", "Here: Facts"), ("5", "Here: Graph"), ("6", "Here: Audit log")):
            await app.press(key, "question_mark")
            screen = await app.screen(HelpScreen)
            assert lines_of(screen)[0] == begins
            assert "Moving" in lines_of(screen)
            await app.press("escape")
            await app.back_on_main()


async def test_a_dialog_answers_with_its_own_keys_in_a_field_by_f1(home: Path) -> None:
    async with opened(home, NARROW) as app:
        await app.show("Session store")
        await app.press("n")
        editor = await app.screen(EditorScreen)
        await app.press("question_mark")
        assert app.app.screen is editor
        await app.press("f1")
        screen = await app.screen(HelpScreen)
        said = lines_of(screen)
        assert said[0] == f"Here: {editor.heading}"
        assert any(line.split() == ["ctrl+s", "save"] for line in said)
        await app.press("f1")
        await app.until(lambda: app.app.screen is editor)
        await app.press("backspace", "escape")
        await app.back_on_main()
        await app.press("l")
        await app.screen(PickerScreen)
        await app.press("f1")
        screen = await app.screen(HelpScreen)
        assert any("choose" in line for line in lines_of(screen)[:6])


async def test_typing_after_a_slash_leaves_what_holds_the_words(home: Path) -> None:
    async with opened(home) as app:
        await app.press("question_mark")
        screen = await app.screen(HelpScreen)
        whole = len(lines_of(screen))
        await app.press("slash", *"undo log")
        await app.until(lambda: len(lines_of(screen)) < whole / 3)
        assert any("delete" in line for line in lines_of(screen))
        await app.press("enter", "slash", "end", *"zzz")
        await app.until(lambda: "The help does not mention" in app.text)
        await app.press("escape")
        await app.until(lambda: len(lines_of(screen)) == whole)
        await app.press("escape")
        await app.back_on_main()


async def test_the_help_lists_as_usable_what_is_bound_now_and_apart_what_needs_something_first(
    home: Path,
) -> None:
    async with opened(home) as app:
        await app.press("6", "end", "question_mark")
        screen = await app.screen(HelpScreen)
        parts = {section.heading: dict(section.entries) for section in screen._sections}
        usable, later = parts[DAILY], parts[LATER]
        assert not any(
            BY_NAME[name].title in usable.values() for name in ("hide", "edit", "conflicts", "team")
        )
        assert {"x", "e", "c", "N"} <= set(later)
        assert "c" not in parts["Here: Audit log"]
        await app.press("escape", "2", "question_mark")
        screen = await app.screen(HelpScreen)
        parts = {section.heading: dict(section.entries) for section in screen._sections}
        assert {"x", "e"} <= set(parts[DAILY])


async def test_the_footer_names_keys_that_are_bound_and_do_what_it_says(home: Path) -> None:
    async with opened(home, (250, 40)) as app:
        await app.show("Session store")
        for pane in "123456":
            await app.press(pane)
            for command in app.main.key_bar.commands:
                # A list opens and selects by itself.
                if command.name in BY_NAME and command.name not in ("open", "select"):
                    binding = app.main.active_bindings[command.keys.split(",")[0]].binding
                    assert binding.action == f"command('{command.name}')", command.name
        bar = app.text.splitlines()[-1]
        assert "ctrl+r redo" in bar
        assert "v hidden" not in bar
        assert "U redo" not in bar


def test_the_help_of_every_place_fits_into_any_width() -> None:
    for place in [None, *PLACES]:
        for width in [12, 30, 60, 120]:
            from core.settings import AppSettings, Settings

            keys = key_map(
                Settings(keys=(("hide", ""), ("undo", "ctrl+alt+shift+f12")), app=AppSettings(vim=True))
            )
            here = PLACES[place] if place else None
            lines = section_lines(help_sections(keys, here), width)
            assert not any(
                "{" in line.plain and "}" in line.plain for line in lines if "  { " not in line.plain
            )
            assert max(line.cell_length for line in lines) <= width


def test_the_keys_of_a_dialog_are_read_off_its_line() -> None:
    here = dialog_here("A dialog", "about", key_content("ctrl+s  save it · ↑↓  choose, scroll · esc  close"))
    assert here.keys == (("ctrl+s", "save it"), ("↑↓", "choose, scroll"), ("esc", "close"))
    assert dialog_here("A dialog", "", Content("")).keys == ()
