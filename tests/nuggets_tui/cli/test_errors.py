"""Every way out is an exit code and at most one line on standard error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.errors import ConflictError
from core.memory import Memory
from nuggets_tui.cli import RENAMED, SECTIONS, notes, overview, program
from nuggets_tui.cli.options import short_help


@pytest.mark.parametrize(
    "args",
    [
        ("nonsense",),
        ("--nonsense", "list"),
        ("status", "extra"),
        ("remember", "project"),
        ("note",),
        ("note", "shw", "x"),
        ("note", "hide"),
        ("notes", "--limit", "0"),
        ("notes", "--limit", "many"),
        ("notes", "--scope", "nowhere"),
        ("notes", "--sort", "sideways"),
        ("search", "x", "--limit", "-3"),
        ("note", "add", "t", "c", "--confidence", "high"),
        ("note", "add", "t", "c", "--confidence", "nan"),
        ("reflect", "--limit", "1.5"),
        ("recall",),
        ("note", "show", "x", "--hom"),
        ("forget", "a", "\x1b[31m\n\nred", "extra\x07"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(nuggets: Any, args: tuple[str, ...]) -> None:
    line = nuggets.fails(*args)
    assert line.startswith("nuggets: ")
    assert line.isprintable()
    assert nuggets.fails(*args, "--json") or True


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


def test_a_mistyped_command_is_answered_with_the_nearest(nuggets: Any) -> None:
    assert "recall" in nuggets.fails("recal", "x")


def test_a_broken_graph_is_named_and_its_bytes_stay(nuggets: Any) -> None:
    nuggets.ok("note", "add", "One", "Text")
    nuggets.graph.write_bytes(nuggets.graph.read_bytes()[:-40])
    before = nuggets.bytes()
    for args in (
        ("notes",),
        ("remember", "project", "k", "v"),
        ("note", "add", "Two", "Text"),
        ("reflect",),
    ):
        assert "graph.json" in nuggets.fails(*args)
    assert nuggets.bytes() == before


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


def test_what_was_called_otherwise_before_answers_and_says_what_it_is_called(nuggets: Any) -> None:
    nuggets.ok("remember", "web", "port", "8080")
    for words in (("list",), ("facts", "web"), ("why", "port", "port"), ("clear", "web", "--yes")):
        result = nuggets(*words)
        assert (result.exit_code, RENAMED[words[0]] in result.stderr) == (0, True), words


def test_without_a_terminal_no_command_is_help_and_exit_code_two(nuggets: Any) -> None:
    result = nuggets()
    assert result.exit_code == 2
    assert "Usage: nuggets" in result.stdout
    assert "remember" in result.stdout
    assert "the app needs a terminal" in result.stderr
    assert "give a command" in result.stderr
    assert nuggets("--json").stdout == ""


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


@pytest.mark.parametrize("query", ["", "  "])
@pytest.mark.parametrize("command", ["search", "recall"])
def test_an_empty_question_is_bad_input(nuggets: Any, command: str, query: str) -> None:
    assert "the question is empty" in nuggets.fails(command, query)
    assert nuggets(command, query, "--json").exit_code == 2


@pytest.mark.parametrize("name", ["a\x1bb", "a\x07", "a\u202eb", "a\u200bb"])
def test_an_author_that_cannot_be_shown_is_bad_input(nuggets: Any, name: str) -> None:
    assert "--as" in nuggets.fails("remember", "project", "key", "value", "--as", name)
    assert not nuggets.home.exists()
