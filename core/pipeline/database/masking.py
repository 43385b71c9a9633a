"""Credentials in pipeline.db: what may hold one, and every row masked so that no byte of it stays in the file."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from core.model.masks import Masks
from core.model.secrets import mark_of
from core.pipeline.database.documents import terms_of
from core.pipeline.database.meta import Meta
from core.pipeline.intake.names import canonical_name
from core.pipeline.intake.normalisation import content_hash, normalise

# There from the first row that was masked until no byte of the former ones is left.
_UNFINISHED: Final = "masking"
_NO_SECRET: Final = "no secret "
# What people are told of, and asked about: masked last, so that whoever is stopped in between finds it again.
HOLDING: Final = (
    "raw_memories", "facts", "proposals", "transcripts", "checkpoints", "pending_checkpoints", "documents", "chunks",
)  # fmt: skip
# Full-text indexes, which are made anew, and the words of each.
_INDEXES: Final = ("facts_fts", "chunks_fts", "names_fts", "hints_fts")
_SHADOWS: Final = (*_INDEXES, "facts_terms", "chunks_terms", "sqlite_")
# Texts that are stored compressed.
_PACKED: Final = frozenset((("transcripts", "content"), ("documents", "content")))
# Made of the notes: emptied, and made again.
_REMADE: Final = ("note_names", "names", "note_links", "hints", "hinted", "embeddings", "vectors")
# Here a word that is a password means the password alone.
_NAMES: Final = frozenset(("name", "canonical_name", "mention_text", "source", "target"))
_JSON: Final = frozenset(("metadata", "payload", "result", "activity", "notes"))
# By whose column a row is the only one of its kind: two may be the same once they are masked.
_ONLY: Final = {
    "facts": "content_hash",
    "attributes": "normalised_content",
    "entities": "canonical_name",
    "aspects": "canonical_name",
    "entity_aliases": "canonical_name",
    "chunks": "content_hash",
    "sessions": "session_key",
    "session_memories": "session_key",
    "session_scores": "session_key",
    "pending_checkpoints": "session_key",
    "removed_hints": "folded",
    "predictor_comparisons": "session_key",
}


class StoredText(NamedTuple):
    """A text that is kept and may hold a credential."""

    id: str
    nugget: str
    text: str


class Masked(NamedTuple):
    """A row that holds a value. key: its primary key as it is; changes: columns with what they are to hold."""

    table: str
    key: Mapping[str, Any]
    changes: Mapping[str, Any]


def _changes(table: str, row: Mapping[str, Any], masks: Masks) -> dict[str, Any]:
    told = {name: _masked_value(table, name, value, masks) for name, value in row.items()}
    changes = {name: value for name, value in told.items() if value != row[name]}
    return changes | _derived(table, row, changes)


def _masked_value(table: str, column: str, value: Any, masks: Masks) -> Any:
    if isinstance(value, bytes):
        if (table, column) not in _PACKED:
            return masks.data(value)
        text = _unpacked(value)
        masked = masks.text(text)
        return value if masked == text else zlib.compress(masked.encode())
    if not isinstance(value, str):
        return value
    if column in _JSON:
        return _masked_json(value, masks, tight=column == "payload")
    return masks.name(value) if column in _NAMES else masks.text(value)


def _masked_json(text: str, masks: Masks, *, tight: bool) -> str:
    try:
        found = json.loads(text)
    except ValueError:
        return masks.text(text)
    masked = masks.value(found)
    if masked == found:
        return text
    if tight:
        return json.dumps(masked, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return json.dumps(masked, ensure_ascii=False)


def _derived(table: str, row: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """What follows from columns that change: other forms of a text, and hashes, which could be guessed at."""
    masked: dict[str, Any] = {}
    if table == "documents" and {"content", "raw"} & set(changes):
        masked |= _document_anew(row, changes)
    elif "content" in changes and table == "transcripts":
        masked["length"] = len(_unpacked(changes["content"]))
    elif "content" in changes:
        forms = normalise(changes["content"])
        if "normalised_content" in row:
            masked["normalised_content"] = forms.normalised_content
        if row.get("content_hash") == normalise(row["content"]).content_hash:
            masked["content_hash"] = forms.content_hash
        if "terms" in row:
            masked["terms"] = terms_of(changes["content"])
    if "name" in changes and "canonical_name" in row:
        masked["canonical_name"] = canonical_name(changes["name"])
    if "payload" in changes and "payload_hash" in row:
        masked["payload_hash"] = _digest(changes["payload"])
    return masked


def _document_anew(row: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Of a document whose text changes: no hash of the former one, and cut again where it was being cut."""
    masked: dict[str, Any] = {"source_hash": ""}
    if "content" in changes:
        text = _unpacked(changes["content"])
        masked |= {"length": len(text), "content_hash": content_hash(text)}
        if row["status"] != "done":
            masked |= {"next_start": 0, "chunks_written": 0}
    return masked


def _span(row: Mapping[str, Any], former: str, now: str, masks: Masks) -> dict[str, int]:
    """Where the same sentence stands in the masked text."""
    return {name: _shared(now, masks.text(former[: row[name]])) for name in ("span_start", "span_end")}


def _shared(one: str, other: str) -> int:
    """How long the beginning is that two texts share; where a value is cut in two, it ends before that."""
    if one.startswith(other):
        return len(other)
    return next(place for place in range(len(other)) if one[place : place + 1] != other[place])


def _unpacked(content: bytes) -> str:
    try:
        return zlib.decompress(content).decode()
    except (zlib.error, UnicodeDecodeError):
        return ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Masking:
    """Every text that may hold a credential."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    # What may hold one

    def texts(self) -> Iterator[StoredText]:
        """Everything that people submitted or models said, the texts as they were handed in first."""
        yield from self._stored_texts(
            "SELECT id, nugget, content FROM raw_memories ORDER BY created_at, rowid"
        )
        yield from self._stored_texts("SELECT id, nugget, content FROM facts ORDER BY created_at, id")
        said = "content || char(10) || target_content || char(10) || told"
        yield from self._stored_texts(f"SELECT id, nugget, {said} FROM proposals ORDER BY created_at, id")
        found = self._connection.execute(
            "SELECT session_key, content FROM transcripts ORDER BY session_key, revision"
        )
        for session, content in found:
            yield StoredText(f"session {session}", "", _unpacked(content))
        yield from self._stored_texts("SELECT 'checkpoint ' || id, '', digest FROM checkpoints ORDER BY id")
        documents = self._connection.execute(
            "SELECT id, nugget, source || char(10) || title || char(10), raw, content, media_type FROM documents"
            " ORDER BY created_at, rowid"
        )
        for document, nugget, names, raw, content, media_type in documents:
            text = _unpacked(content) if content is not None else ""
            if raw is not None and media_type.startswith("text/"):
                text = raw.decode("utf-8", "replace")
            yield StoredText(document, nugget, names + text)
        yield from self._stored_texts(
            "SELECT 'pending ' || session_key, '', activity FROM pending_checkpoints ORDER BY session_key"
        )

    def _stored_texts(self, query: str) -> Iterator[StoredText]:
        return (StoredText(*row) for row in self._connection.execute(query))

    def load_not_secrets(self) -> frozenset[str]:
        """The marks of the values that a person has said are no secrets."""
        rows = self._connection.execute(
            "SELECT name FROM meta WHERE substr(name, 1, ?) = ?", (len(_NO_SECRET), _NO_SECRET)
        )
        return frozenset(row[0][len(_NO_SECRET) :] for row in rows)

    def store_not_secret(self, value: str) -> None:
        """Remembers that a value is no secret."""
        Meta(self._connection).put(_NO_SECRET + mark_of(value), 1)

    # Masking

    def masked_rows(self, masks: Masks, *, holding: bool = True) -> Iterator[Masked]:
        """Each row that holds a value. holding: with the texts that people are told of.

        A table is read when its turn comes, so that what changing another one did to it is seen.
        """
        moved: dict[str, tuple[str, str]] = {}
        for table in self._tables():
            if table in HOLDING and not holding:
                continue
            columns = self._connection.execute(f"PRAGMA table_info({table})").fetchall()
            keys = [name for _, name, _, _, _, key in columns if key]
            referring = [row[3] for row in self._connection.execute(f"PRAGMA foreign_key_list({table})")]
            for values in self._connection.execute(f"SELECT * FROM {table}").fetchall():
                row = dict(zip([column[1] for column in columns], values, strict=True))
                changes = _changes(table, row, masks)
                for name in () if holding else referring:
                    # With the row that it means, which is masked last.
                    changes.pop(name, None)
                if table == "raw_memories" and "content" in changes:
                    moved[row["id"]] = row["content"], changes["content"]
                elif table == "proposals" and row["raw_id"] in moved and row["span_start"] is not None:
                    changes |= _span(row, *moved[row["raw_id"]], masks)
                if changes:
                    yield Masked(table, {name: row[name] for name in keys}, changes)

    def _tables(self) -> list[str]:
        """All tables but the indexes, which are made anew; raw memories first, since spans point into them."""
        rows = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
        ).fetchall()
        names = [row[0] for row in rows if not row[0].startswith(_SHADOWS)]
        return sorted(names, key=lambda name: name != "raw_memories")

    def mask_rows(self, masks: Masks, *, holding: bool = True) -> Counter[str]:
        """Masks every row that holds a value, in the caller's transaction; how many of each table.

        The audit is changed by nothing else: its triggers are lifted for this, and back in their place when it is done.
        Afterwards `Database.leave_no_byte` must be called.
        """
        self._connection.execute("PRAGMA secure_delete = ON")
        # Ids that hold a value change alike wherever they stand.
        self._connection.execute("PRAGMA defer_foreign_keys = ON")
        Meta(self._connection).put(_UNFINISHED, 1)
        done: Counter[str] = Counter()
        put_guards_back = self._lift_guards()
        for table in _REMADE:
            self._connection.execute(f"DELETE FROM {table}")
        for row in self.masked_rows(masks, holding=holding):
            self._rewrite(row)
            done[row.table] += 1
        put_guards_back()
        self.index_anew()
        return done

    def _lift_guards(self) -> Callable[[], None]:
        """Takes the triggers of the audit away; what puts them back."""
        guards = self._connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'history'"
        ).fetchall()
        for name, _ in guards:
            self._connection.execute(f"DROP TRIGGER {name}")

        def put_back() -> None:
            for _, statement in guards:
                self._connection.execute(statement)

        return put_back

    def _rewrite(self, row: Masked) -> None:
        try:
            self._update(row)
        except sqlite3.IntegrityError:
            only = _ONLY.get(row.table)
            if only is None or only not in row.changes:
                raise
            apart = " ".join((row.changes[only], _digest(json.dumps(dict(row.key)))[:16]))
            masked = _digest(apart) if only == "content_hash" else apart
            self._update(row._replace(changes={**row.changes, only: masked}))

    def _update(self, row: Masked) -> None:
        changes = ", ".join(f"{name} = ?" for name in row.changes)
        where = " AND ".join(f"{name} IS ?" for name in row.key)
        self._connection.execute(
            f"UPDATE {row.table} SET {changes} WHERE {where}", (*row.changes.values(), *row.key.values())
        )

    def index_anew(self) -> None:
        """What was taken out of a full-text index stays in it until it is made anew."""
        for index in _INDEXES:
            self._connection.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")

    def unfinished(self) -> bool:
        """Whether rows were masked, and the bytes of the former ones may still lie in the file or beside it."""
        return Meta(self._connection).number(_UNFINISHED) is not None

    def finish(self) -> None:
        """Nothing of the former rows is left in the file or beside it."""
        Meta(self._connection).drop(_UNFINISHED)
