"""How many examples the laws of a run take: a share of them, all while somebody explores, few in the fast tier."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hypothesis import HealthCheck, settings

FULL, DEVELOPMENT = "full", "development"
_FEW = 10
_EXPLORES = bool(os.environ.get("NUGGETS_EXPLORE"))
# Of the examples that a law takes while somebody explores.
_SHARE = 1.0 if _EXPLORES else 0.3


def register_profiles() -> None:
    """Both profiles. In both the examples are the same at every run, so that a change is judged by what it changes;
    NUGGETS_EXPLORE=1 looks for new ones, and takes all of them. A machine under load is slow, which is no failure of
    what is tested.
    """
    settings.register_profile(
        FULL,
        max_examples=int(100 * _SHARE),
        deadline=None,
        derandomize=not _EXPLORES,
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
    """The number of examples of a law that takes `number` of them while somebody explores."""
    few = settings.get_current_profile_name() == DEVELOPMENT
    return min(number, _FEW if few else max(_FEW, int(number * _SHARE)))
