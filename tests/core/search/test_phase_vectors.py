"""Phase vectors as sign bits: keys by their bit planes, and cosines that agree with the vectors behind them."""

from __future__ import annotations

import hashlib
import math
import random
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.laws import examples
from numpy.typing import NDArray

from core.search.phase_vectors import (
    Keys,
    QueryVector,
    bind,
    length_of,
    noise,
    note_vector,
    packed,
    row_bytes,
    shift,
    superposition,
    unbind,
    unpacked,
    words_of,
)

Weights = dict[str, float]
PairWeights = dict[tuple[str, str], float]

LONG = 16_384
SMALL = st.one_of(st.integers(1, 200), st.sampled_from([63, 64, 65, 127, 128, 129, 192]))
STEMS = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=12, unique=True)
# Of a normal distribution one value in 500 million is beyond.
SIGMAS = 6.0


def phasors(rows: NDArray[np.uint64], dimension: int) -> NDArray[np.complex128]:
    """Each key as phasors of length 1."""
    return np.stack([superposition(row[None], np.ones(1), dimension) for row in rows])


def random_note(size: int, chance: random.Random) -> tuple[Weights, PairWeights]:
    """Words of Zipf-like counts in a row, with the pairs of neighbours, as search weighs them."""
    words = [f"word{number}" for number in chance.sample(range(5000), size)]
    counts = [min(30, int(chance.paretovariate(1.2))) for _ in words]
    stems = {word: 1 + math.log(count) for word, count in zip(words, counts, strict=True)}
    pairs = {pair: 0.3 * (1 + math.log(chance.choice([1, 1, 1, 2]))) for pair in pairwise(words)}
    return stems, pairs


def random_query(stems: Weights, pairs: PairWeights, chance: random.Random) -> tuple[Weights, PairWeights]:
    """Some words of a note and some of no note, weighed as their rarity would."""
    known = chance.sample(sorted(stems), min(len(stems), 4))
    words = {word: chance.uniform(0.5, 6.0) for word in [*known, "nowhere", "nothing"]}
    return words, {pair: chance.uniform(0.2, 2.0) for pair in sorted(pairs)[:2]}


def expected_cosine(query: tuple[Weights, PairWeights], note: tuple[Weights, PairWeights]) -> float:
    shared = sum(weight * note[0].get(stem, 0.0) for stem, weight in query[0].items())
    shared += sum(weight * note[1].get(pair, 0.0) for pair, weight in query[1].items())
    return shared / (length_of(*query) * length_of(*note))


def exact_vector(keys: Keys, stems: Weights, pairs: PairWeights) -> NDArray[np.complex128]:
    rows = np.concatenate([keys.rows(list(stems)), keys.pair_rows(list(pairs))])
    return superposition(rows, np.array([*stems.values(), *pairs.values()]), keys.dimension)


def estimated(
    keys: Keys, query: tuple[Weights, PairWeights], note: tuple[Weights, PairWeights], tie: bytes = b"tie"
) -> tuple[float, float]:
    """The estimated cosine and the standard deviation to be expected of it."""
    bits, fidelity = note_vector(keys, *note, tie)
    cosine = QueryVector(keys, *query).cosines(bits[None], np.array([fidelity]))[0]
    return float(cosine), noise(keys.dimension, fidelity)


# Keys


@pytest.mark.slow
def test_keys_of_different_stems_are_orthogonal_but_for_chance() -> None:
    stems = [f"word{number}" for number in range(60)] + ["word", "drow", "Word", "title:word", "title:worm"]
    keys = phasors(Keys(LONG).rows(stems), LONG)
    products = (keys @ keys.conj().T).real / LONG
    np.testing.assert_allclose(np.diag(products), 1.0)
    assert np.abs(products - np.eye(len(stems))).max() < SIGMAS / math.sqrt(2 * LONG)


def test_keys_of_pairs_are_unrelated_to_their_reverse_their_stems_and_other_pairs() -> None:
    keys = Keys(LONG)
    pairs = [("a", "b"), ("b", "a"), ("b", "c"), ("a", "c"), ("a", "a"), ("b", "b")]
    found = phasors(np.concatenate([keys.pair_rows(pairs), keys.rows(["a", "b", "c"])]), LONG)
    products = (found @ found.conj().T).real / LONG
    assert np.abs(products - np.eye(len(found))).max() < SIGMAS / math.sqrt(2 * LONG)


@pytest.mark.parametrize("dimension", [64, 65, 128, 1000])
def test_a_pair_and_its_reverse_have_different_keys(dimension: int) -> None:
    one, other = Keys(dimension).pair_rows([("a", "b"), ("b", "a")])
    assert (one != other).any()


def test_keys_and_vectors_are_the_same_on_every_machine() -> None:
    keys = Keys(1000)
    rows = np.concatenate([keys.rows(["word", "été", "\ud800"]), keys.pair_rows([("word", "été")])])
    bits, fidelity = note_vector(keys, {"word": 2.0, "été": 1.0}, {("word", "été"): 0.25}, b"content")
    digests = [hashlib.sha256(some.astype("<u8").tobytes()).hexdigest()[:16] for some in (rows, bits)]
    assert digests == ["09beaba4664a05f5", "23a4e41bccfedca6"]
    assert fidelity == pytest.approx(0.6876666666666666)


@pytest.mark.slow
@given(STEMS, SMALL, st.randoms(use_true_random=False))
def test_a_key_does_not_depend_on_what_was_asked_before(
    stems: list[str], dimension: int, chance: random.Random
) -> None:
    by_stem = dict(zip(stems, Keys(dimension).rows(stems), strict=True))
    mixed = chance.sample(stems, len(stems)) + stems
    # With room for one key, every other is made anew.
    for keys in (Keys(dimension), Keys(dimension, kept_bytes=0)):
        np.testing.assert_array_equal(keys.rows(mixed), [by_stem[stem] for stem in mixed])


@pytest.mark.slow
def test_threads_get_the_keys_that_one_alone_gets() -> None:
    dimension, stems = 1000, [f"word{number}" for number in range(300)]
    alone, shared = Keys(dimension).rows(stems), Keys(dimension, kept_bytes=20_000)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: shared.rows(stems), range(32)):
            np.testing.assert_array_equal(found, alone)


def test_a_lone_surrogate_has_a_key_of_its_own() -> None:
    one, other, mark = Keys(LONG).rows(["\ud800", "\udfff", "\ufffd"])
    assert (one != other).any()
    assert (one != mark).any()


def test_no_words_have_no_keys() -> None:
    assert Keys(100).rows([]).shape == Keys(100).pair_rows([]).shape == (0, words_of(100))


@given(SMALL, STEMS)
def test_bits_beyond_the_last_phase_are_never_set(dimension: int, stems: list[str]) -> None:
    keys = Keys(dimension)
    pairs = list(pairwise([*stems, stems[0]]))
    bits, _ = note_vector(keys, dict.fromkeys(stems, 1.0), dict.fromkeys(pairs, 0.3), b"")
    for rows in (keys.rows(stems), keys.pair_rows(pairs), bits):
        planes = rows.astype("<u8").view(np.uint8).reshape(-1, 4 * words_of(dimension))
        assert not np.unpackbits(planes, axis=1, bitorder="little")[:, dimension:].any()


# Binding


@given(SMALL)
def test_binding_multiplies_phasors_and_turns_back_by_45_degrees(dimension: int) -> None:
    keys = Keys(dimension).rows(["a", "b"])
    one, other = phasors(keys, dimension)
    turn = np.exp(0.25j * np.pi)
    np.testing.assert_allclose(
        phasors(bind(keys[:1], keys[1:]), dimension)[0], one * other / turn, atol=1e-12
    )
    np.testing.assert_allclose(
        phasors(unbind(keys[:1], keys[1:]), dimension)[0], one * other.conj() * turn, atol=1e-12
    )


@given(SMALL)
def test_unbinding_undoes_binding(dimension: int) -> None:
    one, other = Keys(dimension).rows(["a", "b"])
    np.testing.assert_array_equal(unbind(bind(one, other), other), one)
    np.testing.assert_array_equal(bind(one, other), bind(other, one))


@given(SMALL)
def test_a_shift_moves_the_phases_in_a_circle(dimension: int) -> None:
    keys = Keys(dimension).rows(["a", "b", "c"])
    steps = 64 if dimension % 64 == 0 and dimension > 64 else 1
    expected = np.roll(phasors(keys, dimension), steps, axis=1)
    np.testing.assert_allclose(phasors(shift(keys, dimension), dimension), expected)


# Notes and queries


@pytest.mark.parametrize("dimension", [LONG, LONG + 1, 16_000, 10_007])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 21, 60, 200])
def test_the_estimate_agrees_with_the_cosine_of_the_weights(size: int, dimension: int) -> None:
    chance, keys = random.Random(size), Keys(dimension)
    for tie in (b"one", b"two"):
        note = random_note(size, chance)
        query = random_query(*note, chance)
        cosine, deviation = estimated(keys, query, note, tie)
        assert cosine == pytest.approx(expected_cosine(query, note), abs=SIGMAS * deviation)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 21, 60, 200])
def test_the_estimate_agrees_with_the_cosine_of_the_whole_vectors(size: int) -> None:
    chance, keys = random.Random(100 + size), Keys(LONG)
    note = random_note(size, chance)
    query = random_query(*note, chance)
    wanted, vector = exact_vector(keys, *query), exact_vector(keys, *note)
    exact = np.vdot(wanted, vector).real / (np.linalg.norm(wanted) * np.linalg.norm(vector))
    cosine, deviation = estimated(keys, query, note)
    assert cosine == pytest.approx(exact, abs=SIGMAS * deviation)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 20])
def test_every_word_of_a_note_of_equal_weights_is_read_alike(size: int) -> None:
    dimension = 2**18
    stems = {f"word{number}": 1.7 for number in range(size)}
    for stem in stems:
        cosine, deviation = estimated(Keys(dimension), ({stem: 1.0}, {}), (stems, {}))
        assert cosine == pytest.approx(1 / math.sqrt(size), abs=SIGMAS * deviation)


def test_a_light_word_is_read_beside_heavy_ones() -> None:
    keys, stems = Keys(2**18), {"heavy": 3.0, "light": 1.0, "lighter": 0.3}
    for stem, weight in stems.items():
        cosine, deviation = estimated(keys, ({stem: 1.0}, {}), (stems, {}))
        assert cosine == pytest.approx(weight / length_of(stems, {}), abs=SIGMAS * deviation)


def test_a_note_has_a_cosine_of_one_with_itself() -> None:
    chance, keys = random.Random(1), Keys(LONG)
    for size in (1, 2, 5, 30):
        note = random_note(size, chance)
        assert estimated(keys, note, note)[0] == pytest.approx(1.0, abs=1e-3)


def test_ties_of_many_notes_fall_to_both_sides() -> None:
    keys, stems = Keys(LONG), {"one": 1.0, "two": 1.0}
    rows = np.stack([note_vector(keys, stems, {}, str(tie).encode())[0] for tie in range(40)])
    same = np.bitwise_count(rows[0] ^ rows[1:]).sum(axis=1) / (2 * LONG)
    # Half of the sums are ties, of which half differ.
    assert np.abs(same - 0.25).max() < SIGMAS * math.sqrt(0.25 * 0.75 / (2 * LONG))


@pytest.mark.slow
def test_the_noise_of_unrelated_notes_is_as_derived() -> None:
    chance, keys = random.Random(2), Keys(2048)
    for size, count in ((3, 200), (60, 100)):
        rows, fidelities = zip(
            *(note_vector(keys, *random_note(size, chance), bytes([row])) for row in range(count)),
            strict=True,
        )
        query = QueryVector(keys, {f"query{row}": chance.uniform(0.5, 6) for row in range(20)}, {})
        cosines = query.cosines(np.stack(rows), np.array(fidelities))
        standard = cosines / [noise(2048, fidelity) for fidelity in fidelities]
        assert np.sqrt(np.mean(standard**2)) == pytest.approx(1.0, abs=SIGMAS / math.sqrt(2 * count))


def test_long_notes_keep_the_share_of_a_normal_distribution() -> None:
    stems = {f"word{number}": 1.0 for number in range(2000)}
    _, fidelity = note_vector(Keys(LONG), stems, {}, b"")
    assert noise(LONG, fidelity) == pytest.approx(noise(LONG), rel=0.02)


@pytest.mark.parametrize("dimension", [LONG, 10_007])
def test_rounding_a_query_adds_far_less_than_the_noise(dimension: int) -> None:
    chance, keys = random.Random(3), Keys(dimension)
    note = random_note(60, chance)
    query = random_query(*note, chance)
    bits, fidelity = note_vector(keys, *note, b"")
    signs = superposition(bits[None], np.ones(1), dimension)
    exact = np.vdot(exact_vector(keys, *query), signs).real / (length_of(*query) * dimension * fidelity)
    cosine = QueryVector(keys, *query).cosines(bits[None], np.array([fidelity]))[0]
    assert cosine == pytest.approx(exact, abs=0.1 * noise(dimension))


@settings(max_examples=examples(30))
@given(st.integers(0, 1000), st.integers(1, 40), st.sampled_from([1, 63, 64, 500]))
def test_order_makes_no_difference(seed: int, size: int, dimension: int) -> None:
    stems, pairs = random_note(size, random.Random(seed))
    keys = Keys(dimension)
    bits, fidelity = note_vector(keys, stems, pairs, b"")
    reverse = dict(reversed(stems.items())), dict(reversed(pairs.items()))
    again, fidelity_again = note_vector(keys, *reverse, b"")
    np.testing.assert_array_equal(bits, again)
    assert fidelity == fidelity_again
    cosines = QueryVector(keys, stems, pairs).cosines(bits[None], np.array([fidelity]))
    np.testing.assert_array_equal(
        QueryVector(keys, *reverse).cosines(bits[None], np.array([fidelity])), cosines
    )
    assert np.isfinite(cosines).all()


def test_many_words_of_one_weight_are_counted_to_the_last() -> None:
    keys, stems = Keys(100), [f"word{number}" for number in range(700)]
    phases = exact_vector(keys, dict.fromkeys(stems, 1.0), {}) * math.sqrt(2)
    bits, _ = note_vector(keys, dict.fromkeys(stems, 1.0), {}, b"")
    signs = superposition(bits[None], np.ones(1), 100)
    # Beyond what the dither reaches.
    clear = np.abs(phases.real) > 3.5
    np.testing.assert_array_equal(np.sign(signs.real[clear]), np.sign(phases.real[clear]))


def test_cosines_of_many_rows_are_those_of_each() -> None:
    chance, keys = random.Random(4), Keys(LONG)
    made = [note_vector(keys, *random_note(5, chance), b"") for _ in range(10)]
    rows, fidelities = np.stack([bits for bits, _ in made] * 30), np.array([kept for _, kept in made] * 30)
    query = QueryVector(keys, *random_query(*random_note(5, chance), chance))
    each = [query.cosines(bits[None], np.array([kept]))[0] for bits, kept in made]
    np.testing.assert_allclose(query.cosines(rows, fidelities), each * 30)


def test_an_empty_note_or_query_has_no_cosine() -> None:
    keys = Keys(100)
    empty, nothing = note_vector(keys, {}, {}, b"")
    bits, fidelity = note_vector(keys, {"word": 1.0}, {}, b"")
    rows, fidelities = np.stack([empty, bits]), np.array([nothing, fidelity])
    assert QueryVector(keys, {}, {}).cosines(rows, fidelities).tolist() == [0.0, 0.0]
    assert QueryVector(keys, {"word": 0.0}, {}).cosines(rows, fidelities).tolist() == [0.0, 0.0]
    assert QueryVector(keys, {"word": 1.0}, {}).cosines(rows, fidelities)[0] == 0.0
    assert QueryVector(keys, {"word": 1.0}, {}).cosines(rows[:0], fidelities[:0]).shape == (0,)


# Rows on disk


@given(st.integers(0, 5), SMALL)
def test_what_is_packed_comes_back(count: int, dimension: int) -> None:
    keys = Keys(dimension)
    made = [note_vector(keys, {f"word{row}": 1.0, "other": 2.0}, {}, b"") for row in range(count)]
    stored = b"".join(packed(bits, fidelity) for bits, fidelity in made)
    assert len(stored) == count * row_bytes(dimension)
    rows, fidelities = unpacked(stored, dimension)
    assert rows.shape == (count, words_of(dimension))
    for row, (bits, fidelity) in enumerate(made):
        np.testing.assert_array_equal(rows[row], bits)
        assert fidelities[row] == np.float32(fidelity)


def test_rows_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        unpacked(b"\0" * (row_bytes(100) + 8), 100)


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf, -1.0])
def test_a_fidelity_that_is_no_share_gives_no_cosine(broken: float) -> None:
    keys = Keys(100)
    cosines = QueryVector(keys, {"word": 1.0}, {}).cosines(keys.rows(["word"]), np.array([broken]))
    assert cosines.tolist() == [0.0]
