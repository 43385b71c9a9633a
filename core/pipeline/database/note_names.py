"""What the notes name and which hold a decision: made of the notes, and looked up by searches."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, TypeVar

# SQLite takes no more values at once on old systems.
_AT_ONCE: Final = 500
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """A note with the canonical names in it. text_hash: of what was read. protected: it holds a decision."""

    note_id: str
    text_hash: str
    protected: bool
    names: tuple[str, ...]


class NameOfNotes(NamedTuple):
    """A name that some notes bear."""

    id: int
    canonical_name: str
    notes: int


class NotesNamed(NamedTuple):
    """Of one note: ids of its names, and whether it holds a decision."""

    names: frozenset[int]
    protected: bool


def _batches(items: Iterable[_Item]) -> Iterator[tuple[_Item, ...]]:
    rest = iter(items)
    while batch := tuple(islice(rest, _AT_ONCE)):
        yield batch


def _marks(items: Collection[object]) -> str:
    return ",".join("?" * len(items))


class NoteNames:
    """What the notes name, and which hold a decision."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    # Following the notes

    def hashes(self) -> dict[str, str]:
        """The hash of each note that was read, by id."""
        return dict(self._connection.execute("SELECT note_id, text_hash FROM note_links").fetchall())

    def put(self, note: LinkedNote) -> None:
        """Puts what a note names in the place of what it named before. Where another process has read the same text,
        nothing changes: what was made of the note since would go with it.
        """
        known = self._connection.execute(
            "SELECT text_hash FROM note_links WHERE note_id = ?", (note.note_id,)
        ).fetchone()
        if known is not None and known[0] == note.text_hash:
            return
        self.remove((note.note_id,))
        self._connection.execute(
            "INSERT INTO note_links (note_id, text_hash, protected) VALUES (?, ?, ?)",
            (note.note_id, note.text_hash, int(note.protected)),
        )
        for name in note.names:
            self._connection.execute("INSERT OR IGNORE INTO names (canonical_name) VALUES (?)", (name,))
            self._connection.execute(
                "INSERT OR IGNORE INTO note_names (note_id, name_id) SELECT ?, id FROM names WHERE canonical_name = ?",
                (note.note_id, name),
            )

    def remove(self, note_ids: Iterable[str]) -> None:
        """Forgets notes."""
        for batch in _batches(note_ids):
            for table in ("note_names", "note_links"):
                self._connection.execute(f"DELETE FROM {table} WHERE note_id IN ({_marks(batch)})", batch)

    # Asking

    def count(self) -> int:
        """How many names there are."""
        return int(self._connection.execute("SELECT count(*) FROM names").fetchone()[0])

    def count_notes(self) -> int:
        """How many notes were read."""
        return int(self._connection.execute("SELECT count(*) FROM note_links").fetchone()[0])

    def notes_at(self, place: int) -> int:
        """How many notes bear the name at a place, from 0, of all names by that number."""
        row = self._connection.execute(
            "SELECT notes FROM names ORDER BY notes LIMIT 1 OFFSET ?", (place,)
        ).fetchone()
        return int(row[0]) if row else 0

    def matching(self, words: Collection[str], *, begun: bool, most: int) -> tuple[NameOfNotes, ...]:
        """Names that hold any of some words as a whole word, or such as begin so; those that most notes bear first.

        words: of letters and digits.
        """
        if not words:
            return ()
        query = " OR ".join(f'"{word}"{"*" if begun else ""}' for word in words)
        rows = self._connection.execute(
            "SELECT id, names.canonical_name, notes FROM names_fts JOIN names ON names.id = names_fts.rowid "
            "WHERE names_fts MATCH ? ORDER BY notes DESC, id LIMIT ?",
            (query, most),
        )
        return tuple(NameOfNotes(*row) for row in rows)

    def named(self, canonical_names: Collection[str]) -> dict[str, int]:
        """Ids of names, for those that some note bears."""
        found: dict[str, int] = {}
        for batch in _batches(canonical_names):
            rows = self._connection.execute(
                f"SELECT canonical_name, id FROM names WHERE canonical_name IN ({_marks(batch)})", batch
            )
            found.update(rows.fetchall())
        return found

    def texts(self, name_ids: Collection[int]) -> tuple[str, ...]:
        """Names by id."""
        rows = self._connection.execute(
            f"SELECT canonical_name FROM names WHERE id IN ({_marks(name_ids)})", tuple(name_ids)
        )
        return tuple(row[0] for row in rows)

    def of_notes(self, note_ids: Collection[str]) -> Mapping[str, NotesNamed]:
        """What some notes name; those that were not read yet are left out."""
        names: dict[str, set[int]] = {}
        protected: dict[str, bool] = {}
        for batch in _batches(note_ids):
            marks = _marks(batch)
            for id, kept in self._connection.execute(
                f"SELECT note_id, protected FROM note_links WHERE note_id IN ({marks})", batch
            ):
                protected[id] = bool(kept)
            for id, name in self._connection.execute(
                f"SELECT note_id, name_id FROM note_names WHERE note_id IN ({marks})", batch
            ):
                names.setdefault(id, set()).add(name)
        return {id: NotesNamed(frozenset(names.get(id, ())), kept) for id, kept in protected.items()}

    def common(self, name_ids: Collection[int], least: int) -> frozenset[int]:
        """Those of some names that so many notes bear at least."""
        found: set[int] = set()
        for batch in _batches(name_ids):
            rows = self._connection.execute(
                f"SELECT id FROM names WHERE notes >= ? AND id IN ({_marks(batch)})", (least, *batch)
            )
            found.update(row[0] for row in rows)
        return frozenset(found)

    def protected_notes(self, name_ids: Collection[int], most: int) -> tuple[str, ...]:
        """Notes that hold a decision and bear one of some names."""
        rows = self._connection.execute(
            "SELECT DISTINCT note_names.note_id FROM note_names JOIN note_links USING (note_id) "
            f"WHERE protected = 1 AND name_id IN ({_marks(name_ids)}) LIMIT ?",
            (*name_ids, most),
        )
        return tuple(row[0] for row in rows)
