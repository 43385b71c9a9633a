"""New databases as copies of those that this process has made: the tables of the pipeline take 20 ms and those of the
log 2, a copy a tenth to a third of it.

What another process makes, and what is made while calls are counted or refused, goes step by step as in the product.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from core.folder import DATABASE_FILE
from core.storage import database
from core.storage.database import Database, Part

_begin_file: Final = database.begin_file
# Databases with the tables of parts, as bytes.
_made: Final[dict[tuple[Part, ...], bytes]] = {}


def copy_databases(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Has the pipeline and the log begin new databases with the tables in them. folder: for copies while written."""
    monkeypatch.setattr(database, "begin_file", partial(_begin_with_tables, folder))


def make_databases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has both make the tables of each new database themselves."""
    monkeypatch.setattr(database, "begin_file", _begin_file)


def _callables() -> tuple[object, ...]:
    """What makes a database here; tests put others in their place."""
    return os.open, os.link, open, sqlite3.connect, database.VERSION, Database._make_tables


_PLAIN = _callables()


def _begin_with_tables(folder: Path, path: Path, parts: tuple[Part, ...] = ()) -> None:
    if path.name == DATABASE_FILE and parts and _callables() == _PLAIN and not os.path.lexists(path):
        # Linked, so that nobody sees a part of it; where that cannot be, the file is begun empty.
        with contextlib.suppress(OSError):
            _link_copy(folder, path, parts)
    _begin_file(path, parts)


def _link_copy(folder: Path, path: Path, parts: tuple[Part, ...]) -> None:
    if parts not in _made:
        with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
            make_databases(patch)
            made = Database(Path(place) / path.name, *parts)
            made.connect()
            made.close()
            _made[parts] = made.path.read_bytes()
    handle, copy = tempfile.mkstemp(dir=folder)
    try:
        with open(handle, "wb") as file:
            file.write(_made[parts])
        os.link(copy, path)
    finally:
        os.unlink(copy)
