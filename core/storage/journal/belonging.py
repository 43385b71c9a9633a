"""Which memory a log belongs to: an id that the folder and its databases bear; where there is none, what both hold.

The folder's id lies in a file of its own beside the log, since other programs drop what they do not know in theirs. The
file names its own inode as well: one that came with a copy tells nothing, for a copied log brings its own along.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from core.storage.database import DATABASE_ERRORS, ForeignDatabaseError
from core.storage.format.codec import ItemError, read_fact
from core.storage.format.documents import Loaded
from core.storage.journal.baseline import baseline_files, named_items
from core.storage.journal.journal import Journal

ID_FILE: Final = "ledger.id"
# Under this name databases keep the id.
ID_NAME: Final = "memory"
_ID: Final = re.compile(rb"([0-9a-f]{32}) ([0-9]{1,20})\n?")
_MOST: Final = 64
_FILE_MODE: Final = 0o600
_PIPELINE_FILE: Final = "pipeline.db"


ForeignJournalError = ForeignDatabaseError


class FolderId(NamedTuple):
    """The id of a folder. sure: the file stands where it was written, and did not come with a copy."""

    id: str
    sure: bool


def folder_id(home: Path) -> FolderId | None:
    """The id that a folder bears; None for one that bears none yet, or none that can be read."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(home / ID_FILE, flags)
    except OSError:
        return None
    try:
        found = _ID.fullmatch(os.read(handle, _MOST))
        return FolderId(found[1].decode(), int(found[2]) == os.fstat(handle).st_ino) if found else None
    except OSError:
        return None
    finally:
        os.close(handle)


def bear_id(home: Path, id: str) -> None:
    """Has a folder bear an id. Where that cannot be, what the log saw goes on to tell whose it is."""
    if folder_id(home) == FolderId(id, True):
        return
    path = home / ID_FILE
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
        try:
            os.write(handle, f"{id} {os.fstat(handle).st_ino}\n".encode())
        finally:
            os.close(handle)


def may_belong(given: object, home: Path) -> bool:
    """Whether a database with this id, None for one without, may be this folder's: not when both ids say otherwise."""
    folder = folder_id(home)
    return folder is None or not folder.sure or not isinstance(given, str) or given == folder.id


def check_id(journal: Journal, home: Path) -> None:
    """Raises ForeignJournalError for a journal with the id of another memory."""
    if not may_belong(journal.meta(ID_NAME), home):
        raise ForeignJournalError("belongs to another memory")


def check_baseline(journal: Journal, home: Path, loaded: Loaded) -> None:
    """Raises ForeignJournalError where no id is sure and the journal saw other notes and facts than the folder has."""
    folder = folder_id(home)
    if folder is not None and folder.sure and folder.id == journal.meta(ID_NAME):
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
        raise ForeignJournalError("belongs to another memory")


def _identity_of(item: str, raw: bytes) -> tuple[str, str]:
    """What tells a note or fact from others: a note's id was drawn by lot, while many memories know a fact's key."""
    if item.startswith("n "):
        return item, ""
    with contextlib.suppress(ItemError):
        return item, read_fact(raw).value
    return item, ""


def mark(journal: Journal, home: Path) -> None:
    """Has a journal bear the folder's id. Of a new or copied folder that is the journal's own, or a new one."""
    own, folder = journal.meta(ID_NAME), folder_id(home)
    if isinstance(own, str) and (folder is None or own == folder.id or not folder.sure):
        return
    id = folder.id if folder is not None and folder.sure else _pipeline_id(home) or os.urandom(16).hex()
    with journal.transaction():
        journal.keep_meta(ID_NAME, id)


def _pipeline_id(home: Path) -> str:
    """The id that the pipeline of a folder without any other bears, "" for none."""
    path = home / _PIPELINE_FILE
    if not path.is_file():
        return ""
    with contextlib.suppress(*DATABASE_ERRORS, OSError), _reading(path) as reader:
        row = reader.execute("SELECT value FROM meta WHERE name = ?", (ID_NAME,)).fetchone()
        return row[0] if row is not None and isinstance(row[0], str) else ""
    return ""


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        yield connection
