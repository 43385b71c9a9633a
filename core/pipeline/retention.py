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
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from core.errors import NuggetsError, partly_done
from core.pipeline.database.connection import Database
from core.pipeline.database.tables import CLOCK_LEAPT, CLOCK_TRUSTED, HISTORY_KEPT_FROM, SWEPT, Tables
from core.pipeline.records import Sweep
from core.pipeline.transaction_guard import assert_outside_transaction
from core.storage.database import in_one_step

if TYPE_CHECKING:
    from core.settings.pipeline_sections import PipelineConfiguration

DAY_MS: Final = 86_400_000
# Rows of one transaction at most; so many of them go between two looks at the clock, until so many milliseconds are up.
BATCH: Final = 500
_SLICE: Final = 10
_HOLD_MS: Final = 6.0
# A rehearsal takes all rows at once.
_ALL: Final = 10_000_000
# So many keys of rows are read at a time: those that stay are passed over once for each.
_KEYS: Final = 20_000
_HOUR_MS: Final = 3_600_000
# A clock that is so far ahead of the last look is not believed at once.
_LEAP_MS: Final = 2 * DAY_MS
_GONE: Final = "some of what is old is deleted, and the next sweep goes on"
# Of whom it is said in the audit.
_RETENTION: Final = "retention"

Key = str | int
# Of notes, by their ids, those that are shown, and those whose texts must stay all the same.
Standing = Callable[[Collection[str]], tuple[frozenset[str], frozenset[str]]]


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


class Windows(NamedTuple):
    """For how many days each thing is kept; see `RetentionPart`."""

    removed: int = 30
    history: int = 180
    completed_jobs: int = 14
    dead_jobs: int = 30
    transcripts: int = 180
    checkpoints: int = 7

    @classmethod
    def of(cls, configuration: PipelineConfiguration) -> Windows:
        """The windows that the settings name."""
        part = configuration.retention
        return cls(
            part.removed_days, part.history_days, part.completed_job_days, part.dead_job_days, part.transcript_days,
            configuration.continuity.retention_days,
        )  # fmt: skip


class _Rule(NamedTuple):
    """What goes of a kind. which: the rows that are over, of those before `:before`; window: the field of `Windows`
    that says for how long they are kept; key: the column that names a row.
    """

    table: str
    which: str
    window: str = "removed"
    key: str = "rowid"


def _of_session(table: str, which: str, window: str, key: str = "rowid") -> _Rule:
    """A session whose end is still to be looked at needs all that is kept of it."""
    waits = (
        f"SELECT 1 FROM jobs WHERE target = {table}.session_key AND status IN ('held', 'pending', 'leased')"
    )
    return _Rule(table, f"{which} AND NOT EXISTS ({waits})", window, key)


# All but texts, in their order. `:before` stands in each, be it needed or not.
RULES: Final[dict[Kind, _Rule]] = {
    Kind.RELATIONS: _Rule(
        "relations",
        ":before IS NOT NULL AND NOT EXISTS (SELECT 1 FROM relation_evidence WHERE relation_id = relations.id)",
    ),
    # Not those that are pinned, that a person gave a name, or that are part of a merge.
    Kind.ENTITIES: _Rule(
        "entities",
        "pinned = 0 AND :before IS NOT NULL AND merged_into IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM entities AS part WHERE part.merged_into = entities.id)"
        " AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = entities.id)"
        " AND NOT EXISTS (SELECT 1 FROM attributes WHERE entity_id = entities.id)"
        " AND NOT EXISTS (SELECT 1 FROM relations WHERE source_id = entities.id)"
        " AND NOT EXISTS (SELECT 1 FROM relations WHERE target_id = entities.id)",
    ),
    Kind.DOCUMENTS: _Rule("documents", "removed_at < :before"),
    Kind.EMBEDDINGS: _Rule(
        "embeddings",
        "kind = 'chunk' AND :before IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM document_chunks WHERE chunk_id = CAST(target AS INTEGER))",
    ),
    Kind.CHUNKS: _Rule(
        "chunks", ":before IS NOT NULL AND NOT EXISTS (SELECT 1 FROM document_chunks WHERE chunk_id = chunks.id)"
    ),
    Kind.HISTORY: _Rule(
        "history",
        "at < :before AND EXISTS (SELECT 1 FROM removable_history AS may WHERE may.id = history.id)",
        "history",
    ),
    Kind.COMPLETED_JOBS: _Rule(
        "jobs", "status = 'completed' AND completed_at < :before AND error_class <> 'unread'", "completed_jobs"
    ),
    Kind.DEAD_JOBS: _Rule("jobs", "status = 'dead' AND failed_at < :before", "dead_jobs"),
    Kind.CALLS: _Rule("llm_calls", "at < :before", "history"),
    Kind.TRANSCRIPTS: _of_session(
        "transcripts",
        "updated_at < :before"
        " AND NOT EXISTS (SELECT 1 FROM transcripts AS later"
        "  WHERE later.session_key = transcripts.session_key AND later.updated_at >= :before)"
        " AND NOT EXISTS (SELECT 1 FROM raw_memories AS raw WHERE raw.source_id = transcripts.session_key"
        "  AND raw.source_id <> '' AND raw.gone_at IS NULL AND (raw.status IN ('queued', 'held')"
        "   OR EXISTS (SELECT 1 FROM facts WHERE facts.raw_id = raw.id AND facts.status = 'active')"
        "   OR EXISTS (SELECT 1 FROM open_proposals WHERE open_proposals.raw_id = raw.id)))",
        "transcripts",
        "session_key",
    ),
    Kind.CHECKPOINTS: _of_session("checkpoints", "created_at < :before", "checkpoints"),
    # A checkpoint that is still to be kept comes first.
    Kind.SESSIONS: _of_session("sessions", "updated_at < :before AND due_at IS NULL", "checkpoints"),
    Kind.SESSION_MEMORIES: _of_session("session_memories", "recalled_at < :before", "history"),
    Kind.SESSION_SCORES: _of_session("session_scores", "scored_at < :before", "history"),
}  # fmt: skip


def cutoff(now: int, days: int) -> int:
    """What ended before this moment has been kept for so many days; all in epoch ms."""
    return now - days * DAY_MS


def is_due(last: int | None, now: int, interval: int) -> bool:
    """Whether it is time to delete again, also where the clock was set back. last: when it was done, None: never."""
    return last is None or not 0 <= now - last < interval


# The clock


def trusts_clock(database: Database, now: int) -> bool:
    """Whether something may be deleted by this clock, epoch ms. Writes only where that changes, and each hour."""
    trusted, changes = _look_at_clock(database.reading, now)
    if not changes:
        return trusted
    with database.write(lasting=False) as writer:
        return trusts_clock_in(writer, now)


def trusts_clock_in(writer: Tables, now: int) -> bool:
    """The same in the caller's transaction."""
    trusted, changes = _look_at_clock(writer, now)
    for name, value in changes.items():
        if value is None:
            writer.meta.drop(name)
        else:
            writer.meta.put(name, value)
    return trusted


def _look_at_clock(reader: Tables, now: int) -> tuple[bool, dict[str, int | None]]:
    """Whether the clock is believed, and what is to be kept of the look in `meta`.

    A clock that leapt far ahead is either right, after a time in which nothing ran, or wrong, as after a dead battery.
    Who sets it right does so soon; so it is believed once it has gone on for a day.
    """
    kept, leapt = reader.meta.number(CLOCK_TRUSTED), reader.meta.number(CLOCK_LEAPT)
    # Before the first look, the last thing that was done says what time it was.
    trusted = reader.history.last_at() if kept is None else kept
    believed: dict[str, int | None] = {CLOCK_TRUSTED: now, CLOCK_LEAPT: None}
    if trusted is None or now - trusted <= _LEAP_MS:
        stands = kept is not None and 0 <= now - kept < _HOUR_MS and leapt is None
        return True, {} if stands else believed
    # Another process may have taken its time a moment earlier.
    if leapt is None or now < leapt - _HOUR_MS:
        return False, {CLOCK_TRUSTED: trusted, CLOCK_LEAPT: now}
    return (True, believed) if now - leapt >= DAY_MS else (False, {})


# Deleting rows


def due(reader: Tables, kind: Kind, before: int, most: int) -> tuple[Key, ...]:
    """Rows of a kind that go next, by their keys, at most so many. before: epoch ms."""
    rule = RULES[kind]
    rows = reader.ask(
        f"SELECT {rule.key} FROM {rule.table} WHERE {rule.which} LIMIT :most", before=before, most=most
    )
    return tuple(row[0] for row in rows)


def drop(writer: Tables, kind: Kind, keys: Sequence[Key], before: int, now: int) -> int:
    """Deletes rows of a kind that are over still; how many. before, now: epoch ms."""
    rule, listed = RULES[kind], json.dumps(keys)
    if kind is Kind.HISTORY:
        kept_from = writer.meta.number(HISTORY_KEPT_FROM) or before
        writer.meta.put(HISTORY_KEPT_FROM, max(before, kept_from))
    elif kind is Kind.DOCUMENTS:
        gone = writer.ask(
            "SELECT id, removed_at FROM documents WHERE removed_at < ?"
            " AND rowid IN (SELECT value FROM json_each(?))", before, listed,
        )  # fmt: skip
        _say_gone(writer, gone.fetchall(), "document_purged", now)
    # By their keys: SQLite would rather look at all rows that are as old, by the index of their times.
    dropped = writer.run(
        f"DELETE FROM {rule.table} WHERE {rule.key} IN (SELECT value FROM json_each(:keys))"
        f" AND iif({rule.which}, 1, 0)",
        keys=listed, before=before,
    )  # fmt: skip
    if kind is Kind.CHUNKS:
        writer.documents.merge_index()
    return dropped


def drop_texts(writer: Tables, ids: Sequence[Key], before: int, now: int) -> Counter[Kind]:
    """Deletes removed texts that nothing needs still, with what they say of entities; how many rows of which kind.

    What a person refused or hid of one stays known, and the note that was made of it stays as it is; an empty row says
    when it was deleted. Where a present text says the same of an entity, that stands instead, and a fact of another
    text may hang on what this one said first. before, now: epoch ms.
    """
    rows = writer.ask(
        "SELECT id, removed_at FROM removable_texts WHERE id IN (SELECT value FROM json_each(?)) AND removed_at < ?",
        json.dumps(ids), before,
    ).fetchall()  # fmt: skip
    going = json.dumps([row[0] for row in rows])
    mine = "raw_id IN (SELECT value FROM json_each(:ids))"
    stands = "EXISTS (SELECT 1 FROM facts WHERE facts.id = attributes.fact_id AND facts.status = 'active')"
    same = writer.ask(
        f"SELECT id FROM attributes WHERE superseded_why = 'says the same' AND NOT {mine} AND superseded_by IN"
        f" (SELECT id FROM attributes WHERE {mine} AND NOT {stands}) ORDER BY id",
        ids=going,
    ).fetchall()
    writer.run(
        "UPDATE attributes SET raw_id = (SELECT facts.raw_id FROM facts WHERE facts.id = attributes.fact_id)"
        f" WHERE {mine} AND {stands}",
        ids=going,
    )
    writer.run(f"DELETE FROM attributes WHERE {mine} AND NOT {stands}", ids=going)
    for (id,) in same:
        writer.run(
            "UPDATE OR IGNORE attributes SET status = 'active', superseded_why = ''"
            f" WHERE id = ? AND (fact_id = '' OR {stands})",
            id,
        )
    mentions = writer.run(f"DELETE FROM mentions WHERE {mine}", ids=going)
    writer.run(f"DELETE FROM relation_evidence WHERE {mine}", ids=going)
    writer.run(
        f"DELETE FROM proposals WHERE {mine} AND note_id = '' AND status <> 'rejected'"
        " AND NOT EXISTS (SELECT 1 FROM note_edits WHERE proposal_id = proposals.id)"
        " AND NOT EXISTS (SELECT 1 FROM facts WHERE proposal_id = proposals.id)",
        ids=going,
    )
    writer.run(
        "UPDATE raw_memories SET content = '', content_hash = '', relations = '[]', gone_at = :now"
        " WHERE id IN (SELECT value FROM json_each(:ids))",
        ids=going, now=now,
    )  # fmt: skip
    # Whose it was is told of by notes and proposals alone.
    writer.run(
        "UPDATE raw_memories SET source_id = '', project = '', author = ''"
        " WHERE id IN (SELECT value FROM json_each(:ids))"
        " AND NOT EXISTS (SELECT 1 FROM facts WHERE raw_id = raw_memories.id)"
        " AND NOT EXISTS (SELECT 1 FROM proposals WHERE raw_id = raw_memories.id)",
        ids=going,
    )
    _say_gone(writer, rows, "text_purged", now)
    return Counter({Kind.MENTIONS: mentions, Kind.TEXTS: len(rows)})


def _say_gone(writer: Tables, removed: Sequence[sqlite3.Row], event: str, now: int) -> None:
    """Says in the audit of what was removed that it is deleted. removed: ids, each with since when."""
    for id, at in removed:
        told = {"removedAt": at}
        writer.history.append(
            at=now, event=event, changed_by=_RETENTION, reason=_RETENTION, raw_id=id, metadata=told
        )


# The sweep


class Pace(NamedTuple):
    """How a sweep goes about its work. seconds: for all of it at most, None for no limit. timer: seconds that only
    grow. rest: called between two transactions with how many seconds the last one took. batch: rows of one transaction
    at most; slice: of them between two looks at the clock.
    """

    seconds: float | None = None
    timer: Callable[[], float] = time.perf_counter
    rest: Callable[[float], None] = time.sleep
    batch: int = BATCH
    slice: int = _SLICE


def sweep(
    database: Database, windows: Windows, standing: Standing, *, now: int, pace: Pace | None = None
) -> Sweep:
    """Deletes all rows that are over, as far as the time goes. now: epoch ms. Raises StorageError, LockTimeoutError."""
    run = _Run(
        lambda: database.reading,
        lambda: database.write(lasting=False),
        windows,
        standing,
        now,
        pace or Pace(),
    )
    try:
        with database.errors():
            done = run.whole()
            if done.whole:
                with database.write(lasting=False) as writer:
                    writer.meta.put(SWEPT, now)
            return done
    except NuggetsError:
        with partly_done(_GONE) if run.wrote else nullcontext():
            raise


def rehearse(database: Database, windows: Windows, standing: Standing, *, now: int) -> Sweep:
    """What `sweep` would delete now: it is deleted from a copy, all at once, since nobody waits for that."""
    # SQLite keeps it in memory while it is small, else in a file of its own that goes with the connection.
    with closing(sqlite3.connect("", isolation_level=None)) as copy:
        database.reading.connection.backup(copy)
        copy.row_factory = sqlite3.Row
        # It goes with this call: nothing of it needs to be safe, or taken back.
        for pragma in ("foreign_keys = ON", "synchronous = OFF", "journal_mode = OFF", "cache_size = -64000"):
            copy.execute(f"PRAGMA {pragma}")
        tables = Tables(copy)

        @contextmanager
        def writing() -> Iterator[Tables]:
            with in_one_step(copy):
                yield tables

        pace = Pace(None, time.perf_counter, lambda seconds: None, _ALL, _ALL)
        done = _Run(lambda: tables, writing, windows, standing, now, pace).whole()
        return replace(done, dry_run=True)


class _Run:
    """One sweep. reading: the tables as they are; writing: one transaction."""

    def __init__(
        self,
        reading: Callable[[], Tables],
        writing: Callable[[], AbstractContextManager[Tables]],
        windows: Windows,
        standing: Standing,
        now: int,
        pace: Pace,
    ) -> None:
        self._reading = reading
        self._writing = writing
        self._windows = windows
        self._standing = standing
        self._now = now
        self._pace = pace
        self._ends = None if pace.seconds is None else pace.timer() + pace.seconds
        self._counts: Counter[Kind] = Counter()
        self._restored = 0
        self.wrote = False

    def whole(self) -> Sweep:
        """Begins with what was removed, and then deletes kind by kind."""
        finished = self._clear_texts() and all(map(self._clear, RULES))
        return Sweep({kind: self._counts[kind] for kind in Kind}, self._restored, whole=finished)

    def _clear_texts(self) -> bool:
        """Deletes removed texts; one of which a note is shown again is no longer removed. A text may go only after one
        that repeats it, so it is looked at as long as any was deleted. Whether none is left.
        """
        from core.pipeline.removal import restore_text

        before, done, after = cutoff(self._now, self._windows.removed), 0, ""
        while True:
            found = self._reading().raw.removable(before, after, self._pace.batch)
            if not found:
                if self._counts[Kind.TEXTS] == done:
                    return True
                done, after = self._counts[Kind.TEXTS], ""
                continue
            after = found[-1].id
            notes = {note for one in found for note in one.notes}
            shown, kept = self._standing(notes) if notes else (frozenset(), frozenset())
            back = [one.id for one in found if not shown.isdisjoint(one.notes)]
            if back and not self._over:
                with self._timed() as writer:
                    self._restored += sum(restore_text(writer, id, shown, self._now) for id in back)
            going = tuple(one.id for one in found if (shown | kept).isdisjoint(one.notes))
            if not self._drop(going, lambda writer, ids: drop_texts(writer, ids, before, self._now)):
                return False

    def _clear(self, kind: Kind) -> bool:
        """Deletes rows of a kind until none is left or the time is over; whether none is left."""
        before, done = cutoff(self._now, getattr(self._windows, RULES[kind].window)), None

        def drop_some(writer: Tables, keys: Sequence[Key]) -> Counter[Kind]:
            return Counter({kind: drop(writer, kind, keys, before, self._now)})

        # What is needed again by the time it is to be deleted stays, and comes back as the same page.
        while (found := due(self._reading(), kind, before, _KEYS)) and found != done:
            done = found
            if not self._drop(found, drop_some):
                return False
        return True

    @property
    def _over(self) -> bool:
        return self._ends is not None and self._pace.timer() >= self._ends

    def _drop(self, keys: Sequence[Key], drop: Callable[[Tables, Sequence[Key]], Counter[Kind]]) -> bool:
        """Deletes rows by their keys, in each transaction for as long as one may take; False when the time is over."""
        while keys:
            if self._over:
                return False
            with self._timed() as writer:
                ends, done = self._pace.timer() + _HOLD_MS / 1000, 0
                most = min(len(keys), self._pace.batch)
                while done < most and not (done and self._pace.timer() >= ends):
                    size = min(self._pace.slice, most - done)
                    self._counts += drop(writer, keys[done : done + size])
                    done += size
            keys = keys[done:]
        return not self._over

    @contextmanager
    def _timed(self) -> Iterator[Tables]:
        """One transaction, and a rest for others after it, as long as it took."""
        assert_outside_transaction("sweeping")
        began = self._pace.timer()
        with self._writing() as writer:
            yield writer
        self.wrote = True
        self._pace.rest(self._pace.timer() - began)
