"""Tests of themes: ours are readable, every one of Textual shows the main screen, and a chosen one is kept."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from kits.app_kit import opened
from textual.color import Color
from textual.theme import Theme

from nuggets_tui.themes import DARK, LIGHT, ansi_themes

pytestmark = pytest.mark.slow

# What WCAG 2.1 asks for text, and for what is there to be overlooked at first (a field's placeholder).
READABLE, FAINT = 4.5, 3.0


def luminance(colour: Color) -> float:
    """Relative luminance as WCAG 2.1 defines it, 0 to 1."""
    parts = [part / 255 for part in (colour.r, colour.g, colour.b)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast of two colours as WCAG 2.1 defines it, 1 to 21."""
    low, high = sorted(luminance(Color.parse(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_every_text_of_our_themes_is_readable_wherever_it_may_stand(theme: Theme) -> None:
    named = theme.variables
    texts = {
        name: colour for name, colour in named.items() if name.startswith("text-") and name != "text-disabled"
    }
    places = (
        str(theme.background),
        named["block-cursor-background"],
        named["block-cursor-blurred-background"],
    )
    for place in places:
        for name, colour in {**texts, "foreground": str(theme.foreground)}.items():
            assert contrast(colour, place) >= READABLE, f"{name} on {place}"
    assert contrast(named["text-disabled"], str(theme.background)) >= FAINT
    assert contrast(named["block-cursor-foreground"], named["block-cursor-background"]) >= READABLE
    assert contrast(named["border"], str(theme.background)) >= FAINT


async def test_the_main_screen_and_the_help_show_in_every_theme(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.until(lambda: "Redis holds sessions" in app.text)
        for name in app.app.available_themes:
            app.app.theme = name
            await app.pilot.pause()
            said = app.text
            for words in ("Redis holds sessions", "1 Facts", "6 Audit log", "Deploy day", "^p all commands"):
                assert words in said, name
        assert {"nuggets-dark", "nuggets-light", "nord", "ansi-dark"} <= set(app.app.available_themes)
        await app.press("question_mark")
        assert "Keys, words and signs" in app.text


def test_in_the_terminals_own_colours_frames_differ_from_the_background() -> None:
    themes = ansi_themes()
    assert set(themes) == {"ansi-dark", "ansi-light"}
    assert all(theme.variables["border-blurred"] == "ansi_bright_black" for theme in themes.values())


async def test_a_chosen_theme_is_there_at_the_next_start_and_other_settings_stay(home: Path) -> None:
    settings = home / "settings.toml"
    settings.write_text("# mine\n[search]\ntext_weight = 0.5  # more words\n")
    async with opened(home) as app:
        app.app.theme = "nord"
        app.app.theme = "gruvbox"
        await app.until(lambda: "gruvbox" in settings.read_text(), "the settings")
        await app.until(lambda: app.main.desk.memory.settings.app.theme == "gruvbox")
    said = settings.read_text()
    assert "# mine" in said
    assert tomllib.loads(said) == {"search": {"text_weight": 0.5}, "app": {"theme": "gruvbox"}}
    async with opened(home) as app:
        assert app.app.theme == "gruvbox"
        assert settings.read_text() == said


async def test_going_back_to_the_former_theme_writes_nothing(home: Path) -> None:
    async with opened(home) as app:
        before = app.app.theme
        app.app.theme = "nord"
        app.app.theme = before
        await app.app.workers.wait_for_complete(
            [worker for worker in app.app.workers if worker.group == "theme" and not worker.is_cancelled]
        )
    assert not (home / "settings.toml").exists()


async def test_the_environment_chooses_the_theme_before_the_settings(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "settings.toml").write_text('[app]\ntheme = "nord"\n')
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
        # The cursor, the pane in use by its heavy frame, a fact, and where the cursor of another pane waits.
        for sign in ("▌", "┏", "◆", "›"):
            assert sign in app.text
