"""The tables through one connection: how they are asked, and each aggregate, a class of its own that alone asks its
tables.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

if TYPE_CHECKING:
    from core.pipeline.database.calls import Calls
    from core.pipeline.database.documents import Documents
    from core.pipeline.database.embeddings import Embeddings
    from core.pipeline.database.entities import Entities
    from core.pipeline.database.facts import Facts
    from core.pipeline.database.history import History
    from core.pipeline.database.jobs import Jobs
    from core.pipeline.database.masking import Masking
    from core.pipeline.database.note_edits import NoteEdits
    from core.pipeline.database.note_names import Hints, NoteNames
    from core.pipeline.database.proposals import Decisions, Proposals
    from core.pipeline.database.raw import RawMemories
    from core.pipeline.database.sessions import Sessions
    from core.pipeline.database.transcripts import Transcripts

_Record = TypeVar("_Record")


class Rows:
    """Tables, asked through one connection. What a statement is given stands in it by place or by name."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def ask(self, sql: str, *values: object, **named: object) -> sqlite3.Cursor:
        """The rows that a statement gives."""
        return self.connection.execute(sql, named or values)

    def run(self, sql: str, *values: object, **named: object) -> int:
        """How many rows a statement changed."""
        return self.ask(sql, *values, **named).rowcount

    def row(self, sql: str, *values: object, **named: object) -> Any:
        """The first row, None for none."""
        return self.ask(sql, *values, **named).fetchone()

    def value(self, sql: str, *values: object, **named: object) -> Any:
        """What stands first in the first row, None for none."""
        found = self.row(sql, *values, **named)
        return None if found is None else found[0]

    def count(self, sql: str, *values: object, **named: object) -> int:
        """A whole number, 0 for none."""
        return int(self.value(sql, *values, **named) or 0)

    def text(self, sql: str, *values: object, **named: object) -> str:
        """A text, "" for none."""
        return str(self.value(sql, *values, **named) or "")

    def has(self, sql: str, *values: object, **named: object) -> bool:
        """Whether there is any such row."""
        return self.row(sql, *values, **named) is not None

    def insert_row(self, table: str, *, clash: str = "ABORT", **values: object) -> int:
        """Adds a row; its number. clash: what becomes of one that may not stand beside another, in SQL's words."""
        marks = ", ".join("?" * len(values))
        sql = f"INSERT OR {clash} INTO {table} ({', '.join(values)}) VALUES ({marks})"
        return self.ask(sql, *values.values()).lastrowid or 0

    def records(self, kind: type[_Record], sql: str, *values: object, **named: object) -> tuple[_Record, ...]:
        """The rows as records of a kind, by the names of its fields."""
        found = self.ask(sql, *values, **named)
        there = {column[0] for column in found.description}
        fields = [one for one in _fields(cast("Any", kind)) if one[0] in there]
        return tuple(
            kind(**{name: bool(row[name]) if flag else row[name] for name, flag in fields}) for row in found
        )

    def record(self, kind: type[_Record], sql: str, *values: object, **named: object) -> _Record | None:
        """The first row as a record, None for none."""
        found = self.records(kind, sql, *values, **named)
        return found[0] if found else None


@cache
def _fields(kind: Any) -> tuple[tuple[str, bool], ...]:
    """The fields of a dataclass or named tuple, each with whether it is true or false: SQLite knows numbers alone."""
    told = kind.__annotations__.items()
    return tuple((name, getattr(one, "__forward_arg__", one) == "bool") for name, one in told)


# When a person paused the pipeline, epoch ms; no row while it is not.
PAUSED: Final = "paused_at"
# When all that was kept long enough was deleted last, epoch ms.
SWEPT: Final = "swept_at"
# When the clock was trusted last to say what is old, and since when it is not because it leapt ahead, epoch ms.
CLOCK_TRUSTED: Final = "clock_trusted_at"
CLOCK_LEAPT: Final = "clock_leapt_at"
# From when on no row of the audit was deleted, epoch ms.
HISTORY_KEPT_FROM: Final = "history_kept_from"
# How many sessions were scored to the end so far.
SESSIONS_SCORED: Final = "sessions_scored"


class Meta(Rows):
    """Small values that all processes share, under names."""

    def number(self, name: str) -> int | None:
        """The whole number under a name, None when there is none."""
        found = self.value("SELECT value FROM meta WHERE name = ?", name)
        return found if isinstance(found, int) else None

    def put(self, name: str, value: int) -> None:
        """Keeps a number under a name."""
        self.insert_row("meta", clash="REPLACE", name=name, value=value)

    def drop(self, name: str) -> None:
        """Forgets a name."""
        self.run("DELETE FROM meta WHERE name = ?", name)


# Where each aggregate stands: a module is imported when it is first asked for.
_MODULES: Final = {"meta": "tables", "decisions": "proposals", "hints": "note_names"}


class Tables(Rows):
    """All aggregates, for one reader, or for one transaction."""

    calls: Calls
    decisions: Decisions
    documents: Documents
    embeddings: Embeddings
    entities: Entities
    facts: Facts
    hints: Hints
    history: History
    jobs: Jobs
    masking: Masking
    meta: Meta
    note_names: NoteNames
    note_edits: NoteEdits
    proposals: Proposals
    raw: RawMemories
    sessions: Sessions
    transcripts: Transcripts

    def __getattr__(self, name: str) -> Any:
        if name not in Tables.__annotations__:
            raise AttributeError(name)
        module = import_module(f"core.pipeline.database.{_MODULES.get(name, name)}")
        made = self.__dict__[name] = getattr(module, Tables.__annotations__[name])(self.connection)
        return made
