"""Who is at work, and when somebody may be asked."""

from __future__ import annotations

import io
from typing import Any

import pytest

from nuggets_tui.cli.invocation import author


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
