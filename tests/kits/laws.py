"""How many examples the laws of a run take: all of them, or few while somebody develops."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hypothesis import HealthCheck, settings

FULL, DEVELOPMENT = "full", "development"
_FEW = 10


def register_profiles() -> None:
    """Both profiles. In both the examples are the same at every run, so that a change is judged by what it changes;
    NUGGETS_EXPLORE=1 looks for new ones. A machine under load is slow, which is no failure of what is tested."""
    settings.register_profile(
        FULL,
        deadline=None,
        derandomize=not os.environ.get("NUGGETS_EXPLORE"),
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.register_profile(DEVELOPMENT, settings.get_profile(FULL), max_examples=_FEW)


def profile_for(marks: str, environment: Mapping[str, str]) -> str:
    """The profile of a run that selects tests by `marks` (pytest's -m).

    NUGGETS_EXAMPLES names one. Without it, only the fast tier outside of CI takes few examples.
    """
    named = environment.get("NUGGETS_EXAMPLES", "")
    if named in (FULL, DEVELOPMENT):
        return named
    if named:
        raise ValueError(f"NUGGETS_EXAMPLES is {FULL} or {DEVELOPMENT}, not {named!r}")
    return DEVELOPMENT if marks == "not slow" and not environment.get("CI") else FULL


def examples(number: int) -> int:
    """The number of examples of a law that takes `number` of them with the full profile."""
    return min(number, _FEW) if settings.get_current_profile_name() == DEVELOPMENT else number
