"""Well-known rankings to measure ours beside: BM25 with stems, and SQLite FTS5."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from functools import cache

import snowballstemmer

from core import bench
from core.model.note import Note

_STOP_WORDS = """
    a about above after again all also am an and any are as at be because been before being below between both but by
    can could did do does doing down during each few for from further had has have having he her here hers him his how
    i if in into is it its just me might more most must my no nor not now of off on once only or other our ours out
    over own same she should so some such than that the their theirs them then there these they this those through to
    too under until up us very was we were what when where which while who whom why will with would you your yours
    s t d ll m re ve
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[A-Za-z0-9]+(?:[_'][A-Za-z0-9]+)*")
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_stemmer = snowballstemmer.stemmer("porter")


@cache
def stemmed(word: str) -> str:
    """The Porter stem of a lower-case word."""
    return str(_stemmer.stemWord(word))


def words(text: str, parts: bool = True) -> list[str]:
    """Lower-case words; with `parts` the pieces of camelCase and snake_case beside the whole."""
    found = []
    for word in _WORD.findall(text):
        word = re.sub(r"'[sS]$", "", word)
        found.append(word.lower().replace("'", "").replace("_", ""))
        humps = _HUMP.findall(word)
        if parts and len(humps) > 1 and ("_" in word or not word.islower()) and not word.isupper():
            found.extend(hump.lower() for hump in humps if len(hump) > 1)
    return found


def terms(text: str) -> list[str]:
    """Stems of the words that are no stop words."""
    return [stemmed(word) for word in words(text) if word not in STOP_WORDS]


def bm25(notes: Sequence[Note]) -> bench.BM25:
    """Okapi BM25 with terms that owe nothing to our search."""
    return bench.BM25(notes, terms)


class FTS5:
    """SQLite FTS5 with Porter stems, the query's words joined by OR, its own bm25 rank."""

    name = "FTS5"

    def __init__(self, notes: Sequence[Note]) -> None:
        self._ids = [note.id for note in notes]
        self._base = sqlite3.connect(":memory:")
        self._base.execute(
            "create virtual table notes using fts5(title, content, tags, tokenize='porter unicode61')"
        )
        self._base.executemany(
            "insert into notes(rowid, title, content, tags) values (?, ?, ?, ?)",
            [(place, note.title, note.content, " ".join(note.tags)) for place, note in enumerate(notes)],
        )

    def search(self, text: str, limit: int) -> list[str]:
        """Ids of the best notes, best first."""
        found = words(text, parts=False)
        telling = [word for word in found if word not in STOP_WORDS] or found
        if not telling:
            return []
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(telling))
        rows = self._base.execute(
            "select rowid from notes where notes match ? order by rank limit ?", (match, limit)
        )
        return [self._ids[row[0]] for row in rows]
