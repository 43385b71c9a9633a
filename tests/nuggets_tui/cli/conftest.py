"""A command line that runs in this process on a memory of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from kits.memory_files import tree

from nuggets_tui.cli import program
from nuggets_tui.cli.invocation import Invocation


class CommandLine:
    """Runs `nuggets` with `home` as its memory; standard input is no terminal."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.runner = CliRunner()

    def __call__(self, *args: str, input: str | bytes | None = None) -> Result:
        call = Invocation()
        result = self.runner.invoke(program, args, input=input, obj=call)
        if call._memory is not None:
            # A process of its own would end here, and its files with it.
            call._memory.close()
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    def ok(self, *args: str, input: str | bytes | None = None) -> str:
        """What a call that must succeed prints."""
        result = self(*args, input=input)
        assert result.exit_code == 0, (args, result.stderr)
        return result.stdout

    def json(self, *args: str, code: int = 0, input: str | bytes | None = None) -> Any:
        """The one JSON document of a call."""
        result = self(*args, "--json", input=input)
        assert result.exit_code == code, (args, result.stderr)
        return json.loads(result.stdout)

    def fails(self, *args: str, code: int = 2, input: str | bytes | None = None) -> str:
        """The one line on standard error of a call that must fail, without anything on standard output."""
        result = self(*args, input=input)
        assert result.exit_code == code, (args, result.stdout, result.stderr)
        assert result.stdout == ""
        lines = result.stderr.splitlines()
        assert len(lines) == 1, lines
        return lines[0]

    @property
    def graph(self) -> Path:
        return self.home / "graph" / "graph.json"

    def notes(self) -> list[dict[str, Any]]:
        """All notes in the graph file."""
        return list(json.loads(self.graph.read_text(encoding="utf-8"))["notes"])

    def bytes(self) -> dict[str, bytes]:
        """Every file of the memory with its bytes; the lock, the log and what is kept of former times left out."""
        return tree(self.home)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty place for a memory, with HOME, the work folder and the environment of this test alone."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NUGGETS_HOME", str(tmp_path / "memory"))
    for name in ("NUGGETS_SESSION", "NUGGETS_AUTHOR", "NUGGETS_DEBUG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "memory"


@pytest.fixture
def nuggets(home: Path) -> CommandLine:
    return CommandLine(home)


@pytest.fixture
def at_keyboard(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes the commands believe that a person sits at standard input."""

    def sit() -> None:
        monkeypatch.setattr("nuggets_tui.cli.invocation.can_ask", lambda: True)

    return sit
