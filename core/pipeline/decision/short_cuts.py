"""Decides without a model: facts already stored in other case, punctuation or nearly the same words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from core.pipeline.contradiction import LEAST_OVERLAP, gives_other_value, polarity_difference, shared_words
from core.pipeline.decision.result import StoredCandidate
from core.pipeline.intake.normalisation import compose, normalise
from core.text.normalise import encodable
from core.text.tokens import STOP_WORDS, stem, words

SAME_SAYING: Final = 0.9
# An earlier fact of the batch is worth the model's look from here on.
_RELATED: Final = 0.3
_MOST_RELATED: Final = 3
# Words by which a later sentence takes an earlier one back, whatever else they share: those of a correction, and those
# that may also tell of something else.
_CORRECTING: Final = frozenset(
    map(
        stem,
        words(
            "back instead reverted actually correction corrected rather undone finally zurück statt stattdessen doch "
            "finalement finalmente"
        ),
    )
)
_TAKING_BACK: Final = _CORRECTING | frozenset(
    map(
        stem,
        words(
            "replaced switched moved now changed longer jetzt ersetzt geändert maintenant remplacé ahora cambiado"
        ),
    )
)
_ARTICLES: Final = frozenset(("a", "an", "the"))
_BEFORE: Final = "\"'([{“„«‘"
_AFTER: Final = ".,;:!?…\"')]}”“»’"
_LONGEST_READ: Final = 20_000
_REMEMBERED_LENGTH: Final = 1_000


@dataclass(frozen=True, slots=True)
class Saying:
    """A text as it is compared: its hash, its words as stems in order and as a set, and those that carry meaning."""

    text: str
    content_hash: str
    order: tuple[str, ...]
    all: frozenset[str]
    meaning: frozenset[str]


def saying(text: str, content_hash: str = "") -> Saying:
    """A text made ready for comparison."""
    # The same notes are held against fact after fact.
    made = _saying if len(text) > _REMEMBERED_LENGTH else _remembered
    return made(text, content_hash)


def _saying(text: str, content_hash: str) -> Saying:
    found = words(compose(encodable(text[:_LONGEST_READ])).lower())
    order = tuple(map(stem, found))
    return Saying(
        text,
        content_hash or normalise(text).content_hash,
        order,
        frozenset(order),
        frozenset(name for name, word in zip(order, found, strict=True) if word not in STOP_WORDS),
    )


_remembered = lru_cache(maxsize=1024)(_saying)


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard index: shared by all; 0 where both are empty."""
    return len(one & other) / len(one | other) if one or other else 0.0


def words_hash(text: str) -> str:
    """A key that texts share which have the same words in one order, but for articles and what stands around a word and
    belongs to the sentence: ".net", "-1" and "C++" keep theirs. "" for a text without words. Every fact that is stored
    has one, so it goes by white space alone: what is written without any must be the same to the letter.
    """
    found = (word.rstrip(_AFTER).lstrip(_BEFORE) for word in text.lower().split())
    said = " ".join(word for word in found if word and word not in _ARTICLES)
    return hashlib.sha256(encodable(said).encode()).hexdigest()[:32] if said else ""


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


def says_the_same(fact: Saying, stored: Saying) -> str:
    """Why a fact needs no storing beside a stored text; "" when it may.

    Same hash; or nearly the same words (Jaccard index of at least SAME_SAYING) in the same order, of one polarity,
    and nothing of weight in the fact that the stored text lacks. "Anna reports to Ben" has the words of "Ben reports to
    Anna", and two long sentences may differ in the one number that matters: those are left to the model.
    """
    if fact.content_hash == stored.content_hash:
        return "the same text is already stored"
    if similarity(fact.all, stored.all) < SAME_SAYING or not fact.meaning <= stored.meaning:
        return ""
    shared = fact.all & stored.all
    mine, theirs = (tuple(word for word in one.order if word in shared) for one in (fact, stored))
    if mine != theirs or polarity_difference(fact.text, stored.text):
        return ""
    return "nearly the same words are already stored"


def repeated(
    fact: Saying, candidates: Iterable[tuple[StoredCandidate, Saying]]
) -> tuple[StoredCandidate, str] | None:
    """The first candidate that says what a fact says, and why; None when none does."""
    for candidate, stored in candidates:
        reason = says_the_same(fact, stored)
        if reason:
            return candidate, reason
    return None


def denies_another(denial: Saying, other: Saying) -> bool:
    """Whether a statement denies something else than the other says: who no longer serves fish may serve soup."""
    beyond = not denial.meaning <= other.meaning | _TAKING_BACK
    about_it = len(shared_words(denial.text, other.text)) >= LEAST_OVERLAP
    return beyond and about_it and polarity_difference(denial.text, other.text) == "negation"


def corrects(later: Saying, earlier: Saying) -> bool:
    """Whether a later statement says that it corrects an earlier one, and both cannot be true."""
    return not later.all.isdisjoint(_CORRECTING) and gives_other_value(later.text, earlier.text)


def related(place: int, sayings: Sequence[Saying], earlier: Iterable[int]) -> list[int]:
    """The earlier facts of a batch that speak of what the fact at a place speaks of, or that it may take back, closest
    first, at most three.
    """
    mine = sayings[place]
    near = [
        (close, other)
        for other in earlier
        if (close := similarity(mine.meaning, sayings[other].meaning)) >= _RELATED
        or _may_take_back(mine, sayings[other])
    ]
    return [other for _, other in sorted(near, key=lambda pair: (-pair[0], pair[1]))][:_MOST_RELATED]


def _may_take_back(later: Saying, earlier: Saying) -> bool:
    """Whether a later statement about the same thing gives another number, or says that it is a correction."""
    mine, theirs = (frozenset(filter(str.isdigit, one.all)) for one in (later, earlier))
    if not (later.meaning - mine) & (earlier.meaning - theirs):
        return False
    return bool(mine and theirs and mine != theirs) or not later.all.isdisjoint(_TAKING_BACK)
