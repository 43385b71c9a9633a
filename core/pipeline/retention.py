"""Deletes what has been kept long enough, kind by kind: some rows in each transaction, so that nobody waits for one.

Killed between two of them, it has lost nothing, and the next run goes on. What may go is looked at again in the
transaction that deletes it; see the views `removable_texts` and `removable_history` for what never goes.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, nullcontext
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from core.errors import NuggetsError, partly_done
from core.pipeline.database.connection import Database
from core.pipeline.database.tables import CLOCK_LEAPT, CLOCK_TRUSTED, HISTORY_KEPT_FROM, SWEPT, Tables
from core.pipeline.records import Sweep
from core.pipeline.transaction_guard import assert_outside_transaction

if TYPE_CHECKING:
    from core.settings.pipeline_sections import PipelineConfiguration

DAY_MS: Final = 86_400_000
# Rows of one transaction at most; of texts and chunks, with which much else goes, fewer.
BATCH: Final = 100
_LARGE: Final = 10
# So many keys of rows are read at a time: those that stay are passed over once for each.
_KEYS: Final = 20_000
_HOUR_MS: Final = 3_600_000
# A clock that is so far ahead of the last look is not believed at once.
_LEAP_MS: Final = 2 * DAY_MS
_GONE: Final = "some of what is old is deleted, and the next sweep goes on"

Key = str | int
# Those of some notes, by their ids, that are shown or pinned: their texts stay.
Standing = Callable[[Collection[str]], frozenset[str]]


class Kind(StrEnum):
    """What goes, in the order in which it goes: nothing is deleted before what refers to it."""

    MENTIONS = "mentions"  # of removed texts, with what these say of entities
    RELATIONS = "relations"  # that nothing speaks for any more
    ENTITIES = "entities"  # that nothing mentions any more
    DOCUMENTS = "documents"
    EMBEDDINGS = "embeddings"  # of chunks that no document has
    TEXTS = "texts"
    CHUNKS = "chunks"  # that no document has
    HISTORY = "history"
    COMPLETED_JOBS = "completed_jobs"
    DEAD_JOBS = "dead_jobs"
    CALLS = "calls"
    TRANSCRIPTS = "transcripts"
    CHECKPOINTS = "checkpoints"
    SESSIONS = "sessions"
    SESSION_MEMORIES = "session_memories"
    SESSION_SCORES = "session_scores"


class _Rule(NamedTuple):
    """What goes of a kind. which: the rows that are over, of those before `:before`; window: the setting that says for
    how many days they are kept; key: the column that names a row.
    """

    table: str
    which: str
    window: str = "removed_days"
    key: str = "rowid"


def _of_session(table: str, which: str, window: str, key: str = "rowid") -> _Rule:
    """A session whose end is still to be looked at needs all that is kept of it."""
    waits = f"SELECT 1 FROM open_jobs WHERE target = {table}.session_key"
    return _Rule(table, f"{which} AND NOT EXISTS ({waits})", window, key)


_NOBODYS: Final = ":before IS NOT NULL AND NOT EXISTS (SELECT 1 FROM"
RULES: Final[dict[Kind, _Rule]] = {
    Kind.TEXTS: _Rule("removable_texts", "removed_at < :before", key="id"),
    Kind.RELATIONS: _Rule("relations", f"{_NOBODYS} relation_evidence WHERE relation_id = relations.id)"),
    Kind.ENTITIES: _Rule("removable_entities", ":before IS NOT NULL", key="id"),
    Kind.DOCUMENTS: _Rule("documents", "removed_at < :before"),
    Kind.EMBEDDINGS: _Rule(
        "embeddings",
        f"kind = 'chunk' AND {_NOBODYS} document_chunks WHERE chunk_id = CAST(target AS INTEGER))",
    ),
    Kind.CHUNKS: _Rule("chunks", f"{_NOBODYS} document_chunks WHERE chunk_id = chunks.id)"),
    Kind.HISTORY: _Rule(
        "history",
        "at < :before AND EXISTS (SELECT 1 FROM removable_history AS may WHERE may.id = history.id)",
        "history_days",
    ),
    Kind.COMPLETED_JOBS: _Rule(
        "jobs",
        "status = 'completed' AND completed_at < :before AND error_class <> 'unread'",
        "completed_job_days",
    ),
    Kind.DEAD_JOBS: _Rule("jobs", "status = 'dead' AND failed_at < :before", "dead_job_days"),
    Kind.CALLS: _Rule("llm_calls", "at < :before", "history_days"),
    Kind.TRANSCRIPTS: _of_session(
        "transcripts",
        "updated_at < :before AND NOT EXISTS (SELECT 1 FROM transcripts AS later WHERE"
        " later.session_key = transcripts.session_key AND later.updated_at >= :before)"
        " AND NOT EXISTS (SELECT 1 FROM needed_sessions WHERE source_id = transcripts.session_key)",
        "transcript_days",
        "session_key",
    ),
    Kind.CHECKPOINTS: _of_session("checkpoints", "created_at < :before", "retention_days"),
    # A checkpoint that is still to be kept comes first.
    Kind.SESSIONS: _of_session("sessions", "updated_at < :before AND due_at IS NULL", "retention_days"),
    Kind.SESSION_MEMORIES: _of_session("session_memories", "recalled_at < :before", "history_days"),
    Kind.SESSION_SCORES: _of_session("session_scores", "scored_at < :before", "history_days"),
}


def cutoff(now: int, days: int) -> int:
    """What ended before this moment has been kept for so many days; all in epoch ms."""
    return now - days * DAY_MS


def is_due(last: int | None, now: int, interval: int) -> bool:
    """Whether it is time to delete again, also where the clock was set back. last: when it was done, None: never."""
    return last is None or not 0 <= now - last < interval


def trusts_clock(database: Database, now: int) -> bool:
    """Whether something may be deleted by this clock, epoch ms."""
    with database.write(lasting=False) as writer:
        return trusts_clock_in(writer, now)


def trusts_clock_in(writer: Tables, now: int) -> bool:
    """The same in the caller's transaction.

    A clock that leapt far ahead is either right, after a time in which nothing ran, or wrong, as after a dead battery.
    Who sets it right does so soon; so it is believed once it has gone on for a day.
    """
    kept, leapt = writer.meta.number(CLOCK_TRUSTED), writer.meta.number(CLOCK_LEAPT)
    # Before the first look, the last thing that was done says what time it was.
    last = writer.history.last_at() if kept is None else kept
    if last is not None and now - last > _LEAP_MS:
        # Another process may have taken its time a moment earlier.
        if leapt is None or now < leapt - _HOUR_MS:
            writer.meta.put(CLOCK_TRUSTED, last)
            writer.meta.put(CLOCK_LEAPT, now)
            return False
        if now - leapt < DAY_MS:
            return False
    if kept is None or leapt is not None or not 0 <= now - kept < _HOUR_MS:
        writer.meta.put(CLOCK_TRUSTED, now)
        writer.meta.drop(CLOCK_LEAPT)
    return True


# Deleting rows


def due(reader: Tables, kind: Kind, before: int, most: int) -> tuple[Key, ...]:
    """Rows of a kind that go next, by their keys, at most so many. before: epoch ms."""
    rule = RULES[kind]
    sql = f"SELECT {rule.key} FROM {rule.table} WHERE {rule.which} LIMIT :most"
    return reader.column(sql, before=before, most=most)


def drop(writer: Tables, kind: Kind, keys: Sequence[Key], before: int, now: int) -> Counter[Kind]:
    """Deletes rows of a kind that are over still; how many, and of which kinds. before, now: epoch ms."""
    rule, listed = RULES[kind], json.dumps(keys)
    # By their keys: SQLite would rather look at all rows that are as old, by the index of their times.
    over = f"{rule.key} IN (SELECT value FROM json_each(:keys)) AND iif({rule.which}, 1, 0)"
    if kind is Kind.TEXTS:
        rows = writer.ask(
            f"SELECT id, removed_at FROM removable_texts WHERE {over}", keys=listed, before=before
        )
        return _drop_texts(writer, rows.fetchall(), now)
    if kind is Kind.HISTORY:
        writer.meta.put(HISTORY_KEPT_FROM, max(before, writer.meta.number(HISTORY_KEPT_FROM) or before))
    elif kind is Kind.DOCUMENTS:
        rows = writer.ask(f"SELECT id, removed_at FROM documents WHERE {over}", keys=listed, before=before)
        _say_gone(writer, rows.fetchall(), "document_purged", now)
    sql = f"DELETE FROM {rule.table} WHERE {over}"
    if kind is Kind.ENTITIES:
        sql = f"DELETE FROM entities WHERE id IN (SELECT id FROM removable_entities WHERE {over})"
    dropped = writer.run(sql, keys=listed, before=before)
    if kind is Kind.CHUNKS:
        writer.documents.merge_index()
    return Counter({kind: dropped})


def _drop_texts(writer: Tables, rows: Sequence[sqlite3.Row], now: int) -> Counter[Kind]:
    """Deletes removed texts with what they say of entities. What a person refused or hid of one stays known, the note
    that was made of it stays as it is, and an empty row says when it was deleted. rows: ids, each with since when it is
    removed.
    """
    going = json.dumps([row[0] for row in rows])
    mine = "raw_id IN (SELECT value FROM json_each(:ids))"
    writer.run(
        f"DELETE FROM attributes WHERE {mine} AND NOT EXISTS"
        " (SELECT 1 FROM facts WHERE facts.id = attributes.fact_id AND facts.status = 'active')",
        ids=going,
    )
    mentions = writer.run(
        "DELETE FROM mentions WHERE target IN (SELECT value FROM json_each(:ids))", ids=going
    )
    writer.run(f"DELETE FROM relation_evidence WHERE {mine}", ids=going)
    writer.run(
        f"DELETE FROM proposals WHERE {mine} AND note_id = '' AND status <> 'rejected'"
        " AND NOT EXISTS (SELECT 1 FROM note_edits WHERE proposal_id = proposals.id)"
        " AND NOT EXISTS (SELECT 1 FROM facts WHERE proposal_id = proposals.id)",
        ids=going,
    )
    # Whose it was is told of by notes and proposals alone.
    writer.run(
        "UPDATE raw_memories SET content = '', content_hash = '', relations = '[]', gone_at = :now,"
        " (source_id, project, author) = (SELECT source_id, project, author WHERE EXISTS"
        "  (SELECT 1 FROM facts WHERE raw_id = raw_memories.id UNION ALL"
        "   SELECT 1 FROM proposals WHERE raw_id = raw_memories.id) UNION ALL SELECT '', '', '' LIMIT 1)"
        " WHERE id IN (SELECT value FROM json_each(:ids))",
        ids=going, now=now,
    )  # fmt: skip
    _say_gone(writer, rows, "text_purged", now)
    return Counter({Kind.MENTIONS: mentions, Kind.TEXTS: len(rows)})


def _say_gone(writer: Tables, removed: Sequence[sqlite3.Row], event: str, now: int) -> None:
    """Says in the audit of what was removed that it is deleted. removed: ids, each with since when."""
    for id, at in removed:
        writer.history.append(
            at=now, event=event, changed_by="retention", reason="retention", raw_id=id, metadata={"removedAt": at}
        )  # fmt: skip


# The sweep


def sweep(
    database: Database,
    configuration: PipelineConfiguration,
    standing: Standing,
    *,
    now: int,
    seconds: float | None = None,
    rest: Callable[[float], None] = time.sleep,
) -> Sweep:
    """Deletes all rows that are over, as far as the time goes. now: epoch ms. seconds: for all of it, None for no
    limit. rest: called between two transactions with how many seconds the last one took. Raises StorageError,
    LockTimeoutError.
    """
    assert_outside_transaction("sweeping")
    counts: Counter[Kind] = Counter()
    ends = None if seconds is None else time.perf_counter() + seconds
    try:
        with database.errors():
            for kind, before, keys in _steps(lambda: database.reading, configuration, standing, now):
                began = time.perf_counter()
                if ends is not None and began >= ends:
                    return _told(counts, whole=False)
                with database.write(lasting=False) as writer:
                    counts += drop(writer, kind, keys, before, now)
                rest(time.perf_counter() - began)
            with database.write(lasting=False) as writer:
                writer.meta.put(SWEPT, now)
    except NuggetsError:
        with partly_done(_GONE) if counts else nullcontext():
            raise
    return _told(counts)


def rehearse(
    database: Database, configuration: PipelineConfiguration, standing: Standing, *, now: int
) -> Sweep:
    """What `sweep` would delete now: it is deleted from a copy, so that nobody waits for that."""
    # SQLite keeps it in memory while it is small, else in a file of its own that goes with the connection.
    with closing(sqlite3.connect("", isolation_level=None)) as copy:
        database.reading.connection.backup(copy)
        copy.row_factory = sqlite3.Row
        # It goes with this call: nothing of it needs to be safe.
        copy.executescript("PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
        tables, counts = Tables(copy), Counter[Kind]()
        for kind, before, keys in _steps(lambda: tables, configuration, standing, now):
            counts += drop(tables, kind, keys, before, now)
        return _told(counts, dry_run=True)


def _told(counts: Counter[Kind], *, dry_run: bool = False, whole: bool = True) -> Sweep:
    return Sweep({kind: counts[kind] for kind in Kind}, dry_run, whole)


def _steps(
    reading: Callable[[], Tables], configuration: PipelineConfiguration, standing: Standing, now: int
) -> Iterator[tuple[Kind, int, tuple[Key, ...]]]:
    """What is to be deleted next, step by step: a kind, before when, and the keys of the rows of one transaction."""
    for kind, rule in RULES.items():
        part = configuration.continuity if rule.window == "retention_days" else configuration.retention
        before, done = cutoff(now, getattr(part, rule.window)), None
        size = _LARGE if kind in (Kind.TEXTS, Kind.CHUNKS) else BATCH
        # What is needed again by the time it is to be deleted stays, and comes back as the same page. A text may go
        # only after one that repeats it.
        while (found := due(reading(), kind, before, _KEYS)) and found != done:
            done = found
            keys = _unneeded(reading(), found, standing) if kind is Kind.TEXTS else found
            for start in range(0, len(keys), size):
                yield kind, before, keys[start : start + size]


def _unneeded(reader: Tables, ids: tuple[Key, ...], standing: Standing) -> tuple[Key, ...]:
    """Those of some texts of which no note is shown or pinned."""
    rows = reader.ask(
        "SELECT raw_id, note_id FROM facts WHERE note_id <> '' AND raw_id IN (SELECT value FROM json_each(?))",
        json.dumps(ids),
    ).fetchall()
    stays = standing({row[1] for row in rows}) if rows else frozenset()
    needed = {row[0] for row in rows if row[1] in stays}
    return tuple(id for id in ids if id not in needed)
