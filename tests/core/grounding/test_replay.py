"""Histories of made-up projects played back: what was bound at one commit, and what is said of it at a later one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from kits.replayed import played


def promise(found: list[tuple[str, str, str, bool]]) -> None:
    """95 of 100 moved and gone references are told, with the right place, and 2 of 100 others at most."""
    lost = [one for one in found if one[1] in ("moved", "gone")]
    told = [one for one in lost if one[2] == one[1] and (one[1] == "gone" or one[3])]
    kept = [one for one in found if one[1] in ("fresh", "changed")]
    false = [one for one in kept if one[2] in ("moved", "gone")]
    table = sorted(Counter(one[:3] for one in found).items())
    assert lost
    assert len(told) >= 0.95 * len(lost), table
    assert len(false) <= 0.02 * len(kept), table


def test_what_moved_and_what_is_gone_is_told_and_little_else(tmp_path: Path) -> None:
    found = []
    for seed in range(2):
        (folder := tmp_path / str(seed)).mkdir()
        found += played(seed, folder)
    promise(found)


@pytest.mark.slow
def test_what_moved_and_what_is_gone_is_told_in_many_histories(tmp_path: Path) -> None:
    found = []
    for seed in range(100, 220):
        (folder := tmp_path / str(seed)).mkdir()
        found += played(seed, folder)
    promise(found)
