"""Of several processes that find the daily pass due exactly one runs it, and one that died holds nobody up."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from kits.forked import Forked
from kits.memory_files import note_object, write_graph

from core.errors import ConflictError, StorageError
from core.folder import DATABASE_FILE
from core.memory import Memory
from core.model.names import iso
from core.storage.files.presence import PRESENCE_NAME, Presence, daemon_on
from core.storage.files.processes import Process, life_of, this_process
from core.storage.journal import runs as room
from core.storage.journal.runs import Lease, Run, acquire_lease, finish, lease_of, release_lease, runs

NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
ROOT = Path(__file__).parents[3]
RUN = Run(at=iso(NOW), day="2026-11-22", by="reflection", counts={"inspected": 3})

HOLDER = """
import sys, time
from datetime import datetime, UTC
from pathlib import Path
from core.storage.journal.runs import acquire_lease, Lease
got = acquire_lease(Path(sys.argv[1]), datetime(2026, 11, 22, 9, 0, tzinfo=UTC), "reflection", lambda known: True)
print(type(got).__name__, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_graph(tmp_path, [note_object(1)])
    Memory.open(tmp_path).close()
    return tmp_path


def taken(home: Path, now: datetime = NOW) -> Lease:
    got = acquire_lease(home, now, "reflection", lambda known: True)
    assert isinstance(got, Lease)
    return got


def not_taken(home: Path, now: datetime = NOW) -> bool:
    return not isinstance(acquire_lease(home, now, "reflection", lambda known: True), Lease)


def test_who_asks_makes_no_file(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(1)])
    assert runs(tmp_path) == ()
    assert lease_of(tmp_path, NOW) is None
    finish(tmp_path, None, RUN)
    with pytest.raises(StorageError, match="no history"):
        taken(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph"]
    assert runs(tmp_path / "none") == ()
    assert not (tmp_path / "none").exists()


def test_a_claim_is_held_until_the_run_is_kept(home: Path) -> None:
    mine = taken(home)
    assert not_taken(home)
    assert lease_of(home, NOW) == mine
    finish(home, mine, RUN)
    assert lease_of(home, NOW) is None
    assert runs(home) == (RUN,)
    assert acquire_lease(home, NOW, "reflection", lambda known: known != (RUN,)) == (RUN,)


def test_a_claim_let_go_leaves_nothing_behind(home: Path) -> None:
    release_lease(home, taken(home))
    assert runs(home) == ()
    assert isinstance(taken(home), Lease)


@pytest.mark.slow
def test_only_so_many_runs_are_kept_and_the_newest_of_them(home: Path) -> None:
    for number in range(70):
        finish(home, None, msgspec.structs.replace(RUN, counts={"inspected": number}))
    kept = [run.counts["inspected"] for run in runs(home)]
    assert kept == list(range(10, 70))


def test_a_run_of_another_kept_meanwhile_gives_up_no_claim(home: Path) -> None:
    mine = taken(home)
    finish(home, None, RUN)
    assert lease_of(home, NOW) == mine


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes end otherwise there")
def test_the_claim_of_a_killed_process_is_taken_over(home: Path) -> None:
    holder = Forked(
        [sys.executable, "-c", HOLDER, str(home)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"Lease\n"
        assert not_taken(home)
    finally:
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()
    assert lease_of(home, NOW) is None
    assert taken(home).process.pid == os.getpid()


def test_what_a_process_put_into_the_log_before_it_died_was_the_pass(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = Process(this_process().host, 2**22 + 1, "long ago")
    monkeypatch.setattr(room, "this_process", lambda: dead)
    taken(home)
    monkeypatch.undo()
    write_graph(home, [note_object(1, content="Said   twice.\n\n\n\nSaid twice.")])
    memory = Memory.open(home, clock=lambda: NOW + timedelta(minutes=1))
    assert not memory.reflect().change_set.empty
    got = acquire_lease(home, NOW + timedelta(hours=1), "reflection", lambda known: not known)
    assert isinstance(got, tuple)
    assert [(run.at, run.day) for run in got] == [(iso(NOW), "2026-11-22")]


def test_where_nobody_can_tell_who_lives_a_claim_ends_with_its_time(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "this_process", lambda: Process("another machine", 1, "x"))
    taken(home)
    monkeypatch.undo()
    assert not_taken(home, NOW + timedelta(minutes=29))
    # Also when the clock was set back, it does not hold for ever.
    assert lease_of(home, NOW - timedelta(days=1)) is None
    assert isinstance(taken(home, NOW + timedelta(minutes=30)), Lease)


def test_a_number_given_to_another_process_is_not_taken_for_the_first() -> None:
    me = this_process()
    assert life_of(me) in ("alive", "unknown")
    if me.start:
        assert life_of(Process(me.host, me.pid, "at another time")) == "dead"
    assert life_of(Process("elsewhere", me.pid, me.start)) == "unknown"


@pytest.mark.parametrize("value", [b"\xff", "nonsense", '{"at": 3}', 7, "[[]]"])
def test_what_is_no_record_counts_as_none(home: Path, value: object) -> None:
    with sqlite3.connect(home / DATABASE_FILE) as connection:
        for name in ("daily runs", "daily claim"):
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
    connection.close()
    assert runs(home) == ()
    finish(home, taken(home), RUN)
    assert runs(home) == (RUN,)


def test_of_a_journal_that_is_no_database_nothing_is_known_and_nothing_is_claimed(home: Path) -> None:
    for path in home.glob("nuggets.db*"):
        path.unlink()
    (home / DATABASE_FILE).write_bytes(b"no database" * 100)
    assert runs(home) == ()
    assert lease_of(home, NOW) is None
    with pytest.raises(StorageError, match="history cannot be read"):
        taken(home)
    with pytest.raises(StorageError, match="history cannot be read"):
        finish(home, None, RUN)


# The daemon's place


@pytest.mark.slow
def test_one_daemon_holds_a_folder_and_the_next_is_told_which(home: Path) -> None:
    first, second = Presence(home), Presence(home)
    assert daemon_on(home) is None
    assert first.hold("2026-11-22T09:00:00.000Z")
    assert first.hold("later")
    with pytest.raises(ConflictError, match=f"process {os.getpid()} ") as caught:
        second.hold("then")
    assert caught.value.exit_code == 3
    found = daemon_on(home)
    assert found is not None
    assert found.since == "2026-11-22T09:00:00.000Z"
    first.release()
    assert daemon_on(home) is None
    assert second.hold("then")
    second.release()


def test_a_folder_that_is_deleted_and_made_again_is_taken_again(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    presence = Presence(home)
    assert not presence.hold("now")
    assert not home.exists()
    home.mkdir()
    assert presence.hold("now")
    (home / PRESENCE_NAME).unlink()
    home.rmdir()
    assert not presence.hold("now")
    home.mkdir()
    assert presence.hold("now")
    assert daemon_on(home) is not None
    presence.release()


def test_a_place_that_is_no_file_is_left_alone(home: Path) -> None:
    (home / PRESENCE_NAME).symlink_to(home / "graph" / "graph.json")
    before = (home / "graph" / "graph.json").read_bytes()
    with pytest.raises(StorageError, match="is a link"):
        Presence(home).hold("now")
    assert daemon_on(home) is None
    assert (home / "graph" / "graph.json").read_bytes() == before
