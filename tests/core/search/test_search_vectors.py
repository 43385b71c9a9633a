"""The vector leg is made of phase vectors, and its shortcuts give what the long vectors give."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.search import SearchIndex
from core.search.documents import Reader
from core.search.query import read_query
from core.search.ranking import query_weights, read_cosines
from core.search.state import State
from core.search.vectors import Keys, inner_products, noise, read_counts, readable, superposition

MakeNote = Callable[..., Note]
MakeIndex = Callable[..., SearchIndex]
DIMENSION = 16384
WORDS = [f"word{number}" for number in range(400)]


@pytest.fixture
def state(make_note: MakeNote) -> State:
    chance = np.random.default_rng(7)
    notes = [make_note("", " ".join(chance.choice(WORDS, size=60))) for _ in range(40)]
    reader = Reader()
    documents = [reader.read(note) for note in notes]
    return State(notes, documents, reader)


def test_a_key_is_seeded_by_the_whole_stem() -> None:
    words = ["content", "contents", "contentment", "title:auth", "title:cats", "京都", "\ud800"]
    products = inner_products(Keys(DIMENSION).rows(words), Keys(DIMENSION).rows(words), DIMENSION)
    assert np.array_equal(np.diag(products), np.ones(len(words)))
    unlike = products[~np.eye(len(words), dtype=bool)]
    assert np.abs(unlike).max() < 5 * noise(DIMENSION)


def test_a_key_is_what_philox_gives_for_its_digest() -> None:
    digest = hashlib.blake2b(b"kettle", digest_size=16).digest()
    wanted = np.random.Philox(key=int.from_bytes(digest, "little")).random_raw(DIMENSION // 32)
    keys = Keys(DIMENSION, kept=1)
    keys.rows(["other"])
    assert np.array_equal(keys.rows(["kettle"])[0], wanted)
    assert np.array_equal(keys.rows(["other", "kettle"])[1], wanted)


@pytest.mark.parametrize("dimension", [1, 31, 32, 33, 1000, DIMENSION])
def test_inner_products_are_those_of_the_phasors(dimension: int) -> None:
    keys = Keys(dimension).rows(["kettle", "boil", "water"])
    phasors = np.array([superposition(keys[[row]], np.ones(1), dimension) for row in range(3)])
    assert np.allclose(np.abs(phasors), 1.0)
    wanted = (phasors @ phasors.conj().T).real / dimension
    assert np.allclose(inner_products(keys, keys, dimension), wanted, atol=1e-12)


def test_cosines_are_those_of_the_superpositions(state: State) -> None:
    weights = query_weights(state, read_query("word1 word2 word2 word3 nowhere"))
    keys = Keys(DIMENSION)
    expected = state.expected_cosines(weights)
    raw, _ = read_cosines(state, np.arange(len(state.notes)), expected, weights, keys)
    query = superposition(keys.rows(list(weights)), np.array(list(weights.values())), DIMENSION)
    for place, cosine in enumerate(raw):
        numbers, note_weights = state.stems_of(place)
        names = [state.stem_names.names[number] for number in numbers]
        # The first entry is "no word"; it weighs nothing.
        assert note_weights[0] == 0
        note = superposition(keys.rows(names[1:]), note_weights[1:], DIMENSION)
        lengths = math.hypot(*weights.values()) * math.hypot(*note_weights)
        assert cosine == pytest.approx((note * query.conj()).real.sum() / DIMENSION / lengths, abs=1e-9)
        assert np.linalg.norm(note) / math.sqrt(DIMENSION) == pytest.approx(
            math.hypot(*note_weights), rel=0.1
        )


def test_vectors_agree_with_their_expectation_within_the_noise(state: State) -> None:
    keys = Keys(DIMENSION)
    errors = []
    for first in range(0, 100, 4):
        weights = query_weights(state, read_query(" ".join(WORDS[first : first + 4])))
        expected = state.expected_cosines(weights)
        raw, clean = read_cosines(state, np.arange(len(state.notes)), expected, weights, keys)
        errors.extend(raw - expected)
        assert np.allclose(clean, expected, atol=1e-9), "cleaned up, the vectors hold what was put in"
    assert np.std(errors) == pytest.approx(noise(DIMENSION), rel=0.25)
    assert np.abs(errors).max() < 6 * noise(DIMENSION)


def test_reading_a_vector_drops_what_is_noise() -> None:
    wanted = np.array([0.0, 1.0, 1.0 + math.log(2), 1.0 + math.log(3), 0.0])
    heard = wanted + np.array([0.3, -0.1, 0.05, -0.05, -0.4])
    assert np.allclose(read_counts(heard, 0.1), wanted)
    assert read_counts(np.array([0.9]), 0.3)[0] == 0
    assert readable(7.0, DIMENSION)
    assert not readable(100.0, DIMENSION)


def test_sharing_more_stems_scores_more_and_unrelated_notes_nothing(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    query = "deploying the staging gateway"
    both = make_note("x", "we deploy a gateway to staging nightly")
    one = make_note("y", "the gateway was replaced on Friday evening")
    none = make_note("z", "tea is best at eighty degrees, boiled slowly")
    index = make_index(both, one, none)
    found = {}
    for note in (both, one, none):
        hit = index.explain(query, note.id)
        assert hit is not None
        found[note.id] = hit.breakdown
    assert found[both.id].vector_score == 1.0
    assert 0.1 < found[one.id].vector_score < 0.7
    assert found[none.id].vector_score == 0.0
    assert abs(found[none.id].raw_vector) < 5 * noise(DIMENSION)
    assert [hit.note.id for hit in index.search(query)] == [both.id, one.id]


def test_a_huge_note_is_indexed_and_does_not_slow_the_rest(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    huge = make_note("log", " ".join(f"line{number}" for number in range(100_000)))
    index = make_index(huge, make_note("kettle", "line7 boil"))
    assert [hit.note.title for hit in index.search("line7 boil")] == ["kettle", "log"]
    assert [hit.note.title for hit in index.search("line99999")] == ["log"]


def test_importing_search_loads_no_numpy() -> None:
    code = "import sys, core.search; sys.exit('numpy' in sys.modules or 'rapidfuzz' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_an_update_reads_only_notes_that_changed(
    make_note: MakeNote, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [make_note(f"kettle {number}", "boil") for number in range(50)]
    index = SearchIndex()
    index.update(Snapshot(notes=tuple(notes)))
    read: list[str] = []
    original = Reader.read

    def watched(self: Reader, note: Note) -> object:
        read.append(note.id)
        return original(self, note)

    monkeypatch.setattr(Reader, "read", watched)
    changed = make_note("teapot", id=notes[3].id)
    index.update(Snapshot(notes=(*notes[:3], changed, *notes[4:], make_note("cup"))))
    assert len(read) == 2
    assert len(index.search("kettle", 100)) == 49
    assert len(index.search("teapot", 100)) == 1
