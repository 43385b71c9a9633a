"""Which session a recall counts for, told from the processes that it comes from."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

from nuggets_tui import calling_session as session
from nuggets_tui.calling_session import session_id

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
TELL = "from nuggets_tui.calling_session import session_id; print(session_id(None))"
CALL = shlex.join([sys.executable, "-c", TELL])
OF_AGENTS = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "NUGGETS_SESSION")
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture(autouse=True)
def _no_session_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in OF_AGENTS:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def told(*command: str, **more: Any) -> list[str]:
    """Every session that a command names."""
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, **more)
    return found.stdout.split()


def test_a_given_session_comes_before_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert session_id("given") == "given"
    monkeypatch.setenv("NUGGETS_SESSION", "outside")
    monkeypatch.setenv("CODEX_THREAD_ID", "thread")
    assert session_id("given") == "given"
    assert session_id(None) == session_id(" ") == "outside"


def test_the_session_that_an_agent_names_is_the_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_THREAD_ID", "thread")
    assert session_id(None) == "thread"
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "conversation")
    assert session_id(None) not in ("thread", "conversation")


@needs_proc
def test_commands_of_one_agent_are_one_session_however_many_shells_it_starts(tmp_path: Path) -> None:
    script = tmp_path / "recalls.sh"
    script.write_text(f"{CALL}\ntrue\n")
    inner = f"{CALL}; true"
    found = {
        name
        for command in (
            ["bash", "-c", inner],
            ["bash", "-c", inner],
            ["bash", "-c", f"bash -c {shlex.quote(inner)}; true"],
            ["bash", "-c", f"for i in 1 2 3; do bash -c {shlex.quote(inner)}; done; true"],
            ["env", "A=1", "timeout", "60", "sh", "-c", f"{inner}"],
            ["bash", str(script)],
            [sys.executable, "-c", TELL],
        )
        for name in told(*command)
    }
    found |= set(told("bash", "-c", inner, start_new_session=True))
    assert len(found) == 1
    assert found.pop().startswith("cli-")


@needs_proc
def test_two_agents_are_two_sessions(tmp_path: Path) -> None:
    agent = (
        "import subprocess\n"
        f"for _ in range(2): subprocess.run(['bash', '-c', {CALL + '; true'!r}], check=True)\n"
    )
    first, second = (told(sys.executable, "-c", agent) for _ in range(2))
    assert len(set(first)) == len(set(second)) == 1
    assert len(first) == 2
    assert first != second


@needs_proc
@pytest.mark.parametrize("started", [["--norc"], ["--noprofile", "--rcfile", "/dev/null", "-i"]])
def test_a_terminal_that_is_typed_into_is_a_session_of_its_own(started: list[str]) -> None:
    sessions = set()
    for _ in range(2):
        shell = pexpect.spawn("bash", started, env={**os.environ, "PS1": "$ "}, encoding="utf-8", timeout=20)
        for command in (CALL, f"bash -c {shlex.quote(CALL + '; true')}"):
            shell.sendline(command)
            shell.expect(r"(cli-[-0-9a-f]+)\r\n")
            sessions.add(shell.match.group(1))
        shell.sendeof()
        shell.close(force=True)
    assert len(sessions) == 2
    assert session_id(None) not in sessions


@needs_proc
def test_a_shell_that_an_agent_starts_in_a_terminal_for_one_command_is_passed_over() -> None:
    sessions = set()
    for _ in range(2):
        shell = pexpect.spawn("bash", ["-c", f"{CALL}; true"], encoding="utf-8", timeout=20)
        shell.expect(r"(cli-\S+)\r\n")
        sessions.add(shell.match.group(1))
        shell.close(force=True)
    assert len(sessions) == 1


def test_where_the_system_tells_nothing_of_processes_the_calling_one_stands_for_the_session(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(session, "_PROCESSES", tmp_path)
    mine = session_id(None)
    assert mine.startswith("cli-")
    assert session_id(None) == mine
    monkeypatch.setattr("os.getppid", lambda: 4_000_000)
    assert session_id(None) != mine


@pytest.mark.parametrize(
    ("name", "expected"),
    [("bash", 1), ("claude", 12), ("npm exec nuggets", 1), ("a) 3 (b", 12), ("codex-linux-san", 1)],
)
def test_what_a_container_is_entered_with_for_one_command_stands_for_nobody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, expected: int
) -> None:
    for number, called in ((1, "init"), (12, name)):
        folder = tmp_path / str(number)
        folder.mkdir()
        fields = ["S", "0", *["0"] * 17, f"{number}00"]
        (folder / "stat").write_text(f"{number} ({called}) {' '.join(fields)}")
        (folder / "cmdline").write_bytes(b"bash\0-c\0x\0")
    monkeypatch.setattr(session, "_PROCESSES", tmp_path)
    assert session._origin(12) == (expected, f"{expected}00")
