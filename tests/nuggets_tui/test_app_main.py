"""The main screen: what stands on it, how one moves, and how it follows the files."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, WIDE, agent_on, opened
from kits.memory_files import tree

from core.graph.edits import create_note, edit_note
from core.memory import Memory
from nuggets_tui.widgets.facts import FactsPane
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.panes import PANES, Panes

pytestmark = pytest.mark.usefixtures("bound_keys")

_NUMBERED = list(enumerate(PANES, 1))


@pytest.mark.slow
async def test_opening_and_closing_leaves_every_byte_as_it_was(store: Path) -> None:
    before = tree(store)
    async with opened(store) as app:
        await app.press("slash", "t", "e", "s", "t")
        await app.until(lambda: app.view.found is not None)
        await app.press("escape", "escape", "down", "down", "enter", "1", "down", "5", "6", "v", "s")
    assert tree(store) == before


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW, (170, 50)])
@pytest.mark.parametrize(("number", "pane"), _NUMBERED)
async def test_number_keys_reach_every_pane_at_every_size(
    home: Path, size: tuple[int, int], number: int, pane: str
) -> None:
    async with opened(home, size) as app:
        await app.until(lambda: type(app.main.query_one("#graph")).__name__ == "GraphPane")
        await app.press(str(number))
        focused = app.main.focused
        assert focused is not None
        assert focused.id == pane
        region = focused.region
        assert region.width > 10
        assert region.height > 2
        assert app.app.screen.region.contains_region(region)


@pytest.mark.slow
async def test_the_tab_key_goes_round_all_panes_when_one_is_shown_at_a_time(home: Path) -> None:
    async with opened(home, NARROW) as app:
        await app.until(lambda: type(app.main.query_one("#graph")).__name__ == "GraphPane")
        seen = []
        for _ in range(len(PANES) + 1):
            await app.press("tab")
            assert app.main.focused is not None
            seen.append(app.main.focused.id)
        assert set(seen) == {"search", *PANES}


@pytest.mark.slow
async def test_moving_in_notes_shows_each_note(home: Path) -> None:
    async with opened(home) as app:
        first = app.view.note_id
        await app.press("down")
        second = app.view.note_id
        await app.press("j")
        assert len({first, second, app.view.note_id}) == 3
        await app.press("k")
        assert app.view.note_id == second


@pytest.mark.slow
async def test_moving_in_facts_shows_the_note_of_the_fact(home: Path) -> None:
    async with opened(home) as app:
        await app.press("1")
        assert app.view.note is not None
        assert app.view.note.title == "test command"
        await app.press("down")
        assert app.view.note.title == "deploy command"


@pytest.mark.slow
async def test_following_a_neighbour_and_going_back(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Auth middleware")
        await app.press("4")
        await app.press("enter")
        assert app.view.note is not None
        assert app.view.note.title == "JWT token format"
        await app.press("backspace")
        assert app.view.note.title == "Auth middleware"


@pytest.mark.slow
async def test_enter_on_a_note_opens_its_text_and_backspace_comes_back(home: Path) -> None:
    async with opened(home, NARROW) as app:
        await app.press("enter")
        assert app.main.focused is not None
        assert app.main.focused.id == "note"
        assert app.view.note is not None
        assert app.view.note.content.split("`")[0][:10] in app.text


@pytest.mark.slow
async def test_letters_never_act_while_the_search_box_has_the_cursor(home: Path) -> None:
    async with opened(home) as app:
        before = app.main.session.snapshot
        await app.press("slash", *"xXqurlmPynft123")
        assert app.app.screen is app.main
        assert app.main.session.snapshot is before
        assert app.app.is_running
        assert app.main.query_one("#search").value == "xXqurlmPynft123"  # type: ignore[attr-defined]


@pytest.mark.slow
async def test_hidden_notes_come_and_go_and_are_marked(home: Path) -> None:
    async with opened(home) as app:
        await app.press("v")
        assert "⊘ Old scratch" in app.text
        assert "with hidden" in app.text
        await app.press("v")
        assert "Old scratch" not in app.text


@pytest.mark.slow
async def test_a_pane_can_be_maximised_and_brought_back(home: Path) -> None:
    async with opened(home) as app:
        await app.press("2", "z")
        panes = app.main.query_one(Panes)
        assert panes.zoomed
        assert app.main.query_one(NotesPane).region.width == WIDE[0]
        await app.press("3")
        assert app.main.query_one("#note").region.width == WIDE[0]
        await app.press("z")
        assert app.main.query_one(NotesPane).region.width < WIDE[0]


@pytest.mark.slow
async def test_another_programs_note_appears_by_itself_and_the_cursor_stays(home: Path) -> None:
    async with opened(home) as app:
        await app.press("down")
        chosen = app.view.note_id
        other = agent_on(home)
        other.change(
            "from elsewhere", lambda draft: create_note(draft, "project", "Written elsewhere", "New.")
        )
        await app.until(lambda: "Written elsewhere" in app.text, "live reload")
        assert app.view.note_id == chosen
        row = app.main.query_one(NotesPane).cursor_row
        assert row is not None
        assert row.key == chosen
        assert any("•" in line for line in app.text.splitlines() if "Written elsewhere" in line)
        await app.until(lambda: "claude added Written" in app.text, "the header")


@pytest.mark.slow
async def test_another_programs_fact_appears_and_the_note_shown_follows_an_edit(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        note_id = app.view.note_id
        other = Memory.open(home)
        other.change("edited", lambda draft: edit_note(draft, note_id, content="Now it is valkey."))
        await app.until(lambda: "Now it is valkey." in app.text)
        assert app.view.note_id == note_id


@pytest.mark.slow
async def test_a_note_deleted_elsewhere_leaves_no_broken_pane(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        gone = app.view.note_id
        (home / "graph" / "graph.json").write_text('{"version": 3, "notes": []}\n')
        await app.until(lambda: gone not in app.view.snapshot.by_id)
        await app.until(lambda: app.view.note is None, "no note")
        assert app.app.is_running


@pytest.mark.slow
async def test_a_file_that_breaks_leaves_the_last_good_state_and_says_so(home: Path) -> None:
    graph = home / "graph" / "graph.json"
    good = graph.read_bytes()
    async with opened(home) as app:
        graph.write_bytes(good[: len(good) // 2])
        await app.until(lambda: app.view.trouble, "noticed")
        assert "Auth middleware" in app.text
        await app.until(lambda: "cannot be read now" in app.text)
        await app.until(lambda: "graph.json" in app.notices)
        graph.write_bytes(good)
        await app.until(lambda: not app.view.trouble, "mended")
        assert "● live" in app.text


@pytest.mark.slow
async def test_a_broken_file_at_the_start_shows_a_calm_page_and_opens_once_mended(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nuggets_tui.controllers.opening._RETRY", 0.1)
    graph = home / "graph" / "graph.json"
    good = graph.read_bytes()
    graph.write_bytes(b"{ not json")
    async with opened(home) as app:
        await app.until(lambda: "cannot be opened" in app.text)
        shown = app.main.query_one("#message", LineView).text
        assert "graph.json" in shown.replace("\n", "")
        assert "Safe" in shown
        assert graph.read_bytes() == b"{ not json"
        await app.press("e", "x", "slash", "r")
        assert app.app.is_running
        graph.write_bytes(good)
        await app.until(lambda: "Auth middleware" in app.text, "opened by itself")


@pytest.mark.slow
async def test_a_missing_folder_shows_how_to_begin_and_writes_nothing(tmp_path: Path) -> None:
    home = tmp_path / "none"
    async with opened(home) as app:
        await app.until(lambda: "There is no such folder" in app.text)
        assert str(home)[-20:] in app.text
        await app.press("slash", "escape")
        await app.press("e", "x", "v")
    assert not home.exists()


@pytest.mark.slow
async def test_the_demo_opens_from_the_welcome_and_its_copy_goes_afterwards(tmp_path: Path) -> None:
    async with opened(tmp_path / "none") as app:
        await app.until(lambda: "There is no such folder" in app.text)
        await app.press("d")
        await app.until(lambda: app.view.loaded and app.view.snapshot.fact_count > 100, "the demo")
        copy = Path(app.view.home)
        assert copy.exists()
        await app.until(lambda: str(copy) in app.notices)
        assert app.main.query_one(FactsPane).count > 100
    assert not copy.exists()


@pytest.mark.slow
async def test_a_large_memory_shows_its_newest_notes_before_it_is_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nuggets_tui.application import NuggetsApp
    from nuggets_tui.opening import Opening, quick_scan

    scan = quick_scan(home, at_least=0)
    assert scan is not None
    opening = Opening(home)
    opening.quick_scan.set_result(scan)
    app = NuggetsApp(opening)
    async with app.run_test(size=WIDE) as pilot:
        from kits.app_kit import Driver

        driver = Driver(app, pilot)
        await driver.until(lambda: "Auth middleware" in driver.text)
        assert "6 notes · 1 hidden" in driver.text
        await driver.press("e", "x")
        assert app.screen is driver.main
        assert opening.frame_shown.is_set()
        opening.open()
        await driver.until(lambda: driver.view.loaded)
        await driver.until(lambda: "RS256" in driver.text or "recalled" in driver.text)
        # The keys waited; an app that ends while their dialog opens is another test's.
        await driver.until(lambda: len(app.screen_stack) == 2)
        await pilot.pause()


@pytest.mark.slow
async def test_the_mouse_alone_reaches_panes_rows_and_commands(home: Path) -> None:
    async with opened(home) as app:
        notes = app.main.query_one(NotesPane)
        await app.pilot.click(NotesPane, offset=(6, 4))
        assert notes.cursor == 3
        assert app.view.note_id == notes.row(3).key
        await app.pilot.click("#neighbours", offset=(3, 1))
        assert app.main.focused is app.main.query_one("#neighbours")
        bar = app.main.query_one("#keys").render()
        place = str(bar).index("help")
        await app.pilot.click("#keys", offset=(place, 0))
        await app.until(lambda: "Keys, words and signs" in app.text)


@pytest.mark.slow
async def test_a_resize_keeps_the_cursor_on_a_pane_that_is_shown(home: Path) -> None:
    async with opened(home) as app:
        await app.press("4")
        await app.pilot.resize_terminal(*NARROW)
        await app.pilot.pause()
        assert app.main.focused is not None
        assert app.main.focused.id == "neighbours"
        assert app.main.focused.region.width > 50
        await app.pilot.resize_terminal(*WIDE)
        await app.pilot.pause()
        assert app.main.focused.id == "neighbours"
        assert all(app.main.query_one(f"#{pane}").display for pane in PANES if pane != "graph")
