"""Decisions of people that touch no note, under the entry of the log: refused proposals and removed hints."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from typing import NamedTuple

from core.pipeline.records import StoredProposal


class Decision(NamedTuple):
    """A decision. entry_id: of the log. reason: what was done, in words. author: who did, as a signature.

    noted: whether the log has it. undone: whether it is undone at present, as far as was followed.
    """

    entry_id: str
    reason: str
    author: str
    at: int
    noted: bool
    undone: bool


class RefusedProposal(NamedTuple):
    """A proposal that a decision refused, with how it stood before."""

    proposal_id: str
    status: str
    reason: str


class RemovedHint(NamedTuple):
    """A hint that a decision removed from its note."""

    note_id: str
    hint: str


class Decisions:
    """What people decided without touching a note."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def insert(self, entry_id: str, reason: str, author: str, at: int) -> None:
        """Stores a decision that the log does not have yet. at: epoch ms."""
        self._connection.execute(
            "INSERT INTO decisions (entry_id, reason, author, at) VALUES (?, ?, ?, ?)",
            (entry_id, reason, author, at),
        )

    def add_refused(self, entry_id: str, proposals: Iterable[StoredProposal]) -> None:
        """The proposals that it refused, as they were before."""
        self._connection.executemany(
            "INSERT INTO refused_proposals (entry_id, proposal_id, status, reason) VALUES (?, ?, ?, ?)",
            [(entry_id, one.id, one.status, one.reason) for one in proposals],
        )

    def add_removed(self, entry_id: str, note_id: str, hints: Iterable[str]) -> None:
        """The hints that it removed; one that was removed and put back before is this decision's from now on."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO removed_hints (note_id, folded, hint, entry_id) VALUES (?, ?, ?, ?)",
            [(note_id, hint.casefold(), hint, entry_id) for hint in hints],
        )

    def note(self, entry_id: str) -> None:
        """The log has it."""
        self._connection.execute("UPDATE decisions SET noted = 1 WHERE entry_id = ?", (entry_id,))

    def set_undone(self, entry_id: str, undone: bool) -> None:
        """Whether it is undone."""
        self._connection.execute("UPDATE decisions SET undone = ? WHERE entry_id = ?", (undone, entry_id))

    def any_kept(self) -> bool:
        """Whether anything was decided so."""
        return self._connection.execute("SELECT 1 FROM decisions LIMIT 1").fetchone() is not None

    def unnoted(self) -> tuple[Decision, ...]:
        """Those that the log has yet to be told of, oldest first."""
        return self._where("noted = 0")

    def turned(self, undone: Collection[str]) -> tuple[Decision, ...]:
        """Those that were undone or redone since it was last followed. undone: entries that are undone at present."""
        known = self._where("noted = 1")
        return tuple(one for one in known if (one.entry_id in undone) != one.undone)

    def _where(self, condition: str) -> tuple[Decision, ...]:
        rows = self._connection.execute(
            f"SELECT entry_id, reason, author, at, noted, undone FROM decisions WHERE {condition} ORDER BY at, entry_id"
        )
        return tuple(
            Decision(id, why, by, at, bool(noted), bool(undone)) for id, why, by, at, noted, undone in rows
        )

    def refused_by(self, entry_id: str) -> tuple[RefusedProposal, ...]:
        """The proposals that a decision refused."""
        rows = self._connection.execute(
            "SELECT proposal_id, status, reason FROM refused_proposals WHERE entry_id = ? ORDER BY proposal_id",
            (entry_id,),
        )
        return tuple(RefusedProposal(*row) for row in rows)

    def removed_of(self, note_id: str) -> tuple[str, ...]:
        """The hints of a note that are removed at present."""
        rows = self._connection.execute(
            "SELECT hint FROM removed_hints JOIN decisions USING (entry_id) WHERE note_id = ? AND NOT undone"
            " ORDER BY at, folded",
            (note_id,),
        )
        return tuple(row[0] for row in rows)

    def removed_by(self, entry_id: str) -> tuple[RemovedHint, ...]:
        """The hints that a decision removed."""
        rows = self._connection.execute(
            "SELECT note_id, hint FROM removed_hints WHERE entry_id = ? ORDER BY note_id, folded", (entry_id,)
        )
        return tuple(RemovedHint(*row) for row in rows)
