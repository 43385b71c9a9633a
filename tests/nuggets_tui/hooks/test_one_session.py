"""One conversation is one session and one project, whoever tells of it: hooks, commands, and the server for agents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.facts.edits import remember
from core.memory import Memory
from core.pipeline.service import Pipeline
from core.user_folders import state_folder
from nuggets_tui import calling_session as sessions
from nuggets_tui.hooks.worker import apply_caught, make_briefing
from nuggets_tui.mcp.session import AgentSession

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system tells no processes")
# An agent, as far as its children see it: it calls hooks and commands through shells and its server directly.
AGENT = """
import json, subprocess, sys
for kind, given, *words in json.loads(sys.argv[1]):
    if kind == "shell":
        words = ["sh", "-c", '"$@"; true', "sh", *words]
    done = subprocess.run(words, input=given.encode(), capture_output=True, timeout=60)
    assert not done.stderr, done.stderr.decode()
    print(json.dumps(done.stdout.decode()))
"""
HOOK = """
import sys
from nuggets_tui.hooks import fast
fast._DEADLINE = fast._DEADLINE_GOING_ON = 50
fast.start_worker = lambda *arguments, **more: None
fast.main(sys.argv[1:])
"""
SERVER = """
import os
from pathlib import Path
from nuggets_tui.mcp.session import AgentSession
session = AgentSession(Path(os.environ["NUGGETS_HOME"]))
print(session.id, session.project)
"""
COMMAND = """
import os
from nuggets_tui.calling_session import session_id
print(session_id(None, os.environ["NUGGETS_HOME"]))
"""
RECALL = ["-m", "nuggets_tui", "recall", "port"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NUGGETS_HOME", str(tmp_path / "memory"))
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "shop" / "src")
    memory = Memory.open(tmp_path / "memory")
    memory.change("added", lambda draft: remember(draft, "shop", "port", "Postgres port 5433"))
    memory.close()
    return tmp_path / "memory"


def agent(home: Path, *calls: list[str]) -> list[str]:
    """What each call of an agent says that works in a folder of the project."""
    done = subprocess.run(
        [sys.executable, "-c", AGENT, json.dumps(calls)],
        cwd=home.parent / "shop" / "src", capture_output=True, check=True, timeout=100,
    )  # fmt: skip
    return [str(json.loads(line)).strip() for line in done.stdout.splitlines()]


def hook(home: Path, name: str, session: str = "talk-1", **more: Any) -> list[str]:
    event = {"hook_event_name": name, "session_id": session, "cwd": str(home.parent / "link"), **more}
    return ["shell", json.dumps(event), sys.executable, "-c", HOOK, "gemini"]


@pytest.mark.slow
@needs_proc
def test_hooks_commands_and_the_server_of_one_agent_are_of_one_session_and_project(home: Path) -> None:
    make_briefing(home, "", str(home.parent / "link"))
    said = agent(
        home,
        hook(home, "SessionStart"),
        ["direct", "", sys.executable, "-c", SERVER],
        ["shell", "", sys.executable, "-c", COMMAND],
        ["shell", "", sys.executable, *RECALL],
        hook(home, "BeforeAgent", prompt="Fix the build."),
    )
    project = os.path.realpath(home.parent / "shop")
    assert said[1] == f"talk-1 {project}"
    assert said[2] == "talk-1"
    assert "5433" in said[3]
    apply_caught(home)
    with Pipeline.open(home) as pipeline:
        (overview,) = pipeline.sessions.all()
        assert (overview.session, overview.project, overview.author) == ("talk-1", project, "agent:gemini")
        (given,) = pipeline.sessions.page("talk-1").memories
        assert (given.ahead, given.times) == (1, 1)
        pipeline.sessions.end("talk-1", conversation="It is Postgres port 5433.")
        (given,) = pipeline.sessions.page("talk-1").memories
        assert (given.ahead, given.times) == (1, 1)
        assert [one.session for one in pipeline.sessions.all()] == ["talk-1"]


@pytest.mark.slow
@needs_proc
def test_the_next_session_of_an_agent_takes_the_place_of_the_one_before_and_an_end_leaves_none(
    home: Path,
) -> None:
    ask = ["shell", "", sys.executable, "-c", COMMAND]
    said = agent(
        home,
        hook(home, "SessionStart"),
        hook(home, "SessionStart", "talk-2"),
        ask,
        hook(home, "SessionEnd", "talk-2"),
        ask,
    )
    assert said[2] == "talk-2"
    assert said[4].startswith("cli-")


@needs_proc
@pytest.mark.slow
def test_two_agents_in_one_project_keep_their_sessions_apart(home: Path) -> None:
    ask = ["shell", "", sys.executable, "-c", COMMAND]
    first, second = (agent(home, hook(home, "SessionStart", name), ask)[1] for name in ("talk-1", "talk-2"))
    assert (first, second) == ("talk-1", "talk-2")


@needs_proc
@pytest.mark.slow
def test_what_the_environment_names_goes_before_for_hooks_too(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = ["shell", "", sys.executable, "-c", COMMAND]
    monkeypatch.setenv("NUGGETS_SESSION", "mine")
    assert agent(home, hook(home, "SessionStart"), ask)[1] == "mine"
    apply_caught(home)
    with Pipeline.open(home) as pipeline:
        assert [one.session for one in pipeline.sessions.all()] == ["mine"]
    monkeypatch.delenv("NUGGETS_SESSION")
    monkeypatch.setenv("CODEX_THREAD_ID", "thread")
    assert agent(home, hook(home, "SessionStart", "thread"), ask)[1] == "thread"
    # An agent that another one runs has hooks of its own: it is its own conversation.
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "outer")
    assert agent(home, hook(home, "SessionStart", "thread"), ask)[1] == "thread"


def test_a_server_that_outlives_a_conversation_goes_by_hooks_and_a_command_by_its_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_caller", lambda: "12 7")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "before")
    server = AgentSession(home)
    assert server.id == "before"
    sessions.hooked_session(str(home), "cleared")
    assert server.id == "cleared"
    assert sessions.named_session(None, str(home)) == "before"
    monkeypatch.setenv("NUGGETS_SESSION", "mine")
    assert server.id == "mine"


@pytest.mark.slow
def test_files_of_agents_that_were_killed_do_not_pile_up_and_a_broken_one_is_no_session(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(state_folder(str(home)) or "") / "sessions"
    for number in range(230):
        monkeypatch.setattr(sessions, "_caller", lambda n=number: f"{n} 7")
        sessions.hooked_session(str(home), f"talk-{number}")
    assert len(list(folder.iterdir())) <= 200
    assert sessions.named_session(None, str(home)) == "talk-229"
    for broken in (b"\xff\xfe", b"a\x1b[31mb", b"x" * 2_000, b""):
        for path in folder.iterdir():
            path.write_bytes(broken)
        assert sessions.named_session(None, str(home)) == ""
    # A process that nobody can be told from is none.
    monkeypatch.setattr(sessions, "_caller", lambda: "12 ")
    sessions.hooked_session(str(home), "everybody")
    assert sessions.named_session(None, str(home)) == ""
