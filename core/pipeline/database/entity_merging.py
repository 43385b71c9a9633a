"""How the rows of one entity go over to another that is the same thing."""

from __future__ import annotations

import sqlite3

from core.pipeline.intake.linker import PAIR_TYPE


def merge(writer: sqlite3.Connection, keep: int, other: int, now: int) -> None:
    """Moves all that is known of one entity to another and removes the first; its names become aliases.

    What both have stands once: the greater weight, confidence and strength stay. Relations between the two are gone.
    """
    given = {"keep": keep, "other": other, "now": now}
    writer.execute("UPDATE entity_aliases SET entity_id = :keep WHERE entity_id = :other", given)
    writer.execute(
        "INSERT OR IGNORE INTO mentions (entity_id, raw_id, mention_text, confidence, source, created_at) "
        "SELECT :keep, raw_id, mention_text, confidence, source, created_at FROM mentions WHERE entity_id = :other",
        given,
    )
    _move_said(writer, given)
    _move_relations(writer, given)
    name = writer.execute("SELECT name, canonical_name FROM entities WHERE id = :other", given).fetchone()
    writer.execute(
        "UPDATE entities SET updated_at = :now, "
        "pinned = max(pinned, (SELECT pinned FROM entities WHERE id = :other)) WHERE id = :keep",
        given,
    )
    writer.execute("DELETE FROM entities WHERE id = :other", given)
    writer.execute(
        "INSERT OR IGNORE INTO entity_aliases (canonical_name, entity_id, name, created_at) VALUES (?, ?, ?, ?)",
        (name["canonical_name"], keep, name["name"], now),
    )


def _move_said(writer: sqlite3.Connection, given: dict[str, int]) -> None:
    """Aspects and attributes; of two that say the same under one aspect the kept entity's own stands."""
    writer.execute(
        "UPDATE aspects SET weight = max(weight, (SELECT weight FROM aspects AS theirs "
        "  WHERE theirs.entity_id = :other AND theirs.canonical_name = aspects.canonical_name)) "
        "WHERE entity_id = :keep AND canonical_name IN (SELECT canonical_name FROM aspects WHERE entity_id = :other)",
        given,
    )
    writer.execute("UPDATE OR IGNORE aspects SET entity_id = :keep WHERE entity_id = :other", given)
    rows = writer.execute(
        "SELECT said.id, said.normalised_content, said.status, coalesce(mine.id, said.aspect_id) AS aspect_id "
        "FROM attributes AS said LEFT JOIN aspects AS theirs ON theirs.id = said.aspect_id "
        "LEFT JOIN aspects AS mine ON mine.entity_id = :keep AND mine.canonical_name = theirs.canonical_name "
        "WHERE said.entity_id = :other ORDER BY said.id",
        given,
    ).fetchall()
    for row in rows:
        same = writer.execute(
            "SELECT id FROM attributes WHERE entity_id = ? AND coalesce(aspect_id, 0) = ? "
            "AND normalised_content = ? AND status = 'active'",
            (given["keep"], row["aspect_id"] or 0, row["normalised_content"]),
        ).fetchone()
        if same is not None and row["status"] == "active":
            writer.execute(
                "UPDATE attributes SET status = 'retracted', superseded_by = ?, superseded_why = 'says the same', "
                "review_needed = 0 WHERE id = ?",
                (same["id"], row["id"]),
            )
        writer.execute(
            "UPDATE attributes SET entity_id = ?, aspect_id = ?, updated_at = ? WHERE id = ?",
            (given["keep"], row["aspect_id"], given["now"], row["id"]),
        )


def _move_relations(writer: sqlite3.Connection, given: dict[str, int]) -> None:
    """The relations that have the other entity at an end, with their evidence."""
    rows = writer.execute(
        "SELECT id, source_id, target_id, type, strength FROM relations "
        "WHERE source_id = :other OR target_id = :other ORDER BY id",
        given,
    ).fetchall()
    for row in rows:
        source, target = (
            given["keep"] if end == given["other"] else end for end in (row["source_id"], row["target_id"])
        )
        if source == target:
            writer.execute("DELETE FROM relations WHERE id = ?", (row["id"],))
            continue
        if row["type"] == PAIR_TYPE:
            source, target = sorted((source, target))
        same = writer.execute(
            "SELECT id FROM relations WHERE source_id = ? AND target_id = ? AND type = ?",
            (source, target, row["type"]),
        ).fetchone()
        if same is None:
            writer.execute(
                "UPDATE relations SET source_id = ?, target_id = ?, updated_at = ? WHERE id = ?",
                (source, target, given["now"], row["id"]),
            )
        else:
            _join_relations(writer, row, same["id"], given["now"])


def _join_relations(writer: sqlite3.Connection, row: sqlite3.Row, same: int, now: int) -> None:
    """Lets one relation stand for two that are the same by now."""
    writer.execute(
        "INSERT INTO relation_evidence (relation_id, raw_id, confidence, created_at) "
        "SELECT ?, raw_id, confidence, created_at FROM relation_evidence WHERE relation_id = ? "
        "ON CONFLICT DO UPDATE SET confidence = max(confidence, excluded.confidence)",
        (same, row["id"]),
    )
    writer.execute(
        "UPDATE relations SET strength = max(strength, ?), updated_at = ? WHERE id = ?",
        (row["strength"], now, same),
    )
    writer.execute("DELETE FROM relations WHERE id = ?", (row["id"],))
