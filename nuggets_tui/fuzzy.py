"""Titles that fit what is typed: words in any order, the first letters of words, letters in order.

Not `textual.fuzzy`, which tries every way to place the letters: a long title makes a key wait for seconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

# Titles looked at before it is asked whether anybody still waits.
_CHUNK: Final = 4_000
# So many are weighed; of a letter that stands in nearly every title more would say nothing.
_WEIGHED: Final = 3_000
_LONGEST: Final = 200
_LONGEST_TYPED: Final = 100
_STARTS: Final = re.compile(r"(?:(?<=[\W_])|^)[^\W_]")


@dataclass(frozen=True)
class Match:
    """A title that fits. place: in the sequence given; marked: characters that were matched.

    weight: the higher the better; 3 and more: all words stand there; 2 and more: letters that begin words; below that
    only letters in this order.
    """

    place: int
    weight: float
    marked: tuple[int, ...]

    @property
    def strong(self) -> bool:
        """Whether it surely is what was meant."""
        return self.weight >= 2


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
                found.append(Match(place, *_weighed(title, words, letters)))
    return sorted(found, key=lambda match: (-match.weight, match.place))[:most]


def _weighed(title: str, words: Sequence[str], letters: str) -> tuple[float, tuple[int, ...]]:
    if all(word in title for word in words):
        at = [_place_of(word, title) for word in words]
        marked = {place + step for place, word in zip(at, words, strict=True) for step in range(len(word))}
        begin = sum(_begins(title, place) for place in at)
        return 3 + begin / len(words) + len(letters) / (len(title) + 1), tuple(sorted(marked))
    starts = [match.start() for match in _STARTS.finditer(title)]
    initials = _in_order(letters, [(start, title[start]) for start in starts])
    if initials:
        return 2 + len(letters) / (starts.index(initials[-1]) - starts.index(initials[0]) + 2), initials
    places = _in_order(letters, enumerate(title))
    return len(letters) / (places[-1] - places[0] + 1), places


def _place_of(word: str, title: str) -> int:
    """Where a word stands in a title: at the start of one, where it does."""
    found = (match.start() for match in re.finditer(re.escape(word), title))
    return next((place for place in found if _begins(title, place)), title.find(word))


def _begins(title: str, place: int) -> bool:
    return place == 0 or not title[place - 1].isalnum()


def _in_order(letters: str, offered: Iterable[tuple[int, str]]) -> tuple[int, ...]:
    """The places of letters that stand in this order; none where they do not."""
    places: list[int] = []
    for place, letter in offered:
        if len(places) < len(letters) and letter == letters[len(places)]:
            places.append(place)
    return tuple(places) if len(places) == len(letters) else ()
