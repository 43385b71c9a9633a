"""The history's tables in the database, and the errors of a history that cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from core.errors import Remedy, StorageError, remedy_for
from core.storage.database import BrokenDatabaseError, Part

HISTORY: Final = Part(
    Path(__file__).with_name("schema.sql"),
    ("SELECT seq, state FROM entry ORDER BY seq DESC LIMIT 1", "SELECT file, fields FROM seen_file"),
)
# The tables in the file of that name. `meta` holds single values of all parts.
HISTORY_TABLES: Final = ("entry", "meta", "seen", "seen_file", "touched")
BrokenJournalError = BrokenDatabaseError


def unreadable(path: Path, said: str, error: BaseException | None = None) -> StorageError:
    """The error for a journal that cannot be read now. error: what the system or SQLite refused it with."""
    found = StorageError(
        f"the history cannot be read ({said})",
        where=str(path),
        kept="the file is unchanged",
        todo="check the file, or move it away" if error is None else "",
        remedy=None if error is None else remedy_for(error, path) or Remedy("try-again"),
    )
    found.damaged = error is None
    return found
