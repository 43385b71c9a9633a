"""New databases as copies of those that this process has made: the tables of the pipeline take 20 ms and those of the
log 2, a copy a tenth to a third of it.

What another process makes, and what is made while calls are counted or refused, goes step by step as in the product.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.pipeline.database import connection
from core.pipeline.database import schema as pipeline_schema
from core.storage.files.sqlite import begin_file, in_one_step, log_beside
from core.storage.journal import schema


def copy_databases(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Has the pipeline and the log begin new databases with the tables in them. folder: for copies while written."""
    monkeypatch.setattr(connection, "begin_file", partial(_begin_with_tables, _make_pipeline, folder))
    monkeypatch.setattr(schema, "begin_file", partial(_begin_with_tables, _make_log, folder))


def make_databases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has both make the tables of each new database themselves."""
    monkeypatch.setattr(connection, "begin_file", begin_file)
    monkeypatch.setattr(schema, "begin_file", begin_file)


def _callables() -> tuple[Any, ...]:
    """What makes a database here; tests put others in their place."""
    making = (
        pipeline_schema.VERSION,
        schema.VERSION,
        schema._make_tables,
    )
    return os.open, os.link, open, sqlite3.connect, schema.sqlite3.connect, *making


_PLAIN = _callables()
_made: dict[Callable[[Path], None], bytes] = {}


def _begin_with_tables(make: Callable[[Path], None], folder: Path, path: Path) -> None:
    if _callables() == _PLAIN and not os.path.lexists(path):
        # Linked, so that nobody sees a part of it; where that cannot be, the file is begun empty.
        with contextlib.suppress(OSError):
            _link_copy(make, folder, path)
    begin_file(path)


def _link_copy(make: Callable[[Path], None], folder: Path, path: Path) -> None:
    if make not in _made:
        with tempfile.TemporaryDirectory() as place:
            make(Path(place) / path.name)
            _made[make] = (Path(place) / path.name).read_bytes()
    handle, copy = tempfile.mkstemp(dir=folder)
    try:
        with open(handle, "wb") as file:
            file.write(_made[make])
        os.link(copy, path)
    finally:
        os.unlink(copy)


def _make_pipeline(path: Path) -> None:
    begin_file(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA foreign_keys = ON")
        log_beside(writer, path)
        with in_one_step(writer):
            pipeline_schema.make_tables(writer)


def _make_log(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "begin_file", begin_file)
        schema.connect(path).close()
