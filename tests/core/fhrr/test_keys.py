"""Seeded keys: the same random stream and the same keys as the original."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.fhrr.keys import draws, keys_from_stream, role_key, seed_of_name

GOLDEN = Path(__file__).parents[2] / "golden" / "original" / "fhrr.json"


@cache
def golden() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(GOLDEN.read_text("utf-8"))
    return loaded


def complex_of(key: dict[str, list[float]]) -> np.ndarray:
    return np.array(key["re"]) + 1j * np.array(key["im"])


def test_the_seed_of_every_golden_name_is_that_of_the_original() -> None:
    assert [seed_of_name(case["input"]) for case in golden()["seedFromName"]] == [
        case["seed"] for case in golden()["seedFromName"]
    ]


@given(st.text(st.characters(), max_size=6))
def test_any_name_has_a_seed_of_32_bits(name: str) -> None:
    assert 0 <= seed_of_name(name) < 2**32


@pytest.mark.parametrize("surrogate", ["\ud800", "a\udfff", "\udcff\ud800x"])
def test_half_a_surrogate_pair_counts_as_the_replacement_character(surrogate: str) -> None:
    replaced = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in surrogate)
    assert seed_of_name(surrogate) == seed_of_name(replaced)


def test_the_random_stream_is_that_of_the_original() -> None:
    for case in golden()["mulberry32"]:
        assert np.array_equal(draws(case["seed"], 8) / 2**32, case["first8"])


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**33), st.integers(0, 50), st.integers(0, 50))
def test_any_part_of_the_stream_can_be_drawn_by_itself(seed: int, start: int, skip: int, count: int) -> None:
    whole = draws(seed, skip + count, start)
    assert np.array_equal(whole[skip:], draws(seed, count, start + skip))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.complex64, 1e-6), (np.complex128, 1e-12)])
def test_keys_are_those_of_the_original(dtype: type, tolerance: float) -> None:
    for case in golden()["makeVocabKeys"]:
        made = keys_from_stream(case["seed"], case["V"], case["D"], dtype=dtype)
        assert made.dtype == dtype
        assert np.allclose(made, [complex_of(key) for key in case["keys"]], rtol=0, atol=tolerance)


def test_keys_of_texts_are_those_of_the_original() -> None:
    for case in golden()["makeKeyFromText"]:
        made = keys_from_stream(seed_of_name(case["text"]), 1, case["D"], dtype=np.complex128)[0]
        assert np.allclose(made, complex_of(case["key"]), rtol=0, atol=1e-12)


def test_keys_drawn_in_blocks_are_those_drawn_at_once() -> None:
    whole = keys_from_stream(9, 5, 7001)
    assert np.array_equal(whole[3:], keys_from_stream(9, 2, 7001, start=3 * 7001))


def test_role_keys_are_those_of_the_original() -> None:
    case = golden()["makeRoleKeys"]
    made = [role_key(number, case["D"]) for number in range(case["L"])]
    assert np.allclose(made, [complex_of(key) for key in case["keys"]], rtol=0, atol=1e-12)


def test_roles_repeat_after_as_many_as_there_are_elements() -> None:
    assert np.array_equal(role_key(3, 16), role_key(19, 16))
    assert np.array_equal(role_key(10**30 + 1, 10), role_key(1, 10))


def test_no_elements_give_empty_keys() -> None:
    assert keys_from_stream(1, 3, 0).shape == (3, 0)
    assert role_key(2, 0).shape == (0,)


def test_the_engine_asks_the_matrix_library_for_one_thread() -> None:
    assert os.environ["OPENBLAS_NUM_THREADS"]
