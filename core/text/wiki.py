"""Within a line of Markdown: code, and links of the form [[Name]], which get another name with code left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from core.text.exact import exact_form
from core.text.normalise import code_lines

_TICKS: Final = re.compile(r"`+")
_LINK: Final = re.compile(r"\[\[([^\[\]|#\n]{1,400}?)((?:#[^\[\]|\n]{0,400})?(?:\\?\|[^\[\]\n]{0,400})?\]\])")


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


def is_slug(name: str) -> bool:
    """Whether a name is one for programs: small letters, digits, hyphens."""
    return re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", name) is not None


def with_renamed_links(text: str, former: str, name: str) -> str:
    """The text in which what linked to one name links to another; in another case too."""
    if "[[" not in text or any(char in name for char in "[]|#\n"):
        return text
    lines = text.split("\n")
    wanted = exact_form(former)

    def renamed(found: re.Match[str]) -> str:
        return f"[[{name}{found[2]}" if exact_form(found[1]) == wanted else found[0]

    for at, (line, code) in enumerate(zip(lines, code_lines(lines), strict=True)):
        if not code and "[[" in line:
            pieces, last = [], 0
            for begins, ends in code_spans(line):
                pieces += [_LINK.sub(renamed, line[last:begins]), line[begins:ends]]
                last = ends
            lines[at] = "".join([*pieces, _LINK.sub(renamed, line[last:])])
    return "\n".join(lines)
