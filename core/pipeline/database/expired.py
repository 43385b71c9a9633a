"""Rows whose time is over: which may go, and how they go, so that nothing that is still needed loses what it needs.

Never due are texts that wait to be read or hold a decision, that an open proposal or an undelivered note needs, that a
present text repeats or whose facts still stand, and pinned entities.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from core.pipeline.database.documents import Documents
from core.pipeline.database.meta import HISTORY_KEPT_FROM, SCORES_GONE, Meta
from core.pipeline.queue.errors import MAYBE_OUTAGES, OUTAGES
from core.pipeline.retention import Kind

Key = str | int
_OPEN: Final = "status IN ('proposed', 'review', 'blocked')"
# Of whom it is said in the audit.
RETENTION: Final = "retention"
# What must not go of a text while it stands or is needed; `raw` is its row.
_NOT_NEEDED: Final = f"""
raw.protected = 0 AND raw.knowledge_due = 0 AND raw.status NOT IN ('queued', 'held')
AND NOT EXISTS (SELECT 1 FROM facts WHERE raw_id = raw.id AND status = 'active')
AND NOT EXISTS (SELECT 1 FROM proposals WHERE raw_id = raw.id AND {_OPEN})
AND raw.id NOT IN (SELECT raw_id FROM decisions JOIN refused_proposals USING (entry_id)
    JOIN proposals ON proposals.id = refused_proposals.proposal_id WHERE decisions.noted = 0)
AND NOT EXISTS (SELECT 1 FROM proposals JOIN graph_outbox AS box ON box.proposal_id = proposals.id
    WHERE proposals.raw_id = raw.id AND box.status IN ('pending', 'failed'))
AND NOT EXISTS (SELECT 1 FROM facts JOIN graph_outbox AS box ON box.note_id = facts.note_id
    WHERE facts.raw_id = raw.id AND box.status IN ('pending', 'failed'))
AND NOT EXISTS (SELECT 1 FROM proposals AS mine JOIN proposals AS other ON other.target_note = mine.id
    AND other.target_note <> '' WHERE mine.raw_id = raw.id AND other.{_OPEN})
AND NOT EXISTS (SELECT 1 FROM facts JOIN proposals AS other ON other.target_note = facts.note_id
    AND other.target_note <> '' WHERE facts.raw_id = raw.id AND other.{_OPEN})
AND NOT EXISTS (SELECT 1 FROM jobs WHERE target = raw.id AND status IN ('held', 'pending', 'leased'))
AND NOT EXISTS (SELECT 1 FROM raw_memories AS again LEFT JOIN tombstones AS its ON its.id = again.id
    WHERE again.duplicate_of = raw.id AND its.gone_at IS NULL)
"""
# The audit of what stands or waits stays, however old it is, and what a merge of entities is undone by.
_HISTORY: Final = f"""
event NOT IN ('entities_merged', 'alias_added', 'entity_change_undone', 'text_purged', 'document_purged')
AND NOT EXISTS (SELECT 1 FROM proposals WHERE proposals.id = history.proposal_id AND {_OPEN})
AND NOT EXISTS (SELECT 1 FROM facts WHERE facts.note_id = history.note_id AND history.note_id <> ''
    AND facts.status = 'active')
AND NOT EXISTS (SELECT 1 FROM facts WHERE facts.id = history.fact_id AND facts.status = 'active')
AND NOT EXISTS (SELECT 1 FROM facts WHERE facts.raw_id = history.raw_id AND facts.status = 'active')
AND NOT EXISTS (SELECT 1 FROM graph_outbox AS box WHERE box.note_id = history.note_id AND history.note_id <> ''
    AND box.status IN ('pending', 'failed'))
AND NOT EXISTS (SELECT 1 FROM tombstones WHERE tombstones.id = history.raw_id AND gone_at IS NULL)
AND NOT EXISTS (SELECT 1 FROM raw_memories AS raw WHERE raw.id = history.raw_id
    AND (raw.protected = 1 OR raw.status IN ('queued', 'held')))
"""
# A session whose end is still to be looked at needs all that is kept of it.
_SESSION_OVER: Final = """
NOT EXISTS (SELECT 1 FROM jobs WHERE target = {}.session_key AND status IN ('held', 'pending', 'leased'))
"""
_REVIVED: Final = ", ".join(f"'{name}'" for name in (*OUTAGES, *MAYBE_OUTAGES))


class _Plain(NamedTuple):
    """A kind whose rows go by themselves. key: the column that names a row; which: the rows that are over, of those
    before `:before`.
    """

    table: str
    key: str
    which: str


PLAIN: Final[dict[Kind, _Plain]] = {
    Kind.HISTORY: _Plain("history", "id", f"at < :before AND {_HISTORY}"),
    # One that left a part of its text unread reads on when somebody asks.
    Kind.COMPLETED_JOBS: _Plain(
        "jobs",
        "id",
        "status = 'completed' AND completed_at < :before AND error_class <> 'unread'",
    ),
    # What an outage killed is revived once the model is back.
    Kind.DEAD_JOBS: _Plain(
        "jobs",
        "id",
        f"status = 'dead' AND failed_at < :before AND error_class NOT IN ({_REVIVED})",
    ),
    Kind.CALLS: _Plain("llm_calls", "id", "at < :before"),
    Kind.TRANSCRIPTS: _Plain(
        "transcripts",
        "session_key",
        f"updated_at < :before AND {_SESSION_OVER.format('transcripts')}"
        " AND NOT EXISTS (SELECT 1 FROM transcripts AS later"
        " WHERE later.session_key = transcripts.session_key AND later.updated_at >= :before)"
        " AND NOT EXISTS (SELECT 1 FROM raw_memories AS raw WHERE raw.source_id = transcripts.session_key"
        "  AND raw.source_id <> '' AND (raw.status IN ('queued', 'held')"
        "   OR EXISTS (SELECT 1 FROM facts WHERE facts.raw_id = raw.id AND facts.status = 'active')"
        f"  OR EXISTS (SELECT 1 FROM proposals WHERE proposals.raw_id = raw.id AND {_OPEN})))",
    ),
    Kind.CHECKPOINTS: _Plain(
        "checkpoints", "id", f"created_at < :before AND {_SESSION_OVER.format('checkpoints')}"
    ),
    # A checkpoint that is still to be kept comes first.
    Kind.SESSIONS: _Plain(
        "sessions",
        "session_key",
        "updated_at < :before AND NOT EXISTS (SELECT 1 FROM pending_checkpoints AS due"
        " WHERE due.session_key = sessions.session_key AND due.due_at IS NOT NULL)"
        f" AND {_SESSION_OVER.format('sessions')}",
    ),
    Kind.SESSION_MEMORIES: _Plain(
        "session_memories",
        "rowid",
        f"recalled_at < :before AND {_SESSION_OVER.format('session_memories')}",
    ),
    Kind.SESSION_SCORES: _Plain(
        "session_scores",
        "rowid",
        f"scored_at < :before AND {_SESSION_OVER.format('session_scores')}",
    ),
    # The newest one says how the predictor has been.
    Kind.COMPARISONS: _Plain(
        "predictor_comparisons",
        "rowid",
        "compared_at < :before AND compared_at < (SELECT max(compared_at) FROM predictor_comparisons AS newest"
        " WHERE newest.predictor = predictor_comparisons.predictor)",
    ),
    Kind.EMBEDDINGS: _Plain(
        "embeddings",
        "id",
        "kind = 'chunk' AND :before IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM document_chunks WHERE chunk_id = CAST(target AS INTEGER))",
    ),
    Kind.VECTORS: _Plain(
        "vectors",
        "id",
        "NOT EXISTS (SELECT 1 FROM embeddings WHERE embeddings.text_hash = vectors.text_hash"
        " AND embeddings.model = vectors.model) AND :before IS NOT NULL",
    ),
    Kind.CHUNKS: _Plain(
        "chunks",
        "id",
        "NOT EXISTS (SELECT 1 FROM document_chunks WHERE chunk_id = chunks.id) AND :before IS NOT NULL",
    ),
}


class RemovedText(NamedTuple):
    """A removed text whose time is over. notes: of its facts."""

    id: str
    notes: tuple[str, ...]


class Tombstone(NamedTuple):
    """What was removed. gone: since when it is deleted and can be brought back no more; both epoch ms."""

    id: str
    removed: int
    removed_by: str
    gone: int | None


class Expired:
    """Rows whose time is over. A limit is of rows, `before` in epoch ms; what is dropped is looked at again first."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    # Tombstones

    def tombstone(self, id: str) -> Tombstone | None:
        """The tombstone of a text or document; None for none."""
        row = self._connection.execute("SELECT * FROM tombstones WHERE id = ?", (id,)).fetchone()
        return None if row is None else Tombstone(*row)

    def bury(self, id: str, now: int, by: str) -> bool:
        """Marks a text as removed; False where it is that already."""
        return (
            self._connection.execute(
                "INSERT OR IGNORE INTO tombstones (id, removed_at, removed_by) VALUES (?, ?, ?)",
                (id, now, by),
            ).rowcount
            == 1
        )

    def unbury(self, id: str) -> bool:
        """Takes a tombstone back; False where there is none, or what was removed is deleted."""
        return (
            self._connection.execute(
                "DELETE FROM tombstones WHERE id = ? AND gone_at IS NULL", (id,)
            ).rowcount
            == 1
        )

    def buried(self) -> int:
        """How many texts are removed and can be brought back."""
        return int(
            self._connection.execute("SELECT count(*) FROM tombstones WHERE gone_at IS NULL").fetchone()[0]
        )

    def removed_texts(self, before: int | None, after: str, most: int) -> tuple[RemovedText, ...]:
        """Texts that were removed before a moment and that nothing in the database needs, by their ids; None: all that
        can be brought back, needed or not. after: the last id that was looked at.
        """
        which = "" if before is None else f"AND removed_at < :before AND {_NOT_NEEDED}"
        rows = self._connection.execute(
            "SELECT raw.id, (SELECT json_group_array(note_id) FROM facts WHERE raw_id = raw.id AND note_id <> '')"
            " FROM tombstones JOIN raw_memories AS raw ON raw.id = tombstones.id"
            f" WHERE tombstones.id > :after AND gone_at IS NULL {which} ORDER BY tombstones.id LIMIT :most",
            {"before": before, "after": after, "most": most},
        )
        return tuple(RemovedText(row[0], tuple(json.loads(row[1]))) for row in rows)

    def removed_documents(self, before: int, most: int) -> tuple[str, ...]:
        """Documents that were removed or replaced before a moment."""
        rows = self._connection.execute(
            "SELECT id FROM documents WHERE removed_at < ? ORDER BY removed_at, id LIMIT ?",
            (before, most),
        )
        return tuple(row[0] for row in rows)

    # What is over

    def due(self, kind: Kind, before: int, most: int) -> tuple[Key, ...]:
        """Rows that go next, by their keys, at most so many."""
        plain = PLAIN[kind]
        rows = self._connection.execute(
            f"SELECT {plain.key} FROM {plain.table} WHERE {plain.which} LIMIT :most",
            {"before": before, "most": most},
        )
        return tuple(row[0] for row in rows)

    # How it goes

    def drop(self, kind: Kind, keys: Sequence[Key], before: int) -> Counter[Kind]:
        """Deletes rows that are over still; how many."""
        return Counter({kind: self._drop_plain(kind, json.dumps(keys), before)})

    def drop_texts(self, ids: Sequence[Key], before: int, now: int) -> Counter[Kind]:
        """Deletes removed texts that nothing needs still, with what they say of entities; how many rows of which kind.
        now: epoch ms.
        """
        rows = self._connection.execute(
            "SELECT raw.id FROM raw_memories AS raw JOIN tombstones USING (id)"
            " WHERE raw.id IN (SELECT value FROM json_each(?)) AND gone_at IS NULL AND removed_at < ?"
            f" AND {_NOT_NEEDED}",
            (json.dumps(ids), before),
        )
        going = json.dumps([row[0] for row in rows])
        return self._drop_links(going) + Counter({Kind.TEXTS: self._drop_texts(going, now)})

    def _drop_plain(self, kind: Kind, keys: str, before: int) -> int:
        plain, given = PLAIN[kind], {"keys": keys, "before": before}
        named = f"{plain.key} IN (SELECT value FROM json_each(:keys))"
        if kind is Kind.HISTORY:
            meta = Meta(self._connection)
            meta.put(HISTORY_KEPT_FROM, max(before, meta.number(HISTORY_KEPT_FROM) or before))
        if kind is Kind.SESSIONS:
            self._connection.execute(
                f"DELETE FROM pending_checkpoints WHERE {named} AND due_at IS NULL", given
            )
        if kind is Kind.SESSION_SCORES:
            scored = self._connection.execute(
                f"SELECT count(*) FROM session_scores WHERE {named} AND {plain.which} AND rounds > 0", given
            ).fetchone()[0]
            meta = Meta(self._connection)
            meta.put(SCORES_GONE, (meta.number(SCORES_GONE) or 0) + scored)
        # By their keys: SQLite would rather look at all rows that are as old, by the index of their times.
        dropped = self._connection.execute(
            f"DELETE FROM {plain.table} WHERE {named} AND iif({plain.which}, 1, 0)", given
        ).rowcount
        if kind is Kind.CHUNKS:
            Documents(self._connection).merge_index()
        return dropped

    def _drop_links(self, ids: str) -> Counter[Kind]:
        """Takes what texts say of entities out of the graph; entities and relations that nothing is left of go with
        it, but those that are pinned, or that a person gave a name.
        """
        given = {"ids": ids}
        named = "raw_id IN (SELECT value FROM json_each(:ids))"
        entities, relations = (
            json.dumps([row[0] for row in self._connection.execute(query, given)])
            for query in (
                f"SELECT entity_id FROM mentions WHERE {named}"
                f" UNION SELECT entity_id FROM attributes WHERE {named}",
                f"SELECT DISTINCT relation_id FROM relation_evidence WHERE {named}",
            )
        )
        self._drop_attributes(given)
        mentions = self._connection.execute(f"DELETE FROM mentions WHERE {named}", given).rowcount
        self._connection.execute(f"DELETE FROM relation_evidence WHERE {named}", given)
        bare = self._connection.execute(
            "DELETE FROM relations WHERE id IN (SELECT value FROM json_each(?))"
            " AND NOT EXISTS (SELECT 1 FROM relation_evidence WHERE relation_id = relations.id)",
            (relations,),
        ).rowcount
        alone = """id IN (SELECT value FROM json_each(?)) AND pinned = 0
            AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = entities.id)
            AND NOT EXISTS (SELECT 1 FROM attributes WHERE entity_id = entities.id)
            AND NOT EXISTS (SELECT 1 FROM entity_aliases WHERE entity_id = entities.id)
            AND NOT EXISTS (SELECT 1 FROM relations JOIN relation_evidence ON relation_id = relations.id
                WHERE source_id = entities.id OR target_id = entities.id)"""
        going = json.dumps(
            [
                row[0]
                for row in self._connection.execute(f"SELECT id FROM entities WHERE {alone}", (entities,))
            ]
        )
        for end in ("source_id", "target_id"):
            bare += self._connection.execute(
                f"DELETE FROM relations WHERE {end} IN (SELECT value FROM json_each(?))", (going,)
            ).rowcount
        gone = self._connection.execute(
            "DELETE FROM entities WHERE id IN (SELECT value FROM json_each(?))", (going,)
        ).rowcount
        return Counter({Kind.MENTIONS: mentions, Kind.ENTITIES: gone, Kind.RELATIONS: bare})

    def _drop_attributes(self, given: dict[str, str]) -> None:
        """Takes back what texts said; where a present text says the same, that stands instead."""
        going = (
            "raw_id IN (SELECT value FROM json_each(:ids)) AND NOT EXISTS"
            " (SELECT 1 FROM facts WHERE facts.id = attributes.fact_id AND facts.status = 'active')"
        )
        same = self._connection.execute(
            "SELECT id FROM attributes WHERE superseded_why = 'says the same'"
            " AND raw_id NOT IN (SELECT value FROM json_each(:ids))"
            f" AND superseded_by IN (SELECT id FROM attributes WHERE {going}) ORDER BY id",
            given,
        ).fetchall()
        # A fact of another text may hang on what this one said first.
        self._connection.execute(
            "UPDATE attributes SET raw_id = (SELECT facts.raw_id FROM facts WHERE facts.id = attributes.fact_id)"
            " WHERE raw_id IN (SELECT value FROM json_each(:ids)) AND EXISTS"
            " (SELECT 1 FROM facts WHERE facts.id = attributes.fact_id AND facts.status = 'active')",
            given,
        )
        self._connection.execute(f"DELETE FROM attributes WHERE {going}", given)
        self._connection.executemany(
            "UPDATE OR IGNORE attributes SET status = 'active', superseded_why = '' WHERE id = ?"
            " AND (fact_id = '' OR EXISTS (SELECT 1 FROM facts WHERE facts.id = attributes.fact_id"
            "  AND facts.status = 'active'))",
            [(row[0],) for row in same],
        )

    def _drop_texts(self, ids: str, now: int) -> int:
        """Deletes texts. What a person refused or hid of one stays known, and the note that was made of it stays as it
        is: for these an empty row is kept.
        """
        given: dict[str, str | int] = {"ids": ids, "now": now}
        named = "IN (SELECT value FROM json_each(:ids))"
        self._connection.execute(
            f"DELETE FROM proposals WHERE raw_id {named} AND note_id = '' AND status <> 'rejected'"
            " AND NOT EXISTS (SELECT 1 FROM graph_outbox WHERE proposal_id = proposals.id)"
            " AND NOT EXISTS (SELECT 1 FROM facts WHERE proposal_id = proposals.id)",
            given,
        )
        self._connection.execute(f"DELETE FROM found_relations WHERE raw_id {named}", given)
        self._connection.execute(
            f"UPDATE raw_memories SET content = '', content_hash = '' WHERE id {named}", given
        )
        self._connection.execute(
            f"DELETE FROM raw_memories WHERE id {named}"
            " AND NOT EXISTS (SELECT 1 FROM facts WHERE raw_id = raw_memories.id)"
            " AND NOT EXISTS (SELECT 1 FROM proposals WHERE raw_id = raw_memories.id)",
            given,
        )
        return self._end(given, "text_purged")

    def drop_documents(self, ids: Sequence[Key], before: int, now: int) -> Counter[Kind]:
        """Deletes removed documents with the links to their chunks; how many."""
        given: dict[str, str | int] = {"ids": json.dumps(ids), "before": before, "now": now}
        which = "removed_at < :before AND id IN (SELECT value FROM json_each(:ids))"
        self._connection.execute(
            "INSERT OR IGNORE INTO tombstones (id, removed_at, removed_by)"
            f" SELECT id, removed_at, '' FROM documents WHERE {which}",
            given,
        )
        self._connection.execute(f"DELETE FROM documents WHERE {which}", given)
        return Counter({Kind.DOCUMENTS: self._end(given, "document_purged")})

    def _end(self, given: dict[str, str | int], event: str) -> int:
        """Says of what was deleted that it is, also in the audit; how many."""
        ended = self._connection.execute(
            "UPDATE tombstones SET gone_at = :now WHERE gone_at IS NULL"
            " AND id IN (SELECT value FROM json_each(:ids)) RETURNING id, removed_at",
            given,
        ).fetchall()
        self._connection.executemany(
            "INSERT INTO history (at, event, changed_by, reason, raw_id, proposal_id, fact_id, note_id, old_content,"
            " new_content, model, prompt_version, metadata)"
            " VALUES (?, ?, ?, ?, ?, '', '', '', '', '', '', '', json_object('removedAt', ?))",
            [(given["now"], event, RETENTION, RETENTION, row[0], row[1]) for row in ended],
        )
        return len(ended)
