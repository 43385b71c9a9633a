"""What could not be read, checking and repairing, and going back to a backup: all of it shown before it is written."""

from __future__ import annotations

import contextlib
import json
import stat
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kits.app_kit import NARROW, WIDE, Driver, assert_harmless, opened

from core.graph.edits import edit_note
from core.memory import Memory
from core.model.note import Note
from nuggets_tui.screens.dialog import ChoiceScreen
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.screens.problems import ProblemsScreen
from nuggets_tui.screens.review import ReviewScreen
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_list import RowList

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

BROKEN = b'{"version": 4, "name": "oth\xff\x1b]0;owned\x07'


def stored(home: Path, title: str) -> Note:
    """A note as it stands in the files."""
    return next(note for note in Memory.open(home).snapshot.notes if note.title == title)


def change_notes(home: Path, **fields: Any) -> None:
    """Another program sets fields of the third note in the file."""
    path = home / "graph" / "graph.json"
    graph = json.loads(path.read_text())
    graph["notes"][2] |= fields
    path.write_text(json.dumps(graph))


def spoil(home: Path) -> None:
    """A note with a wrong type and a fact file that is cut off."""
    change_notes(home, content=7)
    (home / "other.nugget.json").write_bytes(BROKEN)


async def run(app: Driver, name: str) -> None:
    """A command of the palette."""
    await app.main.action_command(name)
    await app.pilot.pause()


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_what_could_not_be_read_is_listed_with_reason_place_and_bytes(
    home: Path, size: tuple[int, int]
) -> None:
    spoil(home)
    async with opened(home, size) as app:
        assert "2 problems: !" in app.text
        assert "Deploy day" in app.text
        await app.press("exclamation_mark")
        screen = await app.screen(ProblemsScreen)
        details = screen.query_one(LineView)
        assert "graph.json: note 3" in app.text
        assert '"content": 7' in details.text
        assert "quarantine" in details.text.replace("\n", "")
        await app.press("down")
        await app.until(lambda: "oth\\xff" in details.text)
        assert_harmless(app)
        await app.press("tab", "down", "escape", "escape")
        await app.back_on_main()


async def test_a_file_mended_in_the_editor_leaves_the_list(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = tmp_path / "good.json"
    good.write_bytes((home / "graph" / "graph.json").read_bytes())
    change_notes(home, content=7)
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\ncp "{good}" "$1"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.setattr("textual.app.App.suspend", lambda app: contextlib.nullcontext())
    async with opened(home) as app:
        await app.press("exclamation_mark")
        await app.screen(ProblemsScreen)
        await app.press("o")
        await app.back_on_main()
        await app.until(lambda: "Everything is readable again" in app.notices)
        await app.until(lambda: "problem: !" not in app.text)


async def test_a_broken_graph_at_the_start_can_be_opened_in_the_editor(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nuggets_tui.controllers.opening._RETRY", 0.1)
    monkeypatch.setattr("textual.app.App.suspend", lambda app: contextlib.nullcontext())
    graph, good = home / "graph" / "graph.json", tmp_path / "good.json"
    good.write_bytes(graph.read_bytes())
    graph.write_bytes(b"{ not json")
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\ncp "{good}" "$1"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("EDITOR", str(editor))
    async with opened(home) as app:
        await app.until(lambda: "cannot be opened" in app.text)
        assert "open the file in $EDITOR" in app.text
        await app.press("o")
        await app.until(lambda: "Auth middleware" in app.text, "opened by itself")


async def test_a_broken_graph_at_the_start_is_repaired_from_what_is_left_and_what_was_last_seen(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nuggets_tui.controllers.opening._RETRY", 0.1)
    graph = home / "graph" / "graph.json"
    broken = graph.read_bytes()[:-300]
    graph.write_bytes(broken)
    async with opened(home) as app:
        await app.until(lambda: "cannot be opened" in app.text)
        await app.press("V")
        await app.screen(ReviewScreen)
        assert graph.read_bytes() == broken
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: app.view.loaded, "opened by itself")
        assert len(app.view.snapshot.notes) == 7
        assert any(path.read_bytes() == broken for path in (home / "quarantine").iterdir())


@pytest.mark.parametrize("while_shown", [True, False])
async def test_with_a_broken_graph_no_key_for_putting_right_is_silent(
    home: Path, monkeypatch: pytest.MonkeyPatch, while_shown: bool
) -> None:
    monkeypatch.setattr("nuggets_tui.controllers.opening._RETRY", 0.1)
    graph = home / "graph" / "graph.json"
    if not while_shown:
        graph.write_bytes(b"{ not json")
    async with opened(home) as app:
        graph.write_bytes(b"{ not json")
        await app.until(lambda: app.view.trouble)
        assert "nuggets verify" not in app.text + app.notices
        await app.press("B")
        await app.until(lambda: "Repair it first" in app.notices)
        assert "V checks and repairs it; o opens the file." in app.notices
        await app.press("exclamation_mark")
        await app.screen(ProblemsScreen)
        assert "{ not json" in app.text
        await app.press("escape")
        await app.back_on_main()
        assert app.view.trouble
        assert "readable again" not in app.notices
        await app.press("exclamation_mark")
        await app.screen(ProblemsScreen)
        await app.press("V")
        await app.screen(ReviewScreen)


async def test_an_edit_that_cannot_be_saved_stays_in_the_editor_and_says_so(home: Path) -> None:
    graph = home / "graph" / "graph.json"
    good = graph.read_bytes()
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("e")
        editor = await app.screen(EditorScreen)
        await app.press("x")
        graph.write_bytes(b"{ not json")
        await app.press("ctrl+s")
        await app.until(lambda: "Your edit is not saved. The text is still here" in app.notices)
        assert "In another terminal, nuggets verify --repair" in app.notices
        assert app.app.screen is editor
        graph.write_bytes(good)
        await app.press("ctrl+s")
        await app.back_on_main()
        assert stored(home, "Session store").content.endswith("hour.x")


async def test_findings_are_shown_before_they_are_repaired_and_u_takes_the_repair_back(home: Path) -> None:
    change_notes(home, tags=["redis"])
    before = stored(home, "Session store")
    async with opened(home) as app:
        await run(app, "verify")
        review = await app.screen(ReviewScreen)
        assert review.query_one(RowList).count >= 1
        assert "Session store" in app.text
        assert "To repair:" in app.text
        assert stored(home, "Session store").tags == before.tags
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "Repaired 2 findings" in app.notices)
        assert "scope:shared" in stored(home, "Session store").tags
        await app.until(lambda: app.log[0].kind == "repair")
        await app.press("u")
        await app.until(lambda: stored(home, "Session store").tags == before.tags)


async def test_going_back_to_a_backup_shows_what_would_change_and_is_one_entry(home: Path) -> None:
    memory = Memory.open(home)
    store = stored(home, "Session store")
    memory.change("edited", partial(edit_note, id=store.id, content="Spoiled by mistake."))
    async with opened(home) as app:
        await run(app, "restore")
        backups = await app.screen(ChoiceScreen)
        assert backups.query_one(RowList).count >= 1
        await app.press("end", "enter")
        await app.screen(ReviewScreen)
        assert "Changes 1 thing" in app.text
        assert "Restore the backup" in app.text
        assert stored(home, "Session store").content == "Spoiled by mistake."
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: stored(home, "Session store").content == store.content)
        await app.until(lambda: app.log[0].kind == "restore")
        await app.press("u")
        await app.until(lambda: stored(home, "Session store").content == "Spoiled by mistake.")
