"""Tests of keys in the running app: the key map of the settings, the vim option, and keys that come in a burst."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, Driver, opened
from textual import events
from textual.widgets import Input

from core.user_settings import save_user_settings
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.screens.forms import FormScreen
from nuggets_tui.screens.help import HelpScreen
from nuggets_tui.screens.review import ReviewScreen

pytestmark = pytest.mark.slow


def settings(home: Path, text: str) -> None:
    (home / "settings.toml").write_text(text, encoding="utf-8")


def burst(app: Driver, *keys: str) -> None:
    """Keys that all arrive before the first one is looked at."""
    for key in keys:
        app.app.post_message(events.Key(key, key if len(key) == 1 else None))


def focus(app: Driver) -> str | None:
    return app.app.focused.id if app.app.focused is not None else None


async def test_a_remapped_key_counts_everywhere_at_once(home: Path) -> None:
    settings(home, '[keys]\nhide = "f7"\nsearch = "ctrl+k"\nundo = "U"\nredo = "u"\nnew_note = ""\n')
    async with opened(home, (250, 40)) as app:
        await app.show("Session store")
        bar = app.text.splitlines()[-1]
        assert all(shown in bar for shown in ("f7 hide", "ctrl+k search", "U undo"))
        assert " n note" not in bar
        await app.press("x", "n")
        assert app.app.screen is app.main
        assert not app.view.note.hidden  # type: ignore[union-attr]
        await app.press("f7")
        await app.until(lambda: "U undoes it" in app.notices)
        await app.press("U")
        await app.until(lambda: "u redoes it" in app.notices)
        await app.press("ctrl+k")
        assert focus(app) == "search"
        await app.press("escape", "question_mark")
        screen = await app.screen(HelpScreen)
        said = screen.query_one("#lines").text  # type: ignore[attr-defined]
        assert "f7           Hide" in said
        assert "ctrl+p note  Write a new note" in said


async def test_wrong_lines_are_told_and_the_app_opens_with_the_usual_keys(home: Path) -> None:
    settings(home, '[keys]\nserch = "k"\nhide = "u"\ntags = "f7"\n')
    async with opened(home) as app:
        assert "did you mean search?" in app.notices
        assert "u is already the key of undo; x stays" in app.notices
        assert app.view.keys.key("hide") == "x"
        assert app.view.keys.key("tags") == "f7"


async def test_keys_follow_the_settings_while_the_app_is_open(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        assert "x hide" in app.text
        settings(home, '[keys]\nhide = "f7"\n')
        await app.until(lambda: app.view.keys.key("hide") == "f7", "the new keys")
        await app.until(lambda: "f7 hide" in app.text)
        settings(home, "")
        await app.until(lambda: app.view.keys.key("hide") == "x", "the usual key")


async def test_with_the_vim_option_h_j_k_l_move_everywhere(home: Path) -> None:
    save_user_settings({"app.vim": True})
    async with opened(home) as app:
        notes = app.main.query_one("#notes")
        await app.press("j", "j", "k")
        assert notes.cursor == 1  # type: ignore[attr-defined]
        await app.press("l")
        assert focus(app) == "note"
        await app.press("h", "h")
        assert focus(app) == "facts"
        await app.press("2")
        await app.show("Auth middleware")
        await app.press("5")
        await app.until(lambda: getattr(app.app.focused, "picture", None) and app.app.focused.picture.boxes)  # type: ignore[union-attr]
        await app.press("l")
        graph = app.app.focused
        assert graph.note_under_cursor != app.view.note_id  # type: ignore[union-attr]
        await app.press("h")
        assert graph.note_under_cursor == app.view.note_id  # type: ignore[union-attr]
        await app.press("slash", *"hjkl")
        assert app.app.focused.value == "hjkl"  # type: ignore[union-attr]
        await app.press("escape", "escape", "question_mark")
        screen = await app.screen(HelpScreen)
        assert "h j k l" in screen.query_one("#lines").text  # type: ignore[attr-defined]


async def test_a_word_typed_right_behind_the_key_of_a_form_lands_in_its_field(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        burst(app, "t", "end", "space", *"xlm")
        form = await app.screen(FormScreen)
        await app.until(lambda: form.query(Input).first().value.endswith("xlm"), "the typed letters")
        assert not app.view.note.hidden  # type: ignore[union-attr]
        await app.press("escape")


async def test_keys_behind_a_key_that_first_asks_the_memory_wait_for_its_dialog(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine is.
    monkeypatch.setattr("nuggets_tui.key_input._PATIENCE", 60.0)
    async with opened(home) as app:
        await app.show("Session store")
        burst(app, "r", "escape", "n")
        await app.screen(EditorScreen)
        assert not any(isinstance(screen, ReviewScreen) for screen in app.app.screen_stack)


async def test_keys_that_open_and_close_dialogs_in_a_burst_end_where_they_lead(home: Path) -> None:
    async with opened(home, NARROW) as app:
        burst(app, *["question_mark", "escape"] * 5, "n", *"ab", "tab", "tab", "escape")
        await app.until(lambda: not app.app.key_queue.waiting and not app.app.key_queue.under_way)
        assert not isinstance(app.app.screen, HelpScreen)


async def test_a_widget_that_goes_with_a_key_on_its_way_does_not_stop_the_keyboard(home: Path) -> None:
    async with opened(home) as app:
        await app.press("question_mark")
        screen = await app.screen(HelpScreen)
        burst(app, "down")
        await screen.query_one("#lines").remove()
        await app.press("escape")
        await app.back_on_main()


async def test_a_key_bound_at_times_names_no_command_that_is_not_listed_now(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("exclamation_mark")
        assert "! is not bound now" in app.notices
        assert "ctrl+p" not in app.notices
