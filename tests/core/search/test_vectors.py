"""The vectors of notes: made in the background, kept by what a note says, and in agreement with their expectation."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import pytest

from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.search import SearchIndex
from core.search.phase_vectors import noise, row_bytes
from core.settings import SearchSettings

WORDS = [
    f"{first}{second}" for first in ("ka", "to", "mi", "re") for second in ("lo", "nu", "sa", "vi", "du")
]


class Shelf:
    """Rows kept in memory, as a file would keep them."""

    def __init__(self, *, full: bool = False) -> None:
        self.numbers: Mapping[bytes, int] = {}
        self.matrix = memoryview(b"")
        self.full = full

    @property
    def rows(self) -> Shelf:
        return self

    @property
    def listed(self) -> Collection[bytes]:
        return self.numbers.keys()

    def append(self, digests: Sequence[bytes], rows: bytes) -> bool:
        if self.full:
            return False
        numbers = dict(self.numbers)
        for digest in digests:
            numbers[digest] = len(numbers)
        self.numbers, self.matrix = numbers, memoryview(bytes(self.matrix) + rows)
        return True

    def prune(self, live: Collection[bytes]) -> bool:
        return set(self.numbers) <= set(live)


def notes(count: int, seed: int = 1) -> tuple[Note, ...]:
    dice = random.Random(seed)
    return tuple(
        Note(
            id=f"note-memory-{number:08x}",
            nugget_name="memory",
            title=" ".join(dice.choices(WORDS, k=2)),
            content=" ".join(dice.choices(WORDS, k=dice.choice((1, 3, 12, 60)))),
            updated_at=f"2026-01-01T00:00:{number:04d}Z",
        )
        for number in range(count)
    )


@pytest.fixture
def made() -> tuple[SearchIndex, Snapshot]:
    snapshot = Snapshot(notes=notes(60))
    index = SearchIndex()
    index.update(snapshot)
    assert index.make_vectors() == 60
    return index, snapshot


@pytest.mark.slow
def test_before_vectors_are_made_the_numbers_are_those_they_are_expected_to_have() -> None:
    index = SearchIndex()
    index.update(Snapshot(notes=notes(60)))
    expected = {hit.note.id: hit for hit in index.search("kalo mivi redu", 60)}
    assert expected
    assert not any(hit.breakdown.measured for hit in expected.values())
    index.make_vectors()
    measured = index.search("kalo mivi redu", 60)
    assert {hit.note.id for hit in measured} == set(expected)
    differences = []
    for hit in measured:
        assert hit.breakdown.measured
        differences.append(hit.breakdown.raw_vector - expected[hit.note.id].breakdown.raw_vector)
    # The noise of short notes is greater than that of long ones; fidelity is never below one half of the usual.
    deviation = noise(SearchSettings().dimension) * 2
    assert np.abs(differences).max() < 5 * deviation
    assert np.std(differences) < 1.5 * deviation


def test_a_vector_belongs_to_what_a_note_says(made: tuple[SearchIndex, Snapshot]) -> None:
    index, snapshot = made
    assert index.make_vectors() == 0
    first, *others = snapshot.notes
    index.update(Snapshot(notes=(replace(first, hidden=True, hits=3), *others)))
    assert index.make_vectors() == 0
    index.update(Snapshot(notes=(replace(first, content="another text"), *others)))
    assert index.make_vectors() == 1
    index.update(snapshot)
    assert index.make_vectors() == 0


@pytest.mark.slow
def test_the_lines_of_a_measured_hit_add_up_with_its_noise(made: tuple[SearchIndex, Snapshot]) -> None:
    index, _ = made
    for hit in index.search("kalo mivi redu", 20):
        parts = hit.breakdown
        total = parts.vector + parts.text + parts.boost + parts.associative + parts.links
        assert total == pytest.approx(parts.blend, abs=1e-12)
        vector = [reason for reason in parts.reasons if reason.line == "vector"]
        assert sum(reason.value for reason in vector) == pytest.approx(parts.vector, abs=1e-9)
        assert any(reason.kind == "noise" for reason in vector)


def test_making_vectors_stops_at_once_and_goes_on_later() -> None:
    index = SearchIndex()
    index.update(Snapshot(notes=notes(60)))
    asked = iter([False] * 10 + [True] * 100)
    assert index.make_vectors(stopped=lambda: next(asked)) == 10
    assert index.make_vectors() == 50


@pytest.mark.slow
def test_vectors_outlive_the_process_where_they_are_kept() -> None:
    shelf, snapshot = Shelf(), Snapshot(notes=notes(60))
    index = SearchIndex(shelf)
    index.update(snapshot)
    assert index.make_vectors() == 60
    assert index.vectors().held_bytes == 0
    assert len(shelf.matrix) == 60 * row_bytes(SearchSettings().dimension)
    again = SearchIndex(shelf)
    again.update(snapshot)
    assert again.make_vectors() == 0
    assert again.search("kalo")[0].breakdown.measured
    assert [hit.breakdown for hit in again.search("kalo")] == [hit.breakdown for hit in index.search("kalo")]


def test_where_nothing_can_be_kept_vectors_are_held_in_at_most_six_kibibytes_a_note() -> None:
    index = SearchIndex(Shelf(full=True))
    index.update(Snapshot(notes=notes(60)))
    assert index.make_vectors() == 60
    assert 0 < index.vectors().held_bytes <= 60 * 6 * 1024
    assert index.search("kalo")[0].breakdown.measured


def test_a_huge_note_has_no_vector_and_keeps_what_is_expected() -> None:
    huge = Note(
        id="note-memory-00000001",
        nugget_name="memory",
        title="numbers",
        content=" ".join(f"w{number}x" for number in range(3000)),
    )
    index = SearchIndex()
    index.update(Snapshot(notes=(huge,)))
    assert index.make_vectors() == 0
    (hit,) = index.search("w17x w18x")
    assert not hit.breakdown.measured
    assert hit.breakdown.vector_score == 1.0


def test_a_dimension_of_one_or_an_odd_one_works(make_note: Callable[..., Note]) -> None:
    for dimension in (1, 7, 100):
        settings = SearchSettings(dimension=dimension)
        index = SearchIndex()
        index.update(
            Snapshot(notes=(make_note("kettle", "boil water"), make_note("bicycle", "oil the chain")))
        )
        assert index.make_vectors(settings) == 2
        hits = index.search("kettle", settings=settings)
        assert [hit.note.title for hit in hits] == ["kettle"]
