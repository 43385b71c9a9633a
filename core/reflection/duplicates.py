"""The rule that finds near-duplicates, exactly and without comparing every pair."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from itertools import chain
from typing import Final

from core.graph.merging import given_hits_to
from core.model.draft import Draft
from core.model.note import Note
from core.reflection.words import TokenCache, tidied
from core.text.normalise import squeeze

# How a link says that it was made by merging: it has no other field that all programs keep.
_OF_MERGING: Final = "merged"
_ROUNDING: Final = 1e-9
_KEY_BREAK: Final = re.compile(r"[\s_-]+")

_Group = tuple[Hashable, ...]


class Duplicates:
    """Near-duplicates among some notes: Jaccard similarity of their words of at least `threshold`.

    Only notes of one nugget, subject, scope, type and kind are compared; two facts only when their keys
    differ by case, spaces, "_" or "-" alone and their values by white space alone, since a fact is recalled
    by its key. A note without words is similar to none.

    Prefix filtering (Chaudhuri, Ganti and Kaushik, 2006): with words ordered from rare to common, two sets of
    Jaccard similarity t or more share one of the first n - ceil(t n) + 1 words of each, n being a set's size.
    """

    def __init__(self, notes: Iterable[Note], vocabulary: TokenCache, threshold: float) -> None:
        self._vocabulary = vocabulary
        self._threshold = min(1.0, max(threshold, 0.01))
        groups: dict[_Group, list[Note]] = defaultdict(list)
        for note in notes:
            groups[_group(note)].append(note)
        compared = [note for members in groups.values() if len(members) > 1 for note in members]
        counts = Counter(chain.from_iterable(map(vocabulary.tokens, compared)))
        # Ranked once: any fixed order of the words will do, as long as all sets are cut by the same one.
        self._ranks = {token: rank for rank, token in enumerate(sorted(counts, key=lambda t: (counts[t], t)))}
        self._tokens: dict[str, tuple[str, ...]] = {}
        self._holders: dict[tuple[_Group, int], list[str]] = defaultdict(list)
        for note in compared:
            self._put(note)

    def of(self, note: Note) -> list[str]:
        """Ids of a note's near-duplicates, the most similar first, then by id."""
        own, group = frozenset(self._tokens.get(note.id, ())), _group(note)
        ranks = self._prefix(self._tokens.get(note.id, ()))
        near = {other for rank in ranks for other in self._holders.get((group, rank), ())} - {note.id}
        shares = ((jaccard(own, self._tokens[other]), other) for other in near)
        least = self._threshold - _ROUNDING
        return [other for _, other in sorted((-share, other) for share, other in shares if share >= least)]

    def update(self, note: Note) -> None:
        """Takes in a note's new content; its group must be the one it had."""
        if note.id in self._tokens:
            self._put(note)

    def _put(self, note: Note) -> None:
        tokens = self._tokens[note.id] = self._vocabulary.tokens(note)
        for token in tokens:
            self._ranks.setdefault(token, len(self._ranks))
        for rank in self._prefix(tokens):
            self._holders[_group(note), rank].append(note.id)

    def _prefix(self, tokens: tuple[str, ...]) -> list[int]:
        size = len(tokens) - math.ceil(self._threshold * len(tokens) - _ROUNDING) + 1 if tokens else 0
        return sorted(map(self._ranks.__getitem__, tokens))[:size]


def jaccard(first: frozenset[str], second: tuple[str, ...]) -> float:
    """Shared tokens over all tokens of both, in [0, 1]; 0 when there is none. `second` holds no repeats."""
    shared = len(first.intersection(second))
    return shared / (len(first) + len(second) - shared) if shared else 0.0


def _group(note: Note) -> _Group:
    place: _Group = (note.nugget_name, note.subject, note.scope, note.type, note.kind)
    if not note.is_fact:
        return place
    return (*place, _KEY_BREAK.sub(" ", note.key).strip().casefold(), squeeze(note.content))


def survivor_first(first: Note, second: Note) -> tuple[Note, Note]:
    """The note that stays and the one that is merged into it.

    The longer one stays, measured as tidied, so that it does not matter whether tidying was accepted; among
    equals the one recalled more often, then the older one, then the one with the smaller id.
    """
    ordered = sorted((first, second), key=lambda n: (-len(tidied(n.content)), -n.hits, n.created_at, n.id))
    return ordered[0], ordered[1]


def were_merged(first: Note, second: Note) -> bool:
    """Whether the two were merged before and one was brought back: to a person they are no duplicates."""
    return any(
        b.id in given_hits_to(a)
        or any(link.to == b.id and link.reason.startswith(_OF_MERGING) for link in a.links)
        for a, b in ((first, second), (second, first))
    )


def fact_agrees(draft: Draft, note: Note) -> bool:
    """Whether a fact note says what its fact says, white space aside; true for notes that are no facts."""
    if not note.is_fact:
        return True
    found = draft.find_fact(note.nugget_name, note.key)
    return found is not None and squeeze(found[1].value) == squeeze(note.content)
