"""Several notes at once: the selection lives through everything, and what changes more than one is reviewed first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from kits.app_kit import NARROW, WIDE, Driver, agent_on, opened

from core.graph.edits import create_note, delete_note, edit_note
from core.memory import Memory
from nuggets_tui import listing as listing_room
from nuggets_tui.screens.bulk_forms import BulkReview, ScopeScreen, TagsOfManyScreen
from nuggets_tui.screens.dialog import ConfirmScreen
from nuggets_tui.screens.merge import MergeScreen
from nuggets_tui.screens.picker import PickerScreen
from nuggets_tui.widgets.facts import FactsPane
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.row_list import RowList

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


def titles(app: Driver) -> set[str]:
    """Titles of what is selected."""
    return {app.view.snapshot.by_id[id].title for id in app.view.selected}


async def select(app: Driver, *wanted: str) -> None:
    """Selects the notes of these titles with keys."""
    pane = app.main.query_one(NotesPane)
    app.main.go_to("notes")
    for title in wanted:
        note = next(note for note in app.view.snapshot.notes if note.title == title)
        assert pane.move_to(note.id)
        await app.press("space")


def title_of(app: Driver, pane: type[NotesPane | FactsPane] = NotesPane) -> str:
    return app.main.query_one(pane)._border_title.plain  # type: ignore[union-attr]


async def test_the_selection_lives_through_search_order_and_reload_and_esc_lets_it_go(home: Path) -> None:
    agent = agent_on(home)
    async with opened(home) as app:
        await select(app, "Deploy day", "Session store")
        assert title_of(app) == "2 Notes · 2 selected"
        assert title_of(app, FactsPane) == "1 Facts · 2 selected (2 not here)"
        await app.press("slash", *"jwt")
        await app.until(lambda: app.view.found is not None and app.view.found.query == "jwt")
        assert title_of(app) == "2 Results · 2 selected (2 not here)"
        await app.press("enter", "home", "space")
        assert titles(app) > {"Deploy day", "Session store"}
        assert len(titles(app)) == 3
        await app.press("escape")
        await app.until(lambda: app.view.found is None)
        assert title_of(app) == "2 Notes · 3 selected"
        await app.press("s", "s")
        assert len(app.view.selected) == 3
        gone = next(note.id for note in app.view.snapshot.notes if note.title == "Deploy day")
        agent.change("more", partial(create_note, nugget="project", title="Another", content="x"))
        agent.change("gone", partial(delete_note, id=gone))
        await app.until(lambda: gone not in app.view.snapshot.by_id)
        assert "Deploy day" not in titles(app)
        assert title_of(app) == "2 Notes · 2 selected"
        await app.press("escape")
        assert app.view.selected == frozenset()
        assert app.main.query_one(NotesPane).selected == frozenset()
        assert "selected" not in title_of(app)


async def test_all_shown_are_selected_at_once_and_a_fact_is_selected_by_its_note(home: Path) -> None:
    async with opened(home) as app:
        await app.press("ctrl+a")
        assert app.view.selected == {note.id for note in app.view.snapshot.visible if not note.is_fact}
        await app.press("ctrl+a")
        assert app.view.selected == frozenset()
        await app.press("1", "home", "space", "space")
        assert titles(app) == {"test command", "deploy command"}
        assert title_of(app, FactsPane) == "1 Facts · 2 selected"
        await app.press("x")
        review = await app.screen(BulkReview)
        assert len(review.accepted) == 2
        assert "Agents no longer recall its fact" in app.text
        await app.press("ctrl+s")
        await app.back_on_main()
        assert Memory.open(home).snapshot.fact_count == 0
        await app.press("u")
        await app.until(lambda: "Undid" in app.notices)
        facts = Memory.open(home).snapshot.by_name["project"].facts
        assert [fact.key for fact in facts] == ["test command", "deploy command"]


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_what_is_refused_stays_and_the_rest_is_one_entry_that_is_taken_back_whole(
    home: Path, size: tuple[int, int]
) -> None:
    before = (home / "graph" / "graph.json").read_bytes()
    async with opened(home, size) as app:
        entries = len(app.log)
        await select(app, "Deploy day", "Session store", "Auth middleware")
        await app.press("x")
        await app.screen(BulkReview)
        assert "3 selected" in app.text
        assert "apply 3 of 3" in app.text
        assert (home / "graph" / "graph.json").read_bytes() == before
        await app.press("space")
        assert "apply 2 of 3" in app.text
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "Hid 2 notes" in app.notices)
        assert app.view.selected == frozenset()
        assert sum(note.hidden for note in Memory.open(home).snapshot.notes) == 3
        await app.until(lambda: len(app.log) == entries + 1)
        await app.press("u")
        await app.until(lambda: "Undid" in app.notices)
    assert (home / "graph" / "graph.json").read_bytes() == before


async def test_many_get_tags_a_scope_a_link_and_a_pin(home: Path) -> None:
    async with opened(home) as app:
        await select(app, "Deploy day", "Session store")
        await app.press("t")
        await app.screen(TagsOfManyScreen)
        assert "release 1" in app.text
        app.fill("#add", "+ops")
        app.fill("#remove", "redis")
        await app.pilot.pause()
        assert "+ops on 2 notes   -redis on 1 note" in app.text
        await app.press("ctrl+r")
        await app.screen(BulkReview)
        # The sign that a person puts before a tag is no part of it.
        assert "+ops -redis" in app.text
        await app.press("ctrl+s")
        await app.back_on_main()
        await select(app, "Deploy day", "Session store")
        await app.press("M")
        await app.screen(ScopeScreen)
        await app.press("home", "down", "down", "down", "enter")
        await app.screen(BulkReview)
        await app.press("ctrl+s")
        await app.back_on_main()
        await select(app, "Deploy day", "Session store")
        await app.press("l")
        await app.screen(PickerScreen)
        app.fill("#words", "auth middleware")
        choices = app.app.screen.query_one(RowList)
        await app.until(lambda: choices.count < 5 and "Auth" in app.text)
        await app.press("enter", "enter")
        await app.screen(BulkReview)
        await app.press("ctrl+s")
        await app.back_on_main()
        await select(app, "Deploy day", "Session store")
        await app.press("P")
        await app.screen(BulkReview)
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: len(app.log) == 5, "one entry for each of the four")
    notes = {note.title: note for note in Memory.open(home).snapshot.notes}
    auth = notes["Auth middleware"]
    for title in ("Deploy day", "Session store"):
        note = notes[title]
        assert {"ops", "pinned", "scope:project"} <= set(note.tags)
        assert "redis" not in note.tags
        assert (note.scope, note.subject) == ("project", "shared:project")
        assert auth.id in {link.to for link in note.links}
        assert note.id in {link.to for link in auth.links}


async def test_many_are_deleted_only_after_a_question_that_names_them(home: Path) -> None:
    async with opened(home) as app:
        await select(app, "Deploy day", "Session store")
        await app.press("X")
        await app.screen(BulkReview)
        await app.press("ctrl+s")
        await app.screen(ConfirmScreen)
        assert "Delete 2 notes for good?" in app.text
        assert '"Deploy day"' in app.text
        await app.press("enter")
        await app.screen(BulkReview)
        await app.press("ctrl+s")
        await app.screen(ConfirmScreen)
        await app.press("y")
        await app.back_on_main()
        assert {note.title for note in Memory.open(home).snapshot.notes}.isdisjoint(
            {"Deploy day", "Session store"}
        )
        await app.press("u")
        await app.until(lambda: "Undid" in app.notices)
        assert {"Deploy day", "Session store"} <= {note.title for note in Memory.open(home).snapshot.notes}


async def test_one_selected_note_is_acted_on_at_once_and_two_are_merged(home: Path) -> None:
    async with opened(home) as app:
        await select(app, "Session store")
        await app.show("Deploy day")
        await app.press("x")
        await app.until(lambda: 'Hid "Session store"' in app.notices)
        assert app.view.selected == frozenset()
        await select(app, "Auth middleware", "JWT token format", "Deploy day")
        await app.press("m")
        assert "3 are selected" in app.notices
        await select(app, "Deploy day")
        await app.press("m")
        await app.screen(MergeScreen)
        assert '"JWT token format"' in app.text
        await app.press("ctrl+s")
        await app.back_on_main()
        assert app.view.selected == frozenset()
        await app.press("home", "space")
        assert len(app.view.selected) == 1


async def test_a_note_that_changed_while_it_was_reviewed_keeps_both_changes(home: Path) -> None:
    agent = agent_on(home)
    async with opened(home) as app:
        await select(app, "Deploy day", "Session store")
        await app.press("P")
        await app.screen(BulkReview)
        note = next(note for note in app.view.snapshot.notes if note.title == "Deploy day")
        gone = next(note for note in app.view.snapshot.notes if note.title == "Session store")
        agent.change("edited", partial(edit_note, id=note.id, content="Now on Fridays."))
        agent.change("gone", partial(delete_note, id=gone.id))
        await app.until(lambda: gone.id not in app.view.snapshot.by_id)
        await app.press("ctrl+s")
        await app.back_on_main()
    after = Memory.open(home).snapshot
    assert after.note(note.id).content == "Now on Fridays."
    assert "pinned" in after.note(note.id).tags
    assert gone.id not in after.by_id


async def test_an_order_of_many_notes_is_made_aside_while_the_list_stands(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing_room, "MANY", 3)
    async with opened(home) as app:
        pane = app.main.query_one(NotesPane)
        await app.until(lambda: pane.count == 4)
        standing = [pane.row(place).key for place in range(4)]
        held = asyncio.Event()

        async def later(function: Callable[..., object], *arguments: object) -> object:
            await held.wait()
            return function(*arguments)

        monkeypatch.setattr("nuggets_tui.widgets.notes.run_in_thread", later)
        await app.press("s", "s")
        assert "sorting: by title" in title_of(app)
        assert [pane.row(place).key for place in range(4)] == standing
        held.set()
        await app.until(lambda: "sorting" not in title_of(app))
        by_title = [app.view.snapshot.by_id[pane.row(place).key].title for place in range(4)]
        assert by_title == sorted(by_title, key=str.casefold)
