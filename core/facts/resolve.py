"""Finds the key that a query means: exactly, by its words, by a part, or despite typing errors.

Every rule gives a strength in [0, 1] and the strongest key wins, whatever its place in the file. A word counts by
its rarity among the keys (inverse document frequency), so that what tells keys apart decides.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from core.facts.recall_text import (
    RecallText,
    exact_form,
    is_beginning,
    is_filler,
    is_inflected,
    is_mostly,
    is_trait,
    likeness,
    parse_key,
    parse_recall_query,
    respelt,
    similar,
    written_out,
)
from core.text.tokens import unspaced_runs

KIND_ORDER: Final = ("exact", "tokens", "substring", "fuzzy", "graph")

# The thresholds stand where tests/core/facts/test_resolve_measured.py finds few false answers and few misses.
_LEAST: Final = 0.55  # strength of the weakest match
_COMPLETE: Final = 0.8  # share of all words that counts as all of them, typing errors allowed for
_LONE_KEY_WORD: Final = 0.4  # share of a query that a key of one word must make up, when all of it is there
_KEY_WORDS: Final = 0.25  # the same for a key of several words
_LEAST_SHARE: Final = 0.5  # where both sides have words of their own: share of each that is common,
_LEAST_PARTIAL: Final = 0.72  # and the mean of the two shares
_LEAST_PART: Final = 0.5  # share of a query's letters that a key found inside it must make up
_WORDLESS_PART: Final = 0.6  # the same for either side when it holds nothing but words like "what" and "is"
_LEAST_JOINED: Final = 0.85  # likeness of two texts whose words were joined or split,
_LEAST_UNSPACED: Final = 0.7  # or that are written without spaces, where one error may be in few letters,
_UNSPACED_ERRORS: Final = 0.8  # and several in more;
_LEAST_MISTYPED: Final = 0.88  # or that have as many words and letters in plenty,
_MISTYPED_FROM: Final = 12  # so many;
_JOINED_FROM, _JOINED_TO = 4, 120  # letters that they may have
# What is left of a strength when query and key
_OTHER_SCOPE: Final = 0.8  # bear different scopes,
_OTHER_PERSON: Final = 0.5  # speak one of the assistant and one of the person,
_KNOWN_ELSEWHERE: Final = 0.7  # have words of their own, and other keys hold those of the query,
_OTHER_NUMBER: Final = 0.5  # or hold different numbers;
_OTHER_OWNER: Final = 0.7  # where the key is a mere trait and the query has something unknown beside it,
_ALL_GUESSED: Final = (
    0.65  # where each of several words is a guess and none a better one than the next line's,
)
_TWO_ERRORS: Final = 0.8  # that of a word with two errors,
_HALF_IN_A_SENTENCE: Final = (
    0.6  # where all that is held is a word half typed, within a question of several words,
)
_OTHER_SPEAKER: Final = 0.97  # or where the query says "my" or "your" and the key does not bear that scope.
# How far another word of the same stem draws a strength to that of the weakest match: so far that the very word,
# wherever a key holds all that is asked for, is always stronger; and hardly at all for another form of one word.
_OTHER_WORD: Final = 0.9
_OTHER_FORM: Final = 0.05
_MOST_WEIGHED: Final = 200
_NEAR_WORDS: Final = 8
# How sure it is that a word stands for the only one that begins so, all else that is asked for being known; and else.
_COMPLETED: Final = 0.85
_MAY_BE_COMPLETED: Final = 0.75
_PEOPLE: Final = frozenset(("self", "user"))
_DIGITS: Final = re.compile(r"\d+")
_TRAILING: Final = " .,;:!?'\"()[]{}<>"


class Match(msgspec.Struct, frozen=True):
    """How a query found its key. kind: "exact", "tokens", "substring", "fuzzy" or "graph"; strength in [0, 1]."""

    kind: str
    strength: float

    @property
    def rank(self) -> tuple[float, int]:
        """Greater is better: strength, then the kind."""
        return self.strength, -KIND_ORDER.index(self.kind)


class ResolvedKey(NamedTuple):
    """The place of a key among the keys it was looked for in, and how it was found."""

    place: int
    match: Match
    closeness: float = 1.0  # of the texts, letter by letter: tells equally strong matches apart

    @property
    def rank(self) -> tuple[float, int, float]:
        """Greater is better."""
        return (*self.match.rank, self.closeness)


class ExactKeys:
    """The keys of one nugget by their text alone: made in a moment, however many there are."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = tuple(keys)
        self._same: dict[str, int] = {}
        self._folded: dict[str, int] = {}
        for place, key in enumerate(self.keys):
            self._same.setdefault(key, place)
            self._folded.setdefault(exact_form(key), place)

    def find(self, query: str) -> ResolvedKey | None:
        """The key of exactly this text, else the first that differs by case and outer spaces alone."""
        folded = exact_form(query)
        if not folded:
            return None
        place = self._same.get(query, self._folded.get(folded))
        return None if place is None else ResolvedKey(place, Match("exact", 1.0))


class KeyIndex:
    """The keys of one nugget, read once, for any number of queries."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = tuple(keys)
        self.readings = tuple(parse_key(key) for key in self.keys)
        self._exact = ExactKeys(self.keys)
        self.bare: dict[str, list[int]] = {}
        self.postings: dict[str, list[int]] = {}
        self.spelt: dict[str, str] = {}
        self.pairs: dict[str, tuple[str, ...]] = {}
        for place, reading in enumerate(self.readings):
            self.bare.setdefault(reading.bare, []).append(place)
            for word, token in zip(reading.words, reading.stems, strict=True):
                self.postings.setdefault(token, []).append(place)
                self.spelt.setdefault(word, token)
            for first, second in pairwise(reading.words):
                self.pairs.setdefault(first + second, (first, second))
        self.weights = {token: self._weight(len(held)) for token, held in self.postings.items()}
        self.totals = tuple(sum(self.weights[token] for token in r.stems) for r in self.readings)
        self.unknown = self._weight(1)
        self._sorted = sorted(self.spelt)
        self._compact = tuple(reading.compact for reading in self.readings)

    def _weight(self, holders: int) -> float:
        return math.log(1 + len(self.keys) / holders)

    def resolve(
        self, query: str, reading: RecallText | None = None, begun: Collection[str] = ()
    ) -> ResolvedKey | None:
        """The key that the query means, or None. Any text may be asked; `reading` spares reading it again.

        begun: words of the query that are half typed ones of other nuggets or notes, and so no typing errors here.
        """
        asked = reading or parse_recall_query(query)
        found = self._exactly(query, asked)
        if found is not None or not asked.compact:
            return found
        if len(asked.compact) > 1:
            found = self._by_words(asked, begun)
        found = found or self._by_part(asked)
        if found is None and len(asked.compact) > 1 and not any(word in begun for word in asked.words):
            found = self._joined(asked)
        return found

    def begins(self, word: str) -> bool:
        """Whether a word that no key holds is one of theirs half typed."""
        return bool(self._completions(word))

    def _exactly(self, query: str, asked: RecallText) -> ResolvedKey | None:
        found = self._exact.find(query)
        if found is not None or not asked.exact:
            return found
        for place in self.bare.get(asked.bare, ()) if asked.bare else ():
            if not asked.scope or asked.scope == self.readings[place].scope:
                return ResolvedKey(place, Match("exact", 0.99))
        return None

    # Words

    def _by_words(self, asked: RecallText, begun: Collection[str]) -> ResolvedKey | None:
        asked = respelt(asked, self.spelt, self.pairs)
        near = {
            token: self._near(word, token, asked, begun)
            for word, token in zip(asked.words, asked.stems, strict=True)
            if token in self.postings or not is_filler(token)
        }
        sought = {token: self._sought(token, found) for token, found in near.items()}
        whole = sum(sought.values())
        if not whole:
            return None
        of_query: dict[int, float] = {}
        of_key: dict[int, float] = {}
        for token, found in near.items():
            for place, (stem, sure) in self._holders(found):
                of_query[place] = of_query.get(place, 0.0) + sought[token] * sure
                of_key[place] = of_key.get(place, 0.0) + self.weights[stem] * sure
        scored: list[tuple[float, int]] = []
        for place, share in of_query.items():
            scope = self.readings[place].scope
            total = whole - sought[scope] if scope and scope in sought and not near[scope] else whole
            strength = _strength(
                min(share / total, 1.0) if total else 1.0,
                min(of_key[place] / self.totals[place], 1.0),
                len(self.readings[place].stems),
            )
            if strength:
                scored.append((-strength, place))
        scored.sort()
        return self._best(asked, near, scored)

    def _near(self, word: str, token: str, asked: RecallText, begun: Collection[str]) -> dict[str, float]:
        """Words of the keys that a word of the query may stand for, each with how sure that is in (0, 1].

        What may be half typed is no typing error.
        """
        if token in self.postings:
            return {token: 1.0}
        meant = {stem: sure for stem, sure in self._completions(word).items() if stem not in asked.stems}
        if meant or word in begun:
            others = (other for other in asked.stems if other != token and not is_filler(other))
            clear = len(meant) == 1 and all(other in self.postings for other in others)
            least = _COMPLETED if clear and self._mostly_typed(word) else _MAY_BE_COMPLETED
            likeliest = sorted(meant.items(), key=lambda item: (-item[1], item[0]))
            return {stem: max(sure, least) for stem, sure in likeliest[:_NEAR_WORDS]}
        found: dict[str, float] = {}
        for other in (*similar(word, self._sorted), *self._continued(word)):
            stem, sure = self.spelt[other], likeness(word, other)
            if sure and stem not in asked.stems:
                found[stem] = max(sure, found.get(stem, 0.0))
        return dict(sorted(found.items(), key=lambda item: -item[1])[:_NEAR_WORDS])

    def _holders(self, found: dict[str, float]) -> Iterable[tuple[int, tuple[str, float]]]:
        """Keys that hold one of the words, each with the likeliest; `found` begins with the likeliest."""
        if len(found) == 1:
            (only,) = found.items()
            return ((place, only) for place in self.postings[only[0]])
        best: dict[int, tuple[str, float]] = {}
        for word in found.items():
            for place in self.postings[word[0]]:
                best.setdefault(place, word)
        return best.items()

    def _completions(self, word: str) -> dict[str, float]:
        """Stems of the words of the keys that begin with a word, where it is long enough, with their likeness."""
        found: dict[str, float] = {}
        if is_beginning(word):
            first = bisect_left(self._sorted, word)
            for other in self._sorted[first : first + 4 * _NEAR_WORDS]:
                if not other.startswith(word):
                    break
                stem = self.spelt[other]
                found[stem] = max(likeness(word, other), found.get(stem, 0.0))
        return found

    def _mostly_typed(self, word: str) -> bool:
        """Whether a word is a good part of one that begins so."""
        first = bisect_left(self._sorted, word)
        following = self._sorted[first : first + 4 * _NEAR_WORDS]
        return any(is_mostly(word, other) for other in following)

    def _continued(self, word: str) -> Iterable[str]:
        """Words that begin with the word, and those that it begins with."""
        first = bisect_left(self._sorted, word)
        for other in self._sorted[first : first + 4 * _NEAR_WORDS]:
            if not other.startswith(word):
                break
            yield other
        for length in range(2, len(word)):
            if word[:length] in self.spelt:
                yield word[:length]

    def _sought(self, token: str, found: dict[str, float]) -> float:
        return max((self.weights[stem] for stem in found), default=self.unknown)

    def _best(
        self, asked: RecallText, near: dict[str, dict[str, float]], scored: list[tuple[float, int]]
    ) -> ResolvedKey | None:
        best: ResolvedKey | None = None
        for negative, place in scored[:_MOST_WEIGHED]:
            if best is not None and -negative < best.match.strength:
                break
            reading = self.readings[place]
            strength = -negative * self._doubt(asked, near, reading)
            if strength < _LEAST:
                continue
            strength -= (strength - _LEAST) * self._estrangement(asked, near, reading)
            guesses = (stem for found in near.values() for stem, sure in found.items() if sure < 1)
            guessed = any(stem in reading.stems for stem in guesses)
            match = self._resolved(place, "fuzzy" if guessed else "tokens", strength, asked)
            if best is None or match.rank > best.rank:
                best = match
        return best

    def _doubt(self, asked: RecallText, near: dict[str, dict[str, float]], reading: RecallText) -> float:
        """What is left of a strength, in (0, 1], where query and key each hold something that the other lacks."""
        left = _scope_doubt(asked, reading) * _number_doubt(asked, reading)
        missing = [token for token, found in near.items() if not any(stem in reading.stems for stem in found)]
        spare = set(reading.stems).difference(*(near[token] for token in near))
        if spare and any(near[token] and not is_filler(token) for token in missing):
            left *= _KNOWN_ELSEWHERE
        if all(is_trait(stem) for stem in reading.stems) and any(
            not near[token] and not is_trait(token) for token in missing
        ):
            left *= _OTHER_OWNER
        sure = [max(found.values()) for found in near.values() if not found.keys().isdisjoint(reading.stems)]
        if len(sure) > 1 and max(sure) <= _TWO_ERRORS:
            left *= _ALL_GUESSED
        elif len(sure) == 1 and " " in asked.plain and self._is_half_typed(asked, reading):
            left *= _HALF_IN_A_SENTENCE
        if asked.person and asked.person != reading.scope:
            left *= _OTHER_SPEAKER
        return left

    def _is_half_typed(self, asked: RecallText, reading: RecallText) -> bool:
        """Whether a key holds a word of the query only as the beginning of a longer word."""
        unknown = (
            word for word, token in zip(asked.words, asked.stems, strict=True) if token not in self.postings
        )
        begun = {stem: sure for word in unknown for stem, sure in self._completions(word).items()}
        return any(begun.get(stem, 1.0) <= _MAY_BE_COMPLETED for stem in reading.stems)

    def _estrangement(
        self, asked: RecallText, near: dict[str, dict[str, float]], reading: RecallText
    ) -> float:
        """How far, in [0, 1], what query and key have in common is the stems of their words and not the words."""
        apart, whole = 0.0, 0.0
        for word, token in zip(asked.words, asked.stems, strict=True):
            if token not in near or token not in reading.stems:
                continue
            whole += self.weights[token]
            asked_for = written_out(word)
            if asked_for not in reading.forms:
                held = written_out(reading.words[reading.stems.index(token)])
                apart += self.weights[token] * (_OTHER_FORM if is_inflected(asked_for, held) else _OTHER_WORD)
        return apart / whole if whole else 0.0

    def _resolved(self, place: int, kind: str, strength: float, asked: RecallText) -> ResolvedKey:
        from rapidfuzz.fuzz import ratio

        close = ratio(asked.plain, self.readings[place].plain) / 100
        return ResolvedKey(place, Match(kind, min(strength, 0.99)), close)

    # Letters

    def _by_part(self, asked: RecallText) -> ResolvedKey | None:
        """A key that holds the whole query between word boundaries, or the other way round."""
        part = asked.plain.rstrip(_TRAILING)
        if len(part) < 2:
            return None
        best: ResolvedKey | None = None
        for place, reading in enumerate(self.readings):
            strength = _part_strength(part, asked, reading)
            if strength >= _LEAST and (best is None or strength > best.match.strength):
                best = self._resolved(place, "substring", strength, asked)
        return best

    def _joined(self, asked: RecallText) -> ResolvedKey | None:
        """A key whose words were joined or split ("time zone" and "timezone"), a typing error or two allowed.

        Where a script puts no space between words, texts are compared in this way alone.
        """
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        if not _JOINED_FROM <= len(asked.compact) <= _JOINED_TO:
            return None
        unspaced = bool(unspaced_runs().search(asked.compact))
        best: ResolvedKey | None = None
        for _, alike, place in process.extract(
            asked.compact,
            self._compact,
            scorer=OSA.normalized_similarity,
            score_cutoff=_LEAST_UNSPACED if unspaced else _LEAST_JOINED,
            limit=8,
        ):
            reading = self.readings[place]
            if not (
                unspaced or len(reading.words) != len(asked.words) or self._mistyped(alike, asked, reading)
            ):
                continue
            if alike < _UNSPACED_ERRORS and OSA.distance(asked.compact, reading.compact) > 1:
                continue
            strength = 0.95 * alike * _scope_doubt(asked, reading) * _number_doubt(asked, reading)
            found = self._resolved(place, "fuzzy", strength, asked)
            if strength >= _LEAST and (best is None or found.rank > best.rank):
                best = found
        return best

    def _mistyped(self, alike: float, asked: RecallText, reading: RecallText) -> bool:
        """Whether a text of several words is a key with errors in it, and no word in it is one of other keys."""
        enough = len(asked.words) > 1 and len(asked.compact) >= _MISTYPED_FROM and alike >= _LEAST_MISTYPED
        return enough and all(t in reading.stems or t not in self.postings for t in asked.stems)


def lacks_a_word(query: str, key: str) -> bool:
    """Whether a key holds a word of a query in no form, not half typed or misspelt either."""
    asked, reading = parse_recall_query(query), parse_key(key)
    return any(
        token not in reading.stems
        and token != reading.scope
        and not is_filler(token)
        and word not in reading.compact
        and not any(likeness(word, other) for other in reading.words)
        for word, token in zip(asked.words, asked.stems, strict=True)
    )


def _strength(of_query: float, of_key: float, key_words: int) -> float:
    """How strong a match is by the share of the query's words that the key holds and the share of the key's words
    that the query holds, both in [0, 1]; 0 for none.

    All words of the query, or all of the key, say more than some of both: "dog food brand" is not "cat food brand".
    """
    strength = 0.0
    if of_query >= _COMPLETE:
        strength = (0.6 + 0.39 * of_key) * of_query
    if of_key >= _COMPLETE and of_query >= (_LONE_KEY_WORD if key_words == 1 else _KEY_WORDS):
        strength = max(strength, (0.5 + 0.45 * of_query) * of_key)
    shared = (of_query + of_key) / 2
    if min(of_query, of_key) >= _LEAST_SHARE and shared >= _LEAST_PARTIAL:
        strength = max(strength, shared)
    return strength if strength >= _LEAST else 0.0


def _part_strength(part: str, asked: RecallText, reading: RecallText) -> float:
    """How strong a match is by the letters that query and key share as one piece; 0 for none.

    `part` is the query without what trails it. A key inside a longer query must make up a good part of it, and
    where there are but words like "what" and "is", most of it.
    """
    key = reading.plain
    if len(part) <= len(key):
        share = len(part) / len(key)
        enough = bool(asked.words) or not part.isalpha() or share >= _WORDLESS_PART
        if not (enough and part in key and stands_alone(part, key)):
            return 0.0
        strength = 0.6 + 0.35 * share
    else:
        share = len(key) / len(part)
        enough = len(reading.compact) > 1 and share >= (_LEAST_PART if reading.words else _WORDLESS_PART)
        if not (enough and key in part and stands_alone(key, part)):
            return 0.0
        strength = 0.5 + 0.45 * share
    return strength * _scope_doubt(asked, reading)


def _scope_doubt(asked: RecallText, reading: RecallText) -> float:
    if not asked.scope or not reading.scope or asked.scope == reading.scope:
        return 1.0
    return _OTHER_PERSON if {asked.scope, reading.scope} == _PEOPLE else _OTHER_SCOPE


def _number_doubt(asked: RecallText, reading: RecallText) -> float:
    """Two texts with different numbers speak of different things."""
    wanted, held = set(_DIGITS.findall(asked.plain)), set(_DIGITS.findall(reading.plain))
    return _OTHER_NUMBER if wanted and held and not wanted & held else 1.0


def stands_alone(part: str, text: str) -> bool:
    """Whether `part` occurs in `text` between word boundaries ("cat" does in "my cat", not in "concatenate").

    Scripts without spaces have a boundary between any two characters.
    """
    place = text.find(part)
    while place >= 0:
        end = place + len(part)
        if _boundary(text, place) and _boundary(text, end):
            return True
        place = text.find(part, place + 1)
    return False


def _boundary(text: str, place: int) -> bool:
    if place in (0, len(text)):
        return True
    before, after = text[place - 1], text[place]
    if not (before.isalnum() and after.isalnum()):
        return True
    unspaced = unspaced_runs()
    return bool(unspaced.match(before) or unspaced.match(after))
