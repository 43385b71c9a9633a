"""The table of all keys, made from the catalogue: `python -m tools.key_table docs/keys.md` renews it."""

from __future__ import annotations

import sys
from typing import Final

from nuggets_tui.commands import COMMANDS, GROUPS, Command
from tools.page_table import between_marks, renew

BEGIN: Final = "<!-- keys: made by python -m tools.key_table docs/keys.md -->"
END: Final = "<!-- end of keys -->"
# Where a key has a character that a terminal shows and a page does not.
_SPELT: Final = {"⏎": "enter", "⌫": "backspace", "^": "ctrl+"}


def key_table() -> str:
    """Every command with its keys, the name that [keys] in settings.toml takes, and what it does; as Markdown."""
    lines = ["| Key | Name | Does |", "|---|---|---|"]
    for group in GROUPS:
        lines.append(f"| | | **{group}** |")
        for command in COMMANDS:
            if command.group == group:
                keys = " ".join(f"`{_spelt(key)}`" for key in command.shown_keys)
                lines.append(f"| {keys} | {command.name} | {command.title}{_remark(command)} |")
    return "\n".join(lines)


def _remark(command: Command) -> str:
    """What is to be known of a command's key."""
    return " (bound only while there is need of it)" if command.key_when else ""


def _spelt(key: str) -> str:
    for shown, spelt in _SPELT.items():
        key = key.replace(shown, spelt) if len(key) > 1 or shown != "^" else key
    return key


def with_table(page: str) -> str:
    """A page with the table as it is now; see `between_marks`."""
    return between_marks(page, BEGIN, key_table(), END)


if __name__ == "__main__":
    renew(sys.argv[1], with_table)
