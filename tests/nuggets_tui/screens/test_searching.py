"""Searching as one types: hits, the answer of a recall, filters, and the way in and out of the field."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kits.app_kit import Driver, opened
from textual.events import Paste

from core.facts.recall import Recall
from core.graph.edits import create_note, hide_note
from core.memory import Memory
from core.model.draft import Draft
from core.search.signals import Ranked, Signal, Signals, waits
from core.services.search import Search
from nuggets_tui.screens.dialog import ChoiceScreen
from nuggets_tui.widgets.note_view import NotePane
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.search_box import SearchBox

pytestmark = pytest.mark.slow


async def search(app: Driver, text: str) -> None:
    """Types a search and waits for what it finds."""
    await app.press("slash")
    app.fill("#search", text)
    await app.until(lambda: app.view.found is not None and app.view.found.query == text, text)
    await app.pilot.pause()


class Slow:
    """Knows of a note that it answers, and takes a moment to say so."""

    def __init__(self, note_id: str) -> None:
        self.note_id = note_id

    def signals(self, text: str, ranked: Sequence[Ranked]) -> Signals:
        if not waits(False):
            return Signals({}, more=True)
        return Signals({self.note_id: (Signal("embedding", "0.80", at_least=0.9, likelihood=0.9),)})


async def test_hits_come_at_once_and_what_takes_a_moment_to_find_out_comes_after_them(home: Path) -> None:
    async with opened(home) as app:
        note = app.view.snapshot.notes[0]
        app.main.session.memory.search.signals = Slow(note.id)
        await search(app, "qwertyuiop")
        assert app.view.found is not None
        await app.until(lambda: app.view.found is not None and bool(app.view.found.hits), "the note")
        assert [hit.note.id for hit in app.view.found.hits] == [note.id]
        assert not app.view.found.more


async def test_the_first_row_is_what_an_agent_would_be_answered_and_nothing_is_counted(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "test command")
        await app.until(lambda: app.view.found is not None and app.view.found.recall is not None)
        assert "recall" in app.text
        assert "sure" in app.text
        assert app.main.query_one(NotesPane).row(0).key == "recall"
    assert all(note.hits == 0 for note in Memory.open(home).snapshot.notes)


async def test_down_goes_to_the_first_hit_and_escape_leaves_and_clears(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "jwt")
        await app.press("down")
        assert app.main.focused is app.main.query_one(NotesPane)
        await app.press("slash", "escape")
        assert app.main.focused is app.main.query_one(NotesPane)
        assert app.view.found is not None
        await app.press("escape")
        assert app.view.found is None
        assert "Auth middleware" in app.text


async def test_searching_brings_the_hits_into_sight_where_one_pane_fills_the_screen(home: Path) -> None:
    async with opened(home) as app:
        await app.press("g")
        await search(app, "jwt tokens")
        assert app.main.query_one(NotesPane).display
        await app.press("escape", "escape", "escape")
        assert app.view.found is None
        assert app.main.query_one("#facts").display


@pytest.mark.parametrize("title", ["needle 3", "needle 60", "needle 119"])
async def test_the_cursor_is_in_sight_after_the_search_is_cleared(tmp_path: Path, title: str) -> None:
    def fill(draft: Draft) -> None:
        for number in range(120):
            create_note(draft, "project", f"needle {number}", f"text {number}")

    Memory.open(tmp_path / "many").change("filled", fill)
    async with opened(tmp_path / "many") as app:
        notes = app.main.query_one(NotesPane)
        for typed in (title, "needle"):
            await search(app, typed)
            await app.press("down", *["down"] * (30 if typed == "needle" else 0), "escape")
            await app.until(lambda: app.view.found is None)
            await app.pilot.pause()
            await app.pilot.pause()
            assert notes.cursor_row is not None
            assert notes.cursor_row.key == app.view.note_id
            top = notes.scroll_offset.y
            assert top <= notes.cursor < top + notes.scrollable_content_region.height


async def test_results_follow_the_files(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "redis")
        await app.press("down")
        await app.press("x")
        await app.until(lambda: app.view.found is not None and not app.view.found.hits, "the hit is gone")


async def test_stale_searches_are_dropped(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    gate = threading.Event()
    real = Search.result

    def slow(self: Search, text: str, *rest: Any, **named: Any) -> Any:
        begun.append(text)
        gate.wait(10)
        return real(self, text, *rest, **named)

    async with opened(home) as app:
        await app.until(lambda: type(app.main.query_one("#graph")).__name__ == "GraphPane")
        monkeypatch.setattr(Search, "result", slow)
        await app.press("slash")
        for text in ("j", "jw", "jwt"):
            app.fill("#search", text)
            await app.pilot.pause()
        gate.set()
        await app.until(lambda: app.view.found is not None and app.view.found.query == "jwt")
        assert "jw" not in begun
        assert begun[-1] == "jwt"


async def test_an_answer_that_comes_late_is_the_first_row_for_whoever_types(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(home) as app:
        await search(app, "warm up")
        late = threading.Event()
        recall = Memory.recall

        def recalled_late(*asked: Any, **more: Any) -> Recall:
            assert late.wait(10)
            return recall(*asked, **more)

        monkeypatch.setattr(Memory, "recall", recalled_late)
        await app.press("slash")
        app.main.query_one(SearchBox).value = "test command"
        await app.until(
            lambda: app.view.found is not None and app.view.found.hits and not app.view.found.recall
        )
        late.set()
        await app.until(lambda: app.view.found is not None and app.view.found.recall is not None)
        notes = app.main.query_one(NotesPane)
        await app.until(lambda: notes.row(0).key == "recall")
        assert notes.cursor == 0


async def test_searching_once_more_leaves_the_answer_and_the_cursor_on_it_until_the_next_answer(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(home) as app:
        await search(app, "test command")
        await app.until(lambda: app.view.found is not None and app.view.found.recall is not None)
        await app.press("enter")
        first, late, recall = app.view.found, threading.Event(), Memory.recall

        def recalled_late(*asked: Any, **more: Any) -> Recall:
            assert late.wait(10)
            return recall(*asked, **more)

        monkeypatch.setattr(Memory, "recall", recalled_late)
        app.main.search.again()
        await app.until(lambda: app.view.found is not first)
        notes = app.main.query_one(NotesPane)
        assert (notes.cursor, notes.row(0).key) == (0, "recall")
        late.set()
        await app.until(lambda: not any(worker.group == "search" for worker in app.app.workers))
        assert (notes.cursor, notes.row(0).key) == (0, "recall")


async def test_an_answer_that_is_not_asked_for_is_not_shown(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "test command is:fact")
        await app.until(lambda: app.view.found is not None and app.view.found.recall is not None)
        await search(app, "test command -pytest")
        await app.pilot.pause(0.1)
        assert app.view.found is not None
        assert app.view.found.recall is None


async def test_offers_are_shown_and_taken_with_tab(home: Path) -> None:
    async with opened(home) as app:
        box = app.main.query_one(SearchBox)
        await app.press("slash", *"token tag", "colon")
        await app.until(lambda: box.suggestion == "token tag:auth", "an offer")
        await app.pilot.pause()
        assert "tab auth 2 notes" in app.text
        assert "redis" in app.text.splitlines()[1]
        await app.press("up")
        assert box.suggestion == "token tag:redis"
        await app.press("tab")
        assert box.value == "token tag:redis"
        await app.until(lambda: "words: token · tag redis" in app.text)


async def test_tab_goes_to_the_next_pane_when_nothing_is_offered(home: Path) -> None:
    async with opened(home) as app:
        await search(app, "redis")
        assert app.main.focused is app.main.query_one(SearchBox)
        await app.press("tab")
        assert app.main.focused is not app.main.query_one(SearchBox)
        assert app.main.query_one(SearchBox).value == "redis"


@pytest.mark.parametrize("way", ["terminal", "clipboard"])
async def test_a_paste_becomes_one_line_cut_to_the_room_that_is_left(home: Path, way: str) -> None:
    async with opened(home) as app:
        await app.press("slash", "x", "y", "left")
        box = app.main.query_one(SearchBox)

        async def paste(text: str) -> None:
            app.app.copy_to_clipboard(text)
            if way == "terminal":
                box.post_message(Paste(text))
            else:
                box.action_paste()
            await app.pilot.pause()

        await paste("jwt\r\ntoken\tauth\rlast\n")
        assert box.value == "xjwt token auth lasty"
        assert not app.notices
        await paste("z" * 600)
        assert box.value == "xjwt token auth last" + "z" * 479 + "y"
        assert "121 pasted characters were cut" in app.notices
        await paste("more")
        assert len(box.value) == 500


async def test_in_the_empty_box_up_brings_back_what_was_searched_before(home: Path) -> None:
    async with opened(home) as app:
        box = app.main.query_one(SearchBox)
        for text in ("auth", "jwt tokens"):
            await app.press("slash")
            box.value = text
            await app.press("enter", "escape")
            await app.until(lambda: not box.value)
        await app.press("slash", "up")
        assert box.value == "jwt tokens"
        await app.press("up")
        assert box.value == "auth"
        await app.press("up")
        assert box.value == "auth"
        await app.press("x")
        assert box.value == "authx"


async def test_a_click_on_a_tag_lists_the_notes_that_have_it(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.until(lambda: "redis\n" in app.main.query_one(NotePane).text)
        pane = app.main.query_one(NotePane)
        line = next(y for y, one in enumerate(pane.text.splitlines()) if one.strip() == "redis")
        await app.pilot.click(NotePane, offset=(4, line + 1))
        await app.until(lambda: app.view.found is not None and app.view.found.query == "tag:redis")
        assert [hit.note.title for hit in app.view.found.hits] == ["Session store"]
        assert app.main.focused is app.main.notes_pane


async def test_the_palette_lists_the_notes_with_a_tag_and_asks_which_of_several(home: Path) -> None:
    with_two = partial(create_note, nugget="project", title="Two", content="x", tags=["auth", "two words"])
    Memory.open(home).change("tags", with_two)
    async with opened(home) as app:
        await app.show("Two")
        await app.main.run_action("command('same_tag')")
        await app.screen(ChoiceScreen)
        await app.press("down", "enter")
        await app.back_on_main()
        await app.until(lambda: app.view.found is not None and app.view.found.hits)
        assert "Two" in {hit.note.title for hit in app.view.found.hits}
        await app.show("Deploy day")
        await app.main.run_action("command('same_tag')")
        await app.until(lambda: app.view.found is not None and app.view.found.query == "tag:release")


async def test_a_note_that_leaves_the_results_leaves_note_and_cursor_on_the_same_row(home: Path) -> None:
    for title in ("Hidden one", "Hidden two"):
        memory = Memory.open(home)
        note, _ = memory.change("w", partial(create_note, nugget="project", title=title, content="x"))
        memory.change("h", partial(hide_note, id=note.id))
    async with opened(home) as app:
        await search(app, "is:hidden")
        await app.press("enter", "x")
        await app.until(lambda: len(app.view.found.hits) == 2)
        await app.until(lambda: app.main.notes_pane.cursor_row.data == app.view.note_id)
        assert app.view.note.hidden
        await app.press("x")
        await app.until(lambda: len(app.view.found.hits) == 1)
        await app.until(lambda: app.main.notes_pane.cursor_row.data == app.view.note_id)
        await app.press("x")
        await app.until(lambda: app.view.found.nothing)
        await app.until(lambda: not app.view.note_id)
