"""Tidies white space without meaning on write; leaves code and indentation alone."""

from __future__ import annotations

import re
import string
from typing import Final

from core.text.exact import encodable as encodable

# Characters of a query that count: what is longer is a text, and no question.
LONGEST_QUERY: Final = 10_000
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_INDENTED: Final = re.compile(r"^(?: {4}|\t)")
_OF_WORDS: Final = string.ascii_letters + string.digits + string.punctuation


def code_lines(lines: list[str]) -> list[bool]:
    """For each line whether it belongs to a fenced or indented code block (its fences included).

    An indented block begins after a blank line or at the start; a fence closes with at least as many of the
    same characters (CommonMark, fenced and indented code).
    """
    flags: list[bool] = []
    fence = ""
    indented = True
    for line in lines:
        match = _FENCE.match(line)
        if fence:
            flags.append(True)
            if match and match[1][0] == fence[0] and len(match[1]) >= len(fence) and not line.strip(" `~"):
                fence = ""
            continue
        if match:
            fence = match[1]
            flags.append(True)
            continue
        blank = not line.strip()
        inside = indented and not blank and bool(_INDENTED.match(line))
        if inside:
            # Blank lines between two parts of an indented block belong to it.
            before = next((place for place in reversed(range(len(flags))) if lines[place].strip()), None)
            if before is not None and flags[before] and _INDENTED.match(lines[before]):
                flags[before + 1 :] = [True] * (len(flags) - before - 1)
        flags.append(inside)
        indented = blank or inside
    return flags


def normalise_content(text: str) -> str:
    """Content as it is stored: LF line ends, no trailing spaces, at most one blank line in a row, no blank ends.

    Blank lines inside code stay, and so do indentation and spaces between words; of a single line both ends go.
    """
    lines = encodable(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    code = code_lines(lines)
    kept: list[str] = []
    for line, is_code in zip(lines, code, strict=True):
        tidy = line.rstrip(" \t\f\v")
        if not tidy and not is_code and kept and not kept[-1]:
            continue
        kept.append(tidy)
    while kept and not kept[0]:
        kept.pop(0)
    while kept and not kept[-1]:
        kept.pop()
    return kept[0].lstrip(" \t\f\v") if len(kept) == 1 else "\n".join(kept)


def normalise_line(text: str) -> str:
    """A title, key, tag or reason: one line, ends trimmed, line breaks and tabs as single spaces."""
    return re.sub(r"[\r\n\t\f\v]+", " ", encodable(text)).strip()


def squeeze(text: str) -> str:
    """Text with all white space squeezed: equal for two texts that differ by white space alone."""
    return " ".join(text.split())


def plain_words(text: str) -> str:
    """The words of a text, case folded, one space between them, without any other sign."""
    return " ".join("".join(char if char.isalnum() else " " for char in text.casefold()).split())


def cut_at_word(text: str, most: int) -> str:
    """The first `most` characters of a text, without the word that the cut goes through: half a word may be half a
    credential, which nobody can tell any more.
    """
    head = text[:most]
    return head.rstrip(_OF_WORDS) if len(text) > most and text[most] in _OF_WORDS else head
