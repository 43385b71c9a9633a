"""Words that mean nearly the same as a typed one: from the table of neighbours, a person's own, and tags.

They are looked for beside the words of the query, for less, and never count as words of the query themselves.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from core.model.basis import custom_tags
from core.settings import Synonyms
from core.text.languages import LANGUAGES, stem_in
from core.text.tokens import stem, words

if TYPE_CHECKING:
    from core.search.state import State

TABLE: Final = Path(__file__).with_name("neighbours.txt")
# How like each other words are held to be that somebody says mean the same, and at most those that tags show to.
_OWN: Final = 0.95
_TAGS: Final = 0.75
# Two tags stand for each other where so many notes bear both, so much of all that bear one, and not most of the memory.
# A word that more notes hold says too little to be looked into.
_LEAST_TOGETHER: Final = 3
_LEAST_SHARED: Final = 0.75
_MOST_NOTES: Final = 1_024
_MOST_REMEMBERED: Final = 1_024
_DIGITS: Final = "0123456789"


class Meaning(NamedTuple):
    """An English stem that means nearly what another does, with a word of it and the likeness, in (0, 1].

    Notes in other languages hold the word under stems of their own: `State.stems_of` has them.
    """

    stem: str
    word: str
    likeness: float


ByStem = Mapping[str, tuple[Meaning, ...]]


def meanings(name: str, given: Iterable[Meaning] = ()) -> tuple[Meaning, ...]:
    """What means nearly the same as an English stem, each stem once, the likest first.

    given: what tags show and a person's own synonyms; all of it goes before the table, the last before the first.
    """
    found = {one.stem: one for one in (*_near(name), *given)}
    found.pop(name, None)
    return tuple(sorted(found.values(), key=lambda one: (-one.likeness, one.stem)))


# The table


@cache
def _lines() -> Sequence[str]:
    """The lines of the table in order; read at the first query, in some milliseconds."""
    return TABLE.read_text(encoding="ascii").splitlines()


def _entries(name: str) -> list[str]:
    """What stands in a stem's line: its commonest word, then its neighbours. None of it without a line."""
    lines = _lines()
    at = bisect_left(lines, f"{name} ")
    return lines[at].split(" ")[1:] if at < len(lines) and lines[at].startswith(f"{name} ") else []


@lru_cache(maxsize=_MOST_REMEMBERED)
def _near(name: str) -> tuple[Meaning, ...]:
    near = ((entry.rstrip(_DIGITS), entry) for entry in _entries(name)[1:])
    return tuple(Meaning(other, _entries(other)[0], int(entry[len(other) :]) / 100) for other, entry in near)


# A person's own


@lru_cache(maxsize=8)
def by_stem(given: Synonyms) -> ByStem:
    """What a person's own synonyms give for each stem of a word in any language, both ways.

    Of several words that together stand for one, each gives its part.
    """
    found: dict[str, dict[str, Meaning]] = {}
    for one, others in given:
        for other in others:
            for asked, meant in ((words(one), words(other)), (words(other), words(one))):
                made = {stem(word): Meaning(stem(word), word, _OWN / len(meant) ** 0.5) for word in meant}
                for name in {stem_in(word, language) for word in asked for language in LANGUAGES}:
                    found.setdefault(name, {}).update(made)
    return {name: tuple(entries.values()) for name, entries in found.items()}


# Tags


def tags_alike(state: State, word: str) -> tuple[Meaning, ...]:
    """Tags that stand on nearly the same notes as the tag that a word is, so that each stands for the other."""
    found = state.known_tags.get(word)
    if found is None:
        if len(state.known_tags) >= _MOST_REMEMBERED:
            state.known_tags.clear()
        found = state.known_tags[word] = tuple(_tags_alike(state, word))
    return found


def _tags_alike(state: State, word: str) -> Iterable[Meaning]:
    bearing = _bearing(state, word)
    if len(bearing) < _LEAST_TOGETHER or len(bearing) > state.total / 2:
        return
    together = Counter(tag for row in bearing for tag in state.notes[row].tags)
    for tag, count in together.items():
        if tag == word or count < max(_LEAST_TOGETHER, _LEAST_SHARED * len(bearing)) or words(tag) != [tag]:
            continue
        others = _bearing(state, tag)
        shared = count / (len(bearing) + len(others) - count) if len(others) >= count else 0.0
        if shared >= _LEAST_SHARED:
            yield Meaning(stem(tag), tag, _TAGS * shared)


def _bearing(state: State, tag: str) -> list[int]:
    """Visible rows with a tag that somebody gave; none for a tag whose word too many notes hold."""
    rows = np.concatenate([state.holding(name).rows for name in state.stems_of(tag)])
    if len(rows) > _MOST_NOTES:
        return []
    return [
        row
        for row in rows.tolist()
        if tag in state.notes[row].tags and not state.hidden[row] and tag in custom_tags(state.notes[row])
    ]
