"""The note that answers what no fact's key does: its title must be meant, its text may help to tell which."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Final, NamedTuple

from core.facts.wording import (
    Reading,
    is_beginning,
    is_filler,
    is_mostly,
    is_trait,
    likeness,
    read_key,
    respelt,
    similar,
    tells,
    written_out,
)
from core.model.note import Note
from core.text.mask import all_masked
from core.text.tokens import stem, words

# The thresholds stand where tests/core/test_memory_recall_measured.py finds few false answers and few misses.
_LEAST: Final = 0.52  # strength of the weakest match
_IN_TAGS: Final = 0.7  # what a word of the query is worth in the tags, one in the title being worth 1,
_IN_TEXT: Final = 0.8  # and in a text of a few words;
_LONG_TEXT: Final = 0.12  # the longer a text, the more words stand in it by chance
# The same where no word of the title was asked for: all words must be there then, a word that is asked for by itself
# where the text says what it is about, and a fact's value never suffices.
_TEXT_ALONE: Final = 0.62
_BEGINNING: Final = 8  # words of a text that say what it is about
_BY_TITLE: Final = 0.3  # share of a strength that hangs on how much of the title was asked for
_TRAIT: Final = 0.6  # what a word like "file" or "name" is worth beside others
_LEAST_SURE: Final = 0.8  # of a word of the query being a word of a title mistyped
_MARKED: Final = re.compile(r"\*\*([^*\n]+)\*\*|`([^`\n]+)`")


class NoteMatch(NamedTuple):
    """A note that answers, and how strongly, in [0, 1]."""

    note: Note
    strength: float


class _Read(NamedTuple):
    """A note as it is looked through: stems of its title, of its nugget and tags, of its text, and of what its text
    is about: how it begins, and what it sets in bold or as code.
    """

    note: Note
    title: tuple[str, ...]
    tags: frozenset[str]
    text: frozenset[str]
    topic: frozenset[str]
    spelt: tuple[tuple[str, str], ...]


class _Wanted(NamedTuple):
    """A word of a query: what it counts, by its rarity, and the stems that it may stand for."""

    weight: float
    meant: frozenset[str]


class NoteIndex:
    """The visible notes of a memory, read once for any number of queries and again only where they change.

    What is but a masked credential answers nothing, and is left out.
    """

    def __init__(self) -> None:
        self._notes: tuple[Note, ...] | None = None
        self._read: list[_Read] = []
        self._in_titles: dict[str, list[int]] = {}
        self._held: dict[str, list[int]] = {}
        self._weights: dict[str, float] = {}
        self._words: dict[str, str] = {}
        self._spelt: list[str] = []
        self._pairs: dict[str, tuple[str, ...]] = {}

    def update(self, notes: tuple[Note, ...]) -> None:
        """Takes in the notes of a snapshot."""
        if notes is self._notes:
            return
        before = {id(read.note): read for read in self._read}
        self._read, self._in_titles, self._held, self._words, self._pairs = [], {}, {}, {}, {}
        for note in notes:
            if not note.hidden and not all_masked(note.content):
                self._add(before.get(id(note)) or _read_note(note))
        self._spelt = list(self._words)
        self._weights = {
            token: math.log(1 + len(self._read) / len(held)) for token, held in self._held.items()
        }
        self._notes = notes

    def _add(self, read: _Read) -> None:
        place = len(self._read)
        self._read.append(read)
        for token in read.text.union(read.title, read.tags):
            self._held.setdefault(token, []).append(place)
        for token in read.title:
            self._in_titles.setdefault(token, []).append(place)
        self._words.update(read.spelt)
        for (first, _), (second, _) in pairwise(read.spelt):
            self._pairs.setdefault(first + second, (first, second))

    def best(self, asked: Reading, nugget: str | None = None) -> NoteMatch | None:
        """The note that a query means, over all nuggets or in one; None when nothing does."""
        asked = respelt(asked, self._words, self._pairs)
        wanted = self._wanted(asked)
        whole = sum(weight for weight, _ in wanted)
        if not whole or all(word.isascii() and len(word) == 1 for word in asked.words):
            return None
        found: NoteMatch | None = None
        for read in self._candidates(wanted):
            if nugget is not None and read.note.nugget_name != nugget:
                continue
            match = NoteMatch(read.note, self._strength(read, wanted, whole))
            if match.strength >= _LEAST and (found is None or _rank(match) > _rank(found)):
                found = match
        return found

    def _wanted(self, asked: Reading) -> list[_Wanted]:
        wanted = []
        for word, token in zip(asked.words, asked.stems, strict=True):
            if is_filler(token):
                continue
            meant = frozenset((token,)) if token in self._held else frozenset(self._mistyped(word))
            rarity = max((self._weights[name] for name in meant), default=math.log(1 + len(self._read)))
            wanted.append(_Wanted((_TRAIT if is_trait(token) else 1.0) * rarity, meant))
        return wanted

    def begins(self, word: str) -> bool:
        """Whether a word that no note holds is one of their titles half typed."""
        return stem(written_out(word)) not in self._held and bool(self._completions(word))

    def _completions(self, word: str) -> frozenset[str]:
        if not is_beginning(word):
            return frozenset()
        return frozenset(self._words[other] for other in self._spelt if other.startswith(word))

    def _mostly_typed(self, word: str) -> bool:
        """Whether a word is a good part of one that begins so."""
        return any(is_mostly(word, other) for other in self._spelt)

    def _mistyped(self, word: str) -> Iterable[str]:
        completions = self._completions(word)
        if completions:
            # Which of several is meant, nothing tells.
            yield from completions if len(completions) == 1 and self._mostly_typed(word) else ()
            return
        for other in similar(word, self._spelt):
            if likeness(word, other) >= _LEAST_SURE and self._words[other] in self._held:
                yield self._words[other]

    def _candidates(self, wanted: Sequence[_Wanted]) -> Iterable[_Read]:
        """Notes whose title holds a word that is asked for, and those that hold them all."""
        titles = (self._in_titles.get(token, ()) for _, meant in wanted for token in meant)
        holders = ({place for token in meant for place in self._held[token]} for _, meant in wanted)
        for place in sorted({*chain.from_iterable(titles), *set.intersection(*holders)}):
            yield self._read[place]

    def _strength(self, read: _Read, wanted: Sequence[_Wanted], whole: float) -> float:
        named = sum(weight for weight, meant in wanted if not meant.isdisjoint(read.title))
        in_text = _IN_TEXT / (1 + _LONG_TEXT * math.log1p(len(read.text) / 8))
        share = 0.0
        for weight, meant in wanted:
            if not meant.isdisjoint(read.title):
                share += weight
            elif not meant.isdisjoint(read.tags):
                share += weight * _IN_TAGS
            elif not meant.isdisjoint(read.text):
                share += weight * (in_text if named else _TEXT_ALONE)
        share /= whole
        if not named:
            alone = len(wanted) == 1 and wanted[0].meant.isdisjoint(read.topic)
            return 0.0 if read.note.is_fact or alone else share
        title = sum(self._weights[token] for token in read.title)
        met = sum(self._weights[t] for t in read.title if any(t in meant for _, meant in wanted))
        return share * (1 - _BY_TITLE + _BY_TITLE * met / title)


def _rank(match: NoteMatch) -> tuple[float, bool, int, str]:
    return match.strength, match.note.is_fact, match.note.hits, match.note.id


def _read_note(note: Note) -> _Read:
    title = read_key(note.title)
    told = [token for token in title.stems if not is_filler(token)] or title.stems
    tags = " ".join((note.nugget_name, *(tag for tag in note.tags if ":" not in tag)))
    return _Read(
        note=note,
        title=tuple(told),
        tags=_stems(tags),
        text=_stems(note.content),
        topic=_stems(
            " ".join(
                (
                    *note.content.split(maxsplit=_BEGINNING)[:_BEGINNING],
                    *(bold or code for bold, code in _MARKED.findall(note.content)),
                )
            )
        ),
        spelt=tuple(zip(title.words, title.stems, strict=True)),
    )


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(written_out(word)) for word in words(text, compounds=True) if tells(word))
