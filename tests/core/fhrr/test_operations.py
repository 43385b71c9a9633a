"""Operations on phase vectors: equal to the original on its golden cases, and safe at the edges."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.fhrr.keys import keys_from_stream
from core.fhrr.operations import (
    bind,
    decorrelate,
    limit,
    sharpen,
    softmax,
    unbind,
    unit_phase,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "original" / "fhrr.json"


@cache
def golden() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(GOLDEN.read_text("utf-8"))
    return loaded


def complex_of(key: dict[str, list[float]]) -> np.ndarray:
    return np.array(key["re"]) + 1j * np.array(key["im"])


def close(left: np.ndarray, right: np.ndarray, tolerance: float = 1e-12) -> bool:
    return bool(np.allclose(left, right, rtol=0, atol=tolerance))


def test_binding_is_that_of_the_original() -> None:
    for case in golden()["bind"]:
        assert close(bind(complex_of(case["a"]), complex_of(case["b"])), complex_of(case["out"]))


def test_unbinding_is_that_of_the_original() -> None:
    for case in golden()["unbind"]:
        assert close(unbind(complex_of(case["m"]), complex_of(case["key"])), complex_of(case["out"]))


def test_what_was_bound_can_be_unbound() -> None:
    left, right = keys_from_stream(5, 2, 64, dtype=np.complex128)
    assert close(unbind(bind(left, right), right), left)


def test_projection_to_unit_phase_is_that_of_the_original() -> None:
    case = golden()["normalisePhaseVector"]
    given = complex_of(case["in"])
    assert close(unit_phase(given), complex_of(case["out"]))
    assert close(given, complex_of(case["in"])), "the vector given stays as it is"


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.complex64, 1e-6), (np.complex128, 1e-12)])
def test_decorrelation_is_that_of_the_original(dtype: type, tolerance: float) -> None:
    for case in golden()["orthogonalize"]:
        keys = np.array([complex_of(key) for key in case["keys"]] or np.empty((0, 4)), dtype=dtype)
        wanted = np.array([complex_of(key) for key in case["out"]] or np.empty((0, 4)), dtype=dtype)
        assert close(decorrelate(keys, case["iters"], case["step"]), wanted, tolerance)


def test_decorrelation_leaves_the_keys_given_alone_unless_told() -> None:
    keys = keys_from_stream(3, 4, 32)
    before = keys.copy()
    made = decorrelate(keys)
    assert np.array_equal(keys, before)
    assert decorrelate(keys, in_place=True) is keys
    assert np.array_equal(keys, made)


def test_decorrelation_lowers_correlations() -> None:
    keys = keys_from_stream(3, 20, 256)

    def worst(vectors: np.ndarray) -> float:
        mutual = (vectors @ vectors.conj().T).real / vectors.shape[1]
        return float(np.abs(mutual - np.eye(len(vectors))).max())

    assert worst(decorrelate(keys)) < 0.6 * worst(keys)


def test_softmax_is_that_of_the_original() -> None:
    for case in golden()["softmaxTemp"]:
        assert close(softmax(case["sims"], case["T"]), np.array(case["out"]))


def test_softmax_works_on_each_row() -> None:
    rows = np.array([[0.1, 0.4, 0.2], [3.0, 1.0, 2.0]])
    assert close(softmax(rows, 0.9), np.array([softmax(row, 0.9) for row in rows]))


def test_sharpening_is_that_of_the_original() -> None:
    case = golden()["sharpen"]
    assert close(sharpen(complex_of(case["z"]), case["p"]), complex_of(case["out"]))


def test_the_limiter_is_that_of_the_original() -> None:
    case = golden()["corvacsLite"]
    assert close(limit(complex_of(case["z"]), case["a"]), complex_of(case["out"]))


def test_sharpening_and_limiting_leave_zero_at_zero_and_do_nothing_when_off() -> None:
    vector = np.array([0, 1 + 1j])
    for power in (-2.0, 0.0, 0.5, 3.0):
        assert sharpen(vector, power)[0] == 0
    assert limit(vector, 2.0)[0] == 0
    assert sharpen(vector, 1) is vector
    assert limit(vector, 0) is vector
