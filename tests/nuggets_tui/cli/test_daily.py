"""The daily pass on the command line: `reflect --if-due`, `daemon`, `schedule print`, and what `status` says."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import note_object, write_graph

from core.errors import LockTimeoutError
from core.memory import Memory
from core.storage.files.presence import PRESENCE_NAME

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
UNTIDY = "Said   with  gaps.\n\n\n\n\nAnd more."


@pytest.fixture(autouse=True)
def _always_waking(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The set time has passed, and a missed pass may be caught up, whenever the tests run."""
    monkeypatch.setenv("MEMORY_REFLECTION_HOUR", "0")
    write_graph(home, [note_object(1, content=UNTIDY)])
    (home / "settings.toml").write_text("[schedule]\nwaking_from = 0\nwaking_to = 24\n", encoding="utf-8")


def test_a_due_pass_runs_once(nuggets: Any, home: Path) -> None:
    first = nuggets.json("reflect", "--if-due")
    assert (first["ran"], first["reason"], first["problems"]) == (True, None, [])
    assert first["reflection"]["rewritten"] == 1
    assert first["lastRun"]["counts"]["rewritten"] == 1
    again = nuggets.json("reflect", "--if-due")
    assert (again["ran"], again["reason"], again["reflection"]) == (False, "not due", None)
    assert set(again) == set(first)
    assert nuggets.ok("reflect", "--if-due").startswith("Not due. Next pass: ")


def test_where_there_is_no_memory_it_says_so_and_makes_none(nuggets: Any, home: Path) -> None:
    shutil.rmtree(home / "graph")
    assert nuggets.json("reflect", "--if-due")["reason"] == "no memory"
    assert [path.name for path in home.iterdir()] == ["settings.toml"]
    shutil.rmtree(home)
    nuggets.ok("reflect", "--if-due")
    assert not home.exists()


@pytest.mark.parametrize("asked", [["reflect", "--if-due"], ["daemon", "--once"]])
def test_what_is_no_folder_is_bad_input_and_not_waited_for(
    nuggets: Any, home: Path, asked: list[str]
) -> None:
    plain_file = home / "settings.toml"
    before = plain_file.read_bytes()
    assert "is not a folder" in nuggets.fails("--home", str(plain_file), *asked)
    assert plain_file.read_bytes() == before


def test_a_pass_that_fails_is_an_error_and_stays_due(nuggets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def held(self: Memory, **_: object) -> None:
        raise LockTimeoutError("somebody keeps it locked")

    with monkeypatch.context() as patch:
        patch.setattr(Memory, "reflect", held)
        assert "somebody keeps it locked" in nuggets.fails("reflect", "--if-due")
    assert nuggets.json("reflect", "--if-due")["ran"]


def test_a_whole_reflection_by_hand_is_the_pass_of_today(nuggets: Any) -> None:
    nuggets.ok("reflect", "--dry-run")
    nuggets.ok("reflect", "--yes", "--scope", "user")
    assert nuggets.json("status")["daily"]["lastRun"] is None
    nuggets.ok("reflect", "--yes")
    assert nuggets.json("status")["daily"]["lastRun"]["counts"]["inspected"] == 1
    assert not nuggets.json("reflect", "--if-due")["ran"]


def test_status_says_when_it_ran_when_it_is_due_and_that_no_daemon_runs(nuggets: Any) -> None:
    daily = nuggets.json("status")["daily"]
    assert (daily["due"], daily["lastRun"], daily["daemon"], daily["running"]) == (True, None, None, False)
    assert "daily  never ran, due now; no daemon" in nuggets.ok("status")
    nuggets.ok("reflect", "--if-due")
    assert re.search(
        r"daily  last \d{4}-\d\d-\d\d \d\d:\d\d, due \d{4}-\d\d-\d\d \d\d:\d\d; no daemon",
        nuggets.ok("status"),
    )


# Real processes

DAEMON = [sys.executable, "-m", "nuggets_tui.cli", "daemon"]


def environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"], "HOME": str(home.parent), "NUGGETS_HOME": str(home), "PYTHONPATH": str(ROOT),
        "MEMORY_REFLECTION_HOUR": "0",
    }  # fmt: skip


@pytest.fixture
def daemon(home: Path) -> Iterator[subprocess.Popen[str]]:
    """A daemon that has run the pass of today, and waits."""
    process = subprocess.Popen(
        DAEMON, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(home),
        text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        assert "reflection: checked 1 note: 1 rewritten" in process.stderr.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_daemon_runs_once_for_a_folder_and_ends_at_once(
    daemon: subprocess.Popen[str], nuggets: Any, home: Path, number: signal.Signals
) -> None:
    second = subprocess.run(
        DAEMON, capture_output=True, env=environment(home), text=True, timeout=60, check=False
    )
    assert second.returncode == 3
    assert f"process {daemon.pid} " in second.stderr
    assert len(second.stderr.splitlines()) == 1
    assert nuggets.json("status")["daily"]["daemon"]["pid"] == daemon.pid
    assert f"; daemon {daemon.pid}" in nuggets.ok("status")
    # It keeps nobody from writing.
    nuggets.ok("remember", "memory", "a key", "a value")
    daemon.send_signal(number)
    said = daemon.communicate(timeout=30)
    assert said == ("", "")
    assert daemon.returncode == 0
    assert nuggets.json("status")["daily"]["daemon"] is None
    assert [entry["kind"] for entry in nuggets.json("log")].count("reflection") == 1


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes end otherwise there")
def test_a_killed_daemon_leaves_its_place_to_the_next(
    daemon: subprocess.Popen[str], nuggets: Any, home: Path
) -> None:
    daemon.kill()
    daemon.wait()
    assert (home / PRESENCE_NAME).exists()
    assert nuggets.json("status")["daily"]["daemon"] is None
    once = subprocess.run(
        [*DAEMON, "--once", "--verbose"],
        capture_output=True,
        env=environment(home),
        text=True,
        timeout=60,
        check=False,
    )
    assert (once.returncode, once.stderr) == (0, "")
    assert once.stdout.startswith("next pass ")
