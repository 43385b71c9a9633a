"""The fast tier is smaller than the whole suite in what is marked and in the examples of laws, and in nothing else."""

from __future__ import annotations

from kits.laws import DEVELOPMENT, FULL, profile_for
from kits.tiers import FAST


def test_every_run_but_the_fast_tier_takes_all_examples() -> None:
    assert profile_for("", {}) == profile_for("slow", {}) == profile_for("terminal", {}) == FULL
    assert profile_for(FAST, {}) == DEVELOPMENT


def test_in_ci_the_fast_tier_takes_all_examples_too() -> None:
    assert profile_for(FAST, {"CI": "true"}) == FULL
