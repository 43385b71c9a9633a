"""settings.toml of somebody who has set the keys that were defaults formerly."""

from __future__ import annotations

from pathlib import Path

from nuggets_tui.commands import COMMANDS
from nuggets_tui.keys import shown_key

LINES = "".join(f"{one.name} = '{shown_key(one.former)}'\n" for one in COMMANDS if one.former)


def set_former_keys(home: Path) -> None:
    """Writes the settings of a memory that has none."""
    (home / "settings.toml").write_text(f"[keys]\n{LINES}", encoding="utf-8")
