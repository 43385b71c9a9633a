"""Masks the journal: both sides of each change, and the baseline."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from typing import Any, Final

from core.errors import StorageError
from core.model.fact import Fact
from core.model.masks import Masks
from core.model.note import Note
from core.settings import InferenceSettings
from core.storage.format.codec import ItemError, read_fact, read_note, write_fact, write_note
from core.storage.journal.codec import (
    pressed,
    read_change_set,
    read_conflict,
    unpressed,
    write_change_set,
    write_conflict,
)
from core.storage.journal.journal import Journal

_FILES: Final = b'"path":'


def masked_raw(raw: bytes, item: type[Note] | type[Fact], masks: Masks, rules: InferenceSettings) -> bytes:
    """The bytes of a note or fact with the values masked; the same bytes when it holds none.

    What cannot be read as such is masked as bytes.
    """
    if not masks.may_hold(raw):
        return raw
    try:
        if item is Note:
            note = read_note(raw, rules)
            changed = masks.note(note)
            raw = raw if changed == note else write_note(changed, note, raw)
        else:
            fact = read_fact(raw)
            masked = masks.fact(fact)
            raw = raw if masked == fact else write_fact(masked, fact, raw)
    except ItemError:
        pass
    return masks.json(raw)


def masked_body(body: bytes, masks: Masks) -> bytes:
    """A change set's bytes, pressed or not, with the values masked; the same bytes when it holds none."""
    try:
        text = unpressed(body)
    except zlib.error:
        return masks.data(body)
    if _FILES not in text and not masks.may_hold(text):
        return body
    written = text
    try:
        change_set = read_change_set(body)
        masked = masks.change_set(change_set)
        written = text if masked == change_set else unpressed(write_change_set(masked))
    except ValueError:
        pass
    # What is in none of the fields that are known stands in the bytes.
    written = masks.json(written)
    return body if written == text else pressed(written)


def _masked_conflict(data: bytes, masks: Masks) -> bytes:
    try:
        conflict = read_conflict(data)
    except ValueError:
        return masks.data(data)
    masked = masks.conflict(conflict)
    return masks.json(data if masked == conflict else write_conflict(masked))


def changed_rows(journal: Journal, masks: Masks, rules: InferenceSettings) -> Iterator[tuple[str, Any, Any]]:
    """Each row of the journal that holds a value: its table, the row, and the row with the values masked."""
    tables = journal.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
    )
    for (table,) in tables:
        names = [row[1] for row in journal.rows(f"PRAGMA table_info({table})")]
        for row in journal.rows(f"SELECT * FROM {table}"):
            changed = _masked_row(table, dict(zip(names, row, strict=True)), masks, rules)
            masked = tuple(changed[name] for name in names)
            if masked != row:
                yield table, row, masked


def _masked_row(table: str, row: dict[str, Any], masks: Masks, rules: InferenceSettings) -> dict[str, Any]:
    masked = {name: _masked_value(value, masks) for name, value in row.items()}
    if table == "entry":
        # Read whole, since what stands pressed in them does not show in their bytes.
        masked["body"] = masked_body(row["body"], masks)
        masked["size"] = len(masked["body"])
        if row["conflict"] is not None:
            masked["conflict"] = _masked_conflict(row["conflict"], masks)
    elif table == "seen":
        item = Note if row["item"].startswith("n ") else Fact
        masked["raw"] = masked_raw(row["raw"], item, masks, rules)
    return masked


def _masked_value(value: Any, masks: Masks) -> Any:
    if isinstance(value, str):
        return masks.data(value.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    return masks.data(value) if isinstance(value, bytes) else value


def mask_journal(journal: Journal, masks: Masks, rules: InferenceSettings) -> None:
    """Masks the values in every row, in one step, and makes the database anew, so that nothing of them is left in the
    file or beside it. Raises StorageError, BrokenJournalError.
    """
    journal.rows("PRAGMA secure_delete = ON")
    with journal.transaction(durable=True) as connection:
        for table, row, masked in list(changed_rows(journal, masks, rules)):
            _replace(connection, table, row, masked)
    _make_anew(journal)


def _replace(connection: sqlite3.Connection, table: str, row: Any, masked: Any) -> None:
    names = [found[1] for found in connection.execute(f"PRAGMA table_info({table})").fetchall()]
    where = " AND ".join(f"{name} IS ?" for name in names)
    connection.execute(f"DELETE FROM {table} WHERE {where}", tuple(row))
    marks = ", ".join("?" for _ in names)
    connection.execute(f"INSERT OR REPLACE INTO {table} ({', '.join(names)}) VALUES ({marks})", tuple(masked))


def _make_anew(journal: Journal) -> None:
    """Leaves no page of the database, and no byte of its log of writes, that held what is gone."""
    journal.rows("VACUUM")
    busy = journal.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    if busy and busy[0][0]:
        raise StorageError(
            "another program is reading the history, so a side file of it still holds what you masked",
            where=str(journal.path), kept="no note or fact is changed yet", todo="mask again when it is done",
        )  # fmt: skip
