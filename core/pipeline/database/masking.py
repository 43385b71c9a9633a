"""Credentials in the pipeline's tables: what may hold one, and each row masked so that no byte of it stays."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from core.model.masks import Masks
from core.pipeline.database.documents import terms_of
from core.pipeline.database.tables import Rows
from core.pipeline.intake.names import canonical_name
from core.pipeline.intake.normalisation import content_hash, normalise
from core.pipeline.statements import words_hash
from core.storage.journal.schema import HISTORY_TABLES
from core.storage.masking import Row, WriteRow, mask_rows, masked_cell, own_tables, update_row

# There from the first row that was masked until no byte of the former ones is left.
_UNFINISHED: Final = "masking"
NO_SECRET: Final = "no secret "
# Full-text indexes, which are made anew.
_INDEXES: Final = ("facts_fts", "chunks_fts", "entities_fts", "hints_fts")
# Made of the notes: emptied, and made again.
_REMADE: Final = ("note_links", "hints", "embeddings")
# Here a word that is a password means the password alone.
_NAMES: Final = frozenset(("name", "canonical_name", "mention_text", "source", "target"))


class StoredText(NamedTuple):
    """A text that is kept and may hold a credential."""

    id: str
    nugget: str
    text: str


class Masking(Rows):
    """Every text that may hold a credential."""

    # What may hold one

    def texts(self) -> Iterator[StoredText]:
        """Everything that people submitted or models said, the texts as they were handed in first."""
        said = "content || char(10) || target_content || char(10) || told"
        for query in (
            "SELECT id, nugget, content FROM raw_memories ORDER BY created_at, rowid",
            "SELECT id, nugget, content FROM facts ORDER BY created_at, id",
            f"SELECT id, nugget, {said} FROM proposals ORDER BY created_at, id",
            "SELECT 'session ' || session_key, '', content FROM transcripts ORDER BY session_key, revision",
            "SELECT 'checkpoint ' || id, '', digest FROM checkpoints ORDER BY id",
            "SELECT 'pending ' || session_key, '', activity FROM sessions WHERE activity <> '' ORDER BY session_key",
        ):
            for id, nugget, text in self.ask(query):
                yield StoredText(id, nugget, _unpacked(text) if isinstance(text, bytes) else text)
        for document, nugget, names, raw, content, media_type in self.ask(
            "SELECT id, nugget, source || char(10) || title || char(10), raw, content, media_type FROM documents"
            " ORDER BY created_at, rowid"
        ):
            text = _unpacked(content) if content is not None else ""
            if raw is not None and media_type.startswith("text/"):
                text = raw.decode("utf-8", "replace")
            yield StoredText(document, nugget, names + text)

    def load_not_secrets(self) -> frozenset[str]:
        """The marks of the values that a person has said are no secrets."""
        length = len(NO_SECRET)
        return frozenset(
            self.column(f"SELECT substr(name, {length + 1}) FROM meta WHERE substr(name, 1, ?) = ?", length, NO_SECRET)
        )  # fmt: skip

    # Masking

    def counts(self, masks: Masks) -> Counter[str]:
        """How many rows of each table hold a value."""
        return self._each_row(masks, None)

    def mask_rows(self, masks: Masks) -> tuple[Counter[str], list[str]]:
        """Masks every row that holds a value, in the caller's transaction; how many of each table, and the ids of the
        submitted texts among them.

        The audit is changed by nothing else: its triggers are lifted for this, and back in their place when it is done.
        Afterwards `Database.leave_no_byte` must be called.
        """
        self.run("PRAGMA secure_delete = ON")
        # Ids that hold a value change alike wherever they stand.
        self.run("PRAGMA defer_foreign_keys = ON")
        self.insert_row("meta", clash="REPLACE", name=_UNFINISHED, value=1)
        submitted: list[str] = []

        def write(table: str, key: Row, changes: Row) -> None:
            if table == "raw_memories":
                submitted.append(changes.get("id", key["id"]))
            self._write(table, key, changes)

        with self.without_guards():
            for table in _REMADE:
                self.run(f"DELETE FROM {table}")
            counts = self._each_row(masks, write)
        self.index_anew()
        return counts, submitted

    @contextmanager
    def without_guards(self) -> Iterator[None]:
        """Within this, rows of the audit may be changed and deleted."""
        guards = self._ask(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'history'"
        )
        for name, _ in guards:
            self.run(f"DROP TRIGGER {name}")
        yield
        for _, statement in guards:
            self.run(statement)

    def clear(self) -> None:
        """Empties all tables of the pipeline."""
        self.run("PRAGMA defer_foreign_keys = ON")
        with self.without_guards():
            for table in self._tables():
                self.run(f"DELETE FROM {table}")

    def _each_row(self, masks: Masks, write: WriteRow | None) -> Counter[str]:
        moved: dict[str, tuple[str, str]] = {}

        def masked(table: str, row: Row) -> Row:
            told = {
                name: masks.name(value)
                if name in _NAMES and isinstance(value, str)
                else masked_cell(value, masks)
                for name, value in row.items()
            }
            told |= _derived(table, row, told)
            if table == "raw_memories":
                moved[row["id"]] = row["content"], told["content"]
            elif table == "proposals" and row["raw_id"] in moved and row["span_start"] is not None:
                told |= _span(row, *moved[row["raw_id"]], masks)
            return told

        return mask_rows(self._ask, masked, write, self._tables())

    def _ask(self, query: str) -> Sequence[Any]:
        return [tuple(row) for row in self.ask(query)]

    def _tables(self) -> list[str]:
        # Raw memories first, since spans point into them.
        found = set(own_tables(self._ask)).difference(HISTORY_TABLES)
        return sorted(found, key=lambda name: (name != "raw_memories", name))

    def _write(self, table: str, key: Row, changes: Row) -> None:
        try:
            update_row(self.connection, "ABORT", table, key, changes)
        except sqlite3.IntegrityError:
            # Two rows differ in the value alone, by whose column each was the only one of its kind.
            indexes = [row[1] for row in self._ask(f"PRAGMA index_list({table})") if row[2]]
            columns = {row[2] for index in indexes for row in self._ask(f"PRAGMA index_info({index})")}
            mark = hashlib.sha256(json.dumps(dict(key)).encode()).hexdigest()
            apart = {
                name: mark if name == "content_hash" else f"{changes[name]} {mark[:16]}"
                for name in columns & set(changes)
            }
            update_row(self.connection, "ABORT", table, key, {**changes, **apart})

    def index_anew(self) -> None:
        """What was taken out of a full-text index stays in it until it is made anew."""
        for index in _INDEXES:
            self.run(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")

    def unfinished(self) -> bool:
        """Whether rows were masked, and the bytes of the former ones may still lie in the file or beside it."""
        return self.has("SELECT 1 FROM meta WHERE name = ?", _UNFINISHED)

    def finish(self) -> None:
        """Nothing of the former rows is left in the file or beside it."""
        self.run("DELETE FROM meta WHERE name = ?", _UNFINISHED)


def _derived(table: str, row: Row, told: Row) -> dict[str, Any]:
    """What follows from columns that change: other forms of a text, and hashes, which could be guessed at."""
    changed = {name for name in row if told[name] != row[name]}
    masked: dict[str, Any] = {}
    if table == "documents" and changed & {"content", "raw"}:
        masked["source_hash"] = ""
        if "content" in changed:
            text = _unpacked(told["content"])
            masked |= {"length": len(text), "content_hash": content_hash(text)}
            # It is cut again where it was being cut.
            masked |= {} if row["status"] == "done" else {"next_start": 0, "chunks_written": 0}
    elif table == "transcripts" and "content" in changed:
        masked["length"] = len(_unpacked(told["content"]))
    elif "content" in changed:
        forms = normalise(told["content"])
        derived = {
            "normalised_content": forms.normalised_content, "terms": terms_of(told["content"]),
            "words_hash": words_hash(forms.normalised_content),
        }  # fmt: skip
        masked |= {name: value for name, value in derived.items() if name in row}
        if row.get("content_hash") == normalise(row["content"]).content_hash:
            masked["content_hash"] = forms.content_hash
    if "name" in changed and "canonical_name" in row:
        masked["canonical_name"] = canonical_name(told["name"])
    return masked


def _span(row: Row, former: str, now: str, masks: Masks) -> dict[str, int]:
    """Where the same sentence stands in the masked text; where a value is cut in two, it ends before that."""

    def shared(other: str) -> int:
        return next(
            (place for place, letter in enumerate(other) if now[place : place + 1] != letter), len(other)
        )

    return {name: shared(masks.text(former[: row[name]])) for name in ("span_start", "span_end")}


def _unpacked(content: bytes) -> str:
    try:
        return zlib.decompress(content).decode()
    except (zlib.error, UnicodeDecodeError):
        return ""
