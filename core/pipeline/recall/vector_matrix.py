"""The vectors of one kind and model as one matrix, which follows the database row by row."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.pipeline.database.embeddings import Kind
from core.pipeline.database.tables import Tables

Floats = NDArray[np.float32]


class Near(NamedTuple):
    """The cosines of a query with all vectors. rows: the row of a note or chunk; hashes: of what was embedded, by row.

    base: the cosine of a vector that has nothing to do with the query, as far as one can tell: their mean without the
    best; spread: their standard deviation.
    """

    cosines: Floats
    rows: Mapping[str, int]
    targets: tuple[str, ...]
    hashes: tuple[str, ...]
    base: float
    spread: float

    def cosine(self, target: str) -> float | None:
        """Of one note or chunk; None where it has no vector."""
        row = self.rows.get(target)
        return None if row is None else float(self.cosines[row])

    def best(self, most: int, least: float) -> list[int]:
        """Rows of the nearest, best first, from a cosine on."""
        if len(self.cosines) > most:
            chosen = np.argpartition(-self.cosines, most)[:most]
        else:
            chosen = np.arange(len(self.cosines))
        return [int(row) for row in chosen[np.argsort(-self.cosines[chosen])] if self.cosines[row] >= least]


class VectorMatrix:
    """Unit vectors in float32: 10,000 of 768 dimensions take 30 MB. Safe to use from several threads."""

    def __init__(self, kind: Kind) -> None:
        self._kind: Kind = kind
        self._guard = threading.Lock()
        self._of: tuple[str, int] = ("", 0)
        self._mark: tuple[int, int] = (0, 0)
        self._numbers: NDArray[np.int64] = np.empty(0, np.int64)
        self._targets: tuple[str, ...] = ()
        self._hashes: tuple[str, ...] = ()
        self._rows: dict[str, int] = {}
        self._vectors: Floats = np.empty((0, 0), np.float32)

    def near(self, reader: Tables, model: str, query: array[float]) -> Near | None:
        """How near all is to a query's vector; None where there is no vector of its model and dimensions."""
        with self._guard:
            self._follow(reader, model, len(query))
            vectors, rows, targets, hashes = self._vectors, self._rows, self._targets, self._hashes
        if not len(vectors):
            return None
        cosines = np.clip(vectors @ _units(np.array(query, np.float32)[None, :])[0], -1.0, 1.0)
        best = float(cosines.max())
        base = max(0.0, (float(cosines.sum()) - best) / max(len(cosines) - 1, 1))
        return Near(cosines, rows, targets, hashes, base, float(cosines.std()))

    def _follow(self, reader: Tables, model: str, dimensions: int) -> None:
        if self._of != (model, dimensions):
            self._numbers, self._targets, self._hashes = np.empty(0, np.int64), (), ()
            self._vectors = np.empty((0, dimensions), np.float32)
            self._rows, self._mark, self._of = {}, (0, 0), (model, dimensions)
        mark = reader.embeddings.mark(model, self._kind)
        if mark == self._mark:
            return
        present = np.fromiter(reader.embeddings.numbers(model, self._kind), np.int64)
        kept = np.isin(self._numbers, present)
        last = int(self._numbers[-1]) if len(self._numbers) else 0
        if not kept.all():
            places = np.flatnonzero(kept)
            self._numbers, self._vectors = self._numbers[places], self._vectors[places]
            self._targets = tuple(self._targets[place] for place in places)
            self._hashes = tuple(self._hashes[place] for place in places)
        self._add(reader, model, dimensions, last, int((present > last).sum()))
        self._rows = {target: row for row, target in enumerate(self._targets)}
        self._mark = mark

    def _add(self, reader: Tables, model: str, dimensions: int, last: int, most: int) -> None:
        """Adds the vectors that came after the last number; each goes straight into its row."""
        made = np.empty((most, dimensions), np.float32)
        numbers: list[int] = []
        targets: list[str] = []
        hashes: list[str] = []
        for one in reader.embeddings.vectors(model, self._kind, dimensions, last):
            if len(numbers) == most or len(one.vector) != 4 * dimensions:
                continue
            made[len(numbers)] = np.frombuffer(one.vector, np.float32)
            numbers.append(one.embedding)
            targets.append(one.target)
            hashes.append(one.text_hash)
        made = _units(made[: len(numbers)])
        self._vectors = np.concatenate((self._vectors, made)) if len(self._vectors) else made
        self._numbers = np.concatenate((self._numbers, np.array(numbers, np.int64)))
        self._targets, self._hashes = (*self._targets, *targets), (*self._hashes, *hashes)


def _units(vectors: Floats) -> Floats:
    """Makes each vector as long as one, in its place; what has no length stays zero and is near to nothing."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    lengths[(lengths == 0.0) | ~np.isfinite(lengths)] = np.inf
    vectors /= lengths.astype(np.float32)[:, None]
    return vectors
