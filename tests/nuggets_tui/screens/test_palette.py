"""The palette: groups, keys at the right, descriptions, notes by title, and settings that are changed there."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import Driver, opened

from core.memory import Memory
from core.model.saved_search import SavedSearch
from core.settings.tree import settings_by_name
from core.user_settings import load_user_settings, user_settings_file
from nuggets_tui.palette import Palette
from nuggets_tui.screens.dialog import AskScreen, ChoiceScreen
from nuggets_tui.setting_words import SETTING_WORDS, USER
from nuggets_tui.widgets.row_list import RowList

pytestmark = pytest.mark.slow


async def palette(app: Driver, typed: str = "") -> Palette:
    await app.press("ctrl+p")
    screen = await app.screen(Palette)
    await app.press(*typed)
    await app.until(lambda: not screen._looking)
    await app.pilot.pause()
    return screen


def rows(screen: Palette) -> list[str]:
    """Headings by their names, other rows by their keys."""
    listed = screen.query_one(RowList)
    return [listed.row(place).key for place in range(listed.count)]


async def test_a_command_is_found_by_what_it_does_and_a_group_by_its_name(home: Path) -> None:
    async with opened(home) as app:
        screen = await palette(app, "passwords")
        assert rows(screen) == ["group Memory", "command secrets"]
        await app.press("escape")
        screen = await palette(app, "settings")
        assert "setting promotion.threshold" in rows(screen)
        assert "recalls until a note is promoted" in app.text or len(rows(screen)) > 40


async def test_a_title_that_is_typed_opens_its_note_and_backspace_comes_back(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Deploy day")
        before = app.view.note_id
        screen = await palette(app, "session store")
        assert rows(screen)[0] == "group Notes"
        await app.press("enter")
        await app.back_on_main()
        await app.until(lambda: app.view.note is not None and app.view.note.title == "Session store")
        assert app.app.focused is not None
        assert app.app.focused.id == "note"
        await app.press("backspace")
        assert app.view.note_id == before


async def test_enter_right_behind_the_title_opens_the_note_and_no_command(home: Path) -> None:
    async with opened(home) as app:
        await app.press("ctrl+p")
        await app.screen(Palette)
        await app.pilot.press(*"session store", "enter")
        await app.back_on_main()
        await app.until(lambda: app.view.note is not None and app.view.note.title == "Session store")


def test_every_setting_has_words() -> None:
    names = {name for name in settings_by_name() if not name.startswith("pipeline.")}
    assert {name for name in SETTING_WORDS if not name.startswith(USER)} == names


async def test_a_setting_is_changed_in_its_dialog_and_taken_back_by_undo(home: Path) -> None:
    async with opened(home) as app:
        await palette(app, "promotion.threshold")
        assert any("until a note is promoted" in line and " 3 " in line for line in app.text.splitlines())
        await app.press("enter")
        dialog = await app.screen(AskScreen)
        app.fill("#line", "0")
        await app.press("enter")
        await app.until(lambda: "1 or more" in app.notices)
        assert app.app.screen is dialog
        assert Memory.open(home).settings.promotion.threshold == 3
        app.fill("#line", "5")
        await app.press("enter")
        await app.back_on_main()
        assert Memory.open(home).settings.promotion.threshold == 5
        await app.press("u")
        await app.until(lambda: Memory.open(home).settings.promotion.threshold == 3)


@pytest.mark.parametrize("typed", ["three", "1e999", "-1", "3.5", "1,5", "nan"])
async def test_no_value_that_a_setting_cannot_have_reaches_the_file(home: Path, typed: str) -> None:
    async with opened(home) as app:
        app.main.settings.change("reflection.max_notes")
        dialog = await app.screen(AskScreen)
        app.fill("#line", typed)
        await app.press("enter")
        await app.until(lambda: "must be" in app.notices.lower())
        assert app.app.screen is dialog
        assert not (home / "settings.toml").exists()


async def test_a_switch_and_a_word_are_chosen_from_a_list(home: Path) -> None:
    async with opened(home) as app:
        await palette(app, "promotion.automatic")
        await app.press("enter")
        screen = await app.screen(ChoiceScreen)
        assert screen.query_one(RowList).count == 4
        screen.query_one(RowList).move_to("never")
        await app.press("enter")
        await app.until(lambda: Memory.open(home).settings.promotion.automatic == "never")
        await app.back_on_main()
        app.main.settings.change("schedule.app_applies")
        await app.screen(ChoiceScreen)
        assert "now" in app.text
        await app.press("down", "enter")
        await app.until(lambda: Memory.open(home).settings.schedule.app_applies)


async def test_vim_of_the_user_counts_at_once_in_all_memories_and_is_no_entry_of_the_log(home: Path) -> None:
    async with opened(home) as app:
        entries = len(app.log)
        await palette(app, "vim keys")
        await app.press("enter")
        await app.screen(ChoiceScreen)
        await app.press("down", "enter")
        await app.until(lambda: app.app.key_queue.vim)
        assert load_user_settings().app.vim
        assert app.view.keys.key("link") == "L"
        assert len(app.log) == entries
    assert user_settings_file().exists()
    async with opened(home) as app:
        assert app.app.key_queue.vim


async def test_nothing_of_the_present_is_offered_while_the_past_is_shown(home: Path) -> None:
    async with opened(home) as app:
        await app.press("T")
        await app.until(lambda: app.view.past is not None)
        screen = await palette(app)
        listed = rows(screen)
        assert "setting promotion.threshold" not in listed
        assert "command hide" not in listed
        assert f"setting {USER}theme" in listed


async def test_a_saved_search_is_found_by_its_name_and_run(home: Path) -> None:
    Memory.open(home).searches.save(SavedSearch("my tokens", "jwt tokens"))
    async with opened(home) as app:
        screen = await palette(app, "my tok")
        assert rows(screen)[:2] == ["group Search", "search my tokens"]
        await app.press("enter")
        await app.until(lambda: app.view.found is not None and app.view.found.query == "jwt tokens")
