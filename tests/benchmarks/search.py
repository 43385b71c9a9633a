"""How long search takes beside SQLite FTS5 on the same notes, and how that grows with the memory.

Run as `python tests/benchmarks/search.py [NOTES ...]` (default: 1000 10000). For each size: reading all notes into
the index, bringing it up to date after one edit, and the median query of each kind, each beside what FTS5 (porter
stems, the query's words joined by OR, its own bm25 rank, ten best) takes for the same. For 10,000 notes also what the
index takes from the cache. Milliseconds of processor time: both run in one thread, so that is what they take on an
idle machine.
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import msgspec

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.search import SearchIndex
from core.services.search import SearchService
from core.settings import SearchSettings
from core.user_folders import CACHE_VARIABLE

NUGGETS = ("memory", "gateway", "importer", "billing", "console", "people")
SYLLABLES = (
    "ba",
    "co",
    "di",
    "fen",
    "gu",
    "har",
    "jo",
    "kal",
    "li",
    "mo",
    "nu",
    "per",
    "qua",
    "rin",
    "so",
    "tu",
)
NOTE_WORDS = 60
QUERIES = 100
BUILD_BAR, CACHE_BAR, EDIT_BAR = 3000.0, 500.0, 20.0
QUERY_BARS = {10_000: 15.0, 100_000: 80.0}


def vocabulary(dice: random.Random, size: int) -> list[str]:
    """Made-up words; the first are the most common in use."""
    made = {"".join(dice.choices(SYLLABLES, k=dice.randint(2, 4))) for _ in range(3 * size)}
    return dice.sample(sorted(made), min(size, len(made)))


def notes_and_queries(count: int, seed: int = 11) -> tuple[list[Note], dict[str, list[str]]]:
    """Notes of 60 words whose frequencies follow Zipf's law, and queries of several kinds."""
    dice = random.Random(seed)
    words = vocabulary(dice, 5000 + count)
    weights = list(accumulate(1 / (rank + 5) for rank in range(len(words))))

    def text(length: int) -> str:
        return " ".join(dice.choices(words, cum_weights=weights, k=length))

    notes = []
    for place in range(count):
        nugget = dice.choice(NUGGETS)
        notes.append(
            Note(
                id=f"note-{nugget}-{place:08x}",
                nugget_name=nugget,
                title=text(4),
                content=text(NOTE_WORDS),
                tags=(nugget, dice.choice(words), "scope:user", "type:note"),
                scope="user",
                type="note",
                confidence=0.9,
                stability="durable",
                updated_at=f"2026-01-01T00:00:{place:09d}Z",
            )
        )
    return notes, {
        "common words": [text(dice.randint(2, 5)) for _ in range(QUERIES)],
        "words of a note": [
            " ".join(dice.sample(dice.choice(notes).content.split(), 4)) for _ in range(QUERIES)
        ],
        "one word": [dice.choice(dice.choice(notes).content.split()) for _ in range(QUERIES)],
        "misspelt": [_slip(dice, dice.choice(dice.choice(notes).content.split())) for _ in range(QUERIES)],
        "half typed": [f"{text(1)} {text(1)[:4]}" for _ in range(QUERIES)],
    }


def _slip(dice: random.Random, word: str) -> str:
    place = dice.randrange(len(word) - 1)
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]


def full_text_index(notes: Sequence[Note]) -> sqlite3.Connection:
    """The notes in SQLite FTS5."""
    database = sqlite3.connect(":memory:")
    database.execute(
        "create virtual table notes using fts5(title, content, tags, tokenize='porter unicode61')"
    )
    rows = ((place, note.title, note.content, " ".join(note.tags)) for place, note in enumerate(notes))
    database.executemany("insert into notes(rowid, title, content, tags) values (?, ?, ?, ?)", rows)
    return database


def full_text_search(database: sqlite3.Connection, query: str) -> list[tuple[int]]:
    """Ten best by bm25."""
    match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
    found = database.execute("select rowid from notes where notes match ? order by rank limit 10", (match,))
    return found.fetchall()


def spent(work: Callable[[], object]) -> float:
    """Milliseconds of processor time."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e3


def median(work: Callable[[str], object], queries: Sequence[str]) -> float:
    """Median milliseconds a query, after one round to warm up."""
    for query in queries:
        work(query)
    return statistics.median(spent(lambda query=query: work(query)) for query in queries)


def measure(count: int) -> None:
    """Prints the figures for one size."""
    notes, kinds = notes_and_queries(count)
    index, databases = SearchIndex(), []
    build = spent(lambda: index.update(Snapshot(notes=tuple(notes))))
    beside = spent(lambda: databases.append(full_text_index(notes)))
    database = databases[0]
    edited = msgspec.structs.replace(notes[0], content="kettle boil")
    edit = spent(lambda: index.update(Snapshot(notes=(edited, *notes[1:]))))
    index.update(Snapshot(notes=tuple(notes)))
    print(f"{count:>7} notes {'':17} {'ours ms':>9} {'FTS5 ms':>9} {'ratio':>7}")
    print(f"{'':8}{'index':<23} {build:>9.1f} {beside:>9.1f} {build / beside:>7.1f}")
    print(f"{'':8}{'after one edit':<23} {edit:>9.1f}")
    worst = 0.0
    for kind, queries in kinds.items():
        ours = median(index.result, queries)
        theirs = median(lambda query: full_text_search(database, query), queries)
        worst = max(worst, ours)
        print(f"{'':8}{kind:<23} {ours:>9.2f} {theirs:>9.2f} {ours / theirs:>7.1f}")
    bars = [("slowest median query", worst, QUERY_BARS.get(count))]
    if count == 10_000:
        again = from_cache(notes)
        print(f"{'':8}{'index from the cache':<23} {again:>9.1f} {'':>9} {again / build:>7.2f} of building")
        bars += [
            ("index", build, BUILD_BAR),
            ("index from the cache", again, CACHE_BAR),
            ("after one edit", edit, EDIT_BAR),
        ]
    for name, value, bar in bars:
        if bar is not None:
            print(f"{'':8}{name}: {value:.1f}, bar {bar:,.0f}: {'holds' if value < bar else 'MISSED'}")


def from_cache(notes: Sequence[Note]) -> float:
    """Milliseconds to the index of a new process."""
    snapshot = Snapshot(notes=tuple(notes))

    def opened() -> SearchService:
        service = SearchService(home, SearchSettings, lambda: datetime.now(UTC))
        service.index(snapshot)
        return service

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "memory")
        os.environ[CACHE_VARIABLE] = str(Path(folder, "cache"))
        opened().keep()
        return spent(opened)


if __name__ == "__main__":
    for size in [int(argument) for argument in sys.argv[1:]] or [1_000, 10_000]:
        measure(size)
