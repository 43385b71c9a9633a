"""Writing and choosing: the preview beside the text, the picker, and files that a note names."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from kits.app_kit import WIDE, Driver, opened

from core.graph.edits import create_note
from core.memory import Memory
from nuggets_tui.safe_text import plain
from nuggets_tui.screens.dialog import ChoiceScreen
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.screens.picker import PickerScreen
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.note_view import NotePane
from nuggets_tui.widgets.row_list import RowList

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where an editor with a window of its own writes down what it was told to open."""
    log, editor = tmp_path / "told", tmp_path / "code"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> "{log}"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    for name in ("auth.ts", "other.py"):
        (project / "src" / name).write_text("one\n")
    monkeypatch.chdir(project)
    return log


def preview(app: Driver) -> LineView:
    return app.app.screen.query_one("#preview", LineView)


async def test_the_preview_follows_what_is_written(home: Path) -> None:
    async with opened(home, WIDE) as app:
        await app.show("Session store")
        await app.press("e")
        editor = await app.screen(EditorScreen)
        await app.until(lambda: "Redis holds" in preview(app).text)
        await app.press(*" *now*")
        await app.until(lambda: preview(app).text.strip().endswith("an hour. now"))
        await app.press("ctrl+z")
        await app.until(lambda: "now" not in preview(app).text)
        await app.press("ctrl+y")
        await app.until(lambda: "now" in preview(app).text)
        await app.press("ctrl+r")
        assert not preview(app).display
        assert editor.query_one("#text").has_focus
        assert "ctrl+z ctrl+y undo, redo" in app.text


async def test_the_picker_finds_by_letters_and_by_what_a_text_says(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("m")
        picker = await app.screen(PickerScreen)
        choices = picker.query_one("#choices", RowList)
        await app.until(lambda: choices.cursor_row is not None)
        await app.press(*"amw")
        await app.until(lambda: choices.count == 1 and "Auth middleware" in app.text)
        await app.press("ctrl+u", *"claims")
        await app.until(lambda: choices.count == 1 and "in its text: claims" in app.text)
        await app.press("escape")


async def test_what_is_likely_meant_comes_first(home: Path) -> None:
    async with opened(home) as app:
        await app.show("JWT token format")
        app.main.show_note(
            next(n.id for n in app.view.snapshot.notes if n.title == "Auth middleware"), follow=True
        )
        app.main.go_to("note")
        await app.press("m")
        picker = await app.screen(PickerScreen)
        choices = picker.query_one("#choices", RowList)
        await app.until(lambda: choices.cursor_row is not None)
        first = app.view.snapshot.by_id[choices.cursor_row.key]  # type: ignore[union-attr]
        assert first.title == "JWT token format"
        assert "linked" in app.text


async def test_o_opens_the_file_of_a_note_and_a_click_too(home: Path, told: Path) -> None:
    async with opened(home) as app:
        await app.show("Auth middleware")
        await app.press("f8")
        await app.until(told.exists)
        there = str(Path.cwd() / "src" / "auth.ts")
        assert told.read_text().split() == [there]
        pane = app.main.query_one(NotePane)
        y = next(n for n, line in enumerate(pane.text.split("\n")) if "src/auth.ts" in line)
        x = pane.text.split("\n")[y].index("src/auth.ts") + 2
        told.unlink()
        await app.pilot.click(NotePane, offset=(x + 2, y + 1))
        await app.until(told.exists)


async def test_of_several_files_one_is_chosen_and_what_is_not_there_is_said(home: Path, told: Path) -> None:
    text = "See src/auth.ts:3 and src/other.py:7:2, not src/gone.py."
    Memory.open(home).change("named", lambda draft: create_note(draft, "project", "Named", text))
    Memory.open(home).change(
        "gone", lambda draft: create_note(draft, "project", "Gone", "Was src/gone.py:1.")
    )
    async with opened(home) as app:
        await app.show("Named")
        await app.press("f8")
        await app.screen(ChoiceScreen)
        assert "not found" in app.text
        await app.press("down", "enter")
        await app.until(told.exists)
        assert told.read_text().split() == ["-g", f"{Path.cwd()}/src/other.py:7:2"]
        await app.back_on_main()
        await app.show("Gone")
        await app.press("f8")
        await app.until(lambda: "Cannot find src/gone.py in" in app.notices)
        await app.show("Deploy day")
        await app.press("f8")
        await app.until(lambda: "names no file" in app.notices)


async def test_a_file_outside_of_the_project_is_shown_before_it_is_opened(home: Path, told: Path) -> None:
    outside = told.parent / "secret.py"
    outside.write_text("")
    Memory.open(home).change("far", lambda draft: create_note(draft, "project", "Far", f"See {outside}:1."))
    async with opened(home) as app:
        await app.show("Far")
        await app.press("f8")
        await app.screen(ChoiceScreen)
        assert "outside the folder" in app.text
        assert not told.exists()


async def test_what_is_copied_holds_nothing_that_a_terminal_or_shell_obeys_or_reorders(home: Path) -> None:
    tricks = "\x1b]0;x\x07\u202ereversed\u2066\u200b\u00ad\U000e0041"
    text = f"first {tricks}\n\techo end"
    Memory.open(home).change("odd", lambda draft: create_note(draft, "project", f"Odd {tricks}", text))
    async with opened(home) as app:
        title = next(note.title for note in app.view.snapshot.notes if note.title.startswith("Odd"))
        await app.show(title)
        await app.press("y")
        assert app.app.clipboard == plain(text)
        assert "Copied the text" in app.notices
        assert "Replaced 7 control or invisible characters" in app.notices
        await app.press("Y")
        assert app.app.clipboard == f"{app.view.note_id} {plain(title)}"
        # From a field of the app as well; only the app itself gets it back as it was.
        sent: list[str] = []
        assert app.app._driver is not None
        app.app._driver.write = sent.append  # type: ignore[method-assign]
        app.app.copy_to_clipboard(text)
        assert base64.b64decode(sent[0].split(";")[2].rstrip("\a")).decode() == plain(text)
        assert app.app.clipboard == text
