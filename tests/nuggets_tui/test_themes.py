"""Tests of themes: ours are readable, every one of Textual shows the main screen, and a chosen one is kept."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from kits.app_kit import Driver, opened, small_memory

from core.folder import user_configuration_folder

pytestmark = pytest.mark.slow


async def test_the_main_screen_and_the_help_show_in_every_theme(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.until(lambda: "Redis holds sessions" in app.text)
        for name in ("nuggets-light", "nord", "textual-light", "ansi-dark"):
            app.app.theme = name
            await app.pilot.pause()
            said = app.text
            for words in ("Redis holds sessions", "1 Facts", "6 Audit log", "Deploy day", "ctrl+p commands"):
                assert words in said, name
        assert {"nuggets-dark", "nuggets-light", "nord", "ansi-dark"} <= set(app.app.available_themes)
        await app.press("question_mark")
        assert "Keys, words and signs" in app.text


def of_user() -> Path:
    """The user's settings for all memories."""
    return user_configuration_folder() / "settings.toml"


async def kept(app: Driver) -> None:
    """Waits until a theme that was chosen is kept."""
    await app.until(lambda: all(one.is_finished for one in app.main.workers if one.group == "theme"))


async def test_a_chosen_theme_is_the_users_for_every_memory_and_no_entry_of_the_log(
    home: Path, tmp_path: Path
) -> None:
    of_user().parent.mkdir(parents=True)
    of_user().write_text("# mine\n[pipeline]\nenabled = false  # not yet\n")
    async with opened(home) as app:
        before = app.main.session.memory.history.log()
        app.app.theme = "nord"
        app.app.theme = "gruvbox"
        await app.until(lambda: "gruvbox" in of_user().read_text(), "the settings")
        await kept(app)
        assert app.main.session.memory.history.log() == before
    said = of_user().read_text()
    assert "# mine" in said
    assert "# not yet" in said
    assert tomllib.loads(said) == {"pipeline": {"enabled": False}, "app": {"theme": "gruvbox"}}
    assert not (home / "settings.toml").exists()
    small_memory(tmp_path / "other")
    async with opened(tmp_path / "other") as app:
        assert app.app.theme == "gruvbox"
        assert of_user().read_text() == said


@pytest.mark.parametrize("text", ["[app", "[app]\ntheme = 7\n", '[app]\ntheme = "norf"\n'])
async def test_a_theme_of_the_user_that_cannot_be_followed_is_said_and_changes_nothing(
    home: Path, text: str
) -> None:
    of_user().parent.mkdir(parents=True)
    of_user().write_text(text)
    async with opened(home) as app:
        assert app.app.theme == "nuggets-dark"
        await app.until(lambda: "theme" in app.notices or "cannot be read" in app.notices, "a notice")
    assert of_user().read_text() == text


async def test_settings_of_the_user_that_are_broken_stay_as_they_are_when_a_theme_is_chosen(
    home: Path,
) -> None:
    of_user().parent.mkdir(parents=True)
    of_user().write_text("[app")
    async with opened(home) as app:
        app.app.clear_notifications()
        app.app.theme = "nord"
        await app.until(lambda: "settings.toml" in app.notices, "a notice")
        assert app.app.theme == "nord"
    assert of_user().read_text() == "[app"


async def test_the_app_settings_of_a_memory_count_for_nobody(home: Path) -> None:
    (home / "settings.toml").write_text('[app]\ntheme = "nord"\nvim = true\n')
    async with opened(home) as app:
        assert app.app.theme == "nuggets-dark"
        assert not app.app.key_queue.vim


async def test_the_environment_chooses_the_theme_before_the_settings(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_user().parent.mkdir(parents=True)
    of_user().write_text('[app]\ntheme = "nord"\n')
    monkeypatch.setenv("TEXTUAL_THEME", "dracula")
    async with opened(home) as app:
        assert app.app.theme == "dracula"
    monkeypatch.setenv("TEXTUAL_THEME", "no such theme")
    async with opened(home) as app:
        assert app.app.theme == "nord"


async def test_a_theme_makes_no_folder_where_there_is_no_memory(tmp_path: Path) -> None:
    async with opened(tmp_path / "missing") as app:
        app.app.theme = "nord"
        await app.app.workers.wait_for_complete(
            [worker for worker in app.app.workers if worker.group == "theme"]
        )
    assert not (tmp_path / "missing").exists()


async def test_without_colour_the_cursor_the_focus_and_what_is_open_are_told_by_signs(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(home) as app:
        await app.until(lambda: "▌" in app.text)
        strips = app.app.screen._compositor.render_strips(app.app.size)
        colours = {segment.style.color for strip in strips for segment in strip if segment.style}
        shades = {colour.get_truecolor() for colour in colours if colour is not None}
        assert len(shades) > 2
        assert all(shade.red == shade.green == shade.blue for shade in shades)
        # The cursor, the pane in use by its heavy frame, and where the cursor of another pane waits.
        for sign in ("▌", "┏", "›"):
            assert sign in app.text
