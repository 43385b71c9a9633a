"""Undo, redo and the audit log: across restarts, wholly or one change, mine with a key and others' on purpose only."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from kits.app_kit import NARROW, WIDE, agent_on, opened

from core.graph.edits import create_note, edit_note, hide_note
from core.memory import Memory
from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.note import Note
from nuggets_tui.screens.dialog import ConfirmScreen
from nuggets_tui.screens.entry import EntryScreen
from nuggets_tui.widgets.audit import AuditPane
from nuggets_tui.widgets.row_list import RowList

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


def stored(home: Path, title: str) -> Note:
    """A note as it stands in the files."""
    return next(note for note in Memory.open(home).snapshot.notes if note.title == title)


def ids_of(home: Path, *titles: str) -> list[str]:
    """Ids of notes by their titles."""
    return [stored(home, title).id for title in titles]


def tag_three(memory: Memory) -> ChangeSet:
    """An entry of three parts."""
    ids = ids_of(memory.home, "Session store", "Deploy day", "Auth middleware")

    def edit(draft: Draft) -> None:
        for id in ids:
            edit_note(draft, id, add_tags=["checked"])

    return memory.change("tagged three", edit)[1]


async def test_u_and_capital_u_go_back_and_forth_across_restarts(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("x")
        await app.until(lambda: stored(home, "Session store").hidden)
    async with opened(home) as app:
        await app.press("u")
        await app.until(lambda: 'Undid: hid "Session store"' in app.notices)
        assert not stored(home, "Session store").hidden
        assert "U redoes it" in app.notices
    async with opened(home) as app:
        await app.press("U")
        await app.until(lambda: 'Redid: hid "Session store"' in app.notices)
        assert stored(home, "Session store").hidden
        await app.press("U")
        await app.until(lambda: "nothing to redo" in app.notices)


async def test_u_never_takes_back_what_others_did(home: Path) -> None:
    agent_on(home).change("theirs", partial(create_note, nugget="project", title="Theirs", content="x"))
    async with opened(home) as app:
        await app.press("u")
        await app.until(lambda: "Undid: added" in app.notices)
        assert [note.title for note in Memory.open(home).snapshot.notes] == ["Theirs"]
        await app.press("u")
        await app.until(lambda: "no change to undo" in app.notices)
        assert stored(home, "Theirs")


async def test_what_another_program_writes_without_the_engine_comes_into_the_log(home: Path) -> None:
    path = home / "graph" / "graph.json"
    async with opened(home) as app:
        graph = json.loads(path.read_text())
        graph["notes"][2]["content"] = "Written by hand."
        path.write_text(json.dumps(graph))
        await app.until(lambda: "program edited       Session store" in app.text)
        await app.press("a", "enter")
        await app.screen(EntryScreen)
        await app.press("u")
        await app.until(lambda: "Redis" in stored(home, "Session store").content)


async def test_another_programs_change_is_taken_back_from_its_entry_and_done_again(home: Path) -> None:
    store = stored(home, "Session store")
    agent_on(home).change("newer", partial(edit_note, id=store.id, content="Valkey, not Redis."))
    async with opened(home) as app:
        await app.press("a", "enter")
        screen = await app.screen(EntryScreen)
        assert "- Redis holds sessions for an hour." in app.text
        assert "+ Valkey, not Redis." in app.text
        assert "u undo" in app.text
        await app.press("u")
        await app.until(lambda: stored(home, "Session store").content == store.content)
        await app.until(lambda: "U redo" in app.text)
        assert "↶ undone" in app.text
        await app.press("u")
        await app.until(lambda: "U redoes it" in app.notices)
        await app.press("U")
        await app.until(lambda: stored(home, "Session store").content == "Valkey, not Redis.")
        await app.until(lambda: "u undo" in app.text)
        assert app.app.screen is screen
        await app.press("escape")
        await app.back_on_main()


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_one_change_of_an_entry_is_taken_back_alone_and_done_again(
    home: Path, size: tuple[int, int]
) -> None:
    tag_three(agent_on(home))
    async with opened(home, size) as app:
        await app.press("a", "enter")
        screen = await app.screen(EntryScreen)
        assert screen.query_one(RowList).count == 3
        await app.press("down")
        await app.until(lambda: "+ tag checked" in app.text)
        await app.press("space")
        await app.until(lambda: "checked" not in stored(home, "Deploy day").tags)
        assert "checked" in stored(home, "Session store").tags
        await app.until(lambda: "redo this change" in app.text)
        await app.press("space")
        await app.until(lambda: "checked" in stored(home, "Deploy day").tags)
        await app.until(lambda: "undo this change" in app.text)
        await app.press("u")
        await app.until(lambda: "checked" not in stored(home, "Auth middleware").tags)
        await app.until(lambda: "U redo" in app.text)
        assert "this change" not in app.text


async def test_taking_back_many_things_asks_first_and_says_how_many(home: Path) -> None:
    def write_many(draft: Draft) -> None:
        for number in range(21):
            create_note(draft, "project", f"Page {number}", "x")

    agent_on(home).change("wrote many", write_many)
    async with opened(home) as app:
        await app.press("a", "enter")
        screen = await app.screen(EntryScreen)
        await app.press("u")
        await app.screen(ConfirmScreen)
        assert "undoes 21 changes" in app.text
        assert "U redoes them" in app.text
        await app.press("enter")
        await app.until(lambda: app.app.screen is screen)
        assert stored(home, "Page 20")
        await app.press("u")
        await app.screen(ConfirmScreen)
        await app.press("y")
        await app.until(lambda: len(Memory.open(home).snapshot.notes) == 7)
        await app.until(lambda: "U redo" in app.text)
        await app.press("U")
        await app.until(lambda: len(Memory.open(home).snapshot.notes) == 28)


async def test_an_undo_in_the_log_is_looked_at_and_its_change_done_again_at_its_own_row(home: Path) -> None:
    memory = Memory.open(home)
    (store,) = ids_of(home, "Session store")
    memory.change("hid", partial(hide_note, id=store))
    memory.history.undo()
    async with opened(home) as app:
        await app.ready()
        await app.press("6", "home")
        await app.until(lambda: "/ search" in app.text and "u undo entry" not in app.text)
        await app.press("u")
        assert app.app.screen is app.main
        assert app.notices
        await app.press("enter")
        await app.screen(EntryScreen)
        assert "undo  " not in app.text.splitlines()[-2]
        redo = app.view.keys.key("redo")
        await app.press("u", redo, "escape")
        await app.back_on_main()
        assert not stored(home, "Session store").hidden
        await app.press("down", "enter")
        await app.screen(EntryScreen)
        await app.press(redo)
        await app.until(lambda: stored(home, "Session store").hidden)


async def test_recalls_are_passed_over_until_they_are_asked_for(home: Path) -> None:
    agent_on(home).recall("test command", session="one")
    async with opened(home) as app:
        assert "recalled" not in "\n".join(app.text.split("\n")[28:])
        await app.press("R")
        await app.until(lambda: "recalled     test command" in app.text)
        assert "6 Audit log · with recalls" in app.text
        await app.press("R")
        await app.until(lambda: "recalled     test command" not in app.text)


async def test_the_log_of_the_note_shown_alone_and_all_of_it_again(home: Path) -> None:
    store = stored(home, "Session store")
    memory = agent_on(home)
    memory.change("newer", partial(edit_note, id=store.id, content="Newer."))
    memory.change("seen", partial(create_note, nugget="project", title="Another one", content="x"))
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("A")
        await app.until(lambda: '6 Audit log · of "Session store"' in app.text)
        await app.until(lambda: len(app.log) == 2)
        await app.press("A")
        await app.until(lambda: len(app.log) == 3)


async def test_a_long_log_is_read_on_as_somebody_comes_near_its_end(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nuggets_tui.log.PAGE", 60)
    memory = agent_on(home)
    (store,) = ids_of(home, "Session store")
    for number in range(130):
        memory.change(f"edit {number}", partial(edit_note, id=store, content=f"Version {number}."))
    async with opened(home) as app:
        assert len(app.log) == 60
        await app.press("a", "end")
        await app.until(lambda: len(app.log) > 60)
        await app.press("end")
        await app.until(lambda: app.view.log.complete)
        await app.press("end")
        assert len(app.log) == 131
        row = app.main.query_one(AuditPane).cursor_row
        assert row is not None
        assert row.key == app.log[-1].id


async def test_the_first_frame_does_not_wait_for_the_log(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    from kits.app_kit import NOW, Driver

    from nuggets_tui.application import NuggetsApp
    from nuggets_tui.opening import Opening

    release, refresh = threading.Event(), Memory.refresh

    def wait_then_refresh(memory: Memory, **settings: bool) -> bool:
        release.wait(20)
        return refresh(memory, **settings)

    opening = Opening(home, lambda: NOW)
    opening.open()
    monkeypatch.setattr(Memory, "refresh", wait_then_refresh)
    app = NuggetsApp(opening)
    async with app.run_test(size=WIDE) as pilot:
        driver = Driver(app, pilot)
        await driver.until(lambda: "Session store" in driver.text)
        assert "Reading the log" in driver.text
        await driver.press("down", "down")
        release.set()
        await driver.ready()
        await driver.until(lambda: "you added" in driver.text)
