"""A held key never waits for the panes beside the list, and long work is told of and stopped with esc."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from kits.app_kit import Driver, agent_on, opened
from textual.widgets import Input

from core.facts.edits import remember
from core.model.progress import Progress
from core.services.promotion import PromotionTarget
from nuggets_tui import pace
from nuggets_tui.pace import StoppedError
from nuggets_tui.screens.dialog import ChoiceScreen
from nuggets_tui.widgets.note_view import NotePane

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

FOREVER = 3600.0


def note_pane(app: Driver) -> str:
    return app.main.query_one(NotePane).text


async def test_panes_beside_the_list_follow_when_the_cursor_rests_or_somebody_goes_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(home) as app:
        await app.until(lambda: app.main.complete and app.view.team_known, "all there is to show")
        first = app.view.note
        assert first is not None
        assert first.title in note_pane(app)
        monkeypatch.setattr(pace, "REST", FOREVER)
        await app.press("down", "down")
        passed = app.view.note
        assert passed is not None
        assert passed is not first
        # Commands act on the note under the cursor, whatever the panes show meanwhile.
        assert first.title in note_pane(app)
        assert app.main.beside.note is first
        await app.press("x")
        await app.until(lambda: app.view.snapshot.note(passed.id).hidden, "hidden")
        assert not app.view.snapshot.note(first.id).hidden
        await app.press("up")
        shown = app.view.note
        await app.press("3")
        assert shown is not None
        assert shown.title in note_pane(app)
        assert app.main.beside.note is app.view.note


async def test_the_panes_follow_by_themselves(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(home) as app:
        monkeypatch.setattr(pace, "REST", 0.001)
        await app.press("down")
        await app.until(lambda: app.main.beside is app.view, "the panes follow")
        assert app.view.note is not None
        assert app.view.note.title in note_pane(app)


class SlowWork:
    """Stands for a long look through a memory: counts on when it is let, and ends when it is stopped."""

    __name__ = "slow"

    def __init__(self) -> None:
        self.begun, self.go_on, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.stopped = False

    def __call__(self, *arguments: object, progress: Progress | None = None, **named: object) -> tuple[()]:
        progress = progress or arguments[-1]  # type: ignore[assignment]
        assert progress is not None
        try:
            progress(12_300, 100_000)
            self.begun.set()
            while not self.go_on.wait(0.1):
                progress(12_301, 100_000)
            return ()
        except StoppedError:
            self.stopped = True
            raise
        finally:
            self.ended.set()


@pytest.mark.parametrize(
    ("key", "name", "words"),
    [
        ("r", "reflect", "looking for notes to clean up 12,30"),
        ("B", "restoration", "reading the backup 12,30"),
    ],
)
async def test_esc_stops_long_work_and_leaves_everything_as_it_was(
    home: Path, monkeypatch: pytest.MonkeyPatch, key: str, name: str, words: str
) -> None:
    monkeypatch.setattr(pace, "PATIENCE", 0.0)
    # The first change of a day makes a backup.
    agent_on(home).change("more", lambda draft: remember(draft, "here", "colour", "blue"))
    target = PromotionTarget(str(home / "MEMORY.md"), "", "", 0, current=True, there=True)
    async with opened(home) as app:
        slow = SlowWork()
        memory = app.main.session.memory
        monkeypatch.setattr(memory if name == "reflect" else memory.maintenance, name, slow)
        monkeypatch.setattr(memory.promotion, "targets", lambda: (target,))
        before, snapshot = _files(home), app.view.snapshot
        await app.press(key)
        if name == "restoration":
            await app.screen(ChoiceScreen)
            await app.press("enter")
        await app.until(lambda: words in app.view.busy and words in app.text, "the sign")
        assert "esc stops" in app.view.busy
        # The memory is at hand meanwhile.
        await app.press("down")
        await app.press("escape")
        await app.until(slow.ended.is_set, "stopped")
        await app.until(lambda: not app.view.busy, "the sign goes")
        await app.until(lambda: "Stopped. Nothing changed." in app.notices, "it is said")
        assert slow.stopped
        assert app.app.screen is app.main
        assert (_files(home), app.view.snapshot) == (before, snapshot)


async def test_short_work_shows_no_sign(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "PATIENCE", FOREVER)
    async with opened(home) as app:
        slow = SlowWork()
        monkeypatch.setattr(app.main.session.memory.secrets, "holders", slow)
        await app.press("S")
        await app.until(slow.begun.is_set, "begun")
        assert app.view.busy == ""
        slow.go_on.set()
        await app.until(lambda: "No note, fact or submitted text" in app.notices, "done")


async def test_an_index_that_was_put_off_is_made_when_somebody_searches(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "PATIENCE", 0.0)
    async with opened(home) as app:
        await app.until(lambda: app.main.complete, "the index")
        slow = SlowWork()
        with monkeypatch.context() as patched:
            patched.setattr(app.main.session.memory.search, "index", slow)
            app.main.search.index_put_off = True
            app.main.search.make_index_after_all()
            await app.until(lambda: "indexing 12,30" in app.view.busy, "the sign")
            await app.press("escape")
            await app.until(slow.ended.is_set, "stopped")
            await app.until(lambda: app.main.search.index_put_off, "put off")
            assert "Stopped" not in app.notices
        await app.press("slash")
        app.main.query_one("#search", Input).value = "deploy"
        await app.until(lambda: app.view.found is not None and app.view.found.hits, "hits")
        await app.until(lambda: not app.main.search.index_put_off, "the index is there")


def _files(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.rglob("*.json")}
