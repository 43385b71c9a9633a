"""With the cursor in Facts, commands act on its row, and Note and Neighbours show the same."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from kits.app_kit import Driver, agent_on, opened

from core.facts.edits import forget, remember
from core.graph.edits import link_notes
from core.memory import Memory
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.widgets.facts import FactsPane
from nuggets_tui.widgets.note_view import NeighboursPane, NotePane
from nuggets_tui.widgets.notes import NotesPane

pytestmark = pytest.mark.slow


def facts_of(app: Driver) -> FactsPane:
    return app.main.query_one(FactsPane)


def assert_agreed(app: Driver) -> None:
    """Cursor, Note and Neighbours are of one fact."""
    note = facts_of(app).note
    assert note is not None
    assert app.view.note_id == note.id
    assert app.main.query_one(NotePane).view.note_id == note.id
    assert app.main.query_one(NeighboursPane).view.note_id == note.id


async def test_after_a_fact_is_forgotten_cursor_note_and_neighbours_are_of_the_next_one(home: Path) -> None:
    memory = Memory.open(home)
    notes = {note.title: note.id for note in memory.snapshot.notes}
    memory.change("linked", partial(link_notes, a=notes["deploy command"], b=notes["Deploy day"], reason="r"))
    async with opened(home) as app:
        await app.press("1", "home", "x")
        await app.until(lambda: app.view.snapshot.fact_count == 1)
        await app.until(lambda: app.view.note is not None and app.view.note.title == "deploy command")
        await app.pilot.pause()
        assert_agreed(app)
        await app.until(lambda: app.main.query_one(NeighboursPane).count >= 1)
        await app.press("x")
        await app.until(lambda: app.view.snapshot.fact_count == 0)


async def test_a_fact_that_an_agent_forgets_leaves_the_cursor_on_what_commands_act_on(home: Path) -> None:
    agent = agent_on(home)
    async with opened(home) as app:
        await app.press("1", "home")
        agent.change("forgot", partial(forget, nugget="project", key="test command"))
        await app.until(lambda: app.view.snapshot.fact_count == 1)
        await app.pilot.pause()
        assert_agreed(app)


async def test_keys_in_a_hurry_act_on_the_row_they_came_to(home: Path) -> None:
    async with opened(home) as app:
        await app.press("1", "home")
        await app.pilot.press("down", "e")
        editor = await app.screen(EditorScreen)
        assert editor.query_one("#title").value == "deploy command"  # type: ignore[attr-defined]


async def test_a_note_reached_from_facts_takes_the_cursor_along(home: Path) -> None:
    async with opened(home) as app:
        await app.press("2", "enter", "4", "1")
        shown = app.view.note_id
        await app.press("n")
        await app.screen(EditorScreen)
        app.fill("#title", "Brand new")
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: app.view.note is not None and app.view.note.title == "Brand new")
        assert app.view.note_id != shown
        await app.until(lambda: app.main.query_one(NotesPane).has_focus)


async def test_a_fact_without_a_note_puts_no_other_note_at_risk(home: Path) -> None:
    import json

    Memory.open(home).change("more", partial(remember, nugget="bare", key="alone", value="v"))
    path = home / "graph" / "graph.json"
    graph = json.loads(path.read_text())
    graph["notes"] = [note for note in graph["notes"] if note["title"] != "alone"]
    path.write_text(json.dumps(graph))
    async with opened(home) as app:
        await app.press("1", "home")
        await app.until(lambda: facts_of(app).fact is not None)
        if facts_of(app).note is None:
            await app.until(lambda: not app.view.note_id)
            assert not app.main.can("hide")
