"""Copies the finished demo memory, with all its times moved to where they lie as far before now as in its story."""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

from core.folder import DATABASE_FILE
from core.model.names import iso
from core.settings import SETTINGS_FILE

MEMORY: Final = Path(__file__).with_name("memory")
# The tables of the history.
_HISTORY: Final = ("entry", "meta", "seen", "seen_file", "touched")
# Begins what the history has pressed.
_ZLIB: Final = b"\x78"
_TIME: Final = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
# Epoch milliseconds that are times of the story: within half a year of its end.
_AROUND: Final = timedelta(days=180)


def copy_memory(folder: Path, told: datetime, now: datetime, *, texts: bool) -> None:
    """Copies the memory into an empty folder. told: when its story stops, which becomes now. texts:
    with those that were submitted, and the settings for them.
    """
    later = now - told
    moved = _mover(later)
    for path in sorted(MEMORY.rglob("*.*")):
        if path.name == SETTINGS_FILE and not texts:
            continue
        copy = folder / path.relative_to(MEMORY)
        copy.parent.mkdir(exist_ok=True, mode=0o700)
        copy.touch(mode=0o600)
        copy.write_bytes(path.read_bytes() if path.suffix == ".db" else moved(path.read_bytes()))
    with closing(sqlite3.connect(folder / DATABASE_FILE, isolation_level=None)) as database:
        # Whatever breaks now leaves no memory, so nothing need reach the disk at once.
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        _move_history(database, folder, moved)
        if texts:
            _move_texts(database, told, later // timedelta(milliseconds=1))
        else:
            _drop_texts(database)
        database.execute("COMMIT")
        if not texts:
            database.execute("VACUUM")


def _mover(later: timedelta) -> Callable[[bytes], bytes]:
    """What moves every time in a text by as much."""

    @cache
    def moved(time: bytes) -> bytes:
        return iso(datetime.fromisoformat(time.decode()) + later).encode()

    return lambda data: _TIME.sub(lambda found: moved(found[0]), data)


def _move_history(database: sqlite3.Connection, folder: Path, moved: Callable[[bytes], bytes]) -> None:
    for seq, at, body in database.execute("SELECT seq, at, body FROM entry").fetchall():
        pressed = body.startswith(_ZLIB)
        body = moved(zlib.decompress(body) if pressed else body)
        body = zlib.compress(body, 1) if pressed else body
        row = (moved(at.encode()).decode(), body, len(body), seq)
        database.execute("UPDATE entry SET at = ?, body = ?, size = ? WHERE seq = ?", row)
    rows = [(moved(raw), row) for row, raw in database.execute("SELECT rowid, raw FROM seen")]
    database.executemany("UPDATE seen SET raw = ? WHERE rowid = ?", rows)
    for (file,) in database.execute("SELECT file FROM seen_file").fetchall():
        # The files are those that the history saw last: nothing came from outside.
        found = (folder / file).stat()
        row = (found.st_ino, found.st_size, found.st_mtime_ns, file)
        database.execute("UPDATE seen_file SET inode = ?, size = ?, mtime_ns = ? WHERE file = ?", row)


def _drop_texts(database: sqlite3.Connection) -> None:
    """Leaves a memory to which nothing was ever submitted."""
    made = database.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view')"
        " ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC"
    )
    for kind, name in made.fetchall():
        if name not in _HISTORY and not name.startswith("sqlite"):
            database.execute(f"DROP {kind} IF EXISTS {name}")


def _move_texts(database: sqlite3.Connection, told: datetime, later: int) -> None:
    first, last = (int((told + part).timestamp() * 1000) for part in (-_AROUND, _AROUND))
    # They keep rows from being changed, and the search tables in step, which hold no times.
    triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        database.execute(f"DROP TRIGGER {name}")
    tables = database.execute(
        "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE TABLE%'"
        " AND name NOT LIKE '%fts%' AND name NOT LIKE 'sqlite%'"
    )
    for table in {name for (name,) in tables} - {*_HISTORY} | {"meta"}:
        columns = [
            name for _, name, kind, *_ in database.execute(f"PRAGMA table_info({table})") if kind != "TEXT"
        ]
        moves = [
            f"{one} = CASE WHEN typeof({one}) = 'integer' AND {one} BETWEEN {first} AND {last}"
            f" THEN {one} + {later} ELSE {one} END"
            for one in columns
        ]
        if moves and database.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():
            database.execute(f"UPDATE {table} SET {', '.join(moves)}")
    database.execute("UPDATE llm_calls SET day = date(at / 1000, 'unixepoch')")
    for _, sql in triggers:
        database.execute(sql)
