"""The rule that tidies content: meaningless white space and repeated lines of prose or lists."""

from __future__ import annotations

import re
from typing import Final

from core.text.normalise import code_lines, normalise_content

_HEADING: Final = re.compile(r"#{1,6}(\s|$)")
_UNDERLINE: Final = re.compile(r"(=+|-+)$")
_KEY_AND_VALUE: Final = re.compile(r"""(?:[-*+]\s+)?["']?[^\s:"'][^:]{0,60}["']?:(\s|$)""")
_CODE: Final = re.compile(r"[{}(;\\]$|^\S*\w\(.*\)$")
_HAS_WORD: Final = re.compile(r"[^\W_]")


def tidied(content: str) -> str:
    """The content with trailing white space, doubled blank lines and repeated lines taken out.

    A line is only dropped when the same line stands before it in the same section and it is a line of prose
    or a list item: code (fenced or indented), indented lines, tables, quotes, headings, `key: value` lines
    and lines that have indented ones below them stay as they are. A section ends at a heading and at a line
    that ends with a colon. Tidying twice changes nothing more.
    """
    if _is_tidy(content):
        return content
    return normalise_content("\n".join(_without_repeats(normalise_content(content).split("\n"))))


def _is_tidy(content: str) -> bool:
    """A quick look that is right for most notes; False means that it takes a longer one."""
    if "\n" not in content:
        return content == content.strip() and "\r" not in content
    if "\r" in content or content != content.strip("\n"):
        return False
    lines = content.split("\n")
    full = [line for line in lines if line]
    return (
        "\n\n\n" not in content
        and all(line == line.rstrip() for line in lines)
        and len(full) == len(set(full))
    )


def _without_repeats(lines: list[str]) -> list[str]:
    code = code_lines(lines)
    kept: list[str] = []
    seen: set[str] = set()
    for place, line in enumerate(lines):
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if code[place] or not line:
            kept.append(line)
            continue
        if _HEADING.match(line) or _UNDERLINE.match(following) or line.endswith((":", "：")):
            seen.clear()
        elif _may_go(line, following):
            if line in seen:
                continue
            seen.add(line)
        kept.append(line)
    return kept


def _may_go(line: str, following: str) -> bool:
    """Whether a second line like this says nothing that the first did not."""
    return not (
        line[0].isspace()
        or following[:1].isspace()
        or line[0] in ">|<"
        or "|" in line
        or "\t" in line
        or not _HAS_WORD.search(line)
        or _CODE.search(line)
        or _KEY_AND_VALUE.match(line)
    )
