"""The rule that links lonely notes to notes of the same nugget with the same uncommon words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final, NamedTuple

from core.model.note import Link, Note
from core.reflection.words import TokenCache, independent, is_informative
from core.settings import ReflectionSettings

# How a link says where it comes from: a link has no other field that all programs keep.
OF_REFLECTION: Final = "shared context: "
# The first character of Thai. From there on come the scripts whose tokens are not words by themselves.
_PIECES: Final = "\u0e00"
_ALWAYS_UNCOMMON: Final = 5
_NAMED: Final = 3


class Related(NamedTuple):
    """A note that another may be linked to, the strongest words they share, and how sure the link is, in [0, 1]."""

    note: Note
    words: tuple[str, ...]
    confidence: float


class Rarity:
    """How telling words are in a whole memory: 1 for one that two notes hold, 0 for one that all hold.

    That is the inverse document frequency over the highest that a shared word can have, ln(N / n) / ln(N / 2) for a
    word in n of N notes.
    """

    def __init__(self, notes: Sequence[Note], vocabulary: TokenCache) -> None:
        self._highest = math.log(max(3, 1 + len(notes)) / 2)
        self._counts = Counter(chain.from_iterable(map(vocabulary.tokens, notes)))

    def of(self, token: str) -> float:
        """The rarity of a word, in [0, 1]."""
        return max(0.0, 1 - math.log(max(2, self._counts[token]) / 2) / self._highest)

    def confidence(self, words: Iterable[str]) -> float:
        """How sure it is that notes that share these words speak of one thing: s / (s + 1) for a summed rarity s.

        Pieces of words, and words with their particles (Thai, Japanese, Korean), may be grammar and add nothing.
        """
        total = sum(self.of(word) for word in words if word < _PIECES)
        return total / (total + 1)


class SharedContext:
    """Uncommon words of one nugget and the notes that hold them.

    A word is common when its inverse document frequency, ln(N / n) for a word in n of N notes, is less than
    half of the highest there can be, ln N; that is when it stands in more than the square root of N notes. In
    a small nugget up to five notes may share a word all the same. rarity: of words in the whole memory; of these
    notes when None.
    """

    def __init__(self, notes: Sequence[Note], vocabulary: TokenCache, rarity: Rarity | None = None) -> None:
        self._vocabulary = vocabulary
        self._rarity = rarity or Rarity(notes, vocabulary)
        self._notes = {note.id: note for note in notes}
        holders: dict[str, list[str]] = {}
        for note in notes:
            for token in vocabulary.tokens(note):
                holders.setdefault(token, []).append(note.id)
        highest = max(_ALWAYS_UNCOMMON, math.isqrt(len(notes)))
        self._holders = {
            token: ids for token, ids in holders.items() if 2 <= len(ids) <= highest and is_informative(token)
        }

    def candidates(self, note: Note, shared_tokens: int) -> list[Related]:
        """Notes that share enough uncommon words with a note; the strongest first, then by id.

        At least one shared word is no number.
        """
        shared: dict[str, list[str]] = {}
        for token in self._vocabulary.tokens(note):
            for other in self._holders.get(token, ()):
                shared.setdefault(other, []).append(token)
        shared.pop(note.id, None)
        found = []
        for other, said in shared.items():
            words = independent(said) if len(said) >= shared_tokens else []
            if len(words) >= shared_tokens and not all(word.isdecimal() for word in words):
                strength = sum(math.log((1 + len(self._notes)) / len(self._holders[word])) for word in words)
                found.append((-round(strength, 9), other, words))
        return [
            Related(self._notes[other], self._strongest(words), self._rarity.confidence(words))
            for _, other, words in sorted(found, key=lambda item: item[:2])
        ]

    def _strongest(self, words: list[str]) -> tuple[str, ...]:
        rare = frozenset(sorted(words, key=lambda word: len(self._holders[word]))[:_NAMED])
        return tuple(word for word in words if word in rare)


def is_of_reflection(link: Link) -> bool:
    """Whether reflection made a link."""
    return link.reason.startswith(OF_REFLECTION)


def made_links(note: Note) -> int:
    """How many links of a note reflection made."""
    return sum(map(is_of_reflection, note.links))


def linked(first: Note, second: Note) -> bool:
    """Whether two notes are linked, whatever the reason and whichever of them says so."""
    return any(link.to == b.id for a, b in ((first, second), (second, first)) for link in a.links)


def may_link(first: Note, second: Note, settings: ReflectionSettings) -> bool:
    """Whether reflection may link these two: no link yet, one subject or one that is shared, neither of them a hub."""
    subjects = {first.subject, second.subject}
    return (
        first.id != second.id
        and (len(subjects) == 1 or any(subject.startswith("shared:") for subject in subjects))
        and not linked(first, second)
        and max(made_links(first), made_links(second)) < settings.max_links
    )
