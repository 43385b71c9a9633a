"""What promotion remembers of each MEMORY.md, kept in the journal; losing it loses nobody's text."""

from __future__ import annotations

import json
from typing import Final

import msgspec

from core.errors import NuggetsError
from core.model.promoted import Target
from core.storage.journal.journal import Journal
from core.storage.journal.schema import BrokenJournalError

_PREFIX: Final = "promotion "


def kept_target(journal: Journal | None, path: str) -> Target:
    """What is remembered of the file at a path; nothing but the path where there is no memory of it."""
    if journal is None:
        return Target(path=path)
    try:
        found = _read(journal.meta(_name(path)))
    except (NuggetsError, BrokenJournalError):
        found = None
    return found if found is not None and found.path == path else Target(path=path)


def kept_targets(journal: Journal | None) -> tuple[Target, ...]:
    """All files that were written to, the one written last first."""
    if journal is None:
        return ()
    try:
        rows = journal.rows("SELECT value FROM meta WHERE substr(name, 1, ?) = ?", (len(_PREFIX), _PREFIX))
    except (NuggetsError, BrokenJournalError):
        return ()
    found = [target for (value,) in rows if (target := _read(value)) is not None and target.at]
    return tuple(sorted(found, key=lambda target: (target.at, target.path), reverse=True))


def keep_target(journal: Journal | None, target: Target) -> bool:
    """Remembers a file; False where that is not possible. It is never an error: promotion does without."""
    if journal is None or journal.read_only:
        return False
    value = json.dumps(msgspec.to_builtins(target), separators=(",", ":"))
    try:
        with journal.transaction():
            journal.keep_meta(_name(target.path), value)
    except (NuggetsError, BrokenJournalError):
        return False
    return True


def _name(path: str) -> str:
    # Names of files may hold bytes that are no UTF-8; escaped, SQLite takes them.
    return _PREFIX + json.dumps(path)


def _read(value: object) -> Target | None:
    if not isinstance(value, str):
        return None
    try:
        return msgspec.convert(json.loads(value), Target)
    except (ValueError, RecursionError):
        return None
