"""Sync in the app: the header says how the memory stands, a key syncs, and what comes in is there at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from kits.app_kit import NOW, Driver, opened, small_memory
from kits.synced import DRIVER, Machine, bare, git, own_git
from textual.worker import WorkerCancelled

from core.graph.edits import create_note, edit_note
from core.memory import Memory
from core.sync import Sync, set_up
from nuggets_tui import process
from nuggets_tui.controllers import team as controller
from nuggets_tui.screens.conflict import ConflictScreen
from nuggets_tui.screens.entry import EntryScreen

pytestmark = pytest.mark.slow


class Pair:
    """The memory of this machine, and another one in step with it."""

    def __init__(self, folder: Path) -> None:
        self.remote = bare(folder)
        self.home = folder / "memory"
        memory = small_memory(self.home)
        set_up(self.home, str(self.remote), driver=DRIVER, machine="laptop")
        Sync(memory).run()
        memory.close()
        self.desk = Machine(folder / "desk", self.remote, "desk")
        self.desk.sync()

    def settings(self, text: str) -> None:
        (self.home / "settings.toml").write_text(f"[sync]\n{text}\n")

    def note_elsewhere(self, title: str) -> None:
        self.desk.memory.change("add", lambda draft: create_note(draft, "web", title, f"{title} it"))
        self.desk.sync()

    def note_here(self, title: str) -> None:
        memory = Memory.open(self.home)
        memory.change("add", lambda draft: create_note(draft, "web", title, f"{title} it"))
        memory.close()


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    own_git(tmp_path, monkeypatch)
    monkeypatch.setattr(controller, "_REST", 0.01)
    made = Pair(tmp_path)
    yield made
    made.desk.memory.close()


def header(app: Driver) -> str:
    return app.text.split("\n")[0]


async def test_the_header_says_how_the_memory_stands_and_the_key_syncs(pair: Pair) -> None:
    pair.note_elsewhere("Deploy")
    pair.note_here("Test")
    async with opened(pair.home, (160, 40)) as app:
        await app.until(lambda: "⇅ 1 to send: ctrl+s" in header(app), "what waits")
        await app.press("ctrl+s")
        await app.until(lambda: "⇅ 1 came in: ctrl+s" in header(app), "what came in")
        assert "Deploy" in {note.title for note in app.main.view.snapshot.notes}
        assert "1 note came in, 1 note sent" in app.notices
        assert "audit log" in app.notices
        await app.press("ctrl+s")
        await app.until(lambda: "⇅ in step" in header(app), "in step")
    pair.desk.sync()
    assert "Test" in {note.title for note in pair.desk.memory.snapshot.notes}


async def test_a_change_of_the_person_waits_to_be_sent(pair: Pair) -> None:
    async with opened(pair.home, (160, 40)) as app:
        await app.until(lambda: "⇅ in step" in header(app))
        note = app.main.view.snapshot.notes[0].id
        done = await app.main.session.change("edit", lambda draft: edit_note(draft, note, content="New"))
        app.main.history.changed(done[1])
        await app.until(lambda: "⇅ 1 to send" in header(app))


async def test_a_remote_that_is_away_is_told_and_the_next_sync_sends(pair: Pair) -> None:
    pair.note_here("Test")
    away = pair.remote.rename(pair.remote.with_name("away"))
    async with opened(pair.home, (160, 40)) as app:
        await app.until(lambda: app.main.view.sync is not None)
        await app.press("ctrl+s")
        await app.until(lambda: "⇅ offline" in header(app))
        assert "could not be reached" in app.notices
        away.rename(pair.remote)
        await app.press("ctrl+s")
        await app.until(lambda: "⇅ in step" in header(app))
    assert "Test" in git(pair.remote, "show", "main:graph/graph.json")


async def test_of_what_both_machines_changed_ones_own_version_is_saved_unless_another_is_taken(
    pair: Pair,
) -> None:
    (note, *_) = pair.desk.memory.snapshot.visible
    pair.desk.memory.change("edit", lambda draft: edit_note(draft, note.id, content="Of the desk"))
    pair.desk.sync()
    here = Memory.open(pair.home)
    here.change("edit", lambda draft: edit_note(draft, note.id, content="Of the laptop"))
    here.close()
    async with opened(pair.home, (160, 40)) as app:
        await app.until(lambda: app.main.view.sync is not None)
        await app.press("ctrl+s")
        await app.until(lambda: app.view.log.waiting, "the conflict")
        await app.press("c")
        screen = await app.screen(ConflictScreen)
        assert screen.result == "Of the laptop"
        await app.until(lambda: "Result: this machine's" in app.text, "which is taken")
        await app.press("t", "y")
        assert screen.result == "Of the desk"
        await app.press("t", "ctrl+s")
        await app.back_on_main()
        await app.until(lambda: not app.view.log.waiting)
        assert app.view.snapshot.note(note.id).content == "Of the laptop"


async def test_a_sync_shows_what_it_is_at_and_esc_ends_it_and_its_git(pair: Pair) -> None:
    pair.note_here("Test")
    hook, begun = pair.home / ".git" / "hooks" / "pre-push", pair.home.parent / "begun"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n: > {begun}\nexec sleep 600\n")
    hook.chmod(0o755)
    async with opened(pair.home, (160, 40)) as app:
        await app.until(lambda: app.main.view.sync is not None)
        await app.press("ctrl+s")
        await app.until(begun.exists, "the push")
        await app.until(lambda: "sync: pushing … esc stops" in header(app), "what it is at")
        await app.press("ctrl+s")
        await app.until(lambda: "running already" in app.notices)
        await app.press("escape")
        await app.until(lambda: "The sync was stopped" in app.notices)
        hook.unlink()
        await app.press("ctrl+s")
        await app.until(lambda: "⇅ in step" in header(app))
    pair.desk.sync()
    assert "Test" in {note.title for note in pair.desk.memory.snapshot.notes}


async def test_the_open_app_syncs_every_so_often_and_says_what_came_in(pair: Pair) -> None:
    pair.settings('every = "10m"')
    pair.note_elsewhere("Deploy")
    now = [NOW]

    def clock() -> datetime:
        return now[0]

    memory = Memory.open(pair.home, clock=clock)
    Sync(memory).run()
    memory.close()
    pair.note_elsewhere("Test")
    async with opened(pair.home, (160, 40), clock=clock) as app:
        await app.until(lambda: app.main.view.sync is not None)
        now[0] += timedelta(minutes=9)
        await app.main.sync.refresh().wait()
        assert "Test" not in {note.title for note in app.main.view.snapshot.notes}
        now[0] += timedelta(minutes=2)
        await app.main.sync.refresh().wait()
        await app.until(lambda: "Test" in {note.title for note in app.main.view.snapshot.notes})
        await app.until(lambda: "1 note came in" in app.notices)


async def test_an_unasked_sync_that_fails_is_told_once_and_tried_less_often(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair.settings('every = "10m"')
    (pair.home / ".git" / "MERGE_HEAD").write_text("")
    now, runs, whole = [datetime.now(NOW.tzinfo)], [0], Sync.run

    def counted(sync: Sync) -> object:
        runs[0] += 1
        return whole(sync)

    monkeypatch.setattr(Sync, "run", counted)
    async with opened(pair.home, (160, 40), clock=lambda: now[0]) as app:
        await app.until(lambda: app.main.view.sync is not None)
        for minutes, count in ((11, 1), (11, 1), (11, 2), (30, 2)):
            now[0] += timedelta(minutes=minutes)
            # The app may look by itself just then, and a second look ends the first.
            with suppress(WorkerCancelled):
                await app.main.sync.refresh().wait()
            await app.until(lambda count=count: runs[0] == count)
            await app.until(lambda: not app.main.running("sync"))
        assert app.notices.count("in the middle of a merge") == 1


@pytest.mark.parametrize("wanted", [True, False])
async def test_closed_the_app_leaves_the_last_sync_to_a_process_nobody_waits_for(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, wanted: bool
) -> None:
    pair.settings(f"on_exit = {str(wanted).lower()}")
    started: list[list[str]] = []
    monkeypatch.setattr(process, "start", started.append)
    async with opened(pair.home, (160, 40)) as app:
        await app.until(lambda: app.main.view.sync is not None)
    assert [words[-3:] for words in started] == ([["--home", str(pair.home), "sync"]] if wanted else [])


async def test_a_key_opens_what_came_in_also_after_the_next_sync(pair: Pair) -> None:
    async with opened(pair.home, (160, 40)) as app:
        await app.until(lambda: app.main.view.sync is not None)
        assert not app.main.can("came_in")
        pair.note_elsewhere("Deploy")
        await app.press("ctrl+s")
        await app.until(lambda: "⇅ 1 came in" in header(app))
        await app.press("ctrl+s")
        await app.until(lambda: "⇅ in step" in header(app))
        await app.press("I")
        await app.screen(EntryScreen)
        await app.until(lambda: "Deploy it" in app.text)


async def test_what_a_sync_brings_after_a_visit_bears_the_word_new_however_old_its_edit(pair: Pair) -> None:
    pair.note_elsewhere("Deploy")
    now = NOW + timedelta(days=9_000)
    async with opened(pair.home, (160, 40), clock=lambda: now) as app:
        await app.until(lambda: app.main.reconciled, "the visit")
    later = now + timedelta(hours=1)
    async with opened(pair.home, (160, 40), clock=lambda: later) as app:
        await app.until(lambda: app.view.new_since and app.view.sync, "the last visit")
        assert " new " not in app.text
        await app.press("ctrl+s")
        await app.until(lambda: " new " in app.text, "the word")
        (marked,) = [line for line in app.text.splitlines() if " new " in line]
        assert "Deploy " in marked
        assert "web" in marked
