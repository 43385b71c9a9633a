"""The server as a process: who it writes as, what goes through its pipe, and several of them on one folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from kits.mcp_client import AgentClient, connected, json_line, server_command
from kits.memory_files import note_object, write_graph

from core.memory import Memory
from core.model.change import Author
from core.storage.files.atomic import locked
from nuggets_tui.cli.calling_agent import author_of_client
from nuggets_tui.mcp.session import AgentSession

ROOT = Path(__file__).parents[3]
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


# Two at once


@pytest.mark.slow
def test_two_agents_on_one_folder_see_each_other_and_the_log_tells_them_apart(
    agent: AgentClient, home: Path
) -> None:
    with connected(home, name="codex-mcp-client", mode="legacy") as other:
        mine = agent("remember", key="from claude", value="1", nugget="both")
        theirs = other("remember", key="from codex", value="2", nugget="both")
        assert agent("recall", query="from codex")["answer"] == "2"
        assert other("recall", query="from claude")["answer"] == "1"
        again = other("remember", key="from claude", value="3", nugget="both")
        assert agent("recall", query="from claude")["answer"] == "3"
        assert agent("status")["author"] == "claude"
        assert other("status")["author"] == "codex"
    memory = Memory.open(home)
    changes = (mine["changeId"], theirs["changeId"], again["changeId"])
    authors = [memory.entry(change).change_set.author for change in changes]
    assert authors == [Author("agent", "claude"), Author("agent", "codex"), Author("agent", "codex")]
    # Each has a session of its own, so both recalls of the first fact count.
    fact = memory.snapshot.by_name["both"].find("from claude")
    assert fact is not None
    assert fact[1].hits == 2
    memory.close()


@pytest.mark.slow
def test_a_server_that_is_killed_while_it_writes_loses_nothing_and_leaves_nothing_locked(
    tmp_path: Path,
) -> None:
    home = tmp_path / "memory"
    acknowledged: list[str] = []
    some = threading.Event()

    async def write_on(doomed: AgentClient) -> None:
        for number in range(10_000):
            key = f"doomed {number}"
            result = await doomed.client.call_tool("remember", {"key": key, "value": "x", "nugget": "doomed"})
            assert not result.is_error
            acknowledged.append(key)
            if number == 5:
                some.set()

    with connected(home) as survivor:
        survivor("remember", key="before", value="x", nugget="survivor")
        with suppress(Exception), connected(home, name="doomed") as doomed:
            writing = doomed.portal.start_task_soon(write_on, doomed)
            assert some.wait(30)
            doomed.kill()
            survivor("remember", key="right after", value="x", nugget="survivor")
            with pytest.raises(Exception):  # noqa: B017, PT011 - whatever the client makes of a pipe that broke
                writing.result(timeout=30)
        # A fresh server and the surviving one write on, and nothing that was promised is missing.
        with connected(home) as fresh:
            fresh("remember", key="fresh", value="x", nugget="survivor")
            survivor("remember", key="after", value="x", nugget="survivor")
            kept = {one["key"] for one in survivor("listFacts", nugget="doomed", limit=200)["facts"]}
            assert set(acknowledged) <= kept
            assert len(kept) <= len(acknowledged) + 1
            mine = {one["key"] for one in fresh("listFacts", nugget="survivor")["facts"]}
            assert mine == {"before", "right after", "fresh", "after"}
    memory = Memory.open(home)
    assert memory.verify() == ()
    assert memory.conflicts() == ()
    memory.close()


@pytest.mark.slow
def test_many_calls_at_once_are_all_done_one_change_after_the_other(agent: AgentClient, home: Path) -> None:
    async def all_at_once() -> list[Any]:
        found: list[Any] = []

        async def call(number: int) -> None:
            given = {"key": f"key {number}", "value": f"value {number}", "nugget": "many"}
            found.append(await agent.client.call_tool("remember", given))
            found.append(await agent.client.call_tool("recall", {"query": f"key {number}", "nugget": "many"}))

        async with anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(call, number)
        return found

    results = agent.portal.call(all_at_once)
    assert not [result for result in results if result.is_error]
    assert agent("listFacts", nugget="many")["total"] == 12
    memory = Memory.open(home, reconcile=False)
    assert memory.conflicts() == ()


def test_the_protocol_answers_while_a_change_waits_for_somebody_else(agent: AgentClient, home: Path) -> None:
    agent("remember", key="there", value="x", nugget="waits")
    with locked(home):
        given = {"key": "waited", "value": "x", "nugget": "waits"}
        waiting = agent.portal.start_task_soon(agent.client.call_tool, "remember", given)
        assert len(agent.portal.call(agent.client.list_tools).tools) == 16
        assert agent.portal.call(agent.client.list_prompts).prompts
        assert not waiting.done()
    assert not waiting.result(timeout=30).is_error


# The pipe


@contextmanager
def raw_server(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The server with nothing but bytes at its ends."""
    with subprocess.Popen(
        server_command(home), cwd=home.parent, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow
def test_every_call_is_answered_by_the_protocol_alone_whatever_comes_in(tmp_path: Path) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
    call = {"name": "remember", "arguments": {"key": "k", "value": "v", "nugget": "raw"}}
    sent = [
        b"this is no JSON\n",
        b"\xff\xfe\x00\n",
        b"{}\n[]\n5\n\n",
        b'{"jsonrpc": "2.0", "id": null, "method": "ping"}\n{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}\n',
        json_line(id=1, method="initialize", params=hello),
        json_line(method="notifications/initialized"),
        b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "recall", "arguments": '
        b'{"query": "\\ud800"}}}\n',
        b"[" * 100_000 + b"\n",
        json_line(id=3, method="tools/call", params={"name": "recall", "arguments": "no object"}),
        json_line(id=4, method="tools/call", params={"name": ["no name"]}),
        json_line(id=5, method="no/such/method"),
        b'{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"id": 1, "a": '
        + b"[" * 5_000
        + b"\n",
        json_line(id=9, method="tools/call", params={"name": "recall", "arguments": {"query": "a\0b"}}),
        b'{"method": "ping", "params": {"n": %s}, "id": "ten"}\n' % (b"9" * 6_000),
        b'{"jsonrpc": "2.0", "id": 11, "method": "ping", "params": []}\n',
        b'{"jsonrpc": "1.0", "id": 12, "method": "ping"}\n{"jsonrpc": "2.0", "id": 13, "method": 5}\n',
        b'[{"jsonrpc": "2.0", "id": 14, "method": "ping"}, {"jsonrpc": "2.0", "id": 15}]\n',
        b'{"jsonrpc": "2.0", "id": 16, "method": "ping", "params": {"x": "\xff \x01"\n',
        json_line(
            id=17, method="tools/call", params={"name": "remember", "arguments": {"key": "a" * 3_000_000}}
        ),
        b'{"jsonrpc": "2.0", "id": 18, "method": "\\udcff"}\n{"jsonrpc": "2.0", "id": 5, "method": "ping"}\n',
        b'{"jsonrpc": "2.0", "id": 19, "result": 5}\n',
        json_line(id=6, method="tools/call", params=call),
        json_line(id=7, method="ping"),
    ]
    with raw_server(tmp_path / "memory") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"".join(sent))
        process.stdin.flush()
        answered: dict[Any, Any] = {}
        while not {*range(1, 19), "ten"} - {10} <= answered.keys():
            message = json.loads(process.stdout.readline())
            assert message["jsonrpc"] == "2.0"
            answered[message.get("id")] = message
        process.stdin.close()
        assert process.wait(30) == 0
        rest = process.stdout.read()
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
        assert b"Traceback" not in (process.stderr.read() if process.stderr else b"")
    assert answered[1]["result"]["serverInfo"]["name"] == "nuggets"
    assert "recall first" in answered[1]["result"]["instructions"]
    assert "error" in answered[8]
    assert answered[2]["result"]["structuredContent"]["judgement"] == "nothing"
    assert answered[14]["result"] == {}
    assert 19 not in answered
    assert answered[6]["result"]["structuredContent"]["changed"]


@pytest.mark.slow
def test_an_agent_that_goes_without_a_word_leaves_a_sound_memory_and_no_complaint(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
    call = {"name": "remember", "arguments": {"key": "k", "value": "v", "nugget": "gone"}}
    with raw_server(home) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json_line(id=1, method="initialize", params=hello))
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(json_line(id=2, method="tools/call", params=call))
        process.stdin.flush()
        process.stdin.close()
        # It ends in order, or as a program that writes into a closed pipe.
        assert process.wait(30) in (0, 141)
        assert process.stderr.read() == b""
    memory = Memory.open(home)
    assert memory.verify() == ()
    memory.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_ends_the_server_without_a_traceback(tmp_path: Path) -> None:
    with raw_server(tmp_path / "memory") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        process.stdin.write(json_line(id=1, method="initialize", params=hello))
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == -signal.SIGINT
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


# Who, and for which session


@pytest.mark.parametrize(
    ("client", "name"),
    [
        ("claude-code", "claude"),
        ("claude-ai", "claude"),
        ("codex-mcp-client", "codex"),
        ("cursor-vscode", "cursor"),
        ("gemini-cli-mcp-client", "gemini"),
        ("opencode", "opencode"),
        ("Visual Studio Code", "Visual Studio Code"),
        ("an  odd\n\x1b[31mname", "an odd [31mname"),
        ("x" * 500, "x" * 64),
        ("", "agent"),
        ("me", "agent"),
        ("Reflection", "agent"),
        ("pipeline", "agent"),
    ],
)
def test_changes_are_put_down_to_the_program_at_the_other_end_and_never_to_a_person(
    client: str, name: str
) -> None:
    assert author_of_client(client) == Author("agent", name)


def test_a_name_of_ones_own_goes_before_what_the_client_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUGGETS_AUTHOR", "reviewer")
    assert author_of_client("codex") == Author("agent", "reviewer")
    session = AgentSession(tmp_path, author=Author("agent", "given"))
    session.identify("codex")
    assert session.author == Author("agent", "given")


def test_a_client_that_says_its_name_late_is_logged_under_it_from_then_on(tmp_path: Path) -> None:
    from core.facts.edits import remember

    session = AgentSession(tmp_path / "memory", clock=lambda: NOON)
    for number, name in enumerate(("", "codex", "")):
        session.identify(name)
        session.reading().change("x", lambda draft, key=str(number): remember(draft, "n", key, "x"))
    memory = Memory.open(tmp_path / "memory")
    assert [str(entry.change_set.author) for entry in reversed(memory.log())] == ["agent", "codex", "codex"]
    session.close()


def test_a_session_is_the_one_that_the_environment_names_else_one_for_each_connection_and_day(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sessions = [AgentSession(tmp_path, clock=lambda: NOON) for _ in range(2)]
    for session in sessions:
        session.identify("claude-code")
    first, second = (session.id for session in sessions)
    assert first != second
    assert first.startswith("claude-mcp-2026-11-18-")
    assert sessions[0].id == first
    monkeypatch.setenv("NUGGETS_SESSION", "mine")
    assert sessions[0].id == "mine"


def test_the_briefing_is_for_the_project_that_the_server_runs_in(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    write_graph(
        home,
        [
            note_object(1, nugget="app", scope="project", title="Of the app"),
            note_object(2, nugget="web", scope="project", title="Of the web"),
            note_object(3, nugget="memory", scope="project", title="Of nothing"),
        ],
    )

    def told(folder: str) -> str:
        return AgentSession(home, folder=folder).briefing().text

    assert "Of the app" in told("/home/kim/app")
    assert "Of the web" not in told("/home/kim/app")
    # A folder that is no project of this memory hides none of it.
    assert all(title in told("/home/kim") for title in ("Of the app", "Of the web"))
    assert "Of the web" in told("/home/kim/memory")


# Starting


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["mcp", "mcp.server.lowlevel", "pydantic"])
def test_without_its_library_the_command_says_in_one_line_what_to_install(
    tmp_path: Path, missing: str
) -> None:
    home = tmp_path / "memory"
    code = (
        f"import sys\nsys.modules[{missing!r}] = None\nsys.argv[1:] = ['--home', {str(home)!r}, 'mcp']\n"
        "from nuggets_tui.entry import main\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "needs the library mcp" in line
    assert "install it with: " in line
    assert not home.exists()


@pytest.mark.slow
def test_a_file_in_place_of_the_folder_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("x")
    command = server_command(tmp_path / "memory")
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a folder" in done.stderr


def test_no_agent_is_let_in_as_a_person(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from nuggets_tui.cli import program

    result = CliRunner().invoke(program, ["--home", str(tmp_path / "memory"), "--as", "me", "mcp"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "name an agent" in result.stderr


@pytest.mark.slow
def test_no_other_command_loads_the_library(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom click.testing import CliRunner\nfrom nuggets_tui.cli import program\n"
        f"CliRunner().invoke(program, ['--home', {str(tmp_path / 'memory')!r}, 'status'])\n"
        "CliRunner().invoke(program, ['--help'])\n"
        "print([name for name in ('mcp', 'mcp_types', 'pydantic', 'anyio') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_looking_at_a_memory_that_is_not_there_makes_none(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    with connected(home, options=("--as", "codex")) as agent:
        assert agent("status")["facts"] == 0
        assert agent("recall", query="anything")["judgement"] == "nothing"
        assert agent("sessionRecover") == {"found": False}
        assert not home.exists()
        agent("remember", key="first", value="x")
        assert agent("status")["author"] == "codex"
        assert agent("status")["lastChange"]["author"] == "codex"


@pytest.mark.slow
def test_the_extra_names_what_the_server_imports() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert {line.partition(">")[0] for line in extras["mcp"]} == {"anyio", "mcp", "pydantic"}
    assert "nuggets-tui[mcp]" in extras["dev"]
