"""The table of all keys, made from the catalogue: `python -m tools.key_table docs/keys.md` renews it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from nuggets_tui.commands import COMMANDS, GROUPS, Command

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
    """A page with the table as it is now between its marks. Raises ValueError for a page without them."""
    head, mark, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not mark or not end:
        raise ValueError(f"the page has no place for the table: {BEGIN} ... {END}")
    return f"{head}{BEGIN}\n{key_table()}\n{END}{tail}"


def main(path: str) -> None:
    """Renews the table in a page."""
    page = Path(path)
    page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
