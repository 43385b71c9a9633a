"""The types of change that a pass may propose: none is left out where they are counted, told or shown."""

from __future__ import annotations

from typing import get_args

from core.reflection.proposals import COUNTED, SAID, ChangeType


def test_a_new_type_of_change_is_counted_and_told_in_the_history() -> None:
    types = set(get_args(ChangeType))
    assert set(COUNTED) == types
    assert set(SAID) == types
    assert len(set(COUNTED.values())) == len(types)
