"""The tables through one connection: how they are asked, and each aggregate, a class of its own that alone asks its
tables.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from core.pipeline.records import HistoryRow

if TYPE_CHECKING:
    from core.pipeline.database.calls import Calls
    from core.pipeline.database.documents import Documents
    from core.pipeline.database.entities import Entities
    from core.pipeline.database.facts import Facts
    from core.pipeline.database.jobs import Jobs
    from core.pipeline.database.masking import Masking
    from core.pipeline.database.notes import Embeddings, Hints, NoteNames
    from core.pipeline.database.proposals import Proposals
    from core.pipeline.database.sessions import Sessions
    from core.pipeline.database.texts import RawMemories, Transcripts

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

    def column(self, sql: str, *values: object, **named: object) -> tuple[Any, ...]:
        """What stands first in each row."""
        return tuple(row[0] for row in self.ask(sql, *values, **named))

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


def _row(row: sqlite3.Row) -> HistoryRow:
    try:
        said = json.loads(row["metadata"])
    except (ValueError, RecursionError):
        # Somebody else wrote what is none of ours.
        said = None
    columns = {name: row[name] for name in HistoryRow.__slots__}
    return HistoryRow(**columns | {"metadata": said if isinstance(said, dict) else {}})


class History(Rows):
    """The audit."""

    def append(
        self,
        *,
        at: int,
        event: str,
        changed_by: str,
        reason: str = "",
        raw_id: str = "",
        proposal_id: str = "",
        fact_id: str = "",
        note_id: str = "",
        old_content: str = "",
        new_content: str = "",
        model: str = "",
        prompt_version: str = "",
        latency_ms: int | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> int:
        """Puts a row down and returns its id; see `HistoryRow`. at: epoch ms. metadata: anything that JSON can hold."""
        return self.insert_row(
            "history", at=at, event=event, changed_by=changed_by, reason=str(reason), raw_id=raw_id,
            proposal_id=proposal_id, fact_id=fact_id, note_id=note_id, old_content=old_content,
            new_content=new_content, model=model, prompt_version=prompt_version, latency_ms=latency_ms,
            metadata=json.dumps(metadata or {}, ensure_ascii=False),
        )  # fmt: skip

    def last_at(self) -> int | None:
        """The latest moment that a row was put down at, epoch ms; None where there is none."""
        found: int | None = self.value("SELECT max(at) FROM history")
        return found

    def events(self, events: Sequence[str], most: int) -> tuple[HistoryRow, ...]:
        """The newest rows of some events, newest first."""
        marks = ", ".join("?" * len(events))
        rows = self.ask(
            f"SELECT * FROM history WHERE event IN ({marks}) ORDER BY id DESC LIMIT ?", *events, most
        )
        return tuple(map(_row, rows))

    def history_of(self, about: str, most: int = 500) -> tuple[HistoryRow, ...]:
        """What was decided and done about a raw memory, document, note or proposal: the newest rows, oldest first."""
        columns = {"raw-": "raw_id", "doc-": "raw_id", "prop": "proposal_id"}
        column = columns.get(about[:4], "note_id")
        rows = self.ask(f"SELECT * FROM history WHERE {column} = ? ORDER BY id DESC LIMIT ?", about, most)
        return tuple(_row(row) for row in reversed(rows.fetchall()))


# Where each aggregate stands: a module is imported when it is first asked for.
_MODULES: Final = {
    "meta": "tables", "history": "tables", "hints": "notes",
    "note_names": "notes", "embeddings": "notes", "raw": "texts", "transcripts": "texts",
}  # fmt: skip


class Tables(Rows):
    """All aggregates, for one reader, or for one transaction."""

    calls: Calls
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
