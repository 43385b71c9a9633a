"""Reads pipeline.db as it is: makes no file and waits for no writer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from core.folder import PIPELINE_FILE
from core.pipeline.database.schema import VERSION, version_of
from core.pipeline.database.tables import Tables
from core.storage.files.sqlite import connect_to_look

# Nobody waits for who writes.
_BUSY_SECONDS: Final = 0.05


@contextmanager
def opened_to_read(home: Path) -> Iterator[Tables | None]:
    """The tables of a memory's pipeline; None for another version, or none yet.

    Raises OSError and `DATABASE_ERRORS`, also for no database at all.
    """
    with closing(connect_to_look(home / PIPELINE_FILE, seconds=_BUSY_SECONDS, fixed=True)) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.row_factory = sqlite3.Row
        yield Tables(connection) if version_of(connection) == VERSION else None
