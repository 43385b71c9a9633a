"""Of several processes that find the daily pass due exactly one runs it, and one that died holds nobody up."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
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
from core.storage.journal.kept import Run, daily_turn, finish, is_running, runs

NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
ROOT = Path(__file__).parents[3]
RUN = Run(at=iso(NOW), day="2026-11-22", by="reflection", counts={"inspected": 3})

HOLDER = """
import sys
from pathlib import Path
from core.storage.journal.kept import daily_turn
with daily_turn(Path(sys.argv[1])) as mine:
    print(mine, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_graph(tmp_path, [note_object(1)])
    Memory.open(tmp_path).close()
    return tmp_path


def test_who_asks_makes_no_file(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(1)])
    assert runs(tmp_path) == ()
    assert not is_running(tmp_path)
    finish(tmp_path, RUN)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph"]
    assert runs(tmp_path / "none") == ()
    assert not (tmp_path / "none").exists()


def test_only_so_many_runs_are_kept_and_the_newest_of_them(home: Path) -> None:
    for number in range(70):
        finish(home, msgspec.structs.replace(RUN, counts={"inspected": number}))
    kept = [run.counts["inspected"] for run in runs(home)]
    assert kept == list(range(10, 70))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes end otherwise there")
def test_one_process_has_the_turn_until_it_ends_or_is_killed(home: Path) -> None:
    holder = Forked(
        [sys.executable, "-c", HOLDER, str(home)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"True\n"
        assert is_running(home)
        with daily_turn(home) as mine:
            assert not mine
    finally:
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()
    assert not is_running(home)
    with daily_turn(home) as mine:
        assert mine


@pytest.mark.parametrize("value", [b"\xff", "nonsense", '{"at": 3}', 7, "[[]]"])
def test_what_is_no_record_counts_as_none(home: Path, value: object) -> None:
    with sqlite3.connect(home / DATABASE_FILE) as connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('daily runs', ?)", (value,))
    connection.close()
    assert runs(home) == ()
    finish(home, RUN)
    assert runs(home) == (RUN,)


def test_of_a_journal_that_is_no_database_nothing_is_known_and_nothing_is_kept(home: Path) -> None:
    for path in home.glob(f"{DATABASE_FILE}*"):
        path.unlink()
    (home / DATABASE_FILE).write_bytes(b"no database" * 100)
    assert runs(home) == ()
    with pytest.raises(StorageError, match="history cannot be read"):
        finish(home, RUN)


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
