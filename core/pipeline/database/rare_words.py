"""Full-text queries for many words: the rarest decide, since asking for a common one costs as much as it is common."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from core.pipeline.decide import distinctive_terms

_READ_AT_MOST: Final = 100
_COUNTED: Final = 8
# Words of so many rows or more are remembered with their number, until there are a quarter more rows.
_SELDOM: Final = 8
_COUNTED_AGAIN: Final = 1.25
_MOST_COUNTED: Final = 4_096
# For a word how many rows held it, and of how many.
Counted = dict[str, tuple[int, int]]


class RareWords:
    """What to ask a full-text index for. terms: its table of words (fts5vocab, by row)."""

    def __init__(self, connection: sqlite3.Connection, terms: str) -> None:
        self._connection = connection
        self._terms = terms

    def query(self, words: Sequence[str], total: int, counted: Counted) -> str:
        """A query for the words in fewest rows, which leads to about a hundred rows in all; "" for no row.

        total: how many rows there are. counted: of this index, to be handed in again.
        """
        # To count a word costs as much as it is common.
        held_by = {word: self._held_by(word, total, counted) for word in distinctive_terms(words, _COUNTED)}
        rarest = sorted((held, word) for word, held in held_by.items() if held)
        if not rarest:
            return ""
        together = rarest[0][0] > _READ_AT_MOST
        expected = float(rarest[0][0])
        found = [rarest[0][1]]
        for held, word in rarest[1:]:
            # Words that are common stand together as often as chance has it, or somewhat more.
            expected = expected * held / total if together else expected + held
            if not together and expected > _READ_AT_MOST:
                break
            found.append(word)
            if together and expected <= _READ_AT_MOST:
                break
        return (" AND " if together else " OR ").join(f'"{word}"' for word in found)

    def _held_by(self, word: str, total: int, counted: Counted) -> int:
        """How many rows of so many hold a word, or did when there were a fifth fewer."""
        known, among = counted.get(word, (0, 0))
        if known and among <= total <= among * _COUNTED_AGAIN:
            return known
        row = self._connection.execute(f"SELECT doc FROM {self._terms} WHERE term = ?", (word,)).fetchone()
        held = 0 if row is None else int(row[0])
        if held >= _SELDOM:
            if len(counted) >= _MOST_COUNTED:
                counted.clear()
            counted[word] = held, total
        return held
