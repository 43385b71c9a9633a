"""One page of Markdown taken apart and changed: what a change does not concern keeps every byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

from core.exchange import front_matter
from core.text.normalise import code_lines

_BOM: Final = "\ufeff"
_FENCE: Final = "---"
_ENDS: Final = ("---", "...")
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\r?\n)*")
_BLANK_START: Final = re.compile(r"[ \t]*\r?\n")
_HEADING: Final = re.compile(r"#[ \t]+(\S.*)(?:\n|\Z)")
_COMMENT: Final = re.compile(r"(?<![ \t])[ \t]+#.*$")
# What every reader of YAML takes for a text, without quotation marks.
_PLAIN: Final = re.compile(r"[^\W\d_](?:[^:#]|:(?=\S)|(?<=\S)#)*(?<![\s:])")
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

    def joined(self) -> str:
        """The page."""
        return f"{self.bom}{self.front}{self.lead}{self.text}{self.tail}"


def defies_reading(page: str) -> bool:
    """Whether fences at its beginning hold what is no YAML."""
    bare = page.removeprefix(_BOM)
    return bool(front_matter.fenced(bare)) and not front_matter.split(bare)[0]


def fields_of(page: str) -> dict[str, Any]:
    """The fields of a page's front matter."""
    return front_matter.read(page.removeprefix(_BOM))[0]


def take_apart(page: str, title: str = "") -> Parts:
    """A page in its pieces. title: the one that the front matter gives it; "" where a heading may say it."""
    bom = _BOM if page.startswith(_BOM) else ""
    rest = page[len(bom) :]
    front, body = front_matter.split(rest)
    lead = _BLANK_LINES.match(body)[0]  # type: ignore[index]
    found = _HEADING.match(body, len(lead))
    heading = found[1].strip() if found else ""
    if found and (not title or heading == title):
        lead = body[: found.end()] + _BLANK_LINES.match(body, found.end())[0]  # type: ignore[index]
    body = body[len(lead) :]
    text = body.rstrip()
    return Parts(bom, front, lead, text, body[len(text) :], heading)


def with_text(parts: Parts, text: str) -> Parts:
    """The page with another text, whose lines end with "\n"; lines that stay keep their bytes."""
    newline = parts.newline
    text = merged(parts.text, text, newline)
    lead = parts.lead
    if lead and not lead.endswith("\n") and text:
        lead += newline
    front = parts.front
    if front and not lead and not front.endswith("\n") and text:
        front += newline
    if not (front or lead) and front_matter.split(text)[0]:
        # It would be taken for front matter.
        lead = newline
    return parts._replace(front=front, text=text, lead=lead)


def merged(old: str, new: str, newline: str) -> str:
    """A new text whose lines, white space at their ends aside, keep the bytes that they have in the old one. Blank
    lines in a row stay as they are, too: whoever edits writes one, and nobody asked for that.
    """
    ends = "\r" if newline == "\r\n" else ""
    before, after = _units(f"{old}{ends}"), _units(new)
    kept: list[str] = []
    for what, i, j, k, m in compared([bare for bare, _ in before], [bare for bare, _ in after]):
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
        bare = line.rstrip()
        if not bare and blank and not code:
            found[-1][1].append(line)
        else:
            found.append((bare, [line]))
        blank = not bare and not code
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


def with_heading(parts: Parts, title: str) -> Parts:
    """The page with another heading in the place of its own, or with one before its text where it has none."""
    newline = parts.newline
    found = re.search(r"(?m)^(#[ \t]+)(\S.*)$", parts.lead)
    if found is None:
        return parts._replace(lead=f"{parts.lead}# {title}{newline}{newline}", heading=title)
    behind = found[2][len(found[2].rstrip()) :]
    lead = f"{parts.lead[: found.start()]}{found[1]}{title}{behind}{parts.lead[found.end() :]}"
    return parts._replace(lead=lead, heading=title)


def with_field(parts: Parts, name: str, value: str, *, inner: str = "", behind: str = "") -> Parts:
    """The page with another value of a field of its front matter, which it must have.

    inner: the field within that one. behind: where the field is not there, it is put behind this one, else at the end.
    """
    lines = parts.front.split("\n")
    last = _fence_of(lines)
    end = "\r" if lines[0].endswith("\r") else ""
    at = _line_of(lines, name, 1, last)
    if at is None:
        place = _line_of(lines, behind, 1, last) if behind else None
        place = last if place is None else _end_of(lines, place, last)
        made = [f"{name}: {spelt(value)}"] if not inner else [f"{name}:", f"  {inner}: {spelt(value)}"]
        lines[place:place] = [line + end for line in made]
    elif not inner:
        _set(lines, at, _end_of(lines, at, last), value, end)
    else:
        stop = _end_of(lines, at, last)
        place = _line_of(lines, inner, at + 1, stop)
        if place is not None:
            _set(lines, place, _end_of(lines, place, stop), value, end)
        elif lines[at].rstrip().endswith(":"):
            lines.insert(at + 1, f"  {inner}: {spelt(value)}{end}")
    return parts._replace(front="\n".join(lines))


def field_lines(parts: Parts, name: str) -> list[str]:
    """The lines of a field of the front matter, without their ends; none where it is not there."""
    lines = parts.front.split("\n")
    last = _fence_of(lines)
    at = _line_of(lines, name, 1, last)
    return [] if at is None else [line.rstrip("\r") for line in lines[at : _end_of(lines, at, last)]]


def with_field_lines(parts: Parts, name: str, made: list[str], behind: Sequence[str] = ()) -> Parts:
    """The page with other lines for a field of its front matter, which comes and goes with what stands in it.

    made: none for a field that goes. behind: a new field goes behind the last of these that are there, else first.
    """
    end = "\r" if parts.newline == "\r\n" else ""
    wanted = [line + end for line in made]
    if not parts.front:
        if not wanted:
            return parts
        front = "\n".join([_FENCE + end, *wanted, _FENCE + end, ""])
        blank = not parts.lead + parts.text or _BLANK_START.match(parts.lead)
        return parts._replace(front=front, lead=parts.lead if blank else f"{parts.newline}{parts.lead}")
    lines = parts.front.split("\n")
    last = _fence_of(lines)
    at = _line_of(lines, name, 1, last)
    if at is not None:
        lines[at : _end_of(lines, at, last)] = wanted
    else:
        known = [place for one in behind if (place := _line_of(lines, one, 1, last)) is not None]
        place = max((_end_of(lines, place, last) for place in known), default=1)
        lines[place:place] = wanted
    if not "".join(lines[1 : _fence_of(lines)]).strip():
        return _without_front(parts)
    return parts._replace(front="\n".join(lines))


def _without_front(parts: Parts) -> Parts:
    lead = _BLANK_START.sub("", parts.lead, count=1)
    if not lead and front_matter.split(parts.text)[0]:
        # It would be taken for front matter.
        lead = parts.newline
    return parts._replace(front="", lead=lead)


def _fence_of(lines: list[str]) -> int:
    return next((at for at in range(1, len(lines)) if lines[at].rstrip() in _ENDS), len(lines))


def _line_of(lines: list[str], name: str, start: int, end: int) -> int | None:
    """The line on which a field stands, indented as the first of these lines."""
    known = re.compile(rf"""(["']?){re.escape(name)}\1[ \t]*:(?=\s|$)""")
    filled = [at for at in range(start, end) if lines[at].strip() and not lines[at].lstrip().startswith("#")]
    if not filled:
        return None
    indent = _indent(lines[filled[0]])
    return next(
        (at for at in filled if _indent(lines[at]) == indent and known.match(lines[at].lstrip(" "))), None
    )


def _end_of(lines: list[str], at: int, last: int) -> int:
    """Behind the last line of a field: what is indented more belongs to it."""
    end = at + 1
    for number in range(at + 1, last):
        line = lines[number]
        if line.strip():
            if _indent(line) <= _indent(lines[at]) and not line.lstrip().startswith("- "):
                break
            end = number + 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _set(lines: list[str], at: int, stop: int, value: str, end: str) -> None:
    line = lines[at].rstrip("\r")
    colon = re.match(r"""\s*(?:"[^"]*"|'[^']*'|[^:]*?)[ \t]*:[ \t]*""", line)
    assert colon is not None
    head, former = line[: colon.end()], line[colon.end() :]
    comment = _COMMENT.search(former) if former[:1] not in ("'", '"') else None
    kept = comment[0] if comment is not None and stop == at + 1 else ""
    head = head if head[-1] in " \t" else f"{head} "
    lines[at:stop] = [f"{head}{spelt(value, former[:1])}{kept}{end}"]


def spelt(value: str, quote: str = "") -> str:
    """A text as a value of front matter, in the quotation marks that it had, or without any where it may."""
    if quote == "'" and "\n" not in value and front_matter.write({"v": value}).isprintable():
        return "'" + value.replace("'", "''") + "'"
    if quote != '"':
        # Others read these pages as well, and more strictly.
        plain = _PLAIN.fullmatch(value) and value.isprintable()
        if plain and front_matter.read(f"{_FENCE}\nv: {value}\n{_FENCE}\n")[0] == {"v": value}:
            return value
    written = front_matter.write({"v": value}).split("\n")[1].removeprefix("v: ")
    return written if json.loads(written) == value else json.dumps(value)
