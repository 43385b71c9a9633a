"""What the health of the pipeline is measured by, counted in the database; one method a domain."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from core.pipeline.health.duplicates import SameFact, same_facts
from core.pipeline.health.records import DomainName
from core.pipeline.health.scoring import (
    DuplicateFigures,
    Figures,
    IndexFigures,
    MutationFigures,
    ProviderFigures,
    QueueFigures,
    StorageFigures,
)
from core.pipeline.retention import cutoff
from core.settings.pipeline_sections import EmbeddingPart, PipelineConfiguration

DEFAULTS: Final = PipelineConfiguration()
# Who made a proposal that says: these two are one.
MAINTENANCE: Final = "maintenance"
WEEK_MS: Final = 7 * 86_400_000
_CALLS: Final = 100
# Calls that no model was asked in, or that are not answered yet.
_NOT_CALLED: Final = "('asked', 'breaker_open', 'budget_spent')"


class TextIndex(NamedTuple):
    """A full-text table, the table whose rows it finds, by which column, and the column that it holds."""

    name: str
    table: str
    row_id: str
    column: str


@dataclass(frozen=True, slots=True)
class IndexGap:
    """How a full-text table differs from its rows. missing: rows that it lacks; extra: entries without a row."""

    index: TextIndex
    rows: int
    missing: int
    extra: int


TEXT_INDEXES: Final = (
    TextIndex("facts_fts", "facts", "rowid", "content"),
    TextIndex("chunks_fts", "chunks", "id", "terms"),
    TextIndex("names_fts", "names", "id", "canonical_name"),
    TextIndex("hints_fts", "hints", "id", "hint"),
)


class HealthFigures:
    """What the health is measured by. Reads only, but for `add_missing` and `rebuild`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def all(self, now: int, configuration: PipelineConfiguration = DEFAULTS) -> Figures:
        """Everything, as it is now (epoch ms), by what the settings ask for."""
        return Figures(
            self.queue(now), self.storage(now, configuration.retention.removed_days),
            self.index(configuration.embedding), self.provider(configuration.extraction.provider),
            self.mutation(now), self.duplicate(),
        )  # fmt: skip

    def of_domain(self, name: DomainName, now: int, configuration: PipelineConfiguration = DEFAULTS) -> Any:
        """The figures of one domain."""
        read: dict[DomainName, Callable[[], object]] = {
            "queue": lambda: self.queue(now),
            "storage": lambda: self.storage(now, configuration.retention.removed_days),
            "index": lambda: self.index(configuration.embedding),
            "provider": lambda: self.provider(configuration.extraction.provider),
            "mutation": lambda: self.mutation(now),
            "duplicate": self.duplicate,
        }
        return read[name]()

    def _one(self, statement: str, *values: object) -> int:
        return int(self._connection.execute(statement, values).fetchone()[0] or 0)

    # Domains

    def queue(self, now: int) -> QueueFigures:
        """Jobs. What died long ago and still stands counts, too: a backlog is no less of one by growing old."""
        from core.pipeline.database.jobs import Jobs

        jobs = Jobs(self._connection)
        dead = self._one(
            "SELECT count(*) FROM jobs AS dead WHERE status = 'dead' AND NOT EXISTS (SELECT 1 FROM jobs AS later"
            " WHERE later.type = dead.type AND later.target = dead.target AND later.id > dead.id)"
            # Nobody wants to read what was removed.
            " AND NOT EXISTS (SELECT 1 FROM tombstones WHERE tombstones.id = dead.target)"
        )
        done = self._one("SELECT count(*) FROM jobs WHERE status = 'completed'")
        first = self._connection.execute(
            "SELECT min(run_after) FROM jobs WHERE status = 'pending' AND run_after <= ?", (now,)
        ).fetchone()[0]
        return QueueFigures(
            depth=self._one("SELECT count(*) FROM jobs WHERE status = 'pending'"),
            dead=dead,
            dead_rate=dead / (dead + done) if dead else 0.0,
            oldest_age_s=0.0 if first is None else (now - first) / 1000,
            stale_leases=len(jobs.expired(now)),
            retryable=jobs.count_requeueable() if dead else 0,
        )

    def storage(self, now: int, removed_days: int) -> StorageFigures:
        """Texts and documents, with those that wait for retention. removed_days: for how many it keeps them."""
        before = cutoff(now, removed_days)
        return StorageFigures(
            total=self._one("SELECT (SELECT count(*) FROM raw_memories) + (SELECT count(*) FROM documents)"),
            tombstones=self._one(
                "SELECT (SELECT count(*) FROM tombstones WHERE gone_at IS NULL)"
                " + (SELECT count(*) FROM documents WHERE removed_at IS NOT NULL)"
            ),
            over=self._one(
                "SELECT (SELECT count(*) FROM tombstones WHERE gone_at IS NULL AND removed_at < ?1)"
                " + (SELECT count(*) FROM documents WHERE removed_at < ?1)",
                before,
            ),
        )

    def index(self, embedding: EmbeddingPart = DEFAULTS.embedding) -> IndexFigures:
        """The full-text tables, held against their rows id by id; and what has an embedding of the named model."""
        from core.pipeline.database.embeddings import Embeddings

        gaps = self.gaps()
        found = IndexFigures(
            sum(gap.rows for gap in gaps), sum(gap.missing for gap in gaps), sum(gap.extra for gap in gaps)
        )
        if not embedding.model or embedding.provider == "none":
            return found
        made = Embeddings(self._connection).coverage(embedding.model, embedding.dimensions)
        total = made.notes + made.chunks
        return found._replace(embedded=total - made.missing, embeddable=total)

    def provider(self, named: str = DEFAULTS.extraction.provider) -> ProviderFigures:
        """The last hundred calls to models. named: the provider that the settings name, "none" for none."""
        calls, successes = self._connection.execute(
            "SELECT count(*), coalesce(sum(outcome = 'ok'), 0) FROM (SELECT outcome FROM llm_calls"
            f" WHERE outcome NOT IN {_NOT_CALLED} ORDER BY id DESC LIMIT {_CALLS})"
        ).fetchone()
        return ProviderFigures(int(calls), int(successes), named not in ("none", "opencode"))

    def mutation(self, now: int) -> MutationFigures:
        """What people undid of the pipeline's changes in seven days."""
        return MutationFigures(
            self._one("SELECT count(*) FROM history WHERE event = 'reopened' AND at > ?", now - WEEK_MS)
        )

    def duplicate(self) -> DuplicateFigures:
        """Facts that say what another says; but those that a person wants to keep beside each other."""
        found = self.same_facts()
        asked = {each: self.merge_status(each.note_id) for each in found}
        return DuplicateFigures(
            self._one("SELECT count(*) FROM facts WHERE status = 'active'"),
            sum(status != "rejected" for status in asked.values()),
            sum(status is None for status in asked.values()),
        )

    # Duplicates

    def same_facts(self) -> tuple[SameFact, ...]:
        """Facts that say what an earlier fact of the nugget says, in the same words."""
        return same_facts(
            self._connection.execute(
                "SELECT rowid, nugget, normalised_content, note_id FROM facts WHERE status = 'active' AND note_id <> ''"
                " ORDER BY rowid"
            )
        )

    def merge_status(self, note_id: str) -> str | None:
        """What became of the proposal to hide a note since another says the same; None where there is none."""
        row = self._connection.execute(
            "SELECT status FROM proposals WHERE target_note = ? AND target_note <> '' AND decided_by = ?"
            " ORDER BY created_at DESC LIMIT 1",
            (note_id, MAINTENANCE),
        ).fetchone()
        return None if row is None else str(row[0])

    # Full-text tables

    def gaps(self) -> tuple[IndexGap, ...]:
        """Of each full-text table how it differs from its rows."""
        return tuple(self._gap(index) for index in TEXT_INDEXES)

    def _gap(self, index: TextIndex) -> IndexGap:
        known = f"{index.name}_docsize"
        rows = self._one(f"SELECT count(*) FROM {index.table}")
        missing = self._one(f"SELECT count(*) FROM {index.table} WHERE {_lacking(index)}")
        entries = self._one(f"SELECT count(*) FROM {known}")
        # The entries with a row are the rows with an entry; to look each up from the other side tells nothing new.
        return IndexGap(index, rows, missing, entries - (rows - missing))

    def add_missing(self, index: TextIndex, most: int) -> int:
        """Lets rows be found that an index lacks; how many, at most so many."""
        return self._connection.execute(
            f"INSERT INTO {index.name} (rowid, {index.column}) SELECT {index.row_id}, {index.column}"
            f" FROM {index.table} WHERE {_lacking(index)} LIMIT ?",
            (most,),
        ).rowcount

    def rebuild(self, index: TextIndex) -> None:
        """Makes an index anew of its rows: the words of an entry whose row is gone are known to nobody else."""
        self._connection.execute(f"INSERT INTO {index.name} ({index.name}) VALUES ('rebuild')")


def _lacking(index: TextIndex) -> str:
    return f"{index.row_id} NOT IN (SELECT id FROM {index.name}_docsize)"
