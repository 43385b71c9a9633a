"""Syncs beside the daemon: as often as its settings say, told once where they fail, never in anybody's way."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kits.synced import Machine, bare, own_git

from core.graph.edits import create_note
from core.sync import Sync
from core.sync.git import Git
from core.sync.kept import followed
from nuggets_tui.daemon import Together
from nuggets_tui.sync_beside import LOOK_SECONDS, SyncBeside


class Pair:
    """Two machines in step; the laptop has a daemon with a clock of its own."""

    def __init__(self, folder: Path) -> None:
        self.remote = bare(folder)
        self.desk, self.laptop = (Machine(folder / name, self.remote, name) for name in ("desk", "laptop"))
        self.said: list[str] = []
        self.now = datetime.now(UTC)
        self.beside = SyncBeside(self.laptop.home, clock=lambda: self.now, report=self.said.append)
        self.note(self.desk, "Begin")
        self.desk.sync()
        self.laptop.sync()

    def settings(self, text: str) -> None:
        (self.laptop.home / "settings.toml").write_text(f"[sync]\n{text}\n")

    def note(self, machine: Machine, title: str) -> None:
        machine.memory.change("add", lambda draft: create_note(draft, "web", title, f"{title} it"))

    def titles(self, machine: Machine) -> set[str]:
        machine.memory.refresh()
        return {note.title for note in machine.memory.snapshot.notes}

    def later(self, **time: float) -> float:
        self.now += timedelta(**time)
        return self.beside.look()


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    own_git(tmp_path, monkeypatch)
    made = Pair(tmp_path)
    yield made
    made.beside.stop(60)
    for one in (made.desk, made.laptop):
        one.memory.close()


@pytest.mark.slow
def test_it_syncs_nothing_unless_the_settings_say_how_often(pair: Pair) -> None:
    pair.note(pair.desk, "Deploy")
    pair.desk.sync()
    assert pair.later(days=1) == LOOK_SECONDS
    pair.settings("on_exit = false")
    assert pair.later(days=1) == LOOK_SECONDS
    assert pair.titles(pair.laptop) == {"Begin"}
    assert pair.said == []


@pytest.mark.slow
def test_it_syncs_every_so_often_and_says_what_came_in_and_how_to_undo_it(pair: Pair) -> None:
    pair.settings('every = "10m"')
    pair.note(pair.desk, "Deploy")
    pair.desk.sync()
    pair.note(pair.laptop, "Test")
    assert pair.later(minutes=2) == LOOK_SECONDS
    assert pair.said == []
    pair.later(minutes=9)
    assert pair.titles(pair.laptop) == {"Begin", "Deploy", "Test"}
    came_in = next(
        entry.id for entry in pair.laptop.memory.history.log() if "sync" in entry.change_set.reason
    )
    assert pair.said == [f"sync: 1 note came in (nuggets undo {came_in})", "sync: sent 1 note"]
    assert pair.beside.look() == LOOK_SECONDS
    pair.desk.sync()
    assert pair.titles(pair.desk) == {"Begin", "Deploy", "Test"}
    pair.later(minutes=11)
    assert len(pair.said) == 2


@pytest.mark.slow
def test_a_remote_that_is_away_is_told_once_and_asked_less_often_until_it_is_back(pair: Pair) -> None:
    pair.settings('every = "10m"')
    away = pair.remote.rename(pair.remote.with_name("away"))
    pair.note(pair.laptop, "Test")
    for _ in range(3):
        pair.later(hours=2)
    assert len(pair.said) == 1
    assert pair.said[0].startswith("sync: offline: ")
    before = _last(pair)
    pair.later(minutes=59)
    assert _last(pair) == before
    away.rename(pair.remote)
    pair.later(minutes=2)
    assert pair.said[1:] == ["sync: sent 1 note", "sync: the problem is over"]
    before = _last(pair)
    pair.later(minutes=11)
    assert _last(pair) > before


@pytest.mark.slow
def test_what_keeps_a_sync_from_going_on_is_one_line_and_harms_nothing(pair: Pair) -> None:
    pair.settings('every = "10m"')
    (pair.laptop.home / ".git" / "MERGE_HEAD").write_text("")
    for _ in range(3):
        pair.later(hours=2)
    assert len(pair.said) == 1
    assert "in the middle of a merge" in pair.said[0]
    assert pair.titles(pair.laptop) == {"Begin"}


@pytest.mark.slow
def test_a_single_look_says_whether_the_sync_went_through(pair: Pair) -> None:
    pair.settings('every = "10m"')
    pair.now += timedelta(hours=1)
    assert Together(pair.beside).once()
    shutil.rmtree(pair.remote)
    pair.now += timedelta(hours=1)
    assert not Together(pair.beside).once()


@pytest.mark.parametrize("every", ['"soon"', '"9s"', '"8d"', '"-10m"', "600", '"10m 5s"', "[]"])
def test_how_often_in_other_words_is_told_once_and_syncs_nothing(tmp_path: Path, every: str) -> None:
    (tmp_path / "settings.toml").write_text(f"[sync]\nevery = {every}\n")
    said: list[str] = []
    beside = SyncBeside(tmp_path, clock=lambda: datetime.now(UTC), report=said.append)
    beside.look()
    beside.look()
    assert len(said) == 1
    assert "sync.every: " in said[0]


def test_a_memory_without_a_sync_is_left_alone(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    home.mkdir()
    (home / "settings.toml").write_text('[sync]\nevery = "10s"\non_exit = true\n')
    said: list[str] = []
    beside = SyncBeside(home, clock=lambda: datetime.now(UTC), report=said.append)
    assert beside.once()
    beside.leave()
    assert said == []
    assert [one.name for one in home.iterdir()] == ["settings.toml"]


@pytest.mark.slow
def test_at_its_end_it_syncs_where_that_is_wanted(pair: Pair) -> None:
    pair.note(pair.laptop, "Test")
    pair.beside.start()
    pair.beside.stop(60)
    pair.desk.sync()
    assert pair.titles(pair.desk) == {"Begin"}
    pair.settings("on_exit = true")
    pair.beside.start()
    pair.beside.stop(60)
    pair.desk.sync()
    assert pair.titles(pair.desk) == {"Begin", "Test"}
    assert pair.said == ["sync: sent 1 note"]


@pytest.mark.slow
def test_ending_it_stops_a_sync_between_two_steps_and_nothing_is_lost(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair.settings('every = "10s"')
    pair.note(pair.laptop, "Test")
    pair.now += timedelta(minutes=1)
    begun, goes_on, whole = threading.Event(), threading.Event(), Sync.run

    def held(sync: Sync) -> object:
        begun.set()
        assert goes_on.wait(60)
        return whole(sync)

    monkeypatch.setattr(Sync, "run", held)
    pair.beside.start()
    assert begun.wait(60)
    pair.beside.stop(0)
    goes_on.set()
    pair.beside.stop(60)
    for thread in threading.enumerate():
        if thread.name == "nuggets-sync-beside":
            thread.join(60)
    monkeypatch.setattr(Sync, "run", whole)
    assert pair.said == []
    assert pair.laptop.sync().sent == 1


def _last(pair: Pair) -> str:
    """When the laptop's last sync ended."""
    return followed(Git(pair.laptop.home))[1].at
