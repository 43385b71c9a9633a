"""A note as a bullet of MEMORY.md: written so that no text of a note can break the file."""

from __future__ import annotations

import re
from typing import Final

from core.model.note import Note

_INDENT: Final = "  "
_TITLE_MARKS: Final = re.compile(r"[\\*`]|<(?=!--)")
_CONTENT_MARKS: Final = re.compile(r"\*(?=\*)|(?<=\*)\*|<(?=!--)")
# What would begin a heading, an underlined heading, a rule, a bullet, a quote, a code fence or an HTML block.
_BLOCK_MARK: Final = re.compile(
    r"#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|(?:=+|-+|_{3,}|\*{3,})(?=\s*$)|`{3}|~{3}|<(?=[!/?A-Za-z])"
)
_NUMBERED: Final = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
# Large numbers with a full stop are years and amounts, and no places in a list.
_ITEM: Final = re.compile(r"(?:[-+*]|(\d{1,3})[.)])(?:[ \t]+|$)")
_DOT: Final = "•"
_UNSAFE: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_ENTRY: Final = re.compile(r"([-*+][ \t]+)\*\*((?:\\.|[^\\*]|\*(?!\*))+)\*\*:(?=\s|$)")
_ESCAPED: Final = re.compile(r"\\([\\*`<])")


def bullet(note: Note, marker: str = "- ") -> list[str]:
    """Lines of a note's bullet, without line ends: `- **title**: first line`, the others indented.

    Items of lists become lines that begin with "•" or "(1)": they read as a list, and no list that a person puts
    below the bullet can be taken for them. Marks that Markdown would read as headings, fences, comments or bold text
    are escaped, control characters become U+FFFD, and blank lines are left out.
    """
    lines = [line for line in _printable(note.content).splitlines() if line.strip()]
    first, *others = [line.rstrip() for line in lines] or [""]
    first = first.lstrip()
    # A value may begin with a mark without being a list.
    if any(_ITEM.match(line.lstrip()) for line in others):
        first = _listed(first)
    head = f"{marker}**{escaped_title(title_of(note))}**: {_inline(first)}"
    return [head.rstrip(), *(_INDENT + _continued(line) for line in others)]


def title_of(note: Note) -> str:
    """The title as one line; the id for a note without one."""
    return one_line(note.title) or note.id


def one_line(text: str) -> str:
    """A text as one line: white space and line breaks as single spaces, control characters as U+FFFD."""
    return " ".join(_printable(text).split())


def escaped_title(title: str) -> str:
    """A title whose marks Markdown does not read; `read_title` takes the escapes back."""
    return _TITLE_MARKS.sub(r"\\\g<0>", title)


def read_title(line: str) -> tuple[str, str] | None:
    """The marker and the title of a line that begins a bullet like ours, or None."""
    found = _ENTRY.match(line)
    if found is None:
        return None
    return found[1], " ".join(_ESCAPED.sub(r"\1", found[2]).split())


def is_continuation(line: str) -> bool:
    """Whether a line can be one of ours below the first of a bullet: indented, and no mark begins it.

    What a person puts below a bullet (a nested bullet, a quote, a code fence) begins with such a mark.
    """
    bare = line.lstrip(" \t").rstrip()
    indented = line.startswith((_INDENT, "\t"))
    return indented and bool(bare) and not (_BLOCK_MARK.match(bare) or _NUMBERED.match(bare))


def plain_lines(note: Note) -> list[str]:
    """Lines of the content as the original writes them below a bullet: neither indented nor escaped."""
    return [line.strip() for line in note.content.split("\n") if line.strip()]


def _printable(text: str) -> str:
    return _UNSAFE.sub("\ufffd", text)


def _inline(line: str) -> str:
    return _CONTENT_MARKS.sub(r"\\\g<0>", line)


def _listed(bare: str) -> str:
    """A line as text that shows the item of a list that it is."""
    item = _ITEM.match(bare)
    if item is None:
        return bare
    return f"{f'({item[1]})' if item[1] else _DOT} {bare[item.end() :]}".rstrip()


def _continued(line: str) -> str:
    bare = line.lstrip()
    indent = line[: len(line) - len(bare)]
    bare = _listed(bare)
    numbered = _NUMBERED.match(bare)
    if numbered:
        return f"{indent}{numbered[1]}\\{_inline(bare[len(numbered[1]) :])}"
    if _BLOCK_MARK.match(bare):
        return f"{indent}\\{bare[0]}{_inline(bare[1:])}"
    return indent + _inline(bare)
