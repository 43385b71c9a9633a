"""Whether one of two statements takes the other's place: what they say decides, not the names that they share.

A statement says so by a word of change ("instead of", "moved from", "replaced by", "no longer", "only", "now"), by
denying what the other says, or by another value in the same words. The words are those of English, German, French,
Spanish, Italian, Portuguese and Dutch; of Chinese and Japanese the plainest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from core.pipeline.intake import statement_words as lexicon
from core.text.languages import FOREIGN_WORDS
from core.text.tokens import STOP_WORDS, fold, stem, unspaced_runs, words

ChangeKind = Literal["negation", "change", "value"]

_LONGEST_READ: Final = 2_000
_TOKEN: Final = re.compile(
    r"0x[0-9a-fA-F]+|[^\W\d_][^\W_]*(?:[-_./][^\W_]+)*|\d+(?:[.,:/-]\d+)*[^\W\d_]{0,3}|[,;:()—–]|[^\W_]+"
)
_CONTRACTED: Final = re.compile(r"\b(ca|wo|sha)n['’]t\b|n['’]t\b", re.IGNORECASE)
_WHOLE: Final = {"ca": "can not", "wo": "will not", "sha": "shall not"}
_APOSTROPHE: Final = re.compile(r"(?<=\w)['’](?=\w)")
_KEY_LENGTH: Final = 6
_LEAST_COVERED: Final = 0.6
_LEAST_SHARED: Final = 2
_LEAST_JACCARD: Final = 0.5
_MOST_OF_VALUE: Final = 4
_MOST_LEFT: Final = 5
_CJK_COVERED: Final = 0.6


@dataclass(frozen=True, slots=True)
class _Word:
    """A word: as written, folded, what it is compared by, the number of its clause, whether it is a name or a value."""

    written: str
    plain: str
    key: str
    clause: int
    name: bool
    number: bool
    dated: bool

    @property
    def weighs(self) -> bool:
        if self.number or self.dated:
            return True
        light = self.plain in lexicon.LIGHT and not (
            self.written.isupper() and self.plain not in lexicon.NEGATIONS
        )
        return len(self.plain) > 1 and not light

    @property
    def value(self) -> bool:
        return self.number or self.dated or self.name


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement as it is compared.

    content: keys of what it says. subject: of what it is about. denied: keys of what it denies. left: keys of what it
    says to be over, and whether it says so of them by name. changes, only: whether it holds such a word.
    """

    words: tuple[_Word, ...]
    content: frozenset[str]
    subject: frozenset[str]
    denied: frozenset[str] | None
    left: frozenset[str]
    replaced: frozenset[str]
    changes: bool
    only: bool
    everybody: bool
    listed: bool


def takes_place(one: str, other: str) -> ChangeKind | None:
    """How one of two statements, whichever is newer, seems to take the other's place; None when both may be true."""
    if _unspaced(one) or _unspaced(other):
        found = {_in_unspaced(one, other), _in_unspaced(other, one)}
        return "change" if "change" in found else "negation" if "negation" in found else None
    first, second = _read(one), _read(other)
    return (
        _left(first, second)
        or _left(second, first)
        or _denied(first, second)
        or _denied(second, first)
        or _limited(first, second)
        or _limited(second, first)
        or _other_value(first, second)
    )


@lru_cache(maxsize=4_096)
def _read(text: str) -> _Statement:
    found = _words(text[:_LONGEST_READ])
    plain = " ".join(word.plain for word in found)
    changes = lexicon.CHANGES.search(plain) is not None
    left, replaced = _left_words(found)
    subject = _subject(found)
    return _Statement(
        found,
        frozenset(word.key for word in found if word.weighs),
        subject,
        _denied_words(found, subject),
        left,
        replaced,
        changes or bool(left or replaced),
        any(word.plain in lexicon.ONLY for word in found),
        any(word.plain in lexicon.EVERYBODY for word in found),
        any(word.plain in lexicon.AND for word in found),
    )


def _words(text: str) -> tuple[_Word, ...]:
    text = _CONTRACTED.sub(lambda match: _WHOLE[match[1].lower()] if match[1] else " not", text)
    text = _APOSTROPHE.sub(" ", text)
    found: list[_Word] = []
    clause, opens = 0, True
    portuguese = not lexicon.PORTUGUESE.isdisjoint(fold(text).split())
    for match in _TOKEN.finditer(text):
        written = match[0]
        if not written[0].isalnum():
            clause, opens = clause + (written not in "()"), written in ";:"
            continue
        plain = fold(written)
        number = written[0].isdigit() or plain in lexicon.COUNTS
        dated = plain in lexicon.DATES
        distinct = any(map(str.isupper, written[1:])) or any(map(str.isdigit, written)) or "." in written
        name = not number and not dated and written[0].isupper() and (not opens or distinct)
        name = name and not (found and found[-1].number)
        name = (name or plain in lexicon.FAMILY_OF) and plain not in lexicon.LIGHT
        if plain == "no" and portuguese:
            plain = "em"
        if plain in lexicon.BREAKS:
            clause += 1
        found.append(_Word(written, plain, _key(plain, number), clause, name, number, dated))
        opens = False
    return tuple(found)


def _key(plain: str, number: bool) -> str:
    if number:
        return lexicon.COUNTS.get(plain) or plain.rstrip(".")
    known = lexicon.SAME.get(plain)
    return known or stem(plain)[:_KEY_LENGTH]


def _subject(found: tuple[_Word, ...]) -> frozenset[str]:
    """What a statement is about: its first word of weight with the names behind it; or a pronoun."""
    for place, word in enumerate(found):
        if word.plain in lexicon.SUBJECT_PRONOUNS:
            return frozenset(("we",))
        if word.weighs and word.plain not in lexicon.CUES and word.plain not in lexicon.NEGATIONS:
            keys = {word.key}
            for other in found[place + 1 :]:
                if not other.written[:1].isupper() or not other.weighs:
                    break
                keys.add(other.key)
            return frozenset(keys)
    return frozenset()


def _clause(found: tuple[_Word, ...], number: int) -> tuple[_Word, ...]:
    return tuple(word for word in found if word.clause == number)


def _keys(found: Iterable[_Word]) -> frozenset[str]:
    listed = list(found)
    return frozenset(
        word.key
        for place, word in enumerate(listed)
        if not (word.number and place and listed[place - 1].plain in lexicon.WHEN)
        and word.weighs
        and word.plain not in lexicon.CUES
        and word.plain not in lexicon.NEGATIONS
    )


def _denied_words(found: tuple[_Word, ...], subject: frozenset[str]) -> frozenset[str] | None:
    """What a statement denies: its clause without the subject; None where it denies nothing."""
    denials = [word for word in found if word.plain in lexicon.NEGATIONS]
    if not denials:
        return None
    number = denials[0].clause
    behind = _keys(_clause(found, number))
    return (behind - subject) or behind


def _left_words(found: tuple[_Word, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """What a statement says to be over: the words of its clause; and those that it names as what was replaced."""
    left: set[str] = set()
    replaced: set[str] = set()
    for place, word in enumerate(found):
        two = f"{word.plain} {found[place + 1].plain}" if place + 1 < len(found) else ""
        three = f"{two} {found[place + 2].plain}" if place + 2 < len(found) else ""
        clause = _clause(found, word.clause)
        behind = [other for other in found[place + 1 :] if other.clause == word.clause]
        if word.plain in lexicon.INSTEAD_OF or two in lexicon.INSTEAD_OF or three in lexicon.INSTEAD_OF:
            replaced |= _keys(_until(behind, lexicon.TO)[:_MOST_LEFT])
        elif word.plain in lexicon.REPLACED:
            replaced |= _replaced(clause, word)
        elif (
            word.plain in lexicon.OVER
            or two in lexicon.OVER
            or (
                word.plain in lexicon.NO_MORE
                and any(
                    other.plain in lexicon.NEGATIONS or other.plain in lexicon.BEFORE_MORE for other in clause
                )
            )
            or two in lexicon.NO_LONGER
        ):
            left |= _keys(clause)
        elif word.plain in lexicon.FROM and any(other.plain in lexicon.CHANGE_VERBS for other in clause):
            replaced |= _keys(_until(behind, lexicon.TO)[:_MOST_LEFT])
    return frozenset(left) - lexicon.SAY_LITTLE, frozenset(replaced) - lexicon.SAY_LITTLE


def _replaced(clause: tuple[_Word, ...], verb: _Word) -> frozenset[str]:
    """What was replaced: in a passive what stands before "by", else what stands behind the verb."""
    by = next((place for place, word in enumerate(clause) if word.plain in lexicon.BY), None)
    at = clause.index(verb)
    return _keys(clause[: min(at, by)] if by is not None else _until(list(clause[at + 1 :]), lexicon.PURPOSE))


def _until(found: list[_Word], ends: frozenset[str]) -> list[_Word]:
    place = next((place for place, word in enumerate(found) if word.plain in ends), len(found))
    return found[:place]


def _left(new: _Statement, old: _Statement) -> ChangeKind | None:
    """Whether one says of something to be over what the other says to be so."""
    if (
        old.left & new.left
        or old.replaced & new.replaced
        or (old.denied and new.denied and old.denied & new.denied)
    ):
        return None
    named = new.replaced & old.content
    besides = (new.content & old.content) - named
    if named and (named - old.subject or named & new.subject or len(besides) >= _LEAST_SHARED):
        return "change"
    over = new.left & old.content
    kind: ChangeKind = "change" if new.denied is None else "negation"
    if over and not new.left - over:
        return kind
    predicate = over - old.subject - new.subject
    enough = len(over) >= _LEAST_COVERED * len(new.left - old.subject - new.subject)
    return kind if predicate and len(over) > 1 and enough else None


def _denied(new: _Statement, old: _Statement) -> ChangeKind | None:
    """Whether one denies most of what the other says."""
    if new.denied is None or old.denied is not None or old.left or not new.denied:
        return None
    if not _same_subject(new, old):
        return None
    shared = new.denied & old.content
    if len(new.content & old.content) < _LEAST_SHARED:
        return None
    return "negation" if len(shared) >= _LEAST_COVERED * len(new.denied) else None


def _same_subject(one: _Statement, other: _Statement) -> bool:
    """Whether two statements may be about the same thing: it is named in both, or one of them begins with "we"."""
    general = "we" in one.subject or "we" in other.subject
    return general or not one.subject.isdisjoint(other.content) or not other.subject.isdisjoint(one.content)


def _limited(new: _Statement, old: _Statement) -> ChangeKind | None:
    """Whether one says "only" of a part of what the other says of all, or of several."""
    if not new.only or old.only:
        return None
    rest = old.content - new.content
    shared = new.content & old.content
    if old.everybody and len(shared - new.subject) >= _LEAST_COVERED * len(new.content - new.subject):
        return "change"
    listed = old.listed and rest and len(shared) >= _LEAST_COVERED * len(new.content) and len(shared) > 1
    return "change" if listed else None


def _other_value(one: _Statement, other: _Statement) -> ChangeKind | None:
    """Whether both say the same of the same thing, with another value."""
    if one.denied is not None or other.denied is not None:
        return None
    if _differ_in_one_place(one, other):
        return "value"
    if not (one.changes or other.changes):
        return None
    values = [_values(said) for said in (one, other)]
    topics = [
        said.content - {word.key for word in said.words if word.value} - _cue_keys(said)
        for said in (one, other)
    ]
    families = [
        {lexicon.FAMILY_OF[word.plain] for word in said.words if word.plain in lexicon.FAMILY_OF}
        for said in (one, other)
    ]
    names = [{word.plain for word in said.words if word.plain in lexicon.FAMILY_OF} for said in (one, other)]
    if families[0] & families[1] and not names[0] & names[1] and one.subject & other.subject:
        return "change"
    same = one.subject <= other.content and other.subject <= one.content
    if not same or not _alike(*topics):
        return None
    alike = {kind for kind, _ in values[0]} & {kind for kind, _ in values[1]}
    differ = alike and {said for kind, said in values[0] if kind in alike}.isdisjoint(
        said for kind, said in values[1] if kind in alike
    )
    return "value" if differ else None


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two topics are one: half of all their words, or most of the shorter one's."""
    shared, least = len(one & other), min(len(one), len(other))
    return bool(shared) and (
        _jaccard(one, other) >= _LEAST_JACCARD
        or (shared >= _LEAST_SHARED and shared >= _LEAST_COVERED * least)
    )


def _cue_keys(said: _Statement) -> frozenset[str]:
    return frozenset(word.key for word in said.words if word.plain in lexicon.CUES)


def _values(said: _Statement) -> set[tuple[str, str]]:
    """The values of a statement with their kinds: of a number that is what is counted."""
    found = set()
    for place, word in enumerate(said.words):
        if word.number:
            counted = said.words[place + 1] if place + 1 < len(said.words) else None
            counted = counted if counted and counted.clause == word.clause else None
            unit = (
                counted.key
                if counted and counted.weighs and not counted.value and counted.plain not in lexicon.CUES
                else ""
            )
            found.add((f"number {unit}", word.key))
        elif word.dated:
            found.add(("date", word.key))
        elif word.name and word.key not in said.subject:
            found.add(("name", word.key))
    return found


def _differ_in_one_place(one: _Statement, other: _Statement) -> bool:
    """Whether the words of both are the same but for one value that a thing has one of."""
    mine, theirs = (
        [word for word in said.words if word.plain not in lexicon.FILLERS] for said in (one, other)
    )
    start = 0
    while start < min(len(mine), len(theirs)) and mine[start].key == theirs[start].key:
        start += 1
    end = 0
    while end < min(len(mine), len(theirs)) - start and mine[-1 - end].key == theirs[-1 - end].key:
        end += 1
    left, right = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
    same = mine[:start] + mine[len(mine) - end :]
    if (
        not left
        or not right
        or max(len(left), len(right)) > _MOST_OF_VALUE
        or not any(word.weighs for word in same)
    ):
        return False
    if {word.key for word in left} & {word.key for word in right}:
        return False
    kinds = [
        {(word.number, word.dated) for word in part if word.number or word.dated} for part in (left, right)
    ]
    counted = left[0].number and right[0].number and start and min(len(left), len(right)) == 1
    if counted and sum(word.weighs for word in mine[:start]) >= _LEAST_SHARED:
        # "a maximum of 50", "a maximum of 100 per replica"
        return True
    measured = all(word.value or not word.weighs for word in (*left, *right))
    if kinds[0] and kinds[0] == kinds[1] and measured:
        return True
    if not start:
        # "Carla is the release manager."
        behind = [word.plain for word in mine[len(mine) - end :]]
        return len(behind) > 2 and behind[0] in lexicon.IS and behind[1] in lexicon.THE
    weighty = sum(word.weighs for word in same)
    if (one.only or other.only) and weighty >= _LEAST_SHARED:
        return all(any(word.weighs for word in part) for part in (left, right))
    before = mine[start - 1].plain
    attribute = any(word.key in lexicon.ATTRIBUTES for word in mine[:start])
    if before in lexicon.IS:
        named = all(any(word.name for word in part) for part in (left, right))
        return attribute or (named and mine[0].plain in lexicon.THE)
    placed = start > 1 and (mine[start - 2].plain in lexicon.IS or mine[start - 2].key in lexicon.PLACED)
    return before in lexicon.ONE_PLACE and (placed or attribute)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


def _unspaced(text: str) -> bool:
    return not text.isascii() and unspaced_runs().search(text) is not None


def _in_unspaced(new: str, old: str) -> ChangeKind | None:
    """The same for scripts that put no space between words, by pairs of characters and the words of other scripts."""
    mine, theirs = _pairs(new), _pairs(old)
    if not mine or not theirs:
        return None
    said = _pairs(lexicon.CJK_TOPIC.sub("", old, count=1)) or theirs
    covered = len(mine & theirs) / len(theirs)
    denies = [lexicon.CJK_DENIES.search(text) is not None for text in (new, old)]
    if lexicon.CJK_REPLACES.search(new) and not lexicon.CJK_REPLACES.search(old) and mine & theirs:
        return "change" if covered >= _LEAST_JACCARD else None
    return (
        "negation" if denies[0] and not denies[1] and len(mine & said) >= _CJK_COVERED * len(said) else None
    )


def _pairs(text: str) -> frozenset[str]:
    plain = lexicon.CJK_GRAMMAR.sub(" ", text)
    return frozenset(
        word for word in words(plain) if len(word) > 1 and word not in STOP_WORDS | FOREIGN_WORDS
    )
