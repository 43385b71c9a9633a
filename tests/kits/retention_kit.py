"""Rows of nuggets.db of any age, for tests of what is deleted and what stays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from core.pipeline.database.connection import Database
from core.pipeline.database.tables import Tables
from core.pipeline.records import Sweep
from core.pipeline.retention import DAY_MS, rehearse, sweep
from core.settings.pipeline_sections import PipelineConfiguration

NOW = 2_000 * DAY_MS


@dataclass(frozen=True)
class Text:
    """A text with what hangs on it. Ages are in days. fact, proposal, job: a status, "" for none. edited: its note was.

    aimed: an open proposal of another text wants to change its note. again: another text that was not removed repeats
    it. shown, pinned: its note.
    """

    number: int
    removed: int | None = None
    status: str = "extracted"
    protected: bool = False
    fact: str = ""
    proposal: str = ""
    edited: bool = False
    job: str = ""
    aimed: bool = False
    again: bool = False
    shown: bool = False
    pinned: bool = False
    names: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        return f"raw-{self.number}"

    @property
    def note(self) -> str:
        return f"note-{self.number}"


def age(days: float) -> int:
    """The moment so many days ago, epoch ms."""
    return NOW - int(days * DAY_MS)


def put(writer: Tables, text: Text) -> None:
    """Stores a text with all that hangs on it."""
    rows, n, made = writer.connection, text.number, age(400)
    _raw(writer, text.id, text.status, protected=text.protected)
    if text.removed is not None:
        bury(writer, text.id, age(text.removed))
    if text.fact or text.proposal or text.edited:
        put_proposal(
            writer, f"proposal-{n}", text.id, text.proposal or "applied", note=text.note if text.fact else ""
        )
    if text.fact:
        rows.execute(
            "INSERT INTO facts VALUES (?, ?, ?, 'memory', ?, ?, ?, 'fact', .9, ?, ?, 'm', 'p', ?, '')",
            (f"fact-{n}", text.id, f"proposal-{n}", f"Said {n}.", f"said {n}", f"hash {n}", text.note, text.fact, made),
        )  # fmt: skip
    if text.edited:
        rows.execute(
            "INSERT INTO note_edits (op, proposal_id, fact_id, note_id, expected, content, entry_id, done_at)"
            " VALUES ('add', ?, ?, ?, '', '', '', ?)",
            (f"proposal-{n}", f"fact-{n}", text.note, made),
        )
    if text.job:
        put_job(writer, text.id, text.job, 0)
    if text.aimed:
        _raw(writer, f"raw-aiming-{n}", "extracted")
        put_proposal(writer, f"proposal-aiming-{n}", f"raw-aiming-{n}", "blocked", target=text.note)
    if text.again:
        _raw(writer, f"raw-again-{n}", "duplicate", duplicate_of=text.id)
    link(writer, text.id, text.names)


def bury(writer: Tables, raw_id: str, at: int) -> None:
    """Marks a text as removed at a moment, epoch ms."""
    writer.connection.execute("UPDATE raw_memories SET removed_at = ? WHERE id = ?", (at, raw_id))


def _raw(
    writer: Tables, id: str, status: str, *, protected: bool = False, duplicate_of: str | None = None
) -> None:
    writer.connection.execute(
        "INSERT INTO raw_memories (id, content, content_hash, source_type, source_id, project, nugget,"
        " author, status, duplicate_of, protected, created_at) VALUES (?, ?, ?, 'text', '', '', 'memory', '', ?, ?,"
        " ?, ?)",
        (id, f"The text of {id}.", id, status, duplicate_of, protected, age(400)),
    )


def put_proposal(
    writer: Tables, id: str, raw_id: str, status: str, *, note: str = "", target: str = ""
) -> None:
    """Stores a proposal."""
    writer.connection.execute(
        "INSERT INTO proposals (id, raw_id, job_id, place, action, content, type, fact_confidence, grounded,"
        " target_note, target_content, confidence, told, decided_by, model, prompt_version, status, reason,"
        " review_needed, contradiction, note_id, nugget, created_at)"
        " VALUES (?, ?, 1, 0, ?, 'c', 'fact', .9, 1, ?, '', .9, '', 'rule', '', '', ?, '', 0, '', ?, 'memory', ?)",
        (id, raw_id, "update" if target else "add", target, status, note, age(400)),
    )


def put_job(writer: Tables, target: str, status: str, days: float, error_class: str = "") -> None:
    """Stores a job that ended so many days ago."""
    at = age(days)
    writer.connection.execute(
        "INSERT INTO jobs (type, target, status, max_attempts, run_after, error_class, created_at, updated_at,"
        " completed_at, failed_at) VALUES ('extract', ?, ?, 3, ?, ?, ?, ?, ?, ?)",
        (
            target, status, at, error_class, at, at, at if status == "completed" else None,
            at if status == "dead" else None,
        ),
    )  # fmt: skip


def put_history(writer: Tables, days: float, event: str = "none", **about: str) -> None:
    """Stores a row of the audit of so many days ago."""
    writer.history.append(at=age(days), event=event, changed_by="pipeline-v2", **about)


def link(writer: Tables, raw_id: str, names: Collection[str]) -> None:
    """Lets a text mention names, and speak for a relation of each two that follow each other."""
    ids = [writer.entities.find_or_make_entity(name, "extracted", age(400)) for name in sorted(names)]
    for entity_id in ids:
        writer.entities.add_mention(entity_id, raw_id, "it", 0.8, "linker", age(400))
        writer.entities.add_attribute(
            entity_id=entity_id, aspect_id=None, raw_id=raw_id, kind="attribute", content=f"says {raw_id}",
            normalised_content=f"says {raw_id}", confidence=0.7, importance=0.5, now=age(400),
        )  # fmt: skip
    for one, other in itertools.pairwise(ids):
        relation = writer.entities.add_relation(one, other, "related_to", 0.3, age(400))
        writer.entities.add_evidence(relation, raw_id, 0.3, age(400))


class Notes:
    """What a sweep asks the notes, answered by texts."""

    def __init__(self, texts: Collection[Text] = ()) -> None:
        self._shown = frozenset(text.note for text in texts if text.shown)
        self._pinned = frozenset(text.note for text in texts if text.pinned)

    def __call__(self, ids: Collection[str]) -> frozenset[str]:
        return (self._shown | self._pinned).intersection(ids)


def swept(
    database: Database, texts: Collection[Text] = (), rest: Callable[[float], None] = lambda seconds: None
) -> Sweep:
    """Sweeps with the windows of the defaults. rest: called between two transactions."""
    return sweep(database, PipelineConfiguration(), Notes(texts), now=NOW, rest=rest)


def rehearsed(database: Database, texts: Collection[Text] = ()) -> Sweep:
    """The same as a dry run."""
    done = rehearse(database, PipelineConfiguration(), Notes(texts), now=NOW)
    assert done.dry_run
    return replace(done, dry_run=False)


def rows_of(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables but those of indexes and the moment of the last sweep."""
    reader = database.reading.connection
    tables = [
        row[0]
        for row in reader.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if "_fts" not in row[0] and not row[0].startswith("sqlite_")
    ]
    return {
        table: sorted(
            (tuple(row) for row in reader.execute(f"SELECT * FROM {table}") if row[0] != "swept_at"), key=repr
        )
        for table in tables
    }
