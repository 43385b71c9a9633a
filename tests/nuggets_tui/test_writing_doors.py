"""What an agent writes is filed and refused alike, whether it comes over MCP or by a command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from core.memory import Memory
from core.model.note import Note, custom_tags
from nuggets_tui.cli import program
from nuggets_tui.mcp.server import NuggetsServer
from nuggets_tui.mcp.session import AgentSession

Add = Callable[..., str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUGGETS_HOME", str(tmp_path / "memory"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.delenv("NUGGETS_PROJECT", raising=False)
    (tmp_path / "web" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "web")
    return tmp_path / "memory"


@pytest.fixture(params=["mcp", "cli"])
def add(request: pytest.FixtureRequest, home: Path) -> Iterator[Add]:
    """Adds a note as an agent does; what it is told, after "error:" where it is refused."""
    session = AgentSession(home)
    server = NuggetsServer(session)

    def by_tool(title: str, content: str, **more: Any) -> str:
        arguments = {"title": title, "content": content, **more}
        done = server.methods["tools/call"].answer({"name": "createNote", "arguments": arguments})
        said = str(done["content"][0]["text"])
        return f"error:{said}" if done.get("isError") else said

    def by_command(title: str, content: str, *, nugget: str = "", tags: list[str] | None = None) -> str:
        words = ["note", "add", title, content, *(["--nugget", nugget] if nugget else [])]
        words += [word for tag in tags or () for word in ("--tag", tag)]
        done = CliRunner().invoke(program, words)
        return done.stdout if done.exit_code == 0 else f"error:{done.stderr}"

    yield by_tool if request.param == "mcp" else by_command
    session.close()


def note(home: Path, title: str) -> Note:
    (found,) = (one for one in Memory.open(home, reconcile=False).snapshot.notes if one.title == title)
    return found


@pytest.mark.parametrize(
    ("title", "content", "scope"),
    [
        ("Test command", "pnpm vitest run", "project"),
        ("Auth", "User table holds the hashes; users log in by mail.", "project"),
        ("Indentation", "The user prefers tabs in this repo.", "project"),
        ("Answers", "The user prefers short answers.", "user"),
        ("Reviews", "Ask before adding a dependency, in all projects.", "user"),
    ],
)
def test_a_note_without_a_nugget_is_the_projects(
    title: str, content: str, scope: str, add: Add, home: Path
) -> None:
    add(title, content)
    found = note(home, title)
    assert (found.nugget_name, found.scope) == ("web", scope)
    assert (found.type == "preference") == (scope == "user")


def test_what_holds_in_this_repository_alone_is_nobodys_preference_everywhere(add: Add, home: Path) -> None:
    add("Indentation", "The user prefers tabs in this project.", nugget="prefs")
    assert (note(home, "Indentation").nugget_name, note(home, "Indentation").scope) == ("web", "project")
    add("Answers", "The user prefers short answers.", nugget="prefs")
    assert (note(home, "Answers").nugget_name, note(home, "Answers").scope) == ("prefs", "user")


def test_a_title_that_is_nearly_there_is_named(add: Add, home: Path) -> None:
    add("Deploy command", "make ship")
    said = add("Deploy commands", "make ship-all")
    assert note(home, "Deploy command").id in said
    assert note(home, "Deploy command").id not in add("Linter", "ruff")


def test_a_misspelt_nugget_is_asked_back(add: Add, home: Path) -> None:
    add("One", "x", nugget="scanner")
    assert "scanner" in add("Two", "y", nugget="scaner").partition("error:")[2]
    add("Three", "z")
    assert "web" in add("Four", "y", nugget="wbe").partition("error:")[2]
    assert {one.title for one in Memory.open(home).snapshot.notes} == {"One", "Three"}


@pytest.mark.parametrize("content", ["", "  \n "])
def test_an_empty_note_is_refused(content: str, add: Add, home: Path) -> None:
    assert add("Empty", content).startswith("error:")
    assert not home.exists()


def test_tags_with_commas_between_them_are_several(add: Add, home: Path) -> None:
    add("Tagged", "x", tags=["a,b", "#c"])
    assert custom_tags(note(home, "Tagged")) == ("a", "b", "c")


def test_an_option_with_a_slip_is_no_content(home: Path) -> None:
    for words in (["T", "--nuget=web"], ["T", "--tags=a"], ["--nuget=web", "T"]):
        done = CliRunner().invoke(program, ["note", "add", *words])
        assert done.exit_code == 2
    assert not home.exists()
    assert CliRunner().invoke(program, ["note", "add", "T", "--no-verify"]).exit_code == 0
    assert CliRunner().invoke(program, ["note", "add", "U", "--", "--nuget=web"]).exit_code == 0


def test_a_fact_is_the_projects_and_names_a_key_that_is_nearly_there(home: Path) -> None:
    session = AgentSession(home)
    server = NuggetsServer(session)

    def remember(**given: str) -> str:
        done = server.methods["tools/call"].answer({"name": "remember", "arguments": given})
        return str(done["content"][0]["text"])

    remember(key="test command", value="pytest")
    assert "pytest" in remember(key="tests command", value="tox")
    assert "pytest" not in remember(key="staging port", value="5433")
    found = note(home, "test command")
    assert (found.nugget_name, found.scope) == ("web", "project")
    said = CliRunner().invoke(program, ["remember", "web", "test commands", "nox", "--json"])
    assert json.loads(said.stdout)["nuggetName"] == "web"
    assert note(home, "test commands").scope == "project"
    session.close()
