"""The union of two texts: every line of both, each with its context."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from core.text.normalise import code_lines, normalise_content, squeeze

_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_TABLE_ROW: Final = re.compile(r"\s*\||[\s:|-]*-\s*\|[\s:|-]*$")
_OPENS: Final = (":", "：")
_ENDS: Final = (".", "!", "?", "。", "！", "？")
_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s")


class _Block(NamedTuple):
    """Lines that stand together. structured: they mean something only as a whole."""

    lines: tuple[str, ...]
    structured: bool


def merged_content(first: str, second: str) -> str:
    """The first text, then what the second says beyond it; both are contents of notes.

    The second is read in blocks, parted by blank lines outside code; a heading or a line that ends with a colon takes
    the block below it along. What stands in the first text in one piece is left out. Of plain lines the new ones are
    added; a block with structure (such an opening line, indentation, code, a table) is added whole, since "1. stop"
    below "rollback:" is not "1. stop" below "steps:". When there is nothing to add, the first text is returned as it
    is; so merging the same text again changes nothing.
    """
    before, after = normalise_content(first), normalise_content(second)
    standing = [line for line in before.split("\n") if line.strip()]
    known = {squeeze(line) for line in standing}
    added = []
    for block in _blocks(after):
        lines = [line for line in block.lines if line.strip()]
        if block.structured:
            at = range(len(standing))
            new = [] if any(standing[place : place + len(lines)] == lines for place in at) else block.lines
        else:
            new = [line for line in lines if squeeze(line) not in known]
        if new:
            added.append(_Block(tuple(new), block.structured))
    if not added:
        return first
    if not standing:
        return after
    # Items and lone words go on where the first text ends; what belongs together keeps a blank line around it.
    ends = standing[-1], added[0].lines[0]
    lone = "\n" not in before + after and not before.endswith(_ENDS)
    apart = added[0].structured or list(_blocks(before))[-1].structured
    apart = apart or not (lone or all(map(_ITEM.match, ends)))
    rest = "\n\n".join("\n".join(block.lines) for block in added)
    return normalise_content(before + ("\n\n" if apart else "\n") + rest)


def _blocks(text: str) -> Iterator[_Block]:
    """The blocks of a content as it is stored, in order."""
    lines = text.split("\n")
    code = code_lines(lines)
    groups: list[list[int]] = []
    apart = True
    for place, line in enumerate(lines):
        if not line.strip() and not code[place]:
            apart = not (groups and _opens(lines[groups[-1][-1]]))
            continue
        if apart:
            groups.append([])
        groups[-1].append(place)
        apart = False
    for group in groups:
        whole = lines[group[0] : group[-1] + 1]
        yield _Block(tuple(whole), any(code[place] or _structures(lines[place]) for place in group))


def _opens(line: str) -> bool:
    """Whether the lines below belong to this one."""
    return line.rstrip().endswith(_OPENS) or bool(_HEADING.match(line))


def _structures(line: str) -> bool:
    return line[:1].isspace() or _opens(line) or bool(_TABLE_ROW.match(line))
