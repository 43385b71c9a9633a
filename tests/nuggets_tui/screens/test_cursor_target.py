"""A command acts on the row under the cursor of the pane in focus, or on the selection; esc goes back one step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from kits.app_kit import NARROW, Driver, agent_on, opened

from core.graph.edits import create_note, edit_note, hide_note, link_notes
from core.memory import Memory
from core.model.note import Note
from nuggets_tui.demo import DEMO_NOW, write_demo
from nuggets_tui.screens.dialog import ChoiceScreen
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.screens.entry import EntryScreen
from nuggets_tui.screens.picker import PickerScreen
from nuggets_tui.widgets.note_view import NeighboursPane

pytestmark = pytest.mark.slow

SHOWN: Final = "Auth middleware"
OTHER: Final = "JWT token format"


def stored(home: Path, title: str) -> Note:
    return next(note for note in Memory.open(home).snapshot.notes if note.title == title)


def footer(app: Driver) -> str:
    return app.text.splitlines()[-1]


def focus(app: Driver) -> str:
    return str(app.main.focused.id) if app.main.focused is not None else ""


async def to_neighbour(app: Driver) -> None:
    """The cursor stands on OTHER in Neighbours, while Note shows SHOWN."""
    await app.show(SHOWN)
    await app.press("4", "home")
    await app.until(lambda: app.main.selection.under_cursor == stored_id(app, OTHER))


async def to_node(app: Driver) -> None:
    """The cursor stands on OTHER in Graph."""
    await app.show(SHOWN)
    await app.press("5")
    await app.until(lambda: app.main.query_one("#graph").picture.boxes)  # type: ignore[attr-defined]
    await app.press("right")
    if app.main.selection.under_cursor != stored_id(app, OTHER):
        await app.press("left", "left")


async def to_entry(app: Driver) -> None:
    """The cursor stands on the entry of OTHER in the log, while Note shows SHOWN."""
    await app.ready()
    await app.show(SHOWN)
    await app.press("6", "home")


def stored_id(app: Driver, title: str) -> str:
    return next(note.id for note in app.view.snapshot.notes if note.title == title)


@pytest.fixture
def logged(home: Path) -> Path:
    """The memory with a newest entry of the log that is about OTHER alone."""
    agent = agent_on(home)
    agent.change("edited", partial(edit_note, id=stored(home, OTHER).id, content="ES256 by now."))
    agent.close()
    return home


@pytest.mark.parametrize("place", [to_neighbour, to_node, to_entry])
async def test_keys_act_on_the_row_under_the_cursor_and_the_footer_names_it(
    logged: Path, place: Callable[[Driver], object]
) -> None:
    async with opened(logged) as app:
        await place(app)  # type: ignore[misc]
        assert app.view.note is not None
        assert app.view.note.title == SHOWN
        await app.until(lambda: f"x hide {OTHER}" in footer(app), "the object")
        await app.press("e")
        editor = await app.screen(EditorScreen)
        assert editor.values["title"] == OTHER
        await app.press("escape")
        await app.back_on_main()
        await app.press("y")
        assert app.app.clipboard == stored(logged, OTHER).content
        await app.press("l")
        picker = await app.screen(PickerScreen)
        assert OTHER in picker.heading
        await app.press("escape")
        await app.back_on_main()
        await app.press("x")
        if place is to_neighbour:
            await app.screen(ChoiceScreen)
            await app.press("end", "enter")
        await app.until(lambda: stored(logged, OTHER).hidden)
        assert not stored(logged, SHOWN).hidden


async def test_u_in_the_log_undoes_the_entry_under_the_cursor_once_it_was_seen(logged: Path) -> None:
    async with opened(logged) as app:
        await app.ready()
        await app.show("Deploy day")
        await app.press("x")
        await app.until(lambda: stored(logged, "Deploy day").hidden)
        await app.until(lambda: app.log[0].deed.verb == "hid")
        await app.press("6", "home", "down", "u")
        await app.screen(EntryScreen)
        assert stored(logged, OTHER).content == "ES256 by now."
        await app.until(lambda: "ES256 by now." in app.text, "what it takes back")
        await app.press("enter")
        await app.back_on_main()
        assert stored(logged, OTHER).content != "ES256 by now."
        assert stored(logged, "Deploy day").hidden


async def test_x_on_a_neighbour_unlinks_it_and_the_palettes_command_does_so_elsewhere(home: Path) -> None:
    memory = Memory.open(home)
    ids = {note.title: note.id for note in memory.snapshot.notes}
    memory.change("more", partial(link_notes, a=ids[SHOWN], b=ids["Session store"], reason="keeps it"))
    memory.close()
    async with opened(home) as app:
        await to_neighbour(app)
        await app.press("x", "enter")
        await app.until(lambda: [link.to for link in stored(home, SHOWN).links] == [ids["Session store"]])
        assert not stored(home, OTHER).links
        await app.press("2")
        await app.until(lambda: app.main.selection.under_cursor == ids[SHOWN])
        await app.main.action_command("unlink")
        await app.screen(ChoiceScreen)
        assert "keeps it" in app.text
        await app.press("enter")
        await app.until(lambda: not stored(home, SHOWN).links)
        assert not app.main.can("unlink")


async def test_a_selection_counts_where_it_is_seen_and_elsewhere_keys_act_on_the_row_under_the_cursor(
    home: Path,
) -> None:
    async with opened(home) as app:
        await app.show(SHOWN)
        await app.press("2", "home", "space", "space")
        chosen = app.view.selected
        assert "x hide 2" in footer(app)
        for pane in ("3", "4", "5", "6"):
            await app.press(pane, "space", "ctrl+a")
            assert "hide 2" not in footer(app)
            assert not app.main.can("select")
            assert [note.id for note in app.main.selection.targets()] in (
                [],
                [app.main.selection.under_cursor],
            )
        await app.press("2")
        assert app.view.selected == chosen
        assert "x hide 2" in footer(app)


async def test_in_the_graph_a_second_x_hides_nothing_once_the_note_has_left_the_picture(home: Path) -> None:
    async with opened(home) as app:
        await to_node(app)
        assert app.main.selection.under_cursor == stored_id(app, OTHER)
        await app.press("x")
        await app.until(lambda: stored(home, OTHER).hidden)
        await app.until(lambda: not app.main.selection.under_cursor)
        await app.until(lambda: "x hide" not in footer(app))
        await app.press("x")
        assert not stored(home, SHOWN).hidden
        await app.press("right")
        assert app.main.selection.under_cursor == stored_id(app, SHOWN)


async def test_the_centre_of_the_graph_hidden_and_brought_back_is_where_notes_stands(home: Path) -> None:
    async with opened(home) as app:
        await app.show(SHOWN)
        await app.press("2")
        await app.until(lambda: app.main.selection.under_cursor == stored_id(app, SHOWN))
        await app.press("g")
        await app.until(lambda: app.main.selection.under_cursor == stored_id(app, SHOWN))
        await app.press("x")
        await app.until(lambda: stored(home, SHOWN).hidden)
        await app.until(lambda: app.log[0].deed.verb == "hid")
        await app.press("u")
        await app.until(lambda: not stored(home, SHOWN).hidden)
        await app.until(lambda: app.log[0].deed.verb != "hid")
        await app.press("escape")
        await app.until(lambda: focus(app) == "notes")
        assert app.main.selection.under_cursor == app.view.note_id == stored_id(app, SHOWN)


async def test_x_on_a_suggested_row_asks_before_it_hides(home: Path) -> None:
    agent_on(home).change(
        "near", lambda draft: create_note(draft, "project", "Redis sessions", "Redis holds many sessions.")
    )
    async with opened(home) as app:
        await app.show("Session store")
        await app.until(lambda: app.view.suggested, "a suggestion")
        await app.press("4", "x")
        await app.screen(ChoiceScreen)
        assert not stored(home, "Redis sessions").hidden
        await app.press("enter")
        await app.until(lambda: stored(home, "Redis sessions").hidden)


@pytest.mark.parametrize("size", [(120, 40), NARROW])
async def test_esc_goes_back_one_step_to_the_note_and_the_pane_one_came_from(
    home: Path, size: tuple[int, int]
) -> None:
    async with opened(home, size) as app:
        await app.press("slash", *"auth middleware", "enter")
        await app.until(lambda: app.view.note is not None and app.view.note.title == SHOWN)
        await app.press("enter")
        assert focus(app) == "note"
        await app.press("4")
        await app.until(lambda: app.main.query_one(NeighboursPane).count)
        await app.press("enter")
        assert app.view.note_id == stored_id(app, OTHER)
        await app.press("escape")
        assert (focus(app), app.view.note_id) == ("neighbours", stored_id(app, SHOWN))
        await app.press("escape")
        assert focus(app) == "note"
        await app.press("escape")
        assert focus(app) == "notes"
        assert app.main.search_box.value
        await app.press("escape")
        assert not app.main.search_box.value


@pytest.mark.parametrize("keys", [(), ("slash", "a"), ("T",), ("question_mark",), ("ctrl+p",)])
@pytest.mark.parametrize("ends", [("ctrl+q",), ("ctrl+c", "ctrl+c")])
async def test_ctrl_q_and_ctrl_c_twice_leave_from_everywhere(
    home: Path, keys: tuple[str, ...], ends: tuple[str, ...]
) -> None:
    async with opened(home) as app:
        await app.ready()
        await app.press(*keys)
        if keys == ("T",):
            await app.until(lambda: app.view.past is not None)
        for key in ends:
            assert app.app.is_running
            await app.pilot.press(key)
        await app.until(lambda: not app.app.is_running)


async def test_ctrl_c_with_another_key_between_does_not_leave(home: Path) -> None:
    async with opened(home) as app:
        await app.press("ctrl+c")
        assert "ctrl+c" in app.notices
        await app.press("down", "ctrl+c")
        assert app.app.is_running


async def test_facts_brought_back_one_after_the_other_leave_the_focus_in_results(home: Path) -> None:
    memory = Memory.open(home)
    for note in memory.snapshot.notes:
        if note.is_fact:
            memory.change("hid", partial(hide_note, id=note.id))
    memory.close()
    async with opened(home) as app:
        await app.press("slash", *"is:hidden nugget:project")
        await app.until(lambda: app.main.notes_pane.count == 3)
        await app.press("enter", "home")
        for left in (2, 1, 0):
            under_cursor = app.main.selection.under_cursor
            assert app.view.note_id == under_cursor
            await app.press("x")
            await app.until(lambda left=left: app.main.notes_pane.count == left)  # type: ignore[misc]
            await app.until(lambda: not app.main.running("change"))
            await app.pilot.pause()
            assert not app.view.snapshot.by_id[under_cursor].hidden
            assert focus(app) == "notes"
        assert not any(note.hidden for note in app.view.snapshot.notes)


async def at_the_row(app: Driver) -> None:
    """The cursor stands in Notes, on the note that Note shows: what a key acts on is what one reads."""
    await app.until(lambda: focus(app) == "notes" and app.view.note_id == app.main.selection.under_cursor)


async def test_esc_leaves_facts_for_the_row_of_notes_that_one_came_from(home: Path) -> None:
    async with opened(home) as app:
        await app.press("2", "j", "1", "j")
        assert focus(app) == "facts"
        await app.press("escape")
        await at_the_row(app)
        assert app.main.notes_pane.cursor == 1


@pytest.mark.parametrize("keys", [("escape",), ("enter",), ("enter", "j")])
async def test_after_a_search_one_is_back_on_a_row_of_notes(home: Path, keys: tuple[str, ...]) -> None:
    async with opened(home) as app:
        await app.press("2", "j")
        was = app.view.note_id
        await app.press("slash", *"command")
        await app.until(lambda: app.view.found is not None and bool(app.view.found.hits))
        assert app.view.note is not None
        assert app.view.note.is_fact
        await app.press(*keys, "escape")
        await app.until(lambda: app.view.found is None)
        await at_the_row(app)
        assert app.view.note_id == was


async def test_back_from_the_past_the_note_shown_is_that_of_the_row(tmp_path: Path) -> None:
    write_demo(tmp_path / "demo")
    async with opened(tmp_path / "demo", clock=lambda: DEMO_NOW) as app:
        await app.press("slash", *"auth")
        await app.until(lambda: app.view.found is not None and app.view.found.recall is not None)
        await app.press("down")
        await app.until(lambda: app.view.note is not None and app.view.note.is_fact)
        await app.press("T")
        await app.until(lambda: app.view.past is not None)
        await app.press("left", "6", "escape", "escape", "escape")
        await app.until(lambda: app.view.past is None and app.view.found is None)
        await at_the_row(app)
