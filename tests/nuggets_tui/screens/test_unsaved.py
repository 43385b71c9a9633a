"""What is typed and not saved outlives the app, and goes only when somebody lets it go."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import NARROW, Driver, agent_on, opened

from core.graph.edits import edit_note
from core.memory import Memory
from core.pipeline.service import Pipeline
from core.unsaved import Unsaved, UnsavedTexts
from nuggets_tui.screens.conflict import ConflictScreen
from nuggets_tui.screens.dialog import ConfirmScreen
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.screens.forms import FormScreen
from nuggets_tui.screens.pipeline import PipelineScreen, SubmitScreen
from nuggets_tui.screens.problems import UnsavedScreen
from nuggets_tui.screens.typed import LeaveScreen
from nuggets_tui.widgets.fields import TextField

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

AT = "2026-11-18T11:57:00.000Z"
STORED = "Redis holds sessions for an hour."


def texts_of(home: Path) -> UnsavedTexts:
    found = UnsavedTexts.of(home)
    assert found is not None
    return found


def left_behind(home: Path, *texts: Unsaved) -> None:
    """What an app that crashed leaves."""
    gone = texts_of(home)
    for text in texts:
        gone.keep().write(text)
    gone.close()


def note_of(home: Path, title: str = "Session store") -> str:
    return next(note.id for note in Memory.open(home).snapshot.notes if note.title == title)


def edit_of(home: Path, text: str, begun: str = STORED) -> Unsaved:
    return Unsaved("note", note_of(home), "Session store", {"text": begun}, {"text": text}, AT)


def kept(home: Path) -> list[str]:
    """The texts that lie on disk, whoever owns them."""
    folder = texts_of(home)._files._folder
    return [path.read_text() for path in folder.glob("*.json")]


def content(home: Path, title: str = "Session store") -> str:
    return Memory.open(home).snapshot.note(note_of(home, title)).content


async def offered(app: Driver) -> UnsavedScreen:
    return await app.screen(UnsavedScreen)


async def test_what_a_crash_left_is_offered_and_enter_goes_on_with_it(home: Path) -> None:
    left_behind(home, edit_of(home, "Half a sentence"))
    async with opened(home) as app:
        await offered(app)
        assert 'You were editing "Session store" (3 min ago), unsaved' in app.text
        assert "+ Half a sentence" in app.text
        await app.press("enter")
        editor = await app.screen(EditorScreen)
        assert editor.values["text"] == "Half a sentence"
        assert editor.unsaved
        await app.press("!", "ctrl+s")
        await app.back_on_main()
        assert content(home) == "Half a sentence!"
        await app.until(lambda: not kept(home), "the draft is gone")


async def test_what_another_program_changed_meanwhile_is_a_conflict(home: Path) -> None:
    left_behind(home, edit_of(home, "Mine"))
    note = note_of(home)
    agent_on(home).change("theirs", lambda draft: edit_note(draft, note, content="Theirs"))
    async with opened(home) as app:
        await offered(app)
        await app.press("enter")
        await app.screen(EditorScreen)
        await app.press("ctrl+s")
        screen = await app.screen(ConflictScreen)
        assert screen.result == "Mine"
        assert content(home) == "Theirs"


async def test_letting_go_asks_and_the_rest_stays(home: Path) -> None:
    new = Unsaved("note", "", "Idea", {}, {"title": "Idea", "text": "One"}, "2026-11-18T11:58:00.000Z")
    left_behind(home, edit_of(home, "Two"), new)
    async with opened(home, NARROW) as app:
        await offered(app)
        await app.press("x")
        await app.screen(ConfirmScreen)
        await app.press("enter")
        await offered(app)
        assert len(kept(home)) == 2
        await app.press("x")
        await app.screen(ConfirmScreen)
        await app.press("y")
        await app.until(lambda: len(kept(home)) == 1)
        await offered(app)
        assert "Idea" not in app.text
        await app.press("escape")
        await app.back_on_main()
        assert len(kept(home)) == 1


async def test_the_result_of_a_conflict_is_gone_on_with_in_its_screen(home: Path) -> None:
    left_behind(home, edit_of(home, "Mine"))
    note = note_of(home)
    agent_on(home).change("theirs", lambda draft: edit_note(draft, note, content="Theirs"))
    async with opened(home) as app:
        await offered(app)
        await app.press("enter")
        await app.screen(EditorScreen)
        await app.press("ctrl+s")
        await app.screen(ConflictScreen)
        await app.press("e", *"!", "escape", "escape")
        await app.screen(LeaveScreen)
        await app.press("escape")
        await app.back_on_main()
    async with opened(home) as app:
        await offered(app)
        await app.press("enter")
        screen = await app.screen(ConflictScreen)
        assert screen.result == "Mine!"
        await app.press("ctrl+s")
        await app.back_on_main()
        assert content(home) == "Mine!"
        await app.until(lambda: not kept(home))


async def test_keys_are_on_disk_soon_and_gone_once_they_are_saved_taken_back_or_let_go(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("e")
        editor = await app.screen(EditorScreen)
        await app.press(*"abc")
        await app.until(lambda: kept(home) and "hour.abc" in kept(home)[0], "on disk")
        await app.press("ctrl+z")
        await app.until(lambda: editor.values["text"] == STORED and not kept(home), "taken back")
        await app.press("d")
        await app.until(lambda: kept(home))
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: not kept(home), "saved")
        await app.press("e")
        await app.screen(EditorScreen)
        await app.press("e")
        await app.until(lambda: kept(home))
        await app.press("escape")
        await app.screen(LeaveScreen)
        await app.press("d")
        await app.back_on_main()
        await app.until(lambda: not kept(home), "let go")


async def test_a_text_kept_for_later_waits_where_its_note_is_edited(home: Path) -> None:
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("e")
        await app.screen(EditorScreen)
        await app.press("A", "escape")
        await app.screen(LeaveScreen)
        await app.press("escape")
        await app.back_on_main()
        assert "Draft kept" in app.notices
        await app.until(lambda: app.main.unsaved_texts._offered)
        await app.press("e")
        await offered(app)
        await app.press("e")
        editor = await app.screen(EditorScreen)
        assert editor.values["text"] == STORED
        await app.press("escape")
        await app.back_on_main()
        await app.press("e")
        await offered(app)
        await app.press("enter")
        editor = await app.screen(EditorScreen)
        assert editor.values["text"] == f"{STORED}A"


async def test_a_text_to_hand_in_outlives_a_crash_and_goes_once_it_is_handed_in(home: Path) -> None:
    said = "We chose PostgreSQL over MongoDB.\nThe reports need joins."
    async with opened(home) as app:
        await app.press("J")
        await app.screen(PipelineScreen)
        await app.press("n")
        submit = await app.screen(SubmitScreen)
        submit.query_one("#text", TextField).text = said
        await app.until(lambda: kept(home))
    async with opened(home) as app:
        await offered(app)
        assert 'a text to submit "We chose PostgreSQL' in app.text
        await app.press("enter")
        submit = await app.screen(SubmitScreen)
        assert submit.values == {"text": said, "nugget": ""}
        await app.press("ctrl+s")
        await app.back_on_main()
        await app.until(lambda: "Submitted; it names" in app.notices)
        await app.until(lambda: not kept(home))
    with Pipeline.open(home) as pipeline:
        assert pipeline.status().raw == 1


async def test_what_was_saved_in_the_last_moment_is_not_offered(home: Path) -> None:
    left_behind(home, edit_of(home, STORED, begun="Before"))
    async with opened(home) as app:
        await app.until(lambda: not kept(home))
        assert app.app.screen is app.main


async def test_without_a_place_for_it_esc_says_what_is_lost(home: Path) -> None:
    async with opened(home) as app:
        await app.press("f")
        form = await app.screen(FormScreen)
        await app.press("k", "escape")
        await app.screen(LeaveScreen)
        assert "keep draft" not in app.text
        await app.press("escape")
        await app.until(lambda: app.app.screen is form)
        await app.press("escape")
        await app.screen(LeaveScreen)
        await app.press("d")
        await app.back_on_main()


@pytest.mark.parametrize(("key", "kept_then"), [("escape", True), ("d", False)])
async def test_after_ctrl_q_keeping_a_draft_and_discarding_it_both_quit(
    home: Path, key: str, kept_then: bool
) -> None:
    async with opened(home) as app:
        await app.press("n")
        editor = await app.screen(EditorScreen)
        app.fill("#title", "Half done")
        await app.pilot.press("ctrl+q")
        await app.screen(LeaveScreen)
        await app.press("enter")
        await app.until(lambda: app.app.screen is editor)
        assert app.app.is_running
        await app.pilot.press("ctrl+q")
        await app.screen(LeaveScreen)
        await app.pilot.press(key)
        await app.until(lambda: not app.app.is_running)
    assert bool(kept(home)) is kept_then


async def test_a_place_that_cannot_be_written_is_said_once_and_typing_goes_on(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NUGGETS_STATE", str(tmp_path / "file"))
    async with opened(home) as app:
        await app.show("Session store")
        await app.press("e")
        await app.screen(EditorScreen)
        await app.press("a")
        await app.until(lambda: "A crash now would lose" in app.notices)
        await app.press("b", "ctrl+s")
        await app.back_on_main()
        assert content(home) == f"{STORED}ab"
