"""Whether Notes lists the notes of facts, kept for the next start with a memory."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from core.app_state import read_state, write_state

FILE: Final = "fact-notes"
_SHOWN: Final = b"shown"


def saved_fact_notes(home: Path) -> bool:
    """Whether the notes of facts are listed."""
    return read_state(home, FILE) == _SHOWN


def save_fact_notes(home: Path, shown: bool) -> bool:
    """Keeps it; whether there is a place for it. Raises StorageError."""
    return write_state(home, FILE, _SHOWN if shown else b"")
