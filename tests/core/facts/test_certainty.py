"""Certainty means what it says: of answers with 0.9 nine in ten are right, also where a nugget is overloaded."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from core.facts.certainty import noise_variance, posterior, signal
from core.facts.decode import decode, similarities
from core.model.fact import FactConfig, NuggetMeta


@dataclass(frozen=True)
class Setup:
    """Nuggets to simulate; `repeated` is the share of facts whose value others have too."""

    D: int
    banks: int
    ensembles: int = 1
    power: float = 1
    limiter: float = 0
    repeated: float = 0
    nuggets: int = 6


SETUPS = (
    Setup(512, 1),
    Setup(512, 2),
    Setup(512, 4),
    Setup(512, 8, nuggets=3),
    Setup(1024, 4, repeated=0.6, nuggets=2),
    Setup(1000, 3, nuggets=3),
    Setup(512, 2, ensembles=2, nuggets=3),
    Setup(512, 2, power=2),
    Setup(512, 2, power=0),
    Setup(512, 2, power=0.5, limiter=1.5),
    Setup(200, 3, repeated=0.3),
)
LOADS = (0.1, 0.4, 0.79, 1.5, 4.0)


@cache
def simulate(setup: Setup, load: float) -> tuple[np.ndarray, np.ndarray]:
    """Certainty of every answer, and whether it was right."""
    dice = random.Random(f"{setup} {load}")
    certainty: list[float] = []
    right: list[bool] = []
    for _ in range(setup.nuggets):
        count = min(max(1, round(load * setup.banks * math.isqrt(setup.D))), setup.D)
        values = [
            f"shared {dice.randrange(max(2, count // 4))}" if dice.random() < setup.repeated else f"own {i}"
            for i in range(count)
        ]
        meta = NuggetMeta(
            name="".join(dice.choices("abcdefghijklmnop", k=4)),
            D=setup.D,
            banks=setup.banks,
            ensembles=setup.ensembles,
            config=FactConfig(sharpen_p=setup.power, corvacs_a=setup.limiter),
        )
        decoded = decode(meta, values)
        certainty.extend(decoded.probability[:, 0].tolist())
        right.extend(
            decoded.vocabulary[best] == value for best, value in zip(decoded.best[:, 0], values, strict=True)
        )
    return np.array(certainty), np.array(right)


def calibration_error(certainty: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error: |mean certainty - share right| over equal bins, weighted by their answers."""
    bin_of = np.minimum((certainty * bins).astype(int), bins - 1)
    error = 0.0
    for number in range(bins):
        inside = bin_of == number
        if inside.any():
            error += inside.mean() * abs(certainty[inside].mean() - right[inside].mean())
    return error


@pytest.mark.slow
@pytest.mark.parametrize("setup", SETUPS, ids=str)
def test_nine_in_ten_answers_of_certainty_nine_tenths_are_right(setup: Setup) -> None:
    for load in LOADS:
        certainty, right = simulate(setup, load)
        sure = certainty >= 0.9
        assert not sure.any() or right[sure].mean() >= 0.9, load


@pytest.mark.parametrize("setup", SETUPS, ids=str)
def test_right_answers_below_four_fifths_of_the_capacity_are_certain(setup: Setup) -> None:
    for load in LOADS:
        if load < 0.8:
            certainty, right = simulate(setup, load)
            assert (certainty[right] >= 0.9).mean() >= 0.9, load


@pytest.mark.slow
@pytest.mark.parametrize("setup", SETUPS, ids=str)
def test_the_certainty_of_overloaded_nuggets_is_calibrated(setup: Setup) -> None:
    for load in LOADS:
        if load > 1:
            assert calibration_error(*simulate(setup, load)) <= 0.05, load


@pytest.mark.slow
def test_a_nugget_of_the_default_size_is_certain_when_full() -> None:
    certainty, right = simulate(Setup(16_384, 4, nuggets=1), 0.79)
    assert right.all()
    assert (certainty >= 0.99).all()


@pytest.mark.parametrize("dimension", [64, 512])
def test_the_noise_between_unrelated_values_has_the_predicted_variance(dimension: int) -> None:
    meta = NuggetMeta(name="seed", D=dimension, banks=1)
    values = [f"v{i}" for i in range(40)]
    total = similarities(meta, values).total
    noise = total[~np.eye(len(values), dtype=bool)]
    assert noise.var() == pytest.approx(noise_variance(dimension), rel=0.15)
    assert np.diag(total).mean() == pytest.approx(signal(len(values)), rel=0.1)


def test_probabilities_add_up_to_one() -> None:
    evidence = np.random.default_rng(3).normal(0, 200, (5, 9))
    made = posterior(evidence, np.full(9, 1 / 9))
    assert np.allclose(made.sum(axis=1), 1)
    assert (made.argmax(axis=1) == evidence.argmax(axis=1)).all()


def test_a_value_stored_more_often_is_more_probable_at_the_same_evidence() -> None:
    made = posterior(np.zeros((1, 2)), np.array([0.75, 0.25]))
    assert np.allclose(made, [[0.75, 0.25]])


def test_an_empty_bank_gives_no_signal() -> None:
    assert signal(0) == 0
