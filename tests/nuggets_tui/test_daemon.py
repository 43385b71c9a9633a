"""The daemon's loop with a clock of its own: on time, after a suspend, through trouble, with settings that change."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kits.memory_files import note_object, write_graph

from core import daily
from core.daily import daily_state
from core.errors import ConflictError
from core.memory import Memory
from core.storage.journal.kept import runs
from nuggets_tui.daemon import Daemon

BEGIN = datetime(2026, 11, 22, 8, 58, 30, tzinfo=UTC)


class _Over(BaseException):
    """The test has seen enough."""


class Rig:
    """A daemon whose time passes only while it waits; `then` happens at the given look (from 1)."""

    def __init__(self, home: Path, interval: float = 60.0) -> None:
        self.home = home
        self.now = BEGIN
        self.waits: list[float] = []
        self.said: list[str] = []
        self.chat: list[str] = []
        self.daemon = Daemon(
            home,
            clock=lambda: self.now,
            wait=self._wait,
            report=self.said.append,
            chat=self.chat.append,
            interval=interval,
            zone=UTC,
        )
        self._then: dict[int, Callable[[], object]] = {}
        self._looks = 0

    def at_look(self, number: int, happens: Callable[[], object]) -> None:
        self._then[number] = happens

    def sleep(self, **time: float) -> Callable[[], None]:
        def pass_by() -> None:
            self.now += timedelta(**time)

        return pass_by

    def look(self, times: int) -> None:
        """Lets it look so often."""
        self._looks = len(self.waits) + times
        with pytest.raises(_Over):
            self.daemon.run()

    def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += timedelta(seconds=seconds)
        self._then.get(len(self.waits), lambda: None)()
        if len(self.waits) >= self._looks:
            raise _Over


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "memory"
    write_graph(home, [note_object(1, content="Said   with  gaps.\n\n\n\n\nAnd more.")])
    Memory.open(home).close()
    return home


@pytest.fixture
def rig(home: Path) -> Rig:
    done = daily.Run(at="2026-11-21T09:00:00.000Z", day="2026-11-21", by="reflection")
    daily.finish(home, done)
    return Rig(home)


def days(home: Path) -> list[str]:
    return [run.day for run in runs(home)]


def test_it_waits_for_the_set_time_and_runs_just_then(rig: Rig) -> None:
    rig.look(3)
    assert rig.waits[:2] == [60.0, 30.0]
    assert days(rig.home) == ["2026-11-21", "2026-11-22"]
    assert runs(rig.home)[-1].at == "2026-11-22T09:00:00.000Z"
    assert len(rig.said) == 1
    assert rig.said[0].startswith("reflection: checked 1 note: 1 rewritten")
    newest = Memory.open(rig.home).history.log(limit=1)[0].change_set
    assert newest.author.kind == "reflection"


@pytest.mark.slow
def test_it_runs_each_day_once_and_says_nothing_in_between(rig: Rig) -> None:
    rig = Rig(rig.home, interval=600.0)
    rig.look(6 * 24 * 2)
    assert days(rig.home) == ["2026-11-21", "2026-11-22", "2026-11-23"]
    assert len(rig.said) == 2
    assert max(rig.waits) == 600
    assert set(rig.chat) >= {"next pass 2026-11-23 09:00 UTC"}


@pytest.mark.slow
def test_after_a_suspend_it_catches_up_in_waking_hours(rig: Rig) -> None:
    rig.at_look(1, rig.sleep(hours=22))
    rig.look(2)
    assert days(rig.home) == ["2026-11-21"]
    rig.at_look(3, rig.sleep(hours=1, minutes=30))
    rig.look(3)
    assert days(rig.home) == ["2026-11-21", "2026-11-23"]


@pytest.mark.slow
def test_a_clock_set_back_brings_no_second_pass(rig: Rig) -> None:
    rig.at_look(5, rig.sleep(hours=-3))
    rig.look(200)
    assert days(rig.home) == ["2026-11-21", "2026-11-22"]


def test_a_memory_that_is_broken_for_a_while_is_said_once_and_tried_again(rig: Rig) -> None:
    graph = rig.home / "graph" / "graph.json"
    whole = graph.read_bytes()
    rig.at_look(1, lambda: graph.write_bytes(whole[:-10]))
    rig.at_look(6, lambda: graph.write_bytes(whole))
    rig.look(8)
    assert len([line for line in rig.said if "graph.json" in line]) == 1
    assert days(rig.home) == ["2026-11-21", "2026-11-22"]
    assert any(line.startswith("reflection:") for line in rig.said)
    assert "the problem is over" in rig.said


def test_a_folder_that_goes_and_comes_back_is_served_again(rig: Rig, tmp_path: Path) -> None:
    away = tmp_path / "away"
    rig.at_look(1, lambda: shutil.move(rig.home, away))
    rig.at_look(5, lambda: shutil.move(away, rig.home))
    rig.look(4)
    assert not rig.home.exists()
    assert rig.said == ["there is no memory to clean up yet"]
    rig.look(4)
    assert days(rig.home) == ["2026-11-21", "2026-11-22"]


@pytest.mark.slow
def test_settings_that_change_hold_from_the_next_look_on(rig: Rig) -> None:
    settings = rig.home / "settings.toml"
    rig.at_look(1, lambda: settings.write_text("[reflection]\nhour = 10\n"))
    rig.at_look(4, lambda: settings.write_text("[reflection]\nhour = 77\n"))
    rig.at_look(8, lambda: settings.write_text("[reflection]\nhour = 9\nminute = 30\n"))
    rig.look(60)
    assert len([line for line in rig.said if "reflection.hour" in line]) == 1
    assert runs(rig.home)[-1].at == "2026-11-22T09:30:00.000Z"


@pytest.mark.slow
def test_where_it_may_not_apply_it_runs_nothing_and_says_so_once(rig: Rig) -> None:
    (rig.home / "settings.toml").write_text("[schedule]\ndaemon_applies = false\n")
    rig.look(100)
    assert days(rig.home) == ["2026-11-21"]
    assert len(rig.said) == 1
    assert "daemon_applies is off" in rig.said[0]
    assert daily_state(rig.home, rig.now, UTC).waits_for_a_person


@pytest.mark.slow
def test_what_nobody_thought_of_ends_no_daemon(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Memory, **_: object) -> None:
        raise ZeroDivisionError("oh")

    with monkeypatch.context() as patch:
        patch.setattr(Memory, "reflect", fail)
        rig.look(6)
    assert rig.said == ["this is a bug in nuggets-tui: ZeroDivisionError: oh"]
    rig.look(2)
    assert days(rig.home) == ["2026-11-21", "2026-11-22"]


def test_between_runs_it_holds_neither_lock_nor_log(rig: Rig) -> None:
    rig.at_look(4, lambda: Memory.open(rig.home).change("noted", lambda draft: None))
    rig.look(5)
    assert not daily_state(rig.home, rig.now, UTC).running


@pytest.mark.slow
def test_one_daemon_has_a_folder(home: Path) -> None:
    first, second = Rig(home), Rig(home)

    def try_second() -> None:
        with pytest.raises(ConflictError, match="a daemon already runs here"):
            second.daemon.run(once=True)
        assert daily_state(home, first.now, UTC).daemon is not None

    first.at_look(1, try_second)
    first.look(1)
    assert daily_state(home, first.now, UTC).daemon is None
    second.daemon.run(once=True)


def test_once_looks_a_single_time(rig: Rig) -> None:
    rig.now += timedelta(hours=2)
    rig.daemon.run(once=True)
    assert rig.waits == []
    assert days(rig.home) == ["2026-11-21", "2026-11-22"]
