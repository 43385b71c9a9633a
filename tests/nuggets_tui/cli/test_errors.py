"""Every way out is an exit code and at most one line on standard error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.errors import ConflictError
from core.memory import Memory
from nuggets_tui.cli import SECTIONS, notes, overview, program
from nuggets_tui.cli.options import short_help


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("note", "show", "nowhere"), 1),
        (("search", "x", "--explain", "nowhere"), 1),
        (("recall", "x", "--explain", "nowhere"), 1),
        (("search", "x", "--nugget", "nowhere"), 1),
        (("undo", "nowhere"), 1),
        (("undo",), 1),
        (("restore", "never"), 2),
        (("restore", "1h", "--note", "nowhere"), 1),
        (("resolve", "nowhere"), 1),
        (("remember", "", "k", "v"), 2),
        (("note", "edit", "nowhere", "--title", "x"), 1),
        (("ingest", "nowhere"), 2),
        (("promote", "/dev/null/x"), 2),
        (("log", "--since", "soon"), 2),
        (("nonsense",), 2),
    ],
)
def test_errors_leave_standard_output_empty_with_json(nuggets: Any, args: tuple[str, ...], code: int) -> None:
    line = nuggets.fails(*args, code=code)
    # As for a person: on standard error, with the same words and code.
    assert nuggets.fails("--json", *args, code=code) == line
    assert nuggets.fails(*args, "--json", code=code) == line


def test_a_conflict_or_a_system_that_refuses_leaves_standard_output_empty_with_json(
    nuggets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    nuggets.ok("remember", "ops", "k", "v")
    for error, code in ((ConflictError("both changed it"), 3), (OSError(28, "No space left on device"), 2)):

        def refuse(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr(Memory, "change", refuse)
        assert str(error.args[-1]) in nuggets.fails("remember", "ops", "k", "w", "--json", code=code)


@pytest.mark.slow
def test_an_unexpected_error_is_called_a_bug_without_a_traceback(
    nuggets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object) -> None:
        raise ZeroDivisionError("boom\nbang")

    monkeypatch.setattr(overview, "_nugget_rows", explode)
    line = nuggets.fails("status")
    assert "bug" in line
    assert "ZeroDivisionError" in line
    monkeypatch.setenv("NUGGETS_DEBUG", "1")
    assert "Traceback" in nuggets("status").stderr


def test_an_interrupt_ends_quietly_with_130(nuggets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(overview, "_nugget_rows", interrupt)
    result = nuggets("status")
    assert result.exit_code == 130
    assert "Traceback" not in result.stderr


def test_help_of_every_command_says_one_sentence(nuggets: Any) -> None:
    context = program.make_context("nuggets", ["status"])
    assert len([name for section in SECTIONS.values() for name in section]) == 27
    for group, prefix in ((program, ()), (notes.note, ("note",))):
        for name in group.list_commands(context):
            found = group.get_command(context, name)
            assert found is not None
            assert len(short_help(found)) <= 160
            shown = nuggets.ok(*prefix, name, "--help")
            assert f"Usage: nuggets {' '.join((*prefix, name))}" in shown
            assert "--home" in shown
            assert "--json" in shown


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[search]\ntext_weight = -5\n", "[search\n"])
def test_a_setting_that_cannot_be_used_is_told_and_stops_no_command(
    nuggets: Any, home: Path, text: str
) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    nuggets.ok("note", "add", "Deploy", "with make deploy", "--nugget", "project")
    (home / "settings.toml").write_text(text)
    for args in (
        ("status",),
        ("recall", "test cmd"),
        ("search", "deploy"),
        ("remember", "project", "lint", "ruff"),
        ("schedule", "print"),
    ):
        for more in ((), ("--json",)):
            result = nuggets(*args, *more)
            assert result.exit_code == 0, (args, result.stderr)
            # The overview tells of it in its answer, and once.
            told = result.stdout if args[0] == "status" else result.stderr
            assert "settings.toml" in told or args[0] == "schedule"
    assert any("settings.toml" in told for told in nuggets.json("status")["warnings"])
    assert (home / "settings.toml").read_text() == text
