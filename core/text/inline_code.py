"""Code within a line of Markdown: what stands between two runs of as many backticks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_TICKS: Final = re.compile(r"`+")


def code_spans(line: str) -> Iterator[tuple[int, int]]:
    """Where code begins and ends, its backticks included."""
    runs = [found.span() for found in _TICKS.finditer(line)]
    ends: dict[int, int] = {}
    partners: list[int | None] = [None] * len(runs)
    for at in reversed(range(len(runs))):
        length = runs[at][1] - runs[at][0]
        partners[at] = ends.get(length)
        ends[length] = at
    at = 0
    while at < len(runs):
        partner = partners[at]
        if partner is not None:
            yield runs[at][0], runs[partner][1]
            at = partner
        at += 1


def without_code(line: str, instead: str) -> str:
    """The line with another text in place of each piece of code."""
    kept, start = [], 0
    for begins, ends in code_spans(line):
        kept.append(line[start:begins])
        start = ends
    return instead.join([*kept, line[start:]])
