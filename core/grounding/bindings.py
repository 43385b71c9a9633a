"""Keeps bound references in the memory's database, beside its notes and never in the files that machines share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from core.errors import NuggetsError
from core.folder import DATABASE_FILE
from core.grounding.binding import Bound
from core.storage.database import BrokenDatabaseError, Database, Part

_PART: Final = Part(Path(__file__).with_name("bindings.sql"), sign="binding")
_SELECT: Final = "SELECT note, text, bound FROM binding"
_READ: Final = msgspec.json.Decoder(tuple[list[Bound], list[Bound]])


class Kept(NamedTuple):
    """What is kept of a note. text: the mark of its text. bound: what that names; former: what it named before, which
    comes back as it was bound where the text does.
    """

    text: str = ""
    bound: Sequence[Bound] = ()
    former: Sequence[Bound] = ()


class Bindings:
    """The bound references of a memory's notes. Where they can't be kept, notes are looked at again each time."""

    def __init__(self, home: Path) -> None:
        self._path = home / DATABASE_FILE
        self._database: Database | None = None

    def close(self) -> None:
        """Lets go of the database."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def of(self, project: str, notes: Sequence[str]) -> Mapping[str, Kept]:
        """What is kept of each note that was looked at."""
        among = "project = ? AND note IN (SELECT value FROM json_each(?))"
        given = (project, msgspec.json.encode(notes).decode())
        try:
            database = self._opened()
            rows = database.reader().execute(f"{_SELECT} WHERE {among}", given) if database else ()
            return {note: Kept(text, *_READ.decode(bound)) for note, text, bound in rows}
        except (NuggetsError, BrokenDatabaseError, msgspec.DecodeError):
            return {}

    def keep(self, project: str, looked_at: Mapping[str, Kept]) -> None:
        """Keeps what was bound for some notes in place of what was; losing it to a power cut costs a look."""
        rows = [
            (project, note, one.text, msgspec.json.encode(one[1:]).decode())
            for note, one in looked_at.items()
        ]
        try:
            database = self._opened() if rows else None
            if database is not None and not database.read_only:
                with database.transaction(lasting=False) as connection:
                    connection.executemany("INSERT OR REPLACE INTO binding VALUES (?, ?, ?, ?)", rows)
        except (NuggetsError, BrokenDatabaseError):
            return

    def _opened(self) -> Database | None:
        # The history makes the file; a database without it would be taken for none of ours.
        if self._database is None and self._path.is_file():
            self._database = Database(self._path, _PART)
        elif self._database is not None:
            self._database.follow()
        return self._database
