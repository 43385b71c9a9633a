"""Judges how likely the best notes of a ranking answer: one fitted rule over what speaks for each."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from core.model.judgement import Judgement
from core.model.note import custom_tags
from core.search.asked import asked_kinds, is_telling, names_no_thing, qualifying, verbs
from core.search.documents import NO_WORD, is_content_word
from core.search.state import State
from core.search.terms import Expansion, Term, is_usual
from core.text.languages import is_common, is_everyday, serves_grammar, stem_in
from core.text.mask import all_masked
from core.text.normalise import squeeze
from core.text.tokens import stem, words
from core.text.when import asks_for_before, asks_for_now

if TYPE_CHECKING:
    from core.search.ranking import Ranking

# The rule looks at the passage of a note that holds most of the question: how much of it that is, how telling it is,
# how much of the title (or of a fact's key) the question names, and how far the note stands ahead of the next. Words
# count by their rarity, in the memory and in general. The numbers are fitted by `tools/judgement/fit.py` on the
# memories beside it and on the questions in `tests/kits/recall_questions.py`; those of words were measured before.

# From which likelihood on an answer is claimed, candidates are offered, and one of them is worth a line.
FOUND_FROM: Final = 0.70
OFFERED_FROM: Final = 0.40
CANDIDATE_FROM: Final = 0.05
# What another note says as well, or what is beside the point, is no claim.
MOST_TIED: Final = 0.69
# What an everyday word, and a common one, weigh beside another one of equal rarity.
_EVERYDAY: Final = 0.15
_COMMON: Final = 0.6
_IDLE: Final = 0.3
_SHORTEST: Final = 3
_SHORT: Final = 4
# What any word weighs; the rest of its weight is its rarity in the memory, beside that of the rarest there can be.
_LEAST_WEIGHT: Final = 0.15
_FEW_NOTES: Final = 20
# What a note holds beside its most telling word is little below this weight; and all of it, one everyday word's.
_LITTLE: Final = 0.1
_TELLS: Final = 0.12
_LEAST_COVERAGE: Final = 0.05
# Stems of a passage, some 600 characters of text; and how many passages of a note are looked at.
_PASSAGE: Final = 60
_MOST_PASSAGES: Final = 200
# A title of so many words with which the text begins is but its beginning.
_LEAST_BEGINNING: Final = 4
# So many of the best are compared; further ahead than this is far enough.
COMPARED: Final = 6
CLAIMED_AMONG: Final = 3
_FAR: Final = 0.4
# Notes that hold the same share of a question, and of whose titles it names the same share, within this, and that stand
# so near to each other answer equally well.
_SAME: Final = 0.1
_NEAR: Final = 0.03
# And so near where they may say what held at different times.
_ON_ONE_THING: Final = 0.2
# A word that means nearly the same is evidence for this share; from such a likeness on, as a person's own synonyms and
# abbreviations have it, for all of it.
_SYNONYM: Final = 0.4
_AS_GOOD_FROM: Final = 0.9
# A word of which a note holds less than this share is missing, where a question has few; a value of the kind that is
# asked for is nearly as good as the word that asks, and a note without one stands behind others.
_PARTLY: Final = 0.16
_FEW_WORDS: Final = 3
_STORY: Final = 8
# How alike a word of the note is at least for which one may be misspelt.
_LIKE: Final = 0.6
_OF_KIND: Final = 0.8
_OTHER_KIND: Final = 0.3
# A query that names this share of a fact's key is about that fact.
_WHOLLY_NAMED: Final = 0.9
_HARDLY_NAMED: Final = 0.3
_WHOLE: Final = 0.99
# The fitted rule: the log odds that a note answers.
INTERCEPT: Final = 0.415
WEIGHTS: Final = (2.821, 0.857, -0.644, 3.980, 0.631)
# That the whole query is a note's title, or stands in no other note word for word, leaves little doubt.
_TITLE_LIKELIHOOD: Final = 0.97
_VERBATIM_LIKELIHOOD: Final = 0.95


class Evidence(NamedTuple):
    """What speaks for a note as the answer, in [0, 1] or [-1, 1].

    coverage: share of the query's weight that its best passage holds. titled: the share of the weight of its own title
    that the query names. lone: whether it holds little but one word, while no note that may answer holds another one
    that was asked for ("Anna's birthday"). ahead, more: by how much its score and its coverage exceed those of the best
    rival, negative where they fall behind.
    """

    coverage: float
    titled: float = 0.0
    lone: bool = False
    ahead: float = 0.0
    more: float = 0.0


class Verdict(NamedTuple):
    """least: how likely a note answers whatever the rule says of its evidence, in [0, 1]. tied: whether another one
    answers about as well and says something else, or the note is beside the point: then it is no claim.
    """

    evidence: Evidence
    least: float
    tied: bool

    @property
    def likelihood(self) -> float:
        """How likely the note answers, tied or not, in [0, 1]."""
        return max(by_rule(self.evidence), self.least)


class _Held(NamedTuple):
    """weights: what a note's best passage holds of each word of the query. kind: 1 where it has such a value as the
    question asks for, -1 where it has none, 0 where nothing tells. title: whether it has one of its own. names: its
    stems.
    """

    weights: list[float]
    kind: int
    title: bool
    titled: float
    names: Collection[str]
    length: int


class Judge:
    """Judges the notes of one ranking; the words of its query are weighed once."""

    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking
        self._idle = names_no_thing(ranking.query.phrase)
        self._words = [_weighed(ranking.state, term, term.word in self._idle) for term in ranking.terms]
        self._named = {stem for _, some in self._words for stem, sure in some.items() if sure >= _SYNONYM}
        for place in _doubled(ranking.terms):
            self._words[place] = (0.0, {})
        self._query_weight = sum(weight for weight, _ in self._words)
        phrase = ranking.query.phrase
        self._kinds = asked_kinds(phrase)
        self._asking = frozenset(word for one in self._kinds for word in one.asking)
        self._cues = frozenset(stem_in(word, "english") for one in self._kinds for word in one.words)
        # Of what held at different times, the last or the first, where that is asked.
        self._wanted = max if asks_for_now(phrase) else min if asks_for_before(phrase) else None
        self._held = cache(self._read)
        self._verbs = verbs(phrase)
        self._qualifying = list(qualifying(phrase))
        # What is but a masked credential answers nothing.
        rows = ranking.ordered(COMPARED)
        self._best = [row for row in rows if not all_masked(ranking.state.notes[row].content)]

    def likelihood(self, row: int) -> float:
        """How likely the note of a row answers the query, in [0, 1]. Where a question asks for what holds now, or held
        before, the newest, or oldest, of several notes on one thing has the likelihood of the likeliest of them.
        """
        rivals = self._rivals(row)
        if self._wanted is None or not rivals:
            found = self.verdict(row)
            return min(found.likelihood, MOST_TIED) if found.tied else found.likelihood
        likely = max(self.verdict(one).likelihood for one in (row, *rivals))
        notes = [self._ranking.state.notes[one] for one in (row, *rivals)]
        times = [max(note.updated_at, note.created_at) for note in notes]
        alone = True or times[0] == self._wanted(times) and times.count(times[0]) == 1
        return likely if alone else min(likely, MOST_TIED)

    def _rivals(self, row: int) -> list[int]:
        """The best notes that may say on the same thing what held at another time, where that is asked."""
        claimed = self._best[:CLAIMED_AMONG]
        if self._wanted is None or row not in claimed or self._beside_the_point(row):
            return []
        blends, coverage = self._ranking.blends, self._coverage
        return [
            other
            for other in self._others(row, CLAIMED_AMONG)
            if not self._beside_the_point(other)
            and abs(coverage(row) - coverage(other)) <= _ON_ONE_THING
            and abs(float(blends[row] - blends[other])) <= _ON_ONE_THING
        ]

    def verdict(self, row: int) -> Verdict:
        """What the likelihood of a row is made of."""
        text = self._ranking.text
        only = text.phrase[row] and not any(text.phrase[other] for other in self._others(row))
        named = OFFERED_FROM if self._held(row).titled >= 1.0 else 0.0
        least = _TITLE_LIKELIHOOD if text.title[row] else _VERBATIM_LIKELIHOOD if only else named
        tied = any(self._tied(row, other) for other in self._others(row, CLAIMED_AMONG))
        beside = self._beside_the_point(row) or self._lacks(self._held(row)) or self._is_of_another(row)
        return Verdict(self.evidence(row), least, tied or (least < FOUND_FROM and beside))

    def _beside_the_point(self, row: int) -> bool:
        """Whether a note only asks, holds no more than an everyday word, or is about something else: it has no title
        and lacks a rare word; or it is a fact not wholly named and holds but one word in its value.
        """
        held = self._held(row)
        terms = zip(self._ranking.terms, self._words, held.weights, strict=True)
        lacking = [one for one, (full, _), part in terms if part < full / 2 and not is_everyday(one.stem)]
        vague = not held.title and not all(is_common(one.stem) for one in lacking)
        return vague or self._ranking.state.notes[row].content.rstrip().endswith("?")

    def _is_of_another(self, row: int) -> bool:
        """Whether a fact tells the same of another thing: a word is asked for where its key has another one ("go version"
        and "python version"), or it is asked of something that neither key nor value names.
        """
        note, state = self._ranking.state.notes[row], self._ranking.state
        if not note.is_fact:
            return False
        language, held = state.language(row), self._held(row)
        stems = [stem_in(one, language) for one in words(note.title, compounds=True) if is_content_word(one)]
        named = [one in self._named or one in self._cues for one in stems]
        open_ = any(first != second for first, second in pairwise(named))
        terms = {term.stem: (full, part, some) for term, (full, some), part in zip(self._ranking.terms, self._words, held.weights, strict=True)}
        for word, head, linked in self._qualifying:
            full, part, _ = terms.get(stem(word), (0.0, 0.0, {}))
            whole, there, some = terms.get(stem(head), (0.0, 0.0, {}))
            if part >= full * _PARTLY or there < whole / 2 or not set(stems) & some.keys():
                continue
            if word not in self._idle and (open_ or (linked and all(named))):
                return True
        return False

    def _others(self, row: int, most: int = COMPARED) -> list[int]:
        """Those of the best notes that say something else than the note of a row."""
        return [one for one in self._best[:most] if one != row and self._says(one) != self._says(row)]

    def _says(self, row: int) -> str:
        note = self._ranking.state.notes[row]
        return squeeze(f"{note.title} {note.content}")

    def _tied(self, row: int, other: int) -> bool:
        """Whether another note answers about as well as the note of a row."""
        ranking = self._ranking
        if ranking.text.title[row] or ranking.text.title[other]:
            return bool(ranking.text.title[row] and ranking.text.title[other])
        apart = abs(self._coverage(row) - self._coverage(other))
        apart += abs(self._held(row).titled - self._held(other).titled)
        return apart <= _SAME and abs(self._blend(row) - self._blend(other)) <= _NEAR

    def evidence(self, row: int) -> Evidence:
        """What speaks for the note of a row; words that mean nearly what the query holds count little."""
        if not self._query_weight:
            return Evidence(float(self._ranking.text.coverage[row] > 0))
        held, coverage, others = self._held(row), self._coverage(row), self._others(row)
        # What lacks a thing that is asked for is no rival of what has all of them.
        rivals = others if self._lacks(held) else [one for one in others if not self._lacks(self._held(one))]
        return Evidence(
            coverage=coverage,
            titled=held.titled,
            lone=_is_lone(held.weights) and coverage < _WHOLE and held.titled < _HARDLY_NAMED,
            ahead=self._blend(row) - max(map(self._blend, rivals), default=0.0),
            more=coverage - max(map(self._coverage, rivals), default=0.0),
        )

    def _lacks(self, held: _Held) -> bool:
        """Whether a short note lacks a thing that a question of few words names: it tells the same of another thing."""
        terms = list(zip(self._ranking.terms, self._words, held.weights, strict=True))
        telling = [
            one for one in terms if one[1][0] and (not is_everyday(one[0].stem) or is_telling(one[0].stem))
        ]
        if held.length > _PASSAGE or len(telling) > _FEW_WORDS:
            return False
        lacking = (term for term, (full, _), part in telling if part < full * _PARTLY and term.word.isalpha())
        lacking = (term for term in lacking if term.word not in self._idle or (is_telling(term.stem) and term.word not in self._verbs))
        return any(
            _own(term) or (len(term.word) >= _SHORTEST and not _may_be_misspelt(term.word, held.names))
            for term in lacking
        )

    def likelihood_of_text(self, stems: Collection[str], title: Collection[str], verbatim: bool) -> float:
        """How likely a text that is no note answers if it ranks best, in [0, 1]. stems, title: of it and its title."""
        if verbatim:
            return _VERBATIM_LIKELIHOOD
        if not self._query_weight:
            return 0.0
        # What no note holds may stand in a text beside them.
        terms = self._ranking.terms
        readings = [{term.stem: 1.0, **some} for term, (_, some) in zip(terms, self._words, strict=True)]
        held = [
            weight * max((sure for name, sure in some.items() if name in stems), default=0.0)
            for some, (weight, _) in zip(readings, self._words, strict=True)
        ]
        lacking = (term.stem for term, found in zip(terms, held, strict=True) if not found)
        named = {name for some in readings for name in some}
        titled = sum(name in named for name in title) / len(title) if title else 0.0
        lone = _is_lone(held) and titled < _HARDLY_NAMED and any(not is_everyday(name) for name in lacking)
        return by_rule(Evidence(sum(held) / self._query_weight, titled, lone))

    def _blend(self, row: int) -> float:
        """The score of a note, less where it has no such answer as is asked for."""
        return float(self._ranking.blends[row])

    def _coverage(self, row: int) -> float:
        return sum(self._held(row).weights) / self._query_weight if self._query_weight else 0.0

    def _read(self, row: int) -> _Held:
        """What the best passage of a note holds; its title belongs to each of them."""
        stems = list(self._ranking.state.document(row).stems)
        names = self._ranking.state.stems.names
        holding: dict[str, list[tuple[int, float]]] = {}
        for place, (weight, readings) in enumerate(self._words):
            for name, sure in readings.items():
                holding.setdefault(name, []).append((place, weight * sure))
        begins = stems.index(NO_WORD)
        title, places = [0.0] * len(self._words), list[tuple[int, int, float]]()
        for at, number in enumerate(stems):
            for place, worth in holding.get(names[number], ()) if number != NO_WORD else ():
                if at < begins:
                    title[place] = max(title[place], worth)
                else:
                    places.append((at, place, worth))
        best = _best_passage(title, places)
        kind = self._kind(row) if self._kinds and len(stems) <= 2 * _PASSAGE else 0
        for place, (term, (weight, _)) in enumerate(zip(self._ranking.terms, self._words, strict=True)):
            if kind > 0 and term.word in self._asking:
                best[place] = max(best[place], _OF_KIND * weight)
        held = {names[number] for number in stems if number != NO_WORD}
        return _Held(best, kind, *self._named_of_title(row), held, len(stems))

    def _kind(self, row: int) -> int:
        """As `_Held.kind` has it."""
        note = self._ranking.state.notes[row]
        text = note.content if note.is_fact else f"{note.title}\n{note.content}"
        return 1 if any(one.answered_in(text) for one in self._kinds) else -1

    def _named_of_title(self, row: int) -> tuple[bool, float]:
        """Whether a note has a title of its own, and the share of its weight that the query names. A tag is a name as
        well where it is named whole and few notes hold its rarest word.
        """
        note, state = self._ranking.state.notes[row], self._ranking.state
        language, titled = state.language(row), 0.0
        title = words(note.title, compounds=True)
        own = len(title) < _LEAST_BEGINNING or not note.content.lstrip().startswith(
            note.title.strip(" .\u2026")
        )
        for name, typed in enumerate((title if own else [], *(words(tag) for tag in custom_tags(note)))):
            telling = (one for one in typed if is_content_word(one) and not serves_grammar(one, (language,)))
            counts = {stem: state.count(stem) for stem in (stem_in(one, language) for one in telling)}
            weights = {stem: _weight(_rarity(state, count), stem) for stem, count in counts.items()}
            named = sum(
                weight for stem, weight in weights.items() if stem in self._named or stem in self._cues
            )
            whole = named == sum(weights.values()) and min(counts.values(), default=0) <= CLAIMED_AMONG
            titled = max(titled, named / sum(weights.values()) if weights and (whole or not name) else 0.0)
        return own, titled


def _may_be_misspelt(word: str, names: Collection[str]) -> bool:
    """Whether a word that is no usual one is written somewhat like one of some stems."""
    if is_usual(word):
        return False
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    return process.extractOne(word, names, scorer=OSA.normalized_similarity, score_cutoff=_LIKE) is not None


def _best_passage(title: list[float], places: Sequence[tuple[int, int, float]]) -> list[float]:
    """Of each word of a query what the passage holds that holds most, with what the title holds. places: where in the
    text which word stands, with its worth; in order.
    """
    best, most = list(title), sum(title)
    for first, (begins, _, _) in enumerate(places[:_MOST_PASSAGES]):
        held = list(title)
        for at, place, worth in places[first:]:
            if at >= begins + _PASSAGE:
                break
            held[place] = max(held[place], worth)
        if sum(held) > most:
            best, most = held, sum(held)
    return best


def _is_lone(held: Sequence[float]) -> bool:
    """Whether a note holds little beside the most telling word."""
    return sum(held) - max(held, default=0.0) < _LITTLE


def by_rule(found: Evidence) -> float:
    """What the fitted rule makes of some evidence, in [0, 1]; 0 for a note that holds nothing of the query."""
    if not found.coverage:
        return 0.0
    odds = INTERCEPT + sum(weight * value for weight, value in zip(WEIGHTS, features(found), strict=True))
    return 1.0 / (1.0 + math.exp(-odds))


def features(found: Evidence) -> tuple[float, ...]:
    """The numbers that the rule weighs, one for each weight: of coverage the logarithm, for the first tenth says more
    than the last.
    """
    coverage, titled, lone, ahead, more = found
    clipped = (min(max(value, -_FAR), _FAR) for value in (ahead, more))
    return (math.log(coverage + _LEAST_COVERAGE), titled, float(lone), *clipped)


def judged(*likelihoods: float) -> Judgement:
    """The judgement of answers that are so likely: the best one is claimed, or one of them may be right."""
    if max(likelihoods, default=0.0) >= FOUND_FROM:
        return "found"
    worth = sum(one for one in likelihoods if one >= CANDIDATE_FROM)
    return "not sure" if worth >= OFFERED_FROM else "nothing"


def nowhere(asked: Sequence[Term]) -> tuple[str, ...]:
    """The words of a query, everyday ones aside, that no note of the memory holds in any form."""
    return tuple(term.word for term in asked if not (_own(term) or is_everyday(term.stem)))


def spellings(asked: Sequence[Term]) -> tuple[tuple[str, str], ...]:
    """Words of a query that were searched as others that are written like them, each with the likest of those."""
    read = ((term.word, max(_own(term), key=lambda one: one.text, default=None)) for term in asked)
    return tuple((word, one.word) for word, one in read if one is not None and one.kind == "spelling")


def _own(term: Term) -> list[Expansion]:
    """How a word of a note may be one of the query."""
    as_good = (one for one in term.meanings if one.likeness >= _AS_GOOD_FROM)
    spelt = (one for one in term.readings if one.text > 0)
    usual = len(term.word) <= _SHORT and is_usual(term.word)
    return [*(one for one in spelt if not (usual and one.kind == "spelling")), *as_good]


def _doubled(asked: Sequence[Term]) -> Iterator[int]:
    """Places of words that say a name once more: the parts of "userName" where notes hold the whole, else the whole."""
    for place, term in enumerate(asked):
        rest, parts = term.word, place
        while parts and rest.endswith(asked[parts - 1].word):
            parts -= 1
            rest = rest.removesuffix(asked[parts].word)
        if parts < place - 1 and not rest:
            yield from range(parts, place) if _own(term) else (place,)


def _weighed(state: State, term: Term, idle: bool) -> tuple[float, dict[str, float]]:
    """What a word of the query weighs: its rarity, or that of what it is taken for; and the stems that it may stand
    for, each with how sure that is.
    """
    own = _own(term)
    known = max(state.count(term.stem), sum(state.count(one.stem) for one in own if one.kind == "word"))
    if known or not own:
        rarity = _rarity(state, known)
    else:
        rarity = max(_sureness(one) * _rarity(state, state.count(one.stem)) for one in own)
    # A short word that is none tells nothing: "hw", "thes".
    unknown = idle or (not own and (len(term.word) < _SHORTEST or _is_slip(term.word)))
    weight = _weight(rarity, term.stem) * (_IDLE if unknown else 1.0)
    return weight, {one.stem: _sureness(one) for one in (*term.meanings, *own)}


def _is_slip(word: str) -> bool:
    return len(word) <= _SHORT and word.isalpha() and not is_usual(word)


def _weight(rarity: float, stem: str) -> float:
    general = _EVERYDAY if is_everyday(stem) else _COMMON if is_common(stem) else 1.0
    return (_LEAST_WEIGHT + (1 - _LEAST_WEIGHT) * rarity) * general


def _rarity(state: State, count: int) -> float:
    """The rarity of what so many notes hold as `State.rarity` has it, beside that of the rarest, in a memory of
    some notes at least: among very few every known word would seem common, and say less than one that is not there.
    """
    total = max(state.total, _FEW_NOTES)
    return math.log(1.0 + (total - min(count, total) + 0.5) / (count + 0.5)) / math.log(total + 1)


def _sureness(reading: Expansion) -> float:
    if reading.kind == "word":
        return 1.0
    if reading.kind == "spelling":
        return reading.likeness
    near = reading.kind == "meaning" and reading.likeness < _AS_GOOD_FROM
    return (_SYNONYM if near else 1.0) * reading.likeness**2
