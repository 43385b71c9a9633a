"""Who is at work, for which session, and when somebody may be asked."""

from __future__ import annotations

import io
from typing import Any

import pytest

from nuggets_tui.cli import invocation
from nuggets_tui.cli.invocation import author, session_id


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stdin", "stdout", "kind", "name"),
    [
        (io.StringIO(), io.StringIO(), "agent", "command line"),
        (Terminal(), io.StringIO(), "person", ""),
        (io.StringIO(), Terminal(), "person", ""),
        (None, None, "agent", "command line"),
    ],
)
def test_a_person_sits_at_a_terminal(
    home: Any, monkeypatch: pytest.MonkeyPatch, stdin: Any, stdout: Any, kind: str, name: str
) -> None:
    monkeypatch.setattr("sys.stdin", stdin)
    monkeypatch.setattr("sys.stdout", stdout)
    made = author()
    assert (made.kind, made.name) == (kind, name)
    monkeypatch.setenv("NUGGETS_AUTHOR", "codex")
    assert (author().kind, author().name) == (kind, "codex")


def test_a_given_session_comes_before_that_of_the_environment(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert session_id("given") == "given"
    monkeypatch.setenv("NUGGETS_SESSION", "outside")
    assert session_id("given") == "given"
    assert session_id(None) == session_id(" ") == "outside"


def test_without_a_session_each_calling_process_has_one(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = session_id(None)
    assert mine.startswith("cli-")
    assert session_id(None) == mine
    monkeypatch.setattr("os.getppid", lambda: 1)
    other = session_id(None)
    assert other != mine
    monkeypatch.setattr(invocation, "_start_of", lambda process: "later")
    assert session_id(None) != other
