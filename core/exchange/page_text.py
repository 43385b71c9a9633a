"""One page of Markdown taken apart and given another text or heading: lines that stay keep every byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from core.exchange import front_matter
from core.text.normalise import code_lines

_BOM: Final = "\ufeff"
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\r?\n)*")
_HEADING: Final = re.compile(r"#[ \t]+(\S.*)(?:\n|\Z)")
_OWN_HEADING: Final = re.compile(r"(?m)^#[ \t]+(\S.*)$")
# A page with more lines than this is compared by its ends alone: all else takes a time that grows with its square.
_MOST_COMPARED: Final = 4000


class Parts(NamedTuple):
    """A page in pieces that make it again when they are joined: byte order mark, front matter with its fences, what
    stands before the text (blank lines, and a heading that says the title), the text, and what follows it.

    heading: what the first line of the text, or of what stands before it, says as a heading; "" for none.
    """

    bom: str
    front: str
    lead: str
    text: str
    tail: str
    heading: str

    @property
    def newline(self) -> str:
        """How lines end here."""
        return "\r\n" if "\r\n" in self.front + self.lead + self.text + self.tail else "\n"

    @property
    def body(self) -> str:
        """The text with plain line ends."""
        return self.text.replace("\r\n", "\n")

    def joined(self) -> str:
        """The page. What would be taken for front matter, and is none, stands behind a blank line."""
        rest = f"{self.lead}{self.text}{self.tail}"
        blank = self.newline if not self.front and front_matter.split(rest)[0] else ""
        return f"{self.bom}{self.front}{blank}{rest}"


def bare(page: str) -> str:
    """A page without its byte order mark."""
    return page.removeprefix(_BOM)


def take_apart(page: str, title: str = "") -> Parts:
    """A page in its pieces. title: the one that the front matter gives it; "" where a heading may say it."""
    bom = _BOM if page.startswith(_BOM) else ""
    front, body = front_matter.split(page[len(bom) :])
    lead = _BLANK_LINES.match(body)[0]  # type: ignore[index]
    found = _HEADING.match(body, len(lead))
    heading = found[1].strip() if found else ""
    if found and (not title or heading == title):
        lead = body[: found.end()] + _BLANK_LINES.match(body, found.end())[0]  # type: ignore[index]
    body = body[len(lead) :]
    text = body.rstrip()
    return Parts(bom, front, lead, text, body[len(text) :], heading)


def with_front(parts: Parts, front: str) -> Parts:
    """The page with other front matter: a blank line comes and goes with it."""
    lead, newline = parts.lead, parts.newline
    blank = lead[: len(lead) - len(lead.lstrip(" \t\r\n"))]
    if front and not parts.front and lead + parts.text and "\n" not in blank:
        lead = newline + lead
    if parts.front and not front and "\n" in blank:
        lead = lead[lead.index("\n") + 1 :]
    return parts._replace(front=front, lead=lead)


def with_text(parts: Parts, text: str) -> Parts:
    """The page with another text, whose lines end with "\n"; lines that stay keep their bytes."""
    newline, front, lead = parts.newline, parts.front, parts.lead
    text = _merged(parts.text, text, newline)
    if lead and not lead.endswith("\n") and text:
        lead += newline
    if front and not lead and not front.endswith("\n") and text:
        front += newline
    return parts._replace(front=front, text=text, lead=lead)


def with_heading(parts: Parts, title: str) -> Parts:
    """The page with another heading in the place of its own, or with one before its text where it has none."""
    newline = parts.newline
    found = _OWN_HEADING.search(parts.lead)
    if found is None:
        lead = f"{parts.lead}# {title}{newline}{newline}"
    else:
        end = found.start(1) + len(found[1].rstrip())
        lead = f"{parts.lead[: found.start(1)]}{title}{parts.lead[end:]}"
    return parts._replace(lead=lead, heading=title)


def _merged(old: str, new: str, newline: str) -> str:
    """A new text whose lines, white space at their ends aside, keep the bytes that they have in the old one. Blank
    lines in a row stay as they are, too: whoever edits writes one, and nobody asked for that.
    """
    ends = "\r" if newline == "\r\n" else ""
    before, after = _units(f"{old}{ends}"), _units(new)
    kept: list[str] = []
    for what, i, j, k, m in compared([said for said, _ in before], [said for said, _ in after]):
        if what == "equal":
            kept += [line for _, lines in before[i:j] for line in lines]
        elif what != "delete":
            kept += [line.rstrip("\r") + ends for _, lines in after[k:m] for line in lines]
    return "\n".join(kept).removesuffix("\r")


def _units(text: str) -> list[tuple[str, list[str]]]:
    """The lines of a text, each as what it says and its bytes; blank lines in a row outside of code are one."""
    lines = text.split("\n")
    found: list[tuple[str, list[str]]] = []
    blank = False
    for line, code in zip(lines, code_lines([line.removesuffix("\r") for line in lines]), strict=True):
        said = line.rstrip()
        if not said and blank and not code:
            found[-1][1].append(line)
        else:
            found.append((said, [line]))
        blank = not said and not code
    return found


def compared(before: list[str], after: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """How the one becomes the other, as `SequenceMatcher` says it; equal ends are told at once."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    inner, other = before[start : len(before) - end], after[start : len(after) - end]
    if start:
        yield "equal", 0, start, 0, start
    if len(inner) + len(other) > _MOST_COMPARED:
        yield "replace", start, start + len(inner), start, start + len(other)
    else:
        for what, i, j, k, m in SequenceMatcher(None, inner, other, autojunk=False).get_opcodes():
            yield what, start + i, start + j, start + k, start + m
    if end:
        yield "equal", len(before) - end, len(before), len(after) - end, len(after)
