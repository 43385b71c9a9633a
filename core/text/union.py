"""The union of two texts: every line of both, each with its context."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from core.text.normalise import code_lines, normalise_content, squeeze

_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_TABLE_ROW: Final = re.compile(r"\s*\||[\s:|-]*-\s*\|[\s:|-]*$")
_OPENS: Final = (":", "：")
# Characters from which on a text is taken for sentences, and what ends one.
_SENTENCE: Final = 40
_ENDS: Final = (".", "!", "?", "。", "！", "？")
_CLOSES: Final = "\"'”’»)*_`"
_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s")


class _Block(NamedTuple):
    """Lines that stand together. structured: they mean something only as a whole."""

    lines: tuple[str, ...]
    structured: bool


def merged_content(first: str, second: str) -> str:
    """The first text, then what the second says beyond it; both are contents of notes.

    The second is read in blocks, parted by blank lines outside code; a heading or a line that ends with a colon takes
    the block below it along. What stands in the first text in one piece is left out. Of plain lines, the new ones
    are added, and of those not what stands in a paragraph of the first text in other lines or among other sentences; a
    block with structure (such an opening line, indentation, code, a table) is added whole, since
    "1. stop" below "rollback:" is not "1. stop" below "steps:". When there is nothing to add, the first text is
    returned as it is; so merging the same text again changes nothing.
    """
    before, after = normalise_content(first), normalise_content(second)
    standing = [line for line in before.split("\n") if line.strip()]
    known = {squeeze(line) for line in standing}
    prose = [_run_on(block.lines) for block in _blocks(before) if not block.structured]
    blocks = (_beyond(block, standing, known, prose) for block in _blocks(after))
    added = [block for block in blocks if block.lines]
    if not added:
        return first
    if not standing:
        return after
    # Items and lone lines go on where the first text ends; whatever belongs together keeps a blank line around it.
    apart = added[0].structured or _blocks(before)[-1].structured or _are_paragraphs(before, added)
    rest = "\n\n".join("\n".join(block.lines) for block in added)
    return normalise_content(before + ("\n\n" if apart else "\n") + rest)


def _are_paragraphs(before: str, added: Sequence[_Block]) -> bool:
    """Whether a text and what is added to it are not lines of one list, or lines without sentences."""
    ends = before.rpartition("\n")[2], added[0].lines[0]
    items = [bool(_ITEM.match(line)) for line in ends]
    if any(items):
        return not all(items)
    return "\n\n" in before or len(added) > 1 or any(end.rstrip(_CLOSES).endswith(_ENDS) for end in ends)


def _beyond(block: _Block, standing: Sequence[str], known: set[str], prose: Sequence[str]) -> _Block:
    """What of a block is to be added to a text with these lines, all of which `known` holds, squeezed.

    prose: the paragraphs of that text, each as one line.
    """
    if not block.structured:
        if _is_said(_run_on(block.lines), prose):
            return _Block((), False)
        new = (line for line in block.lines if squeeze(line) not in known)
        return _Block(tuple(line for line in new if not _is_said(squeeze(line), prose)), False)
    wanted = [line for line in block.lines if line.strip()]
    places = (place for place, line in enumerate(standing) if line == wanted[0])
    return _Block((), True) if any(standing[at : at + len(wanted)] == wanted for at in places) else block


def _run_on(lines: Sequence[str]) -> str:
    return squeeze(" ".join(lines))


def _is_said(said: str, prose: Sequence[str]) -> bool:
    """Whether a paragraph says this in whole sentences; a few words may mean something else elsewhere."""
    if len(said) < _SENTENCE:
        return False
    for paragraph in prose:
        place = paragraph.find(said)
        while place >= 0:
            before, after = paragraph[:place], paragraph[place + len(said) :]
            ends = not after or (said.endswith(_ENDS) and after[0] == " ")
            if ends and (not before or before.endswith(tuple(f"{sign} " for sign in _ENDS))):
                return True
            place = paragraph.find(said, place + 1)
    return False


def _blocks(text: str) -> list[_Block]:
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
    return [_block(lines, code, group) for group in groups]


def _block(lines: list[str], code: list[bool], group: list[int]) -> _Block:
    whole = lines[group[0] : group[-1] + 1]
    return _Block(tuple(whole), any(code[place] or _structures(lines[place]) for place in group))


def _opens(line: str) -> bool:
    """Whether the lines below belong to this one."""
    return line.rstrip().endswith(_OPENS) or bool(_HEADING.match(line))


def _structures(line: str) -> bool:
    return line[:1].isspace() or _opens(line) or bool(_TABLE_ROW.match(line))
