"""The table of all commands, made from their docstrings: `python -m tools.command_table docs/commands.md` renews it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

import click

from nuggets_tui.cli import HIDDEN, SECTIONS, program
from nuggets_tui.cli.options import Group, short_help
from tools.page_table import between_marks, renew

BEGIN: Final = "<!-- commands: made by python -m tools.command_table docs/commands.md -->"
END: Final = "<!-- end of commands -->"


def command_table() -> str:
    """Every command with its arguments and the first sentence of its help; as Markdown."""
    lines = ["| Command | Does |", "|---|---|"]
    context = click.Context(program, info_name="nuggets")
    for title, names in (*SECTIONS.items(), ("For agents, scripts and shells", HIDDEN)):
        lines.append(f"| **{title}** | |")
        for name in names:
            found = program.get_command(context, name)
            assert found is not None
            lines += _rows(f"nuggets {name}", found)
    return "\n".join(lines)


def _rows(path: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command)
    values = [
        one.make_metavar(context).replace("|", "\\|")
        for one in command.params
        if isinstance(one, click.Argument) and one.make_metavar(context)
    ]
    if not isinstance(command, Group) or command.alone:
        does = short_help(command).replace("|", "\\|")
        yield f"| `{' '.join((path, *values))}` | {does} |"
    if isinstance(command, Group):
        for name, one in command.commands.items():
            yield from _rows(f"{path} {name}", one)


def with_table(page: str) -> str:
    """A page with the table as it is now; see `between_marks`."""
    return between_marks(page, BEGIN, command_table(), END)


if __name__ == "__main__":
    renew(sys.argv[1], with_table)
