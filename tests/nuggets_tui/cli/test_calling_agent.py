"""What an agent writes through the command line is the agent's: in the log, in the note, and for undo."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from core.model.change import Author
from nuggets_tui.cli.calling_agent import AGENTS
from nuggets_tui.cli.invocation import author


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs something as a person at a terminal, or as the agent whose variables are given."""

    def run(call: Callable[[], Any], *agent: str) -> Any:
        with monkeypatch.context() as here:
            here.setattr("nuggets_tui.cli.invocation.is_terminal", lambda stream: not agent)
            for variable in agent:
                name, _, value = variable.partition("=")
                here.setenv(name, value or "1")
            return call()

    return run


SIGNS = [(agent.name, variable) for agent in AGENTS for variable in agent.variables]


@pytest.mark.parametrize(("name", "variable"), SIGNS, ids=[variable for _, variable in SIGNS])
@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()], ids=["pipe", "terminal"])
def test_an_agent_is_told_by_its_variables_in_a_terminal_too(
    monkeypatch: pytest.MonkeyPatch, name: str, variable: str, stream: io.StringIO
) -> None:
    monkeypatch.setattr("sys.stdin", stream)
    key, _, value = variable.partition("=")
    monkeypatch.setenv(key, value or "1")
    assert author() == Author("agent", name)
    monkeypatch.setenv(key, "")
    assert author().name != name


def test_variables_that_say_no_or_name_nobody_are_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal())
    for name, value in (("CLAUDECODE", "0"), ("GEMINI_CLI", "false"), ("AGENT", "1"), ("AI_AGENT", " true ")):
        monkeypatch.setenv(name, value)
        assert author() == Author("person"), name
    monkeypatch.setenv("AI_AGENT", "Claude_Code")
    assert author() == Author("agent", "claude")
    monkeypatch.setenv("AI_AGENT", "some-new-agent")
    assert author() == Author("agent", "some-new-agent")


@pytest.mark.parametrize("variable", ["NUGGETS_AUTHOR", "AI_AGENT"])
def test_a_name_from_the_environment_never_holds_what_cannot_be_shown(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, " bad\x1b[31m\nname\u202e ")
    assert author() == Author("agent", "bad[31m name")


def test_an_agent_within_another_is_told_from_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CODEX_THREAD_ID", "t1")
    assert author().name == "claude+codex"


def test_undo_takes_back_the_callers_own_change_and_never_anothers(
    nuggets: Any, person: Callable[..., Any]
) -> None:
    person(lambda: nuggets.ok("remember", "app", "mine", "1"))
    person(lambda: nuggets.ok("remember", "app", "its", "2"), "CLAUDECODE")
    person(lambda: nuggets.ok("remember", "app", "another's", "3"), "CODEX_THREAD_ID")

    def keys() -> list[str]:
        return [fact["key"] for fact in nuggets.json("notes", "--facts", "--nugget", "app")]

    person(lambda: nuggets.ok("undo"))
    assert keys() == ["its", "another's"]
    assert "nuggets undo ID" in person(lambda: nuggets.fails("undo", code=1))
    person(lambda: nuggets.ok("undo"), "CLAUDECODE")
    assert keys() == ["another's"]
    assert "you have no change to undo" in person(lambda: nuggets.fails("undo", code=1), "CLAUDECODE")
    # Nor does redo bring back what somebody else took back.
    person(lambda: nuggets.ok("redo"), "CLAUDECODE")
    assert set(keys()) == {"another's", "its"}
    # Named, anybody's change can be taken back.
    theirs = nuggets.json("log", "--author", "codex")[0]["id"]
    person(lambda: nuggets.ok("undo", theirs))
    assert keys() == ["its"]


def test_what_a_caller_writes_that_names_no_agent_is_taken_for_what_the_user_said(
    nuggets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    nuggets.ok("note", "add", "Port", "The user runs the API on 4000.")
    monkeypatch.setenv("CLAUDECODE", "1")
    nuggets.ok("note", "add", "Other", "The user runs the worker on 4001.")
    notes = {note["title"]: note for note in json.loads(nuggets.graph.read_bytes())["notes"]}
    assert (notes["Port"]["source"], notes["Port"]["confidence"]) == ("explicit_user", 0.9)
    assert (notes["Other"]["source"], notes["Other"]["confidence"]) == ("agent_reflection", 0.75)
