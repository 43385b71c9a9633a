"""How the `nuggets` command begins: the app by the short way, everything else by the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nuggets_tui.entry import home_of_app


@pytest.mark.parametrize(
    ("arguments", "home"),
    [
        ([], "~/.nuggets"),
        (["--home", "somewhere"], "somewhere"),
        (["--home=somewhere"], "somewhere"),
        (["--home", "~/notes"], "~/notes"),
    ],
)
def test_the_app_alone_is_opened_by_the_short_way(arguments: list[str], home: str) -> None:
    assert home_of_app(arguments) == Path(home).expanduser()


def test_the_folder_may_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUGGETS_HOME", "/elsewhere")
    assert home_of_app([]) == Path("/elsewhere")


@pytest.mark.parametrize(
    "arguments",
    [
        ["status"],
        ["--home"],
        ["--home", ""],
        ["--home="],
        ["--home", "--json"],
        ["--json"],
        ["--home", "x", "status"],
    ],
)
def test_everything_else_is_left_to_the_command_line(arguments: list[str]) -> None:
    assert home_of_app(arguments) is None


@pytest.mark.slow
def test_without_a_terminal_there_is_help_and_exit_code_two() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nuggets_tui.entry"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 2
    assert "Usage: nuggets" in done.stdout
