"""The note shown first is one with something around it: of the newest, that with the most links."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from kits.app_kit import NARROW, WIDE, opened

from core.graph.edits import create_note, hide_note, link_notes
from core.memory import Memory
from nuggets_tui.widgets.neighbours import NeighboursPane
from nuggets_tui.widgets.notes import NotesPane

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_the_best_linked_of_the_newest_is_shown_with_the_cursor_on_it(
    home: Path, size: tuple[int, int]
) -> None:
    memory = Memory.open(home)
    by_title = {note.title: note.id for note in memory.snapshot.notes}
    for other in ("JWT token format", "Deploy day"):
        memory.change("more", partial(link_notes, a=by_title["Session store"], b=by_title[other], reason="r"))
    async with opened(home, size, as_it_begins=True) as app:
        assert app.view.note is not None
        linked = {"Session store", "JWT token format"}
        assert app.view.note.title in linked
        row = app.main.query_one(NotesPane).cursor_row
        assert row is not None
        assert row.key == app.view.note_id
        assert app.main.query_one(NeighboursPane).count >= 2
        await app.press("down")
        assert app.view.note_id != row.key


async def test_links_to_hidden_notes_count_for_nothing_and_without_links_the_newest_is_shown(
    tmp_path: Path,
) -> None:
    home = tmp_path / "bare"
    memory = Memory.open(home)
    made = [
        memory.change("made", partial(create_note, nugget="a", title=f"Note {number}", content="x"))[0].id
        for number in range(4)
    ]
    memory.change("linked", partial(link_notes, a=made[0], b=made[1], reason="r"))
    memory.change("hid", partial(hide_note, id=made[0]))
    async with opened(home, as_it_begins=True) as app:
        assert app.main.query_one(NotesPane).cursor == 0
        assert app.main.query_one(NotesPane).cursor_row is not None
        row = app.main.query_one(NotesPane).cursor_row
        assert row is not None
        assert row.key == app.view.note_id


async def test_a_note_older_than_the_newest_twenty_is_not_looked_for(tmp_path: Path) -> None:
    home = tmp_path / "many"
    memory = Memory.open(home)
    old = [
        memory.change("old", partial(create_note, nugget="a", title=f"Old {number}", content="x"))[0].id
        for number in range(3)
    ]
    memory.change("linked", partial(link_notes, a=old[0], b=old[1], reason="r"))
    for number in range(21):
        memory.change("new", partial(create_note, nugget="a", title=f"New {number}", content="y"))
    async with opened(home, as_it_begins=True) as app:
        assert app.main.query_one(NotesPane).cursor == 0
