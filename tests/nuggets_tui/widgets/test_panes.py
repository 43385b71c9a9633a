"""Which keys fit into the line at the bottom."""

from __future__ import annotations

import pytest

from nuggets_tui.commands import COMMANDS, footer_commands
from nuggets_tui.widgets.header import _fitting


def test_the_key_line_fits_and_keeps_help_and_quit_longest() -> None:
    for width in range(20, 200, 7):
        items = _fitting(footer_commands(), width, "Incident review of the payment webhook")
        line = "  ".join(item.plain for item in items)
        assert len(line) <= max(width, 15)
        if width >= 60:
            assert "x hide Incident" in line
            assert "help" in line
            assert "quit" in line
            assert "search" in line


@pytest.mark.parametrize(
    ("pane", "first"),
    [
        ("facts", "⏎ open  f fact  e edit  x hide"),
        ("notes", "e edit  x hide  n note  l link"),
        ("note", "e edit  x hide  t tags  y copy  esc back"),
        ("neighbours", "⏎ open  + accept  x hide  l link  esc back"),
        ("graph", "g fullscreen  x hide  [  ] hops"),
        ("audit", "u undo  x hide  ⏎ open  F filter"),
    ],
)
def test_the_key_line_begins_with_what_the_pane_is_for_and_names_what_no_other_program_has(
    pane: str, first: str
) -> None:
    waits = ("why", "conflicts", "open_broken", "problems", "trust")
    shown = [command for command in footer_commands(pane) if command.name not in waits]
    line = "  ".join(item.plain for item in _fitting(shown, 119, ""))
    assert line.startswith(first)
    for key in (
        "u undo",
        "T time",
        "G overview",
        "/ search",
        "? help",
        "ctrl+p commands",
        "q quit",
    ):
        assert key in line, line


def test_no_two_commands_share_a_name() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)
