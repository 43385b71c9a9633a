"""Statements compared by their words: whether two say the same, deny each other, or one gives what another says a new
value. No model is asked; each sign only ever asks for a person's look or a model's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Final, Literal

from core.model.draft import Draft
from core.model.note import ORIGIN, Note, is_stated_preference, origin_of_note, replace
from core.pipeline.intake.normalisation import compose, normalise
from core.pipeline.words import WORDS
from core.text.exact import BASIS_STOP_WORDS
from core.text.normalise import encodable
from core.text.tokens import STOP_WORDS, stem, words

LEAST_OVERLAP: Final = 2
_LONGEST_READ: Final = 20_000
_REMEMBERED_LENGTH: Final = 1_000

# Contractions lose no more than their ending; "can't" keeps its verb.
_CONTRACTED: Final = re.compile(r"\b(can|wo|sha|ai)n['’]t\b|n['’]t\b")
_WHOLE: Final = {"can": "can", "wo": "will", "sha": "shall", "ai": "is"}
_NEGATIONS: Final = WORDS["negations"]
_AUXILIARIES: Final = frozenset(("do", "does", "did", "will", "would", "shall", "should", "can", "could"))
_MEANINGLESS: Final = BASIS_STOP_WORDS | _NEGATIONS | _AUXILIARIES

OPPOSITES: Final = tuple(tuple(pair.split()) for pair in (
    "enabled disabled", "allow deny", "accept reject", "always never", "on off", "true false", "manual automatic",
    "mandatory optional", "required optional", "shared separate", "synchronous asynchronous", "allowed forbidden",
    "supported unsupported", "encrypted unencrypted", "temporary permanent",
))  # fmt: skip
# Those that hold for the attributes of one thing or person alone.
ATTRIBUTE_OPPOSITES: Final = tuple(tuple(pair.split()) for pair in (
    "together apart", "married divorced", "married single", "like dislike", "like hate", "love hate", "open closed",
    "active inactive", "public private", "online offline", "start stop", "join left", "add remove",
    "increase decrease", "possible impossible", "employed unemployed", "present absent", "alive dead", "hired fired",
    "dating single", "friends strangers", "close distant", "prefer avoid", "enjoy dread", "want refuse", "begin end",
    "join leave", "arrive depart", "buy sell", "positive negative", "before after", "yes no",
))  # fmt: skip
# "on" says where or when, unless it stands last or behind one of these.
_SWITCHED: Final = frozenset(("is", "are", "was", "turned", "switched", "stays", "set", "be", "remains"))
# Stems of verbs of which somebody has one value at a time, with the words that may follow before the value.
_SINGLE_VALUED: Final = {
    "live": ("in", "at"), "resid": ("in", "at"), "base": ("in", "at"), "locat": ("in", "at"), "work": ("at", "for"),
    "prefer": (),
}  # fmt: skip
# What may differ where two statements are the same but for a value: "raised to 50", "put back to 16" (words).
_LONGEST_VALUE: Final = 4
_BEFORE_VALUE: Final = frozenset(("is", "are", "was", "were", "to", "at", "by", "in"))
_SAME_SAYING: Final = 0.9
# An earlier fact of the batch is worth the model's look from here on.
_RELATED: Final = 0.3
_MOST_RELATED: Final = 3
# Words by which a later sentence takes an earlier one back, whatever else they share: those of a correction, and those
# that may also tell of something else.
_CORRECTING: Final = frozenset(map(stem, WORDS["corrections"]))
_TAKING_BACK: Final = _CORRECTING | frozenset(map(stem, WORDS["changes"]))
_ARTICLES: Final = frozenset(("a", "an", "the"))
_BEFORE: Final = "\"'([{“„«‘"
_AFTER: Final = ".,;:!?…\"')]}”“»’"

ContradictionKind = Literal["negation", "antonym"]
Signal = Literal["negation", "antonym", "value", "temporal"]
SUPERSESSION_CONFIDENCE: Final[dict[Signal, float]] = {
    "negation": 0.85, "antonym": 0.8, "value": 0.75, "temporal": 0.7,
}  # fmt: skip


@dataclass(frozen=True)
class Saying:
    """A text as it is compared. given_hash: its content hash, "" to make it.

    order, all: its words as stems, in order and as a set. meaning: those that carry meaning. tokens: its words with
    contractions taken apart; telling: the stems of those that say what it speaks of. denials: how many words deny
    something. sides: the number of each pair of opposites, from 1, of which it says the first alone; negative for the
    second.
    """

    text: str
    given_hash: str = ""

    @cached_property
    def content_hash(self) -> str:
        return self.given_hash or normalise(self.text).content_hash

    @cached_property
    def _words(self) -> list[str]:
        return words(compose(encodable(self.text[:_LONGEST_READ])).lower())

    @cached_property
    def order(self) -> tuple[str, ...]:
        return tuple(map(stem, self._words))

    @cached_property
    def all(self) -> frozenset[str]:
        return frozenset(self.order)

    @cached_property
    def meaning(self) -> frozenset[str]:
        pairs = zip(self.order, self._words, strict=True)
        return frozenset(name for name, word in pairs if word not in STOP_WORDS)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return tuple(plain_words(self.text))

    @cached_property
    def telling(self) -> frozenset[str]:
        return _telling(self.tokens)

    @cached_property
    def denials(self) -> int:
        return sum(word in _NEGATIONS for word in self.tokens)

    @cached_property
    def sides(self) -> frozenset[int]:
        tokens, numbers = self.tokens, _sides_of_stems()
        said = {
            number
            for place, word in enumerate(tokens)
            if word != "on" or place + 1 == len(tokens) or (place and tokens[place - 1] in _SWITCHED)
            for number in numbers.get(stem(word), ())
        }
        return frozenset(number for number in said if -number not in said)


def saying(text: str, content_hash: str = "") -> Saying:
    """A text made ready for comparison."""
    # The same notes are held against fact after fact.
    return (Saying if len(text) > _REMEMBERED_LENGTH else _remembered)(text, content_hash)


_remembered = lru_cache(maxsize=4_096)(Saying)


def plain_words(text: str) -> list[str]:
    """Folded words of two characters or more, contractions taken apart: "can't" gives can, not."""
    taken_apart = _CONTRACTED.sub(
        lambda match: f"{_WHOLE[match[1]]} not" if match[1] else " not",
        compose(encodable(text[:_LONGEST_READ])).lower(),
    )
    return [word for word in words(taken_apart) if len(word) > 1]


@cache
def _sides_of_stems() -> dict[str, list[int]]:
    """The numbers of the pairs of opposites that a stem is in; negative for the second of a pair."""
    found: dict[str, list[int]] = {}
    for number, (one, other) in enumerate(OPPOSITES + ATTRIBUTE_OPPOSITES, 1):
        found.setdefault(stem(one), []).append(number)
        found.setdefault(stem(other), []).append(-number)
    return found


def _telling(tokens: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(token) for token in tokens if token not in _MEANINGLESS)


# The same


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


def _in_one_order(one: Saying, other: Saying) -> bool:
    """Whether two have the words that they share in the same order, and one polarity."""
    shared = one.all & other.all
    mine, theirs = (tuple(word for word in said.order if word in shared) for said in (one, other))
    return mine == theirs and not _polarity_difference(one, other)


def likeness(one: str, other: str) -> float:
    """How much two texts say the same, from 0 to 1: the words that both have of all that either has, in one order and
    of one polarity; else 0. A number that only one of them has makes them two statements.
    """
    mine, theirs = saying(one), saying(other)
    numbers = (frozenset(word for word in said.all if any(map(str.isdigit, word))) for said in (mine, theirs))
    if next(numbers) != next(numbers) or not _in_one_order(mine, theirs):
        return 0.0
    return similarity(mine.all, theirs.all)


def says_the_same(fact: Saying, stored: Saying) -> str:
    """Why a fact needs no storing beside a stored text; "" when it may.

    Same hash; or nearly the same words (Jaccard index of at least _SAME_SAYING) in the same order, of one polarity,
    and nothing of weight in the fact that the stored text lacks. "Anna reports to Ben" has the words of "Ben reports to
    Anna", and two long sentences may differ in the one number that matters: those are left to the model.
    """
    if fact.content_hash == stored.content_hash:
        return "the same text is already stored"
    alike = similarity(fact.all, stored.all) >= _SAME_SAYING and fact.meaning <= stored.meaning
    return "nearly the same words are already stored" if alike and _in_one_order(fact, stored) else ""


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


# The contrary


def shared_words(fact: str, target: str) -> frozenset[str]:
    """Stems of the distinct words that both have, without those that every sentence has and without negations."""
    return saying(fact).telling & saying(target).telling


def _polarity_difference(one: Saying, other: Saying, *, wider: bool = False) -> ContradictionKind | None:
    """Whether one of two texts denies something, or says the opposite word: whatever else they speak of.

    wider: with the opposites that hold for a person's or thing's attributes, such as together and apart.
    """
    if bool(one.denials) != bool(other.denials):
        return "negation"
    known = len(OPPOSITES) + (len(ATTRIBUTE_OPPOSITES) if wider else 0)
    return "antonym" if any(abs(side) <= known and -side in other.sides for side in one.sides) else None


def contradicts_in_words(fact: str, target: str, *, wider: bool = False) -> ContradictionKind | None:
    """Whether two statements that share most words of the shorter one, two at least, differ in their polarity."""
    mine, theirs = saying(fact), saying(target)
    shared = len(mine.telling & theirs.telling)
    if shared < LEAST_OVERLAP or 2 * shared <= min(len(mine.telling), len(theirs.telling)):
        return None
    return _polarity_difference(mine, theirs, wider=wider)


def denies_another(denial: Saying, other: Saying) -> bool:
    """Whether a statement denies something else than the other says: who no longer serves fish may serve soup."""
    beyond = not denial.meaning <= other.meaning | _TAKING_BACK
    about_it = len(denial.telling & other.telling) >= LEAST_OVERLAP
    return beyond and about_it and _polarity_difference(denial, other) == "negation"


def corrects(later: Saying, earlier: Saying) -> bool:
    """Whether a later statement says that it corrects an earlier one, and both cannot be true."""
    return not later.all.isdisjoint(_CORRECTING) and gives_other_value(later.text, earlier.text)


def gives_other_value(new: str, old: str) -> bool:
    """Whether a newer statement gives what an older one says another value: the older one need not stand beside it.

    That is an opposite word, or the same words but for a number, or for what stands behind "is", "to" and the like.
    A denial goes together with what comes in its place: "We no longer use arq", "The job queue moves to Temporal".
    """
    if saying(new).denials or saying(old).denials:
        return False
    if contradicts_in_words(new, old):
        return True
    before, mine, theirs = _differing(list(saying(new).tokens), list(saying(old).tokens))
    if not all(0 < len(said) <= _LONGEST_VALUE for said in (mine, theirs)):
        return False
    counted = all(any(map(str.isdigit, said)) for said in (mine, theirs))
    return (counted or (bool(before) and before[-1] in _BEFORE_VALUE)) and len(
        shared_words(new, old)
    ) >= LEAST_OVERLAP


def supersedes(
    new: str, old: str, *, gap_days: float | None, old_is_constraint: bool = False
) -> Signal | None:
    """By which sign a newer attribute of the same aspect of the same entity seems to replace an older one. For review,
    always; SUPERSESSION_CONFIDENCE says how sure that is.

    gap_days: how much later it came; None when unknown. Constraints are never replaced.
    """
    if old_is_constraint:
        return None
    mine, theirs = saying(new), saying(old)
    in_words = contradicts_in_words(new, old, wider=True)
    other_value = _other_value(mine.tokens, theirs.tokens)
    # Not living in Denver and living in Boulder go together.
    if in_words and not (in_words == "negation" and other_value):
        return in_words
    if other_value and not (mine.denials or theirs.denials):
        return "value"
    timed = not WORDS["time words"].isdisjoint(mine.tokens)
    later = gap_days is not None and gap_days > 1
    return "temporal" if later and timed and not mine.telling.isdisjoint(theirs.telling) else None


def _other_value(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether both name a value of the same verb that takes one, for the same subject, and the values share nothing."""
    left, right = _verb_and_value(mine), _verb_and_value(theirs)
    if left is None or right is None or left[1] != right[1]:
        return False
    # An attribute may leave its subject out, since it hangs on it.
    same_subject = not left[0] or not right[0] or left[0] == right[0]
    return same_subject and bool(left[2]) and bool(right[2]) and left[2].isdisjoint(right[2])


def _verb_and_value(tokens: tuple[str, ...]) -> tuple[frozenset[str], str, frozenset[str]] | None:
    """Subject, verb and value of the first verb that takes one value."""
    for place, token in enumerate(tokens):
        followers = _SINGLE_VALUED.get(stem(token))
        if followers is None or (followers and (*tokens, "")[place + 1] not in followers):
            continue
        return _telling(tokens[:place]), stem(token), _telling(tokens[place + 1 + bool(followers) :])
    return None


def _differing(mine: list[str], theirs: list[str]) -> tuple[list[str], list[str], list[str]]:
    """What two have in common at their beginning, and what each says between that and their common end."""
    before: list[str] = []
    while mine and theirs and mine[0] == theirs[0]:
        before.append(mine.pop(0))
        theirs.pop(0)
    while mine and theirs and mine[-1] == theirs[-1]:
        mine.pop()
        theirs.pop()
    return before, mine, theirs


# Preferences that a person states one after the other. "Answer in German" and "answer in English" are two on one thing;
# "small commits" and "small PRs" are not.

# What states a preference without saying of what, and what leads to its value.
_LIGHT: Final = WORDS["light in preferences"]
_LEADS: Final = frozenset(("in", "with", "as", "auf", "mit", "als", "en", "con", "como", "avec"))
_COMPARED: Final = frozenset(("over", "than", "instead", "rather", "statt", "als", "plutôt", "que"))


def takes_place_of(newer: str, older: str) -> bool:
    """Whether a preference says otherwise on the same thing than another: the opposite, the same two the other way
    round, or the same but for one word that says how the thing is or what is used for it.
    """
    if contradicts_in_words(newer, older):
        return True
    new, old = ([word for word in words(text.casefold()) if word not in _LIGHT] for text in (newer, older))
    if len(new) != len(old) or (saying(newer).denials and saying(older).denials):
        # Two things may be forbidden at once.
        return False
    if new != old and sorted(new) == sorted(old):
        return not _COMPARED.isdisjoint(new)
    before, mine, _ = _differing(list(map(stem, new)), list(map(stem, old)))
    if len(mine) != 1:
        return False
    place = len(before)
    led = place > 1 and new[place - 1] in _LEADS
    return led or (place + 1 < len(new) and new[place + 1] not in _LEADS)


def dispute_older(draft: Draft, note: Note, among: Iterable[Note]) -> None:
    """Marks a new preference as disputing the newest of the older ones on the same thing, if there is one."""
    others = [
        one
        for one in among
        if one.id != note.id and is_stated_preference(one) and takes_place_of(note.content, one.content)
    ]
    if others:
        old = max(others, key=lambda one: one.created_at)
        draft.put(replace(note, extra=note.extra | {ORIGIN: origin_of_note(note) | {"disputes": old.id}}))
