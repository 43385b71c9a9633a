"""The time slider: the memory as it was, read only, compared with now, brought back; and now again as it was left."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from kits.app_kit import NARROW, NOW, WIDE, Driver, agent_on, opened
from textual.widgets import Input

from core.graph.edits import create_note, delete_note, edit_note
from core.memory import Memory
from core.model.change import Author
from nuggets_tui.screens.dialog import AskScreen
from nuggets_tui.screens.entry import CompareScreen, EntryScreen
from nuggets_tui.screens.review import ReviewScreen
from nuggets_tui.view import Past
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.widgets.time_line import TimeLine

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


def later(home: Path, days: float = 1.0) -> Memory:
    """The memory as an agent has it open, who writes later and later."""
    numbers, moments = itertools.count(0x500), itertools.count(1)

    def clock() -> datetime:
        return NOW + timedelta(days=days * next(moments))

    return Memory.open(
        home, author=Author("agent", "claude"), clock=clock, ids=lambda: f"{next(numbers):08x}"
    )


def live(home: Path) -> Memory:
    """Changes on several days: a note added and edited, one edited, one deleted."""
    memory = later(home)
    _, done = memory.change(
        "added", partial(create_note, nugget="project", title="New thing", content="First.")
    )
    memory.change("edited", partial(edit_note, id=done.notes[0].id, content="Second."))
    for title, edit in (
        ("Deploy day", partial(edit_note, content="Deploys go out on Fridays.")),
        ("Session store", delete_note),
    ):
        note = next(note for note in memory.snapshot.notes if note.title == title)
        memory.change(f"changed {title}", partial(edit, id=note.id))
    return memory


def after(days: int) -> Callable[[], datetime]:
    """A clock that stands so many days later."""
    return lambda: NOW + timedelta(days=days)


async def start_time_travel(app: Driver, steps: int = 0) -> None:
    """Begins to look back, and goes so many changes earlier."""
    await app.press("T")
    await app.until(lambda: app.view.past is not None, "the past")
    await app.until(lambda: isinstance(app.main.focused, TimeLine), "the slider")
    for _ in range(steps):
        await app.press("left")
    await app.until(lambda: past(app).changes_after == steps, "the moment")
    await app.pilot.pause()


def past(app: Driver) -> Past:
    """The moment shown."""
    assert app.view.past is not None
    return app.view.past


def shown(app: Driver) -> dict[str, str]:
    """Titles and texts of the notes on screen."""
    return {note.title: note.content for note in app.view.snapshot.notes}


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_the_arrows_go_from_change_to_change_and_esc_comes_back_to_where_one_was(
    home: Path, size: tuple[int, int]
) -> None:
    live(home)
    async with opened(home, size, clock=after(30)) as app:
        await app.press("down", "down")
        notes = app.main.query_one(NotesPane)
        now, note_id, cursor = shown(app), app.view.note_id, notes.cursor_row
        await start_time_travel(app, 1)
        assert "as it was on" in app.text
        assert "read only · 1 change before now" in app.text
        assert "Session store" in shown(app)
        await app.press("left", "left")
        await app.until(lambda: past(app).changes_after == 3)
        assert shown(app)["New thing"] == "First."
        assert "Tuesdays" in shown(app)["Deploy day"]
        await app.press("home")
        await app.until(lambda: past(app).begins)
        assert shown(app) == {}
        assert "before the log began" in app.text
        await app.press("right")
        await app.until(lambda: past(app).changes_after == 4)
        assert "New thing" not in shown(app)
        await app.press("end")
        await app.until(lambda: past(app).position == 0)
        await app.press("escape")
        await app.until(lambda: app.view.past is None)
        await app.pilot.pause()
        assert shown(app) == now
        assert app.view.note_id == note_id
        assert notes.cursor_row == cursor or notes.cursor_row.key == cursor.key  # type: ignore[union-attr]
        assert app.main.focused is notes
        assert not app.main.query(TimeLine)


async def test_what_changes_is_off_in_the_past_and_says_why(home: Path) -> None:
    live(home)
    before = {path: path.read_bytes() for path in home.rglob("*.json")}
    async with opened(home, clock=after(9)) as app:
        await start_time_travel(app, 2)
        await app.press("2")
        for key in ("e", "x", "n", "f", "r", "p", "u", "U", "S", "t", "l", "m", "plus", "X", "E"):
            await app.press(key)
            await app.until(lambda: "the past is read only" in app.notices, key)
            assert app.app.screen is app.main
            app.app.clear_notifications()
            await app.pilot.pause()
        await app.press("1", "enter")
        await app.until(lambda: "only for the present" in app.notices)
        assert past(app).changes_after == 2
    assert {path: path.read_bytes() for path in home.rglob("*.json")} == before


async def test_a_change_from_elsewhere_is_said_and_nothing_jumps(home: Path) -> None:
    live(home)
    async with opened(home, clock=after(9)) as app:
        await start_time_travel(app, 2)
        before = shown(app)
        agent_on(home).change(
            "meanwhile", partial(create_note, nugget="project", title="Meanwhile", content="x")
        )
        await app.until(lambda: past(app).news)
        await app.until(lambda: "memory changed" in app.text)
        assert shown(app) == before
        assert past(app).changes_after == 2
        await app.press("escape")
        await app.until(lambda: "Meanwhile" in shown(app))


async def test_a_search_finds_what_was_there_then(home: Path) -> None:
    live(home)
    async with opened(home, clock=after(9)) as app:
        await start_time_travel(app, 1)
        await app.press("slash", *"redis")
        await app.until(lambda: app.view.found is not None and app.view.found.query == "redis")
        assert app.view.found is not None
        assert [hit.note.title for hit in app.view.found.hits] == ["Session store"]
        await app.press("enter", "escape")
        await app.until(lambda: app.view.found is None)
        await app.press("escape")
        await app.until(lambda: app.view.past is None)
        await app.press("slash", *"redis")
        await app.until(lambda: app.view.found is not None and app.view.found.query == "redis")
        assert app.view.found.hits == ()


async def test_days_are_skipped_and_a_moment_can_be_typed(home: Path) -> None:
    memory = later(home, days=0.25)
    for title in "abcdefgh":
        memory.change(f"added {title}", partial(create_note, nugget="project", title=title, content="x"))
    async with opened(home, clock=after(9)) as app:
        await start_time_travel(app)
        days = []
        for _ in range(2):
            before = past(app).position
            await app.press("shift+left")
            await app.until(lambda before=before: past(app).position != before)  # type: ignore[misc]
            days.append(datetime.fromisoformat(past(app).at).astimezone().date())
        assert days[0] > days[1]
        await app.press("T")
        await app.screen(AskScreen)
        await app.press(*"whenever", "enter")
        await app.until(lambda: 'an\'t read "whenever" as a time' in app.notices)
        made = next(note.created_at for note in memory.snapshot.notes if note.title == "a")
        app.app.screen.query_one(Input).value = (
            datetime.fromisoformat(made) + timedelta(hours=3)
        ).isoformat()
        await app.press("enter")
        await app.back_on_main()
        await app.until(lambda: "a" in shown(app) and "b" not in shown(app))


async def test_a_click_on_the_bar_and_enter_in_the_log_jump_to_a_moment(home: Path) -> None:
    live(home)
    async with opened(home, clock=after(9)) as app:
        await start_time_travel(app, 1)
        line = app.main.query_one(TimeLine)
        await app.pilot.click(TimeLine, offset=(line.size.width // 4, 1))
        await app.until(lambda: past(app).changes_after > 1)
        assert app.app.screen is app.main
        await app.press("6", "home", "enter")
        await app.until(lambda: past(app).changes_after == 0)
        assert "◀ here" in app.text
        await app.press("down", "down", "enter")
        await app.until(lambda: past(app).changes_after == 2)
        assert not isinstance(app.app.screen, EntryScreen)


async def test_comparing_with_now_brings_one_note_back_as_one_entry(home: Path) -> None:
    live(home)
    async with opened(home, clock=after(9)) as app:
        await start_time_travel(app, 3)
        await app.press("c")
        screen = await app.screen(CompareScreen)
        rows = screen.query_one(RowList)
        kinds = [rows.row(index).lines[1].plain for index in range(rows.count)]  # type: ignore[union-attr]
        assert kinds == ["~ changed since: text", "~ changed since: text", "- deleted since"]
        await app.press("end", "b")
        await app.screen(ReviewScreen)
        assert "Session store" in app.text
        await app.press("ctrl+s")
        await app.until(lambda: app.view.past is None and "Session store" in shown(app))
        assert shown(app)["New thing"] == "Second."
        await app.until(lambda: app.view.note is not None and app.view.note.title == "Session store")
        await app.until(lambda: app.log[0].kind == "restore")
        await app.press("u")
        await app.until(lambda: "Session store" not in shown(app))


async def test_going_back_to_all_of_it_is_reviewed_first_and_can_be_undone(home: Path) -> None:
    live(home)
    async with opened(home, clock=after(9)) as app:
        now = shown(app)
        await start_time_travel(app, 4)
        then = shown(app)
        await app.press("B")
        await app.screen(ReviewScreen)
        assert shown(app) == then
        await app.press("escape")
        await app.back_on_main()
        assert past(app).changes_after == 4
        await app.press("B")
        await app.screen(ReviewScreen)
        await app.press("ctrl+s")
        await app.until(lambda: app.view.past is None and shown(app) == then)
        await app.press("u")
        await app.until(lambda: shown(app) == now)


async def test_who_searches_before_the_slider_is_there_goes_on_typing(home: Path) -> None:
    async with opened(home) as app:
        app.main.time_travel.start_time_travel()
        search = app.main.query_one(Input)
        search.focus()
        await app.until(lambda: app.view.past is not None, "the past")
        await app.until(lambda: bool(app.main.query(TimeLine)), "the slider")
        await app.pilot.pause()
        assert app.main.focused is search


async def test_without_a_log_there_is_no_past_and_it_is_said(tmp_path: Path) -> None:
    from kits.memory_files import note_object, write_graph

    write_graph(tmp_path, [note_object(1)])
    async with opened(tmp_path) as app:
        await app.press("T")
        await app.until(lambda: "no past" in app.notices or app.view.past is not None)
        assert app.view.past is None
