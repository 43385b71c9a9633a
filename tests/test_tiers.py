"""The fast tier is smaller than the whole suite in what is marked and in the examples of laws, and in nothing else."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import settings
from kits.laws import DEVELOPMENT, FULL, examples, profile_for
from kits.tiers import FAST, LONG_SECONDS, long_tests


def test_every_run_but_the_fast_tier_takes_all_examples() -> None:
    assert profile_for("", {}) == profile_for("slow", {}) == profile_for("terminal", {}) == FULL
    assert profile_for(FAST, {}) == DEVELOPMENT


def test_in_ci_the_fast_tier_takes_all_examples_too() -> None:
    assert profile_for(FAST, {"CI": "true"}) == FULL


@pytest.mark.parametrize("named", [FULL, DEVELOPMENT])
def test_the_environment_can_name_a_profile(named: str) -> None:
    assert profile_for("", {"NUGGETS_EXAMPLES": named}) == named
    assert profile_for(FAST, {"NUGGETS_EXAMPLES": named, "CI": "true"}) == named


def test_an_unknown_profile_is_no_reason_to_take_fewer_examples() -> None:
    with pytest.raises(ValueError, match="all"):
        profile_for("", {"NUGGETS_EXAMPLES": "all"})


def test_a_law_takes_its_own_number_of_examples_with_the_full_profile_and_few_with_the_other() -> None:
    before = settings.get_current_profile_name()
    try:
        settings.load_profile(FULL)
        assert (examples(300), examples(3), settings().max_examples) == (300, 3, 100)
        settings.load_profile(DEVELOPMENT)
        assert (examples(300), examples(3), settings().max_examples) == (10, 3, 10)
    finally:
        settings.load_profile(before)


def test_a_marker_that_is_misspelt_stops_a_run(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.getoption("strict_markers")
    assert {"slow", "terminal"} <= {line.partition(":")[0] for line in pytestconfig.getini("markers")}


def test_a_test_that_takes_long_in_all_its_phases_is_named() -> None:
    phases = [
        SimpleNamespace(nodeid=name, duration=share * LONG_SECONDS)
        for name, share in (("setup and call", 0.6), ("quick", 0.9), ("call", 1.6), ("setup and call", 0.6))
    ]
    assert long_tests(phases) == ["0.8 s call", "0.6 s setup and call"]
