"""Facts that say the same in the same words; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from core.pipeline.contradiction import polarity_difference
from core.pipeline.decision.short_cuts import saying, similarity
from core.text.tokens import STOP_WORDS

# What stands around a word and belongs to the sentence. ".net", "-1" and "C++" keep theirs.
_BEFORE: Final = "\"'([{“„«‘"
_AFTER: Final = ".,;:!?…\"')]}”“»’"


class SameFact(NamedTuple):
    """A fact that says what an earlier one says. row, other_row: of the two in their table; note_id: of the later."""

    row: int
    other_row: int
    note_id: str


def same_facts(facts: Iterable[Any]) -> tuple[SameFact, ...]:
    """The facts that have the words of an earlier one of their nugget in its order, but for words such as "the".

    facts: rows of number, nugget, normalised text and id of the note, the earliest first. This reads all there are, so
    it goes by white space alone: what is written without any must be the same to the letter.
    """
    first: dict[tuple[str, tuple[str, ...]], tuple[int, str]] = {}
    found: list[SameFact] = []
    for row, nugget, text, note_id in facts:
        said = tuple(word for word in map(_bare, text.split()) if word and word not in STOP_WORDS)
        earlier = first.setdefault((nugget, said), (row, text))
        # "not" and its like are among the words that were left out.
        if said and earlier[0] != row and not (text != earlier[1] and polarity_difference(text, earlier[1])):
            found.append(SameFact(row, earlier[0], note_id))
    return tuple(found)


def _bare(word: str) -> str:
    return word.rstrip(_AFTER).lstrip(_BEFORE)


def likeness(one: str, other: str) -> float:
    """How much two texts say the same, from 0 to 1: the words that both have of all that either has, in one order and
    of one polarity; else 0. A number that only one of them has makes them two statements.
    """
    mine, theirs = saying(one), saying(other)
    shared = mine.all & theirs.all
    orders = tuple(tuple(word for word in said.order if word in shared) for said in (mine, theirs))
    numbers = tuple(
        frozenset(word for word in said.all if any(map(str.isdigit, word))) for said in (mine, theirs)
    )
    if orders[0] != orders[1] or numbers[0] != numbers[1] or polarity_difference(one, other):
        return 0.0
    return similarity(mine.all, theirs.all)
