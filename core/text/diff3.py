"""Two versions of a text merged line by line against the one that both come from (diff3)."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final, NamedTuple

# Comparing takes a time that grows with the square of the lines.
_MOST: Final = 4000


class _Hunk(NamedTuple):
    """Lines `start` to `end` of the base, which `lines` take the place of."""

    start: int
    end: int
    lines: list[str]


def merged_lines(base: str, ours: str, theirs: str) -> str | None:
    """What both made of the base; None where they changed the same lines or lines beside each other.

    White space at the ends of lines is no change; it stands as in theirs.
    """
    former, mine, other = base.split("\n"), ours.split("\n"), theirs.split("\n")
    if max(len(former), len(mine), len(other)) > _MOST:
        return None
    standing = _hunks(former, other)
    places = _places(former, other)
    made: list[str] = []
    at = 0
    for hunk in _hunks(former, mine):
        if hunk in standing:
            # Both did the very same.
            continue
        if any(one.start <= hunk.end and hunk.start <= one.end for one in standing):
            return None
        made += other[at : places[hunk.start]] + hunk.lines
        at = places[hunk.end]
    return "\n".join(made + other[at:])


def _hunks(former: list[str], lines: list[str]) -> list[_Hunk]:
    return [_Hunk(i, j, lines[k:m]) for what, i, j, k, m in _opcodes(former, lines) if what != "equal"]


def _places(former: list[str], lines: list[str]) -> dict[int, int]:
    """Where the places between lines of the base that stayed are in the other version."""
    found: dict[int, int] = {0: 0}
    for what, i, j, k, m in _opcodes(former, lines):
        if what == "equal":
            found.update({i + step: k + step for step in range(j - i + 1)})
        else:
            found.setdefault(i, k)
            found[j] = m
    return found


def _opcodes(former: list[str], lines: list[str]) -> list[tuple[str, int, int, int, int]]:
    before, after = [line.rstrip() for line in former], [line.rstrip() for line in lines]
    return list(SequenceMatcher(None, before, after, autojunk=False).get_opcodes())
