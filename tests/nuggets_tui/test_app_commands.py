"""What the commands do to the memory, each from its key."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.app_kit import opened
from textual.events import Key
from textual.widgets import Input

from core.graph.edits import create_note
from core.memory import Memory
from core.model.note import Note
from nuggets_tui.palette import Palette
from nuggets_tui.screens.dialog import ConfirmScreen, LinesScreen
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.screens.forms import FormScreen
from nuggets_tui.screens.picker import PickerScreen
from nuggets_tui.widgets.facts import FactsPane, fact_key
from nuggets_tui.widgets.notes import NotesPane

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


def stored(home: Path, title: str) -> Note:
    """A note as it stands in the files."""
    return next(note for note in Memory.open(home).snapshot.notes if note.title == title)


async def test_x_hides_and_brings_back_a_fact_whole(home: Path) -> None:
    async with opened(home) as app:
        await app.press("1")
        await app.press("x")
        await app.until(lambda: stored(home, "test command").hidden)
        assert Memory.open(home).snapshot.fact_count == 1
        await app.until(lambda: 'Hid "test command"' in app.notices)
        await app.press("3")
        await app.show("test command")
        await app.press("x")
        await app.until(lambda: not stored(home, "test command").hidden)
        facts = Memory.open(home).snapshot.by_name["project"].facts
        assert [fact.key for fact in facts] == ["test command", "deploy command"]


async def test_after_a_deletion_the_note_under_the_cursor_is_shown(home: Path) -> None:
    async with opened(home) as app:
        await app.press("2")
        gone = app.view.note_id
        await app.press("X")
        await app.screen(ConfirmScreen)
        await app.press("y")
        await app.back_on_main()
        await app.until(lambda: app.view.note_id not in ("", gone))


async def test_e_edits_title_text_and_tags_and_saves(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("e")
        editor = await app.screen(EditorScreen)
        app.fill("#title", "Session cache")
        app.fill("#tags", "redis, cache")
        editor.query_one("#text").text = "Redis, one hour.\n\nThen gone."  # type: ignore[attr-defined]
        await app.press("ctrl+s")
        await app.back_on_main()
        note = stored(home, "Session cache")
        assert note.content == "Redis, one hour.\n\nThen gone."
        assert {"redis", "cache"} <= set(note.tags)
        assert "Session cache" in app.text


async def test_a_wrong_value_keeps_the_editor_open_with_everything_in_it(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("e")
        editor = await app.screen(EditorScreen)
        editor.query_one("#text").text = "Much typed text"  # type: ignore[attr-defined]
        app.fill("#confidence", "much")
        await app.press("ctrl+s")
        await app.until(lambda: "number from 0 to 1" in app.notices)
        assert app.app.screen is editor
        assert editor.values["text"] == "Much typed text"


async def test_a_title_that_is_another_facts_key_is_no_other_programs_doing(home: Path) -> None:
    async with opened(home) as app:
        await app.show("test command")
        await app.press("e")
        editor = await app.screen(EditorScreen)
        app.fill("#title", "deploy command")
        await app.press("ctrl+s")
        await app.until(lambda: "already has a fact" in app.notices)
        assert app.app.screen is editor


async def test_esc_in_the_editor_asks_only_when_something_changed(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("e")
        await app.screen(EditorScreen)
        await app.press("escape")
        await app.back_on_main()
        await app.press("e")
        editor = await app.screen(EditorScreen)
        app.fill("#title", "Half done")
        await app.press("escape")
        await app.screen(ConfirmScreen)
        await app.press("n")
        await app.until(lambda: app.app.screen is editor)
        assert editor.values["title"] == "Half done"
        await app.press("escape")
        await app.screen(ConfirmScreen)
        await app.press("y")
        await app.back_on_main()
        assert stored(home, "Session store")


async def test_n_writes_a_new_note_and_shows_it(home: Path) -> None:
    async with opened(home) as app:
        await app.press("n")
        editor = await app.screen(EditorScreen)
        await app.press(*"Brand new")
        editor.query_one("#text").text = "With a text."  # type: ignore[attr-defined]
        await app.press("ctrl+s")
        await app.back_on_main()
        assert stored(home, "Brand new").content == "With a text."
        assert app.view.note is not None
        assert app.view.note.title == "Brand new"
        row = app.main.query_one(NotesPane).cursor_row
        assert row is not None
        assert row.key == app.view.note_id


async def test_f_shows_the_new_fact_and_its_row(home: Path) -> None:
    async with opened(home) as app:
        await app.press("1", "f")
        await app.screen(FormScreen)
        app.fill("#key", "lint command")
        app.fill("#value", "ruff check")
        await app.press("ctrl+s")
        await app.back_on_main()
        assert app.view.note is not None
        assert app.view.note.title == "lint command"
        row = app.main.query_one(FactsPane).cursor_row
        assert row is not None
        assert row.key == fact_key("project", "lint command")


async def test_t_changes_the_tags(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("t")
        await app.screen(FormScreen)
        app.fill("#tags", "redis  Hot Path")
        await app.press("enter")
        await app.back_on_main()
        tags = stored(home, "Session store").tags
        assert {"redis", "hot", "path", "project"} <= set(tags)


async def test_capital_x_deletes_only_after_a_yes_and_u_brings_it_back(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("X")
        await app.screen(ConfirmScreen)
        await app.press("enter")
        await app.back_on_main()
        assert stored(home, "Session store")
        await app.press("X")
        await app.screen(ConfirmScreen)
        await app.press("y")
        await app.back_on_main()
        await app.until(lambda: len(Memory.open(home).snapshot.notes) == 6)
        await app.press("u")
        await app.until(lambda: len(Memory.open(home).snapshot.notes) == 7)


async def test_l_links_to_a_note_chosen_by_its_words(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("l")
        picker = await app.screen(PickerScreen)
        await app.press(*"deploy day")
        await app.until(lambda: "Deploy day" in app.text)
        choices = picker.query_one("#choices")
        await app.until(lambda: choices.cursor_row is not None and choices.count >= 1)  # type: ignore[attr-defined]
        await app.press("enter")
        reason = picker.query_one("#reason", Input)
        assert reason.has_focus
        assert reason.selected_text == "related"
        await app.press(*"both on Tuesday", "enter")
        await app.back_on_main()
        await app.until(lambda: stored(home, "Session store").links)
        (link,) = stored(home, "Session store").links
        assert link.to == stored(home, "Deploy day").id
        assert link.reason == "both on Tuesday"
        assert stored(home, "Deploy day").links[0].to == stored(home, "Session store").id


async def test_a_suggested_link_is_made_with_one_key(home: Path) -> None:
    memory = Memory.open(home)
    memory.change(
        "near", lambda draft: create_note(draft, "project", "Redis sessions", "Redis holds many sessions.")
    )
    async with opened(home) as app:
        await app.show("Session store")
        await app.until(lambda: app.view.suggested, "a suggestion")
        await app.press("plus")
        assert not stored(home, "Session store").links
        await app.press("4", "plus")
        await app.until(lambda: stored(home, "Session store").links)
        assert stored(home, "Session store").links[0].to == stored(home, "Redis sessions").id


async def test_enter_on_a_fact_shows_its_recall_and_counts_nothing(home: Path) -> None:
    async with opened(home) as app:
        await app.press("1", "enter")
        await app.screen(LinesScreen)
        await app.until(lambda: "certainty" in app.text)
        assert "pytest -q" in app.text
        await app.press("escape")
        await app.back_on_main()
    assert Memory.open(home).snapshot.by_name["project"].facts[0].hits == 0


async def test_an_editor_outside_changes_the_text(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nprintf "Changed outside.\\n" > "$1"\n')
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("EDITOR", str(script))
    monkeypatch.setattr("textual.app.App.suspend", _no_suspending)
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("E")
        await app.until(lambda: stored(home, "Session store").content == "Changed outside.")


@pytest.mark.parametrize("command", ["no-such-editor-here -w", "'unclosed"])
async def test_an_editor_that_is_not_there_never_gets_the_terminal(
    home: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def suspend(app: object) -> object:
        raise AssertionError("the terminal was handed over")

    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", command)
    monkeypatch.setattr("textual.app.App.suspend", suspend)
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("E")
        await app.until(lambda: "note is as it was" in app.notices)
        assert "or press e" in app.notices


async def test_an_editor_that_does_not_start_gives_the_terminal_back(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "editor"
    program.write_bytes(b"#!/no/such/interpreter\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    resumed = []

    @contextlib.contextmanager
    def suspend(app: object) -> Iterator[None]:
        # As Textual does it: without a `finally`.
        yield
        resumed.append(True)

    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(program))
    monkeypatch.setattr("textual.app.App.suspend", suspend)
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("E")
        await app.until(lambda: "did not start" in app.notices)
        assert resumed


async def test_every_command_can_be_reached_from_the_palette(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("ctrl+p")
        await app.until(lambda: isinstance(app.app.screen, Palette))
        await app.press(*"Show hidden")
        await app.until(lambda: "Show hidden notes" in app.text)
        await app.press("enter", "enter")
        await app.until(lambda: app.view.show_hidden)


async def test_read_only_files_are_a_notice(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.errors import StorageError

    def refuse(*args: object, **settings: object) -> None:
        raise StorageError(
            "the disk is full", where="graph.json", kept="nothing was written", todo="make room"
        )

    async with opened(home) as app:
        monkeypatch.setattr("core.storage.store.Store.apply", refuse)
        await app.show("Session store")
        await app.press("x")
        await app.until(lambda: "disk is full" in app.notices)
        assert "Nothing was written" in app.notices
        assert "Make room" in app.notices


async def test_a_text_that_is_in_the_log_and_not_yet_in_the_files_is_not_to_be_saved_twice(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.errors import UnfinishedError

    def refuse(*args: object, **settings: object) -> None:
        raise UnfinishedError(
            "the disk is full", where="graph.json", kept="it will be finished at the next opening"
        )

    async with opened(home) as app:
        await app.press("n")
        await app.screen(EditorScreen)
        app.fill("#title", "Half written")
        monkeypatch.setattr("core.storage.store.Store.apply", refuse)
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "disk is full" in app.notices)
        assert "will be finished" in app.notices


async def test_leaving_asks_first_when_typed_text_would_be_lost(home: Path) -> None:
    async with opened(home) as app:
        await app.press("n")
        await app.screen(EditorScreen)
        app.fill("#title", "Half done")
        await app.press("ctrl+q")
        await app.screen(ConfirmScreen)
        assert app.app.is_running
        await app.press("n")
        await app.screen(EditorScreen)


def _no_suspending(self: object) -> object:
    return contextlib.nullcontext()


async def test_what_is_hidden_from_the_list_gives_way_to_the_next_so_that_x_again_hides_that(
    home: Path,
) -> None:
    async with opened(home) as app:
        notes = app.main.query_one(NotesPane)
        before = app.view.counts[0]
        titles = [note.title for note in notes.in_order(notes._listing.ids)]
        await app.press("2", "home")
        # Fast as a paste: no key waits for the screen.
        for _ in range(3):
            app.app.post_message(Key("x", "x"))
        await app.until(lambda: app.view.counts[0] == before - 3, "three hidden")
        await app.until(lambda: notes.cursor_row is not None and app.view.note_id == notes.cursor_row.data)
        assert app.view.note is not None
        assert {note.title for note in app.view.snapshot.notes if note.hidden} >= set(titles[:3])
        assert app.view.note.title == titles[3]
        await app.press("u")
        await app.until(lambda: app.view.counts[0] == before - 2, "the last one is back")

        await app.press("2", "home")
        kept = app.view.note
        app.app.post_message(Key("down", None))
        app.app.post_message(Key("x", "x"))
        await app.until(lambda: app.view.counts[0] == before - 3, "the next one hidden")
        assert kept is not None
        assert not app.view.snapshot.by_id[kept.id].hidden

        await app.press("slash")
        app.fill("#search", "session deploy token")
        await app.until(lambda: app.view.found is not None and len(app.view.found.hits) > 1)
        await app.press("enter")
        visible = app.view.counts[0]
        for _ in range(2):
            app.app.post_message(Key("x", "x"))
        await app.until(lambda: app.view.counts[0] == visible - 2, "two hits hidden")
