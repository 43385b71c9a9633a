"""How long others wait for the write lock while old rows are deleted and a document is indexed, with many memories
stored, beside one plain transaction that deletes 500 rows.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from core.pipeline.database.connection import Database
from core.pipeline.database.tables import Tables
from core.pipeline.retention import BATCH, DAY_MS
from core.pipeline.service import Pipeline

BAR = 20.0
# Of one transaction, in milliseconds: of the clock, and of the processor, which no other program makes longer.
Held = tuple[float, float]
NAMES = 5_000
OLD = 400 * DAY_MS


def run(count: int) -> str:
    """Prints how long transactions hold the lock with `count` memories stored, half of them removed long ago; what
    missed its bar, or "".
    """
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "settings.toml").write_text('[pipeline.extraction]\nprovider = "none"\n')
        with Pipeline.open(home) as pipeline:
            _fill(pipeline.database, count)
            print(
                f"retention: {count:,} memories, {count // 2:,} of them due; milliseconds of the write lock,"
                f" median (95 %) most\n{'':<26}{'of the clock':<28}{'of the processor':<28}"
            )
            plain = _plain(home)
            began = time.perf_counter()
            rehearsal = pipeline.sweep(dry_run=True)
            rehearsed = time.perf_counter() - began
            held: list[Held] = []
            began = time.perf_counter()
            with _held(held):
                done = pipeline.sweep()
            spent = time.perf_counter() - began
            assert done.counts == rehearsal.counts, (done, rehearsal)
            worst = {"a batch of retention": _said("a batch of retention", held, plain)}
            # The facts here have no notes, and nothing is to be made of that.
            pipeline._working()._done_at["follow"] = pipeline.now()
            for title, text in (
                ("a part of a text", _words(500_000)), ("a part of one long line", _words(500_000, "")),
            ):  # fmt: skip
                held = []
                pipeline.documents.add("text", data=text.encode())
                with _held(held):
                    while pipeline.tick().job is not None:
                        pass
                worst[title] = _said(title, held, plain)
            print(
                f"{sum(done.counts.values()):,} rows deleted in {spent:.1f} s, {len(held):,} transactions for a"
                f" document; a dry run takes {rehearsed:.1f} s"
            )
    slow = [f"{title} {most:.0f} ms" for title, most in worst.items() if most > BAR]
    return f"the write lock is held for more than {BAR:g} ms: {', '.join(slow)}" if slow else ""


@contextmanager
def _held(into: list[Held]) -> Iterator[None]:
    """Adds to a list how long each transaction holds the lock, from its beginning to the end of its commit. What
    SQLite does after it, copying the log into the file, is done between two: nobody waits for that.
    """
    plain = Database.write

    @contextmanager
    def timed(self: Database, **named: Any) -> Iterator[Tables]:
        with plain(self, **named) as writer:
            began, worked = time.perf_counter(), time.thread_time()
            yield writer
        into.append(((time.perf_counter() - began) * 1000, (time.thread_time() - worked) * 1000))
        self.connect().execute("PRAGMA wal_autocheckpoint = 0")
        self.connect().execute("PRAGMA wal_checkpoint(PASSIVE)")

    Database.write = timed  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Database.write = plain  # type: ignore[method-assign]


def _said(title: str, held: list[Held], plain: float) -> float:
    clock, processor = ([one[place] for one in held] for place in (0, 1))
    print(
        f"{title:<26}{_spread(clock):<28}{_spread(processor):<28}"
        f"{median(clock) / plain:6.1f} x a plain deletion of {BATCH} rows"
    )
    return max(processor)


def _spread(found: list[float]) -> str:
    return f"{median(found):8.2f} ({quantiles(found, n=20)[-1]:.2f})  {max(found):.2f}"


def _plain(home: Path) -> float:
    """The median of transactions that delete 500 rows of a table without an index, in milliseconds."""
    connection = sqlite3.connect(home / "plain.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, content TEXT)")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO rows (content) VALUES (?)", (("x" * 200,) for _ in range(41 * BATCH)))
    connection.execute("COMMIT")
    taken = []
    for _ in range(41):
        began = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"DELETE FROM rows WHERE id IN (SELECT id FROM rows LIMIT {BATCH})")
        connection.execute("COMMIT")
        taken.append((time.perf_counter() - began) * 1000)
    connection.close()
    return median(taken)


def _words(length: int, end: str = ".\n\n") -> str:
    chance = random.Random(5)
    text: list[str] = []
    size = 0
    while size < length:
        line = (
            " ".join(f"{chance.choice('bcdfgkmprst')}{chance.randrange(9_000)}word" for _ in range(40)) + end
        )
        text.append(line)
        size += len(line)
    return "".join(text)


def _fill(database: Database, count: int) -> None:
    """Stores texts with facts, names, relations, jobs, decisions and documents as years leave them."""
    chance, now = random.Random(7), int(datetime.now(UTC).timestamp() * 1000)
    old = now - OLD
    with database.write(lasting=False) as writer:
        many: Callable[..., Any] = writer.connection.executemany
        numbers = range(count)
        many(
            "INSERT INTO raw_memories (id, content, content_hash, source_type, source_id, project,"
            " nugget, author, status, created_at)"
            " VALUES (?, ?, ?, 'text', ?, 'app', 'memory', 'person', 'extracted', ?)",
            ((f"raw-{n}", _sentence(chance, n), f"hash {n}", f"session {n // 20}", old) for n in numbers),
        )  # fmt: skip
        many(
            "UPDATE raw_memories SET removed_at = ? WHERE id = ?",
            ((old, f"raw-{n}") for n in range(0, count, 2)),
        )
        many(
            "INSERT INTO proposals (id, raw_id, job_id, place, action, content, type, fact_confidence, grounded,"
            " target_note, target_content, confidence, told, decided_by, model, prompt_version, status, reason,"
            " review_needed, contradiction, note_id, nugget, created_at) VALUES (?, ?, ?, 0, 'add', ?, 'fact', .9, 1,"
            " '', '', .9, '', 'model', 'm', 'p', ?, '', 0, '', ?, 'memory', ?)",
            (
                (f"proposal-{n}", f"raw-{n}", n, f"Fact {n}.",
                 *(("applied", f"note-{n}") if n % 3 else ("skipped", "")), old)
                for n in numbers
            ),
        )  # fmt: skip
        many(
            "INSERT INTO facts VALUES (?, ?, ?, 'memory', ?, ?, ?, 'fact', .9, ?, ?, 'm', 'p', ?, '')",
            (
                (f"fact-{n}", f"raw-{n}", f"proposal-{n}", f"Fact {n} of the service.", f"fact {n}", f"f{n}",
                 f"note-{n}", "active" if n % 2 else "denied", old)
                for n in numbers if n % 3
            ),
        )  # fmt: skip
        many(
            "INSERT INTO entities (id, name, canonical_name, type, created_at, updated_at)"
            " VALUES (?, ?, ?, 'tool', ?, ?)",
            ((n, f"Name{n}", f"name{n}", old, old) for n in range(1, NAMES + count // 10)),
        )
        named = [
            (entity, f"raw-{n}")
            for n in numbers
            for entity in sorted({*chance.sample(range(1, NAMES), 3), NAMES + n // 10 - 1})
        ]
        many(
            "INSERT OR IGNORE INTO mentions VALUES (?, ?, 'it', .8, 'linker', ?)",
            ((*one, old) for one in named),
        )
        many(
            "INSERT OR IGNORE INTO relations (id, source_id, target_id, type, strength, created_at, updated_at)"
            " VALUES (?, ?, ?, 'related_to', .3, ?, ?)",
            ((n + 1, 1 + n % (NAMES - 2), 2 + n % (NAMES - 2), old, old) for n in range(NAMES - 2)),
        )
        many(
            "INSERT OR IGNORE INTO relation_evidence VALUES (?, ?, .3, ?)",
            ((1 + n % (NAMES - 2), f"raw-{n}", old) for n in numbers),
        )
        many(
            "INSERT INTO attributes (entity_id, aspect_id, raw_id, fact_id, kind, content, normalised_content,"
            " confidence, importance, status, created_at, updated_at)"
            " VALUES (?, NULL, ?, '', 'attribute', ?, ?, .7, .5, 'active', ?, ?)",
            ((1 + n % (NAMES - 1), f"raw-{n}", f"says {n}", f"says {n}", old, old) for n in numbers),
        )  # fmt: skip
        many(
            "INSERT INTO history (at, event, changed_by, reason, raw_id, proposal_id, fact_id, note_id, old_content,"
            " new_content, model, prompt_version, metadata) VALUES (?, 'none', 'pipeline-v2', '', ?, ?, ?, ?, '', ?,"
            " 'm', 'p', ?)",
            (
                (old, f"raw-{n}", f"proposal-{n}", f"fact-{n}", f"note-{n}", f"Fact {n}.", '{"x": "' + "y" * 300 + '"}')
                for n in numbers for _ in range(2)
            ),
        )  # fmt: skip
        many(
            "INSERT INTO jobs (type, target, status, max_attempts, run_after, created_at, updated_at, completed_at,"
            " failed_at) VALUES ('extract', ?, ?, 3, ?, ?, ?, ?, ?)",
            (
                (f"raw-{n}", *(("completed", old, old, old, old, None) if n % 10 else ("dead", *[old] * 3, None, old)))
                for n in numbers
            ),
        )  # fmt: skip
        many(
            "INSERT INTO session_memories (session_key, note_id, times, recalled_at) VALUES (?, ?, 1, ?)",
            ((f"session {n // 20}", f"note-{n}", old) for n in numbers),
        )
        chunks = range(count // 5)
        many(
            "INSERT INTO chunks (content, terms, content_hash, created_at) VALUES (?, ?, ?, ?)",
            ((text, text.lower(), f"chunk {n}", old) for n in chunks for text in (_words_of(chance, n),)),
        )
        many(
            "INSERT INTO documents (id, kind, source, title, media_type, status, source_hash, nugget,"
            " project, author, created_at, updated_at, removed_at) VALUES (?, 'text', '', '', 'text/plain', 'done',"
            " '', '', '', '', ?, ?, ?)",
            ((f"doc-{n}", old, old, old if n % 2 else None) for n in range(count // 1000)),
        )  # fmt: skip
        many(
            "INSERT INTO document_chunks VALUES (?, ?, ?)",
            ((f"doc-{n * max(1, count // 1000) // len(chunks)}", n, n + 1) for n in chunks),
        )
    database.connect().execute("ANALYZE")
    database.empty_log()


def _sentence(chance: random.Random, number: int) -> str:
    return (
        f"Entry {number}: the service {chance.randrange(900)} moved to the host {chance.randrange(900)}. " * 5
    )


def _words_of(chance: random.Random, number: int) -> str:
    return f"Part {number}. " + " ".join(f"word{chance.randrange(20_000)}" for _ in range(200))
