"""The note that answers what no fact's key does: its title must be meant, its text may help to tell which."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
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
from core.text.tokens import ASCII_WORD, stem, word_pattern, words

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
_ASKED_EVERY: Final = 20
_MOST_RUNS: Final = 200_000
_KEPT_RUNS: Final = 20_000
_MARKED: Final = re.compile(r"\*\*([^*\n]+)\*\*|`([^`\n]+)`")


class NoteMatch(NamedTuple):
    """A note that answers, and how strongly, in [0, 1]."""

    note: Note
    strength: float


class _Read(NamedTuple):
    """A note as it is looked through: stems of its title, and of its nugget and tags; how many its text has."""

    note: Note
    title: tuple[str, ...]
    tags: frozenset[str]
    text_stems: int
    spelt: tuple[tuple[str, str], ...]


class _Wanted(NamedTuple):
    """A word of a query: what it counts, by its rarity, and the stems that it may stand for."""

    weight: float
    meant: frozenset[str]
    holders: frozenset[int]


class NoteIndex:
    """The visible notes of a memory, read once for any number of queries and again only where they change.

    What is but a masked credential answers nothing, and is left out.
    """

    def __init__(self) -> None:
        self._notes: tuple[Note, ...] | None = None
        # A snapshot on its way in, and what of it is still to be read, the last first.
        self._coming: tuple[Note, ...] | None = None
        self._unread: list[Note] = []
        # Places are given once: what goes leaves its place empty.
        self._read: list[_Read | None] = []
        self._places: dict[int, int] = {}
        self._left_out: dict[int, Note] = {}
        self._held: dict[str, array[int]] = {}
        self._in_titles: dict[str, array[int]] = {}
        self._weights: dict[str, float] = {}
        self._words: dict[str, str] = {}
        self._spelt: list[str] = []
        self._pairs: dict[str, tuple[str, ...]] = {}

    def update(self, notes: tuple[Note, ...], stopped: Callable[[], bool] = lambda: False) -> bool:
        """Takes in the notes of a snapshot; whether it did so to the end. stopped: asked again and again."""
        if notes is self._notes:
            return True
        if notes is not self._coming:
            self._begin(notes)
        while self._unread:
            if not len(self._unread) % _ASKED_EVERY and stopped():
                return False
            note = self._unread.pop()
            if id(note) in self._places:
                continue
            if note.hidden or all_masked(note.content):
                self._left_out[id(note)] = note
            else:
                self._take_in(note)
        self._read_titles(notes)
        every = len(self._places)
        self._weights = {token: math.log(1 + every / len(held)) for token, held in self._held.items()}
        self._notes, self._coming = notes, None
        if len(_TOLD) > _KEPT_RUNS:
            _TOLD.clear()
        return True

    def _begin(self, notes: tuple[Note, ...]) -> None:
        """Lets go of what is not there any more, and finds what is to be read."""
        self._notes, self._coming = None, notes
        present = set(map(id, notes))
        gone = self._places.keys() - present
        if len(gone) > len(present) / 4:
            self._read, self._places, self._held, gone = [], {}, {}, set()
        for number in gone:
            self._take_out(number)
        self._left_out = {number: note for number, note in self._left_out.items() if number in present}
        known = {*self._places, *self._left_out}
        self._unread = [note for note in reversed(notes) if id(note) not in known]

    def _take_in(self, note: Note) -> None:
        place = self._places[id(note)] = len(self._read)
        text = _stems(note.content)
        read = _read_note(note, len(text))
        self._read.append(read)
        for token in text.union(read.title, read.tags):
            _put(self._held, token, place)

    def _take_out(self, number: int) -> None:
        place = self._places.pop(number)
        read = self._read[place]
        assert read is not None
        self._read[place] = None
        for token in _stems(read.note.content).union(read.title, read.tags):
            held = self._held[token]
            held.remove(place)
            if not held:
                del self._held[token]

    def _read_titles(self, notes: tuple[Note, ...]) -> None:
        """What is known of titles alone, in the order of the notes."""
        self._in_titles, self._words, self._pairs = {}, {}, {}
        for note in notes:
            place = self._places.get(id(note))
            read = self._read[place] if place is not None else None
            if place is None or read is None:
                continue
            for token in read.title:
                _put(self._in_titles, token, place)
            self._words.update(read.spelt)
            for (first, _), (second, _) in pairwise(read.spelt):
                self._pairs.setdefault(first + second, (first, second))
        self._spelt = list(self._words)

    def best(self, asked: Reading, nugget: str | None = None) -> NoteMatch | None:
        """The note that a query means, over all nuggets or in one; None when nothing does."""
        asked = respelt(asked, self._words, self._pairs)
        wanted = self._wanted(asked)
        whole = sum(one.weight for one in wanted)
        if not whole or all(word.isascii() and len(word) == 1 for word in asked.words):
            return None
        found: NoteMatch | None = None
        for place in self._candidates(wanted):
            read = self._read[place]
            assert read is not None
            if nugget is not None and read.note.nugget_name != nugget:
                continue
            match = NoteMatch(read.note, self._strength(place, read, wanted, whole))
            if match.strength >= _LEAST and (found is None or _rank(match) > _rank(found)):
                found = match
        return found

    def _wanted(self, asked: Reading) -> list[_Wanted]:
        wanted = []
        for word, token in zip(asked.words, asked.stems, strict=True):
            if is_filler(token):
                continue
            meant = frozenset((token,)) if token in self._held else frozenset(self._mistyped(word))
            rarity = max((self._weights[name] for name in meant), default=math.log(1 + len(self._places)))
            holders = frozenset(chain.from_iterable(self._held[name] for name in meant))
            wanted.append(_Wanted((_TRAIT if is_trait(token) else 1.0) * rarity, meant, holders))
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

    def _candidates(self, wanted: Sequence[_Wanted]) -> list[int]:
        """Places of notes whose title holds a word that is asked for, and of those that hold them all."""
        titles = (self._in_titles.get(token, ()) for one in wanted for token in one.meant)
        return sorted({*chain.from_iterable(titles), *frozenset.intersection(*(w.holders for w in wanted))})

    def _strength(self, place: int, read: _Read, wanted: Sequence[_Wanted], whole: float) -> float:
        named = sum(weight for weight, meant, _ in wanted if not meant.isdisjoint(read.title))
        in_text = _IN_TEXT / (1 + _LONG_TEXT * math.log1p(read.text_stems / 8))
        share = 0.0
        for weight, meant, holders in wanted:
            if not meant.isdisjoint(read.title):
                share += weight
            elif not meant.isdisjoint(read.tags):
                share += weight * _IN_TAGS
            elif place in holders:
                share += weight * (in_text if named else _TEXT_ALONE)
        share /= whole
        if not named:
            if read.note.is_fact or share < _LEAST:
                return 0.0
            return share if len(wanted) > 1 or not wanted[0].meant.isdisjoint(_topic(read.note)) else 0.0
        title = sum(self._weights[token] for token in read.title)
        met = sum(self._weights[t] for t in read.title if any(t in meant for _, meant, _ in wanted))
        return share * (1 - _BY_TITLE + _BY_TITLE * met / title)


def _rank(match: NoteMatch) -> tuple[float, bool, int, str]:
    return match.strength, match.note.is_fact, match.note.hits, match.note.id


def _read_note(note: Note, text_stems: int) -> _Read:
    title = read_key(note.title)
    told = [token for token in title.stems if not is_filler(token)] or title.stems
    tags = " ".join((note.nugget_name, *(tag for tag in note.tags if ":" not in tag)))
    return _Read(
        note=note,
        title=tuple(told),
        tags=_tag_stems(tags),
        text_stems=text_stems,
        spelt=tuple(map(_spelt, title.words, title.stems)),
    )


def _put(places: dict[str, array[int]], token: str, place: int) -> None:
    held = places.get(token)
    if held is None:
        places[token] = array("I", (place,))
    else:
        held.append(place)


# Many notes have the same tags and the same words in their titles: held once for all of them.
@lru_cache(maxsize=20_000)
def _tag_stems(tags: str) -> frozenset[str]:
    return _stems(tags)


@lru_cache(maxsize=50_000)
def _spelt(word: str, stemmed: str) -> tuple[str, str]:
    return word, stemmed


@lru_cache(maxsize=4096)
def _topic_of(content: str) -> frozenset[str]:
    begins = content.split(maxsplit=_BEGINNING)[:_BEGINNING]
    return _stems(" ".join((*begins, *(bold or code for bold, code in _MARKED.findall(content)))))


def _topic(note: Note) -> frozenset[str]:
    """Stems of what a text is about: how it begins, and what it sets in bold or as code."""
    return _topic_of(note.content)


class _Told(dict[str, tuple[str, ...]]):
    """The stems that a run of letters and digits tells; the runs of a memory are much the same in all notes."""

    def __missing__(self, run: str) -> tuple[str, ...]:
        if len(self) >= _MOST_RUNS:
            self.clear()
        found = words(run, compounds=True)
        told = self[run] = tuple(stem(written_out(word)) for word in found if tells(word))
        return told


_TOLD: Final = _Told()


def _stems(text: str) -> frozenset[str]:
    runs = (ASCII_WORD if text.isascii() else word_pattern()).findall(text)
    return frozenset(chain.from_iterable(map(_TOLD.__getitem__, set(runs))))
