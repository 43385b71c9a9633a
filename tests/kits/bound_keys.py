"""Keys for commands that have none in the catalogue, as a person binds them in settings.toml."""

from __future__ import annotations

from pathlib import Path

from nuggets_tui.commands import shown_key

BOUND = {
    "why_not": "W",
    "keep_search": "K",
    "searches": "Q",
    "edit_outside": "E",
    "pin": "P",
    "delete": "X",
    "move": "M",
    "copy_reference": "Y",
    "automatic": "D",
    "redo": "U",
    "secrets": "S",
    "show_hidden": "v",
    "sort": "s",
    "audit": "a",
    "origin": "O",
    "open_file": "f8",
}


def set_bound_keys(home: Path) -> None:
    """Writes the settings of a memory that has none."""
    lines = "".join(f"{name} = '{shown_key(key)}'\n" for name, key in BOUND.items())
    (home / "settings.toml").write_text(f"[keys]\n{lines}", encoding="utf-8")
