"""Two versions of a text merged line by line against the one that both come from (diff3)."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final

# Comparing takes a time that grows with the square of the lines.
_MOST: Final = 4000


def merged_lines(base: str, ours: str, theirs: str) -> str | None:
    """What both made of the base; None where they changed the same lines or lines beside each other.

    White space at the ends of lines is no change; it stands as in theirs.
    """
    former, mine, other = base.split("\n"), ours.split("\n"), theirs.split("\n")
    if max(len(former), len(mine), len(other)) > _MOST:
        return None
    made = list(former)
    # Where lines of the base stood, and those that take their place.
    hunks: list[tuple[int, int, list[str]]] = []
    for lines in (mine, other):
        before, after = [line.rstrip() for line in former], [line.rstrip() for line in lines]
        for what, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            hunk = (i, j, lines[k:m])
            if what == "equal":
                made[i:j] = hunk[2] if lines is other else made[i:j]
            elif hunk not in hunks:
                if any(start <= j and i <= end for start, end, _ in hunks):
                    return None
                hunks.append(hunk)
    for start, end, new in sorted(hunks, reverse=True):
        made[start:end] = new
    return "\n".join(made)
