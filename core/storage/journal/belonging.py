"""Which memory a database belongs to: the folder that it was last written in, else the one whose notes it has seen.

A folder is known by its number in the file system, which no copy shares. So a database that somebody put into another
folder is looked at, as is that of a folder which was copied or moved; who changed all notes by hand loses no history.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from core.storage.database import ForeignDatabaseError
from core.storage.format.codec import ItemError, read_fact
from core.storage.format.documents import Loaded
from core.storage.journal.baseline import baseline_files, named_items
from core.storage.journal.journal import Journal

FOLDER_NAME: Final = "folder"


def check_belongs(journal: Journal, home: Path, loaded: Loaded) -> None:
    """Raises ForeignDatabaseError where a journal of another folder saw other notes and facts than this one has."""
    if journal.meta(FOLDER_NAME) == _number_of(home):
        return
    if loaded.broken() or any(document.problems for document in loaded.documents().values()):
        return
    baseline = {file: one.fingerprint for file, one in baseline_files(journal).items()}
    now = {str(path.relative_to(home)): made for path, made in loaded.fingerprints().items()}
    if any(made is not None and made == now.get(file) for file, made in baseline.items()):
        return
    known = dict(_identity_of(item, raw) for item, raw in journal.rows("SELECT item, raw FROM seen"))
    held = dict(
        _identity_of(*one)
        for document in loaded.documents().values()
        for one in named_items(document).items()
    )
    shared = sum(name in known and known[name] == value for name, value in held.items())
    # A log of long ago knows few of many notes, and one from before a great clearing many more than there are.
    if 2 * shared < min(len(known), len(held)):
        raise ForeignDatabaseError("belongs to another memory")


def mark(journal: Journal, home: Path) -> None:
    """Has a journal bear the number of its folder."""
    number = _number_of(home)
    if journal.meta(FOLDER_NAME) != number:
        with journal.transaction():
            journal.keep_meta(FOLDER_NAME, number)


def _identity_of(item: str, raw: bytes) -> tuple[str, str]:
    """What tells a note or fact from others: a note's id was drawn by lot, while many memories know a fact's key."""
    if item.startswith("n "):
        return item, ""
    with contextlib.suppress(ItemError):
        return item, read_fact(raw).value
    return item, ""


def _number_of(home: Path) -> str:
    found = home.stat()
    return f"{found.st_dev} {found.st_ino}"
