"""A note as a bullet of MEMORY.md: written so that no text of a note can break the file."""

from __future__ import annotations

import re
from typing import Final

from core.model.note import Note
from core.text.memory_page import BLOCK_MARK, NUMBERED

_INDENT: Final = "  "
_TITLE_MARKS: Final = re.compile(r"[\\*`]|<(?=!--)")
_CONTENT_MARKS: Final = re.compile(r"\*(?=\*)|(?<=\*)\*|<(?=!--)")
# Large numbers with a full stop are years and amounts, and no places in a list.
_ITEM: Final = re.compile(r"(?:[-+*]|(\d{1,3})[.)])(?:[ \t]+|$)")
_DOT: Final = "•"
_ESCAPED: Final = r"\\\g<0>"
_UNSAFE: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


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
    head = f"{marker}**{_TITLE_MARKS.sub(_ESCAPED, title_of(note))}**: {_inline(first)}"
    return [head.rstrip(), *(_INDENT + _continued(line) for line in others)]


def title_of(note: Note) -> str:
    """The title as one line; the id for a note without one."""
    return one_line(note.title) or note.id


def one_line(text: str) -> str:
    """A text as one line: white space and line breaks as single spaces, control characters as U+FFFD."""
    return " ".join(_printable(text).split())


def _printable(text: str) -> str:
    return _UNSAFE.sub("\ufffd", text)


def _inline(line: str) -> str:
    return _CONTENT_MARKS.sub(_ESCAPED, line)


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
    numbered = NUMBERED.match(bare)
    if numbered:
        return f"{indent}{numbered[1]}\\{_inline(bare[len(numbered[1]) :])}"
    if BLOCK_MARK.match(bare):
        return f"{indent}\\{bare[0]}{_inline(bare[1:])}"
    return indent + _inline(bare)
