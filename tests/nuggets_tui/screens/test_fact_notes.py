"""A fact is listed once, in Facts: Notes leaves its note out until somebody asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import Driver, opened

from core.memory import Memory
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.widgets.facts import FactsPane, fact_key
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.note_view import NotePane
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.row_list import RowList

pytestmark = pytest.mark.slow


def rows_of(app: Driver, pane: str = "notes") -> list[str]:
    """The rows of a list as text."""
    found = app.main.query_one(f"#{pane}", RowList)
    return [
        "".join(line(60).plain if callable(line) else line.plain for line in found.row(index).lines)
        for index in range(found.count)
    ]


def title_of(app: Driver) -> str:
    return str(app.main.query_one(NotesPane)._border_title)


async def test_notes_leaves_out_notes_of_facts_and_says_so(home: Path) -> None:
    async with opened(home) as app:
        assert not any("command" in row for row in rows_of(app))
        assert len(rows_of(app)) == 4
        assert title_of(app) == "2 Notes · newest first · no facts"
        assert any("pytest -q" in row for row in rows_of(app, "facts"))


async def test_a_command_lists_them_and_the_next_start_remembers_it_outside_the_memory(home: Path) -> None:
    async with opened(home) as app:
        before = {path.name for path in home.iterdir()}
        await app.main.action_command("show_facts")
        await app.until(lambda: len(rows_of(app)) == 6)
        assert title_of(app) == "2 Notes · newest first"
        await app.until(lambda: not app.main.running("panes"))
        assert {path.name for path in home.iterdir()} == before
    async with opened(home) as app:
        await app.until(lambda: len(rows_of(app)) == 6)
        await app.main.action_command("show_facts")
        await app.until(lambda: len(rows_of(app)) == 4)


async def test_search_finds_them_and_a_fact_shows_its_note(home: Path) -> None:
    async with opened(home) as app:
        await app.press("slash", *"pytest")
        await app.until(lambda: app.view.found is not None and app.view.found.query == "pytest")
        assert any("test command" in row for row in rows_of(app))
        await app.press("escape", "escape", "1")
        await app.until(lambda: app.view.note is not None and app.view.note.is_fact)
        assert app.main.query_one(NotePane).view.note_id == app.view.note_id


async def test_the_editor_calls_key_and_value_of_a_fact_so_and_a_key_is_renamed_there(home: Path) -> None:
    async with opened(home) as app:
        await app.press("1")
        await app.until(lambda: app.view.note is not None and app.view.note.is_fact)
        former = app.view.note
        assert former is not None
        await app.press("e")
        editor = await app.screen(EditorScreen)
        frames = {one.id: str(one.border_title) for one in editor.query(".field")}
        assert (frames["title"], frames["text"]) == ("Key", "Value")
        editor.query_one("#title", Field).value = "how to test"
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: any("how to test" in row for row in rows_of(app, "facts")))
    snapshot = Memory.open(home).snapshot
    (renamed,) = (note for note in snapshot.visible if note.key == "how to test")
    assert renamed.content == former.content
    assert all(note.key != former.key for note in snapshot.visible)


async def test_a_fact_that_was_forgotten_stands_among_the_hidden_notes(home: Path) -> None:
    async with opened(home) as app:
        await app.press("1", "x")
        await app.until(lambda: app.view.snapshot.fact_count == 1)
        await app.press("2")
        app.main.arrangement.show_hidden()
        await app.until(lambda: len(rows_of(app)) == 6)
        assert sum("command" in row for row in rows_of(app)) == 1


async def test_a_fact_made_from_notes_takes_the_cursor_to_facts(home: Path) -> None:
    async with opened(home) as app:
        await app.press("f")
        await app.until(lambda: app.app.screen is not app.main)
        app.fill("#key", "editor")
        app.fill("#value", "vim")
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: app.view.note is not None and app.view.note.title == "editor")
        facts = app.main.query_one(FactsPane)
        await app.until(lambda: facts.has_focus)
        assert facts.cursor_row is not None
        assert facts.cursor_row.key == fact_key("project", "editor")


_KEY, _VALUE = "continuous integration runner", "ubuntu-24.04-arm-8cp"
