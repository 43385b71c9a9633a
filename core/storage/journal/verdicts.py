"""Which texts of notes count as accepted here and which do not, kept in the journal, which is never synced."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from typing import NamedTuple

from core.storage.journal.journal import Journal


class Verdict(NamedTuple):
    """Whether a text of a note counts as accepted. mark: stands for the text."""

    note: str
    mark: str
    accepted: bool


def has_verdicts(journal: Journal) -> bool:
    """Whether there is a table for them: a journal of an earlier version that is only read has none."""
    return bool(journal.rows("SELECT 1 FROM sqlite_master WHERE name = 'verdict'"))


def verdicts(journal: Journal) -> dict[str, dict[str, bool]]:
    """For each note whether its texts count as accepted, by their marks. The newest word counts that is not undone.

    Raises BrokenJournalError, StorageError.
    """
    found: dict[str, dict[str, bool]] = {}
    if not has_verdicts(journal):
        return found
    undone = journal.undone()
    for note, mark, accepted, entry, off in journal.rows(
        "SELECT note, mark, accepted, entry, undone FROM verdict ORDER BY number"
    ):
        if not off and entry not in undone:
            found.setdefault(note, {})[mark] = bool(accepted)
    return found


def keep_verdicts(
    journal: Journal, connection: sqlite3.Connection, said: Iterable[Verdict], entry: str = ""
) -> None:
    """Keeps verdicts, inside a transaction. entry: of the log, whose undoing takes them back; "" for none."""
    follow_undone(journal, connection)
    connection.executemany(
        "INSERT INTO verdict (note, mark, accepted, entry, undone) VALUES (?, ?, ?, ?, 0)",
        ((one.note, one.mark, int(one.accepted), entry) for one in said),
    )


def follow_undone(journal: Journal, connection: sqlite3.Connection) -> None:
    """Keeps with each verdict whether its entry is undone: entries of the log go to an archive some day."""
    undone = journal.undone()
    held = connection.execute("SELECT DISTINCT entry, undone FROM verdict WHERE entry <> ''").fetchall()
    for entry, off in held:
        there = connection.execute("SELECT 1 FROM entry WHERE id = ?", (entry,)).fetchone()
        if there and bool(off) != (entry in undone):
            connection.execute("UPDATE verdict SET undone = ? WHERE entry = ?", (int(not off), entry))


def forget_verdicts(connection: sqlite3.Connection, note: str, but: Collection[str]) -> None:
    """Forgets what was said of other texts of a note, inside a transaction: a mark tells whether a guess is right."""
    for (mark,) in connection.execute("SELECT DISTINCT mark FROM verdict WHERE note = ?", (note,)).fetchall():
        if mark not in but:
            connection.execute("DELETE FROM verdict WHERE note = ? AND mark = ?", (note, mark))
