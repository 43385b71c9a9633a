"""The phase vectors of the notes: made one by one in the background, kept by what a note says, read by queries."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, Protocol

import numpy as np

from core.search.documents import PAIR_SHARE
from core.search.legs import VectorLeg, pair_weights, stem_weights
from core.search.phases import Keys, QueryVector, note_vector, packed, row_bytes, unpacked
from core.search.segment import Numbers, Values
from core.search.state import State

# A note of so many different stems has no vector: its words would drown in one another's noise.
_MOST_STEMS: Final = 2048
# Vectors are made ahead for so many notes, those changed last; of others when they were hits.
_MADE_AHEAD: Final = 20_000
_WANTED: Final = 256
_BATCH: Final = 64


class Kept(Protocol):
    """Finished vectors at one moment: the number of each digest's row, and all rows one after the other."""

    @property
    def numbers(self) -> Mapping[bytes, int]: ...
    @property
    def matrix(self) -> memoryview: ...


class VectorRows(Protocol):
    """Where finished vectors are kept beyond the process."""

    @property
    def rows(self) -> Kept:
        """What is there now."""

    def append(self, digests: Sequence[bytes], rows: bytes) -> bool:
        """Keeps rows; whether that was done."""

    def drop_stale(self, live: Collection[bytes]) -> bool:
        """Drops rows of other digests when they are many."""


class Vectors:
    """Vectors of one dimension by the digests of the documents. Safe to use from several threads.

    kept: where they outlive the process; without it they are held in memory.
    """

    def __init__(self, dimension: int, kept: VectorRows | None = None) -> None:
        self.dimension = dimension
        self._kept = kept
        self._held: dict[bytes, bytes] = {}
        self._keys = Keys(dimension)
        self._wanted: deque[bytes] = deque(maxlen=_WANTED)
        self._guard = threading.Lock()

    @property
    def held_bytes(self) -> int:
        """Bytes of memory that the vectors take."""
        return len(self._held) * row_bytes(self.dimension)

    def cosines(self, state: State, rows: Numbers, query: VectorLeg) -> tuple[Numbers, Values]:
        """Those of the rows that have a vector, and its cosine with that of the query.

        The others are made sooner for it.
        """
        found, vectors = self._read(state, rows)
        if not len(found) or not query.weights:
            return rows[:0], np.zeros(0)
        bits, fidelities = unpacked(vectors, self.dimension)
        pairs = {(pair.first, pair.second): pair.weight for pair in query.pairs}
        return found, QueryVector(self._keys, query.weights, pairs).cosines(bits, fidelities)

    def _read(self, state: State, rows: Numbers) -> tuple[Numbers, bytes]:
        kept, size = self._rows(), row_bytes(self.dimension)
        found: list[int] = []
        parts: list[bytes | memoryview] = []
        wanted = rows.tolist()
        for row, digest in zip(wanted, state.digests(wanted), strict=True):
            vector = self._held.get(digest)
            if vector is not None:
                parts.append(vector)
            elif kept is not None and (number := kept.numbers.get(digest)) is not None:
                parts.append(kept.matrix[number * size : (number + 1) * size])
            else:
                self._wanted.append(digest)
                continue
            found.append(row)
        return np.array(found, dtype=np.intp), b"".join(parts)

    def _rows(self) -> Kept | None:
        rows = None if self._kept is None else self._kept.rows
        return rows if rows is not None and len(rows.matrix) else None

    def make(self, state: State, stopped: Callable[[], bool] | None = None) -> int:
        """Makes the vectors that are missing, those of hits and of notes changed last first; how many.

        stopped: asked between two vectors; what was made by then is kept.
        """
        made: dict[bytes, bytes] = {}
        total = 0
        for row, digest in self._missing(state):
            if stopped is not None and stopped():
                break
            document = state.document(row)
            if len(set(document.stems)) > _MOST_STEMS:
                continue
            stems = {state.stems.names[number]: share for number, share in stem_weights(document).items()}
            pairs = {
                (state.stems.names[first], state.stems.names[second]): PAIR_SHARE * weight
                for (first, second), weight in pair_weights(document).items()
            }
            bits, fidelity = note_vector(self._keys, stems, pairs, digest)
            made[digest] = packed(bits, fidelity)
            total += 1
            if len(made) >= _BATCH:
                self._keep(made)
                made = {}
        self._keep(made)
        if self._kept is not None and not (stopped is not None and stopped()):
            self._kept.drop_stale({state.digest(row) for row in np.flatnonzero(state.alive).tolist()})
        return total

    def _missing(self, state: State) -> Iterator[tuple[int, bytes]]:
        rows = np.flatnonzero(state.alive).tolist()
        rows.sort(key=lambda row: state.notes[row].updated_at, reverse=True)
        by_digest = {state.digest(row): row for row in reversed(rows)}
        wanted = list(dict.fromkeys(reversed(self._wanted)))
        self._wanted.clear()
        first = [by_digest[digest] for digest in wanted if digest in by_digest]
        kept = self._rows()
        known: Mapping[bytes, int] = {} if kept is None else kept.numbers
        for row in dict.fromkeys([*first, *rows[:_MADE_AHEAD]]):
            digest = state.digest(row)
            if digest not in self._held and digest not in known:
                yield row, digest

    def _keep(self, made: Mapping[bytes, bytes]) -> None:
        if not made:
            return
        with self._guard:
            if self._kept is None or not self._kept.append(list(made), b"".join(made.values())):
                self._held.update(made)
