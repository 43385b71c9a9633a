"""Titles that fit what is typed: words in any order, the first letters of words, letters in order, typing errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

# Titles looked at before it is asked whether anybody still waits.
_CHUNK: Final = 4_000
# So many are weighed; of a letter that stands in nearly every title more would say nothing.
_WEIGHED: Final = 3_000
_LONGEST: Final = 200
_LONGEST_TYPED: Final = 100
# Typing errors are looked for in so many letters: fewer may mean anything, more take too long.
_LEAST_WRONG, _MOST_WRONG = 4, 40
_ENOUGH: Final = 3
# Of 100, by rapidfuzz: one wrong letter of six.
_NEAR: Final = 82.0
# Weights of words that stand in a title, inside of others at least, and all at the start of one.
_IN_WORDS, _AT_STARTS = 3, 4
_STARTS: Final = re.compile(r"(?:(?<=[\W_])|^)[^\W_]")


@dataclass(frozen=True)
class Match:
    """A title that fits. place: in the sequence given; marked: characters that were matched.

    weight: the higher the better; 2 and more: all words stand there, or letters that begin words; below that only
    letters in this order, or nearly these words.
    """

    place: int
    weight: float
    marked: tuple[int, ...]

    @property
    def strong(self) -> bool:
        """Whether it surely is what was meant."""
        return self.weight >= 2

    @property
    def inside(self) -> bool:
        """Whether words were found only inside of longer ones: "setting" in "Resetting"."""
        return _IN_WORDS <= self.weight < _AT_STARTS


def folded(title: str) -> str:
    """A title as it is compared: in small letters, each in its place."""
    small = title[:_LONGEST].lower()
    return small if len(small) == len(title[:_LONGEST]) else title[:_LONGEST]


def fitting(
    typed: str, titles: Sequence[str], most: int, stopped: Callable[[], bool] = lambda: False
) -> list[Match]:
    """The titles that fit best, best first; of equal ones the earlier. titles: as `folded` gives them.

    stopped: asked now and then; once it says yes, what was found so far is given.
    """
    words = typed.lower()[:_LONGEST_TYPED].split()
    if not words:
        return []
    letters = "".join(words)
    # Possessive, so that there is no going back: the first place of each letter is as good as any.
    in_order = re.compile("".join(f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in letters))
    found: list[Match] = []
    for start in range(0, len(titles), _CHUNK):
        if stopped() or len(found) >= _WEIGHED:
            break
        for place, title in enumerate(titles[start : start + _CHUNK], start):
            if in_order.match(title) or all(word in title for word in words):
                found.append(_weighed(place, title, words, letters))
    if _LEAST_WRONG <= len(letters) <= _MOST_WRONG and sum(match.strong for match in found) < _ENOUGH:
        known = {match.place for match in found}
        found += (m for m in _nearly(" ".join(words), titles, most, stopped) if m.place not in known)
    return sorted(found, key=lambda match: (-match.weight, match.place))[:most]


def _weighed(place: int, title: str, words: Sequence[str], letters: str) -> Match:
    whole = _words_in(title, words)
    if whole is not None:
        spans, at_starts = whole
        weight = _IN_WORDS + at_starts / len(words) + len(letters) / (len(title) + 1)
        return Match(place, weight, spans)
    starts = [match.start() for match in _STARTS.finditer(title)]
    initials = _subsequence(letters, [(start, title[start]) for start in starts])
    if initials is not None:
        # Letters that begin words one after the other say more than those with words between.
        between = starts.index(initials[-1]) - starts.index(initials[0]) + 1 - len(initials)
        return Match(place, 2 + len(letters) / (len(starts) + between + 1), initials)
    marked = _tightened(letters, title)
    runs = 1 + sum(after != before + 1 for before, after in pairwise(marked))
    at_starts = len(set(marked) & set(starts))
    share = (at_starts + len(letters) - runs + 1) / (2 * len(letters) + 1)
    # Long pieces of what was typed in the right order: a letter was left out.
    return Match(place, share + (2 if len(letters) > 3 * (runs - 1) + 2 >= 5 else 0), marked)


def _words_in(title: str, words: Sequence[str]) -> tuple[tuple[int, ...], int] | None:
    """The characters of the words in a title, at the start of a word where they are, and how many begin one."""
    marked: set[int] = set()
    at_starts = 0
    for word in words:
        at = next((m.start() for m in re.finditer(re.escape(word), title) if _begins(title, m.start())), -1)
        at_starts += at >= 0
        at = at if at >= 0 else title.find(word)
        if at < 0:
            return None
        marked.update(range(at, at + len(word)))
    return tuple(sorted(marked)), at_starts


def _begins(title: str, place: int) -> bool:
    return place == 0 or not title[place - 1].isalnum()


def _subsequence(letters: str, offered: Sequence[tuple[int, str]]) -> tuple[int, ...] | None:
    places: list[int] = []
    for place, letter in offered:
        if len(places) < len(letters) and letter == letters[len(places)]:
            places.append(place)
    return tuple(places) if len(places) == len(letters) else None


def _tightened(letters: str, title: str) -> tuple[int, ...]:
    """Where letters stand in order: the first place at which they end, and from there back as near as they are."""
    end = -1
    for letter in letters:
        end = title.find(letter, end + 1)
    places = [end]
    for letter in reversed(letters[:-1]):
        places.append(title.rfind(letter, 0, places[-1]))
    return tuple(reversed(places))


def _nearly(typed: str, titles: Sequence[str], most: int, stopped: Callable[[], bool]) -> Iterator[Match]:
    """Titles that hold nearly what was typed."""
    from rapidfuzz import fuzz, process

    for start in range(0, len(titles), _CHUNK):
        if stopped():
            return
        part = titles[start : start + _CHUNK]
        for title, score, place in process.extract(
            typed, part, scorer=fuzz.partial_ratio, score_cutoff=_NEAR, limit=most
        ):
            # A title much shorter than what was typed is part of it, not the other way round.
            if len(title) * 2 < len(typed):
                continue
            span = fuzz.partial_ratio_alignment(typed, title)
            marked = tuple(range(span.dest_start, span.dest_end)) if span is not None else ()
            yield Match(start + place, 1 + score / 200, marked)
