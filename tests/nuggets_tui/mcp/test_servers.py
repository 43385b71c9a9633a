"""Several servers on one folder, and who each writes as, for which session, and from which project."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kits.mcp_client import HELLO, AgentClient, answers, call, connected, request, server_command

from core.memory import Memory
from core.model.change import Author
from nuggets_tui.cli.calling_agent import author_of_client
from nuggets_tui.mcp.session import AgentSession

ROOT = Path(__file__).parents[3]
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


def facts_in(home: Path, nugget: str) -> dict[str, str]:
    """The facts of a nugget as they are stored."""
    memory = Memory.open(home, reconcile=False)
    return {fact.key: fact.value for fact in memory.snapshot.nugget(nugget).facts}


# Several at once


@pytest.mark.slow
def test_two_agents_on_one_folder_see_each_other_and_the_log_tells_them_apart(
    agent: AgentClient, home: Path
) -> None:
    with connected(home, name="codex-mcp-client", mode="legacy") as other:
        agent("remember", key="from claude", value="one", nugget="both")
        other("remember", key="from codex", value="two", nugget="both")
        assert "two" in agent("recall", query="from codex")
        assert "one" in other("recall", query="from claude")
        other("remember", key="from claude", value="three", nugget="both")
        assert "three" in agent("recall", query="from claude")
    memory = Memory.open(home)
    made = memory.snapshot.fact_notes
    for key, names in (("from claude", {"claude", "codex"}), ("from codex", {"codex"})):
        assert {str(author) for author, _ in memory.history.makers(made["both", key].id)} == names
    # Each has a session of its own, so both recalls of the first fact count.
    assert made["both", "from claude"].hits == 2


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
        survivor("remember", key="after", value="x", nugget="survivor")
    kept = set(facts_in(home, "doomed"))
    assert set(acknowledged) <= kept
    assert len(kept) <= len(acknowledged) + 1
    assert set(facts_in(home, "survivor")) == {"before", "right after", "after"}
    memory = Memory.open(home)
    assert (memory.maintenance.verify(), memory.history.conflicts()) == ((), ())


@pytest.mark.slow
def test_many_calls_at_once_are_all_done_one_change_after_the_other(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    stored = (call(number, "remember", key=f"key {number}", value="x", nugget="many") for number in range(12))
    asked = (call(f"ask {number}", "recall", query=f"key {number}") for number in range(12))
    told = answers(home, *(message for pair in zip(stored, asked, strict=True) for message in pair))
    assert len(told) == 24
    assert not [id for id, (one,) in told.items() if one["result"].get("isError")]
    assert len(facts_in(home, "many")) == 12
    assert Memory.open(home, reconcile=False).history.conflicts() == ()


# Who, and for which session


CLIENTS = {
    "claude-code": "claude", "claude-ai": "claude", "codex-mcp-client": "codex", "cursor-vscode": "cursor",
    "gemini-cli-mcp-client": "gemini", "opencode": "opencode", "Visual Studio Code": "Visual Studio Code",
    "an  odd\n\x1b[31mname": "an odd [31mname", "x" * 500: "x" * 64, "": "agent", "me": "agent",
    "Reflection": "agent", "pipeline": "agent",
}  # fmt: skip


@pytest.mark.parametrize("client", CLIENTS, ids=ascii)
def test_changes_are_put_down_to_the_program_at_the_other_end_and_never_to_a_person(client: str) -> None:
    assert author_of_client(client) == Author("agent", CLIENTS[client])


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
    assert [str(entry.change_set.author) for entry in reversed(memory.history.log())] == [
        "agent",
        "codex",
        "codex",
    ]
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


# From which project


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Folders of three projects, none of which has a memory."""
    monkeypatch.delenv("NUGGETS_PROJECT")
    folders = {name: tmp_path / "work" / name for name in ("scanner", "website", "my app")}
    for folder in folders.values():
        (folder / ".git").mkdir(parents=True)
        (folder / "src").mkdir()
    return folders


@pytest.mark.slow
def test_each_of_three_projects_gets_its_own_answer_and_none_sells_anothers(
    tmp_path: Path, three: dict[str, Path]
) -> None:
    home = tmp_path / "memory"
    commands = {"scanner": "cargo nextest run", "website": "pnpm vitest run"}
    for name, command in commands.items():
        stored = call(1, "remember", key="test command", value=command)
        assert not answers(home, stored, folder=three[name] / "src")[1][0]["result"].get("isError")
        assert facts_in(home, name) == {"test command": command}
    for name, folder in three.items():
        told = answers(home, call(1, "recall", query="test command"), folder=folder)
        text = told[1][0]["result"]["content"][0]["text"]
        for other, command in commands.items():
            assert text.startswith(f"test command = {command}") == (other == name)
            assert (f"from project {other}" in text) == (name not in commands)


@pytest.mark.slow
def test_the_project_is_that_of_the_roots_that_a_client_gives(tmp_path: Path, three: dict[str, Path]) -> None:
    def roots(*uris: object) -> bytes:
        given = {"roots": [{"uri": uri} for uri in uris]}
        return json.dumps({"jsonrpc": "2.0", "id": "nuggets-roots", "result": given}).encode() + b"\n"

    home = tmp_path / "memory"
    able = {**HELLO, "capabilities": {"roots": {"listChanged": True}}}
    told = answers(
        home,
        request(0, "initialize", **able),
        request(None, "notifications/initialized"),
        roots("https://example.com", 5, three["my app"].as_uri(), three["website"].as_uri()),
        request(None, "notifications/roots/list_changed"),
        roots("file://[not", "file:///no/such/folder"),
        call(1, "remember", key="port", value="8642"),
        folder=three["scanner"],
    )
    assert [one["method"] for one in told["nuggets-roots"]] == ["roots/list", "roots/list"]
    assert facts_in(home, "my-app") == {"port": "8642"}
    assert "nuggets-roots" not in answers(
        home, request(0, "initialize", **HELLO), request(None, "notifications/initialized")
    )


# Starting


def test_neither_a_person_nor_a_file_in_place_of_the_folder_is_served(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from nuggets_tui.cli import program

    (tmp_path / "file").write_text("x")
    for words in (["--home", str(tmp_path / "memory"), "--as", "me"], ["--home", str(tmp_path / "file")]):
        result = CliRunner().invoke(program, [*words, "mcp"])
        assert (result.exit_code, result.stdout) == (2, "")
    assert not (tmp_path / "memory").exists()


@pytest.mark.slow
def test_the_server_needs_no_library_of_the_protocol_and_no_pydantic(tmp_path: Path) -> None:
    names = ("mcp", "mcp_types", "pydantic", "anyio", "textual", "numpy")
    words = server_command(tmp_path / "memory")[3:]
    code = (
        f"import sys\nfor name in {names!r}: sys.modules[name] = None\nsys.argv[1:] = {words!r}\n"
        "from nuggets_tui.entry import main\nmain()"
    )
    sent = b"".join((request(1, "initialize", **HELLO), request(2, "tools/list"), call(3, "sessionRecover")))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, input=sent, capture_output=True, check=True)
    assert len(done.stdout.splitlines()) == 3


@pytest.mark.slow
def test_looking_at_a_memory_that_is_not_there_makes_none(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    with connected(home, options=("--as", "codex")) as agent:
        for tool, given in (("recall", {"query": "anything"}), ("sessionRecover", {})):
            assert agent(tool, **given)
        assert not home.exists()
        agent("remember", key="first", value="x")
    assert [str(entry.change_set.author) for entry in Memory.open(home).history.log()] == ["codex"]
