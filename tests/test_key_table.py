"""Tests of what is written about keys: each key stands in one place, the catalogue, and everything else follows it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from nuggets_tui.commands import COMMANDS, DEFAULT, GROUPS
from nuggets_tui.screens.help import PLACES, help_sections
from nuggets_tui.widgets.panes import PANES
from tools.key_table import BEGIN, END, key_table, with_table

KEYS = Path(__file__).parents[1] / "docs" / "keys.md"


def test_the_table_of_the_manual_is_that_of_the_catalogue() -> None:
    page = KEYS.read_text(encoding="utf-8")
    assert with_table(page) == page, "renew it: python -m tools.key_table docs/keys.md"


def test_the_table_has_a_row_for_every_command_with_all_its_keys() -> None:
    rows = {row.split(" | ")[1]: row for row in key_table().splitlines()[2:] if "**" not in row}
    assert set(rows) == {command.name for command in COMMANDS}
    assert rows["search"] == "| `/` | search | Search notes and facts |"
    assert rows["open"].startswith("| `enter` |")
    assert len(key_table().splitlines()) == len(COMMANDS) + len(GROUPS) + 2


def test_a_table_that_is_renewed_twice_is_the_same_and_the_page_around_it_stays() -> None:
    page = f"before\n{BEGIN}\nXXX\n{END}\nafter\n"
    once = with_table(page)
    assert once == with_table(once)
    assert once.startswith("before\n")
    assert once.endswith("\nafter\n")
    assert "XXX" not in once
    with pytest.raises(ValueError, match="no place"):
        with_table("a page")


def test_every_pane_has_help_of_its_own() -> None:
    assert set(PLACES) == {*PANES, "search"}


def literals(path: Path) -> list[str]:
    """The texts of a module that are no parts of f-strings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    }
    texts = (
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return [str(node.value) for node in texts if id(node) not in parts]


@pytest.mark.slow
def test_what_names_a_command_in_braces_names_one_that_there_is() -> None:
    front = KEYS.parents[1] / "nuggets_tui"
    named = {
        name
        for path in front.rglob("*.py")
        for text in literals(path)
        for name in re.findall(r"\{([a-z_]+)\}", text)
    }
    assert {"search", "undo", "verify"} <= named
    assert named <= {command.name for command in COMMANDS}


def test_the_help_names_every_command_with_its_keys() -> None:
    entries = {entry for section in help_sections() for entry in section.entries}
    for command in COMMANDS:
        if not command.name.startswith("pane_"):
            assert (" ".join(command.shown_keys) or DEFAULT.key(command.name), command.title) in entries
