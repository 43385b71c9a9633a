"""Judges how likely the best notes of a ranking answer: one fitted rule over what speaks for each."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from core.model.judgement import Judgement
from core.model.note import SCOPES, custom_tags
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
# What a note holds beside its most telling word is little below this weight.
_LITTLE: Final = 0.1
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
# A word of which a note holds less than such a share is missing, in general and where a question has few.
_HALF: Final = 0.5
_PARTLY: Final = 0.16
_FEW_WORDS: Final = 3
_STORY: Final = 8
# How alike a word of the note is at least for which one may be misspelt.
_LIKE: Final = 0.6
_OF_KIND: Final = 0.8
# A title of which a question names less is not meant.
_HARDLY_NAMED: Final = 0.3
# The fitted rule: the log odds that a note answers.
INTERCEPT: Final = 0.304
WEIGHTS: Final = (2.787, 0.933, -0.628, 4.016, 0.685)
# That the whole query is a note's title, or stands in no other note word for word, leaves little doubt.
_TITLE_LIKELIHOOD: Final = 0.97
_VERBATIM_LIKELIHOOD: Final = 0.95


class Evidence(NamedTuple):
    """What speaks for a note as the answer, in [0, 1] or [-1, 1].

    coverage: share of the query's weight that its best passage holds. titled: the share of the weight of its own title
    that the query names. lone: whether it holds little but one word, and lacks another one that was asked for ("Anna's
    birthday"). ahead, more: by how much its score and its coverage exceed those of the best
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


class _Asked(NamedTuple):
    """A word of the query. weight: how much it tells. readings: the stems that it may stand for, each with how sure
    that is. tells: whether it is no everyday word. thing: whether what lacks it may be about another thing.
    """

    term: Term
    weight: float
    readings: Mapping[str, float]
    tells: bool
    thing: bool


class _Held(NamedTuple):
    """What a note holds. weights: what its best passage holds of each word of the query. title: whether it has one of
    its own. titled: as of the evidence. names: its stems.
    """

    weights: list[float]
    title: bool
    titled: float
    names: Collection[str]
    length: int


class Judge:
    """Judges the notes of one ranking; the words of its query are weighed once."""

    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking
        phrase = ranking.query.phrase
        self._kinds = asked_kinds(phrase)
        self._asking = frozenset(word for one in self._kinds for word in one.asking)
        self._cues = frozenset(stem_in(word, "english") for one in self._kinds for word in one.words)
        self._idle, done = names_no_thing(phrase), verbs(phrase)
        self._words = [
            _weighed(ranking.state, term, term.word in self._idle, term.word in done)
            for term in ranking.terms
        ]
        self._named = {stem for one in self._words for stem, sure in one.readings.items() if sure >= _SYNONYM}
        for place in _doubled(ranking.terms):
            self._words[place] = self._words[place]._replace(weight=0.0, readings={}, thing=False)
        # A long question tells a story: what no note says of it is not what is asked.
        if sum(one.weight >= _LITTLE for one in self._words) > _STORY:
            shares = (1.0 if one.readings else _IDLE for one in self._words)
            self._words = [
                one._replace(weight=one.weight * share)
                for one, share in zip(self._words, shares, strict=True)
            ]
        self._query_weight = sum(one.weight for one in self._words)
        # Of what held at different times, the last or the first, where that is asked.
        self._wanted = max if asks_for_now(phrase) else min if asks_for_before(phrase) else None
        self._held = cache(self._read)
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
        alone = times[0] == self._wanted(times) and times.count(times[0]) == 1
        return likely if alone else min(likely, MOST_TIED)

    def _rivals(self, row: int) -> list[int]:
        """The best notes that may say on the same thing what held at another time, where that is asked."""
        if self._wanted is None or row not in self._best[:CLAIMED_AMONG] or self._is_vague(row):
            return []
        return [
            other
            for other in self._others(row, CLAIMED_AMONG)
            if not self._is_vague(other)
            and abs(self._coverage(row) - self._coverage(other)) <= _ON_ONE_THING
            and abs(self._blend(row) - self._blend(other)) <= _ON_ONE_THING
        ]

    def verdict(self, row: int) -> Verdict:
        """What the likelihood of a row is made of."""
        text, held = self._ranking.text, self._held(row)
        only = text.phrase[row] and not any(text.phrase[other] for other in self._others(row))
        named = OFFERED_FROM if held.titled >= 1.0 else 0.0
        least = _TITLE_LIKELIHOOD if text.title[row] else _VERBATIM_LIKELIHOOD if only else named
        others = self._others(row, CLAIMED_AMONG)
        tied = any(self._tied(row, other) or self._is_named_less(row, other) for other in others)
        beside = self._is_vague(row) or self._lacks(held) or self._is_of_another(row)
        return Verdict(self.evidence(row), least, tied or (least < FOUND_FROM and beside))

    def _lacking(self, held: _Held, share: float) -> list[_Asked]:
        """The words of which a note holds less than a share."""
        return [
            one
            for one, part in zip(self._words, held.weights, strict=True)
            if one.weight and part < share * one.weight
        ]

    def _is_vague(self, row: int) -> bool:
        """Whether a note only asks, has no title that says what it is about and lacks a rare word, or is a fact of
        whose key nothing is named, and of whose value one usual word.
        """
        note, held = self._ranking.state.notes[row], self._held(row)
        rare = any(one.tells and not is_common(one.term.stem) for one in self._lacking(held, _HALF))
        told = max(zip(held.weights, self._words, strict=True), key=lambda one: one[0], default=(0.0, None))[
            1
        ]
        usual = told is None or is_usual(told.term.word)
        other = note.is_fact and not held.titled and usual and _is_lone(held.weights)
        return (rare and not held.title) or other or note.content.rstrip().endswith("?")

    def _lacks(self, held: _Held) -> bool:
        """Whether a short note lacks a thing that a question of few words names: it tells the same of another thing."""
        if held.length > _PASSAGE or sum(one.thing or one.tells for one in self._words) > _FEW_WORDS:
            return False
        return any(
            _own(one.term)
            or (len(one.term.word) >= _SHORTEST and not _may_be_misspelt(one.term.word, held.names))
            for one in self._lacking(held, _PARTLY)
            if one.thing
        )

    def _is_of_another(self, row: int) -> bool:
        """Whether a fact tells the same of another thing: a word is asked for where its key has another one ("go
        version" and "python version"), or it is asked of something that neither key nor value names.
        """
        note, language = self._ranking.state.notes[row], self._ranking.state.language(row)
        if not note.is_fact:
            return False
        key = [stem_in(word, language) for word in words(note.title, compounds=True) if is_content_word(word)]
        named = [name in self._named or name in self._cues for name in key]
        goes_on = any(first != second for first, second in pairwise(named))
        lacking = {one.term.stem for one in self._lacking(self._held(row), _PARTLY)}
        heads = {one.term.stem for one in self._words if not one.readings.keys().isdisjoint(key)}
        return any(
            stem(word) in lacking and stem(head) in heads and (goes_on or (linked and all(named)))
            for word, head, linked in qualifying(self._ranking.query.phrase)
            if word not in self._idle and not _may_be_misspelt(word, key)
        )

    def _others(self, row: int, most: int = COMPARED) -> list[int]:
        """Those of the best notes that say something else than the note of a row."""
        return [one for one in self._best[:most] if one != row and self._says(one) != self._says(row)]

    def _says(self, row: int) -> str:
        note = self._ranking.state.notes[row]
        return squeeze(f"{note.title} {note.content}")

    def _tied(self, row: int, other: int) -> bool:
        """Whether another note answers about as well as the note of a row."""
        title = self._ranking.text.title
        if title[row] or title[other]:
            return bool(title[row] and title[other])
        apart = abs(self._coverage(row) - self._coverage(other))
        apart += abs(self._held(row).titled - self._held(other).titled)
        return apart <= _SAME and abs(self._blend(row) - self._blend(other)) <= _NEAR

    def _is_named_less(self, row: int, other: int) -> bool:
        """Whether a fact holds no more than another, whose whole key is asked for: "editor budget" beside "budget"."""
        notes, less, more = self._ranking.state.notes, self._held(row), self._held(other)
        facts = notes[row].is_fact and notes[other].is_fact
        return facts and less.titled < more.titled >= 1.0 and self._coverage(row) <= self._coverage(other)

    def evidence(self, row: int) -> Evidence:
        """What speaks for the note of a row; words that mean nearly what the query holds count little."""
        if not self._query_weight:
            return Evidence(float(self._ranking.text.coverage[row] > 0))
        held, coverage, others = self._held(row), self._coverage(row), self._others(row)
        # What lacks a thing that is asked for is no rival of what has all of them.
        rivals = others if self._lacks(held) else [one for one in others if not self._lacks(self._held(one))]
        rivals = [one for one in rivals if not self._is_named_less(one, row)]
        lacking = any(one.tells for one in self._lacking(held, _HALF))
        return Evidence(
            coverage=coverage,
            titled=held.titled,
            lone=lacking and held.titled < _HARDLY_NAMED and _is_lone(held.weights),
            ahead=self._blend(row) - max(map(self._blend, rivals), default=0.0),
            more=coverage - max(map(self._coverage, rivals), default=0.0),
        )

    def likelihood_of_text(self, stems: Collection[str], title: Collection[str], verbatim: bool) -> float:
        """How likely a text that is no note answers if it ranks best, in [0, 1]. stems, title: of it and its title."""
        if verbatim:
            return _VERBATIM_LIKELIHOOD
        if not self._query_weight:
            return 0.0
        # What no note holds may stand in a text beside them.
        readings = [{one.term.stem: 1.0, **one.readings} for one in self._words]
        held = [
            one.weight * max((sure for name, sure in some.items() if name in stems), default=0.0)
            for one, some in zip(self._words, readings, strict=True)
        ]
        titled = sum(any(name in some for some in readings) for name in title) / max(len(title), 1)
        lacking = any(one.tells and not part for one, part in zip(self._words, held, strict=True))
        lone = lacking and titled < _HARDLY_NAMED and _is_lone(held)
        return by_rule(Evidence(sum(held) / self._query_weight, titled, lone))

    def _blend(self, row: int) -> float:
        return float(self._ranking.blends[row])

    def _coverage(self, row: int) -> float:
        return sum(self._held(row).weights) / self._query_weight if self._query_weight else 0.0

    def _read(self, row: int) -> _Held:
        """What the best passage of a note holds; its title belongs to each of them."""
        stems, names = list(self._ranking.state.document(row).stems), self._ranking.state.stems.names
        holding: dict[str, list[tuple[int, float]]] = {}
        for place, one in enumerate(self._words):
            for name, sure in one.readings.items():
                holding.setdefault(name, []).append((place, one.weight * sure))
        begins = stems.index(NO_WORD)
        title, places = [0.0] * len(self._words), list[tuple[int, int, float]]()
        for at, number in enumerate(stems):
            for place, worth in holding.get(names[number], ()) if number != NO_WORD else ():
                if at < begins:
                    title[place] = max(title[place], worth)
                else:
                    places.append((at, place, worth))
        best = _best_passage(title, places)
        if self._kinds and len(stems) <= 2 * _PASSAGE:
            note = self._ranking.state.notes[row]
            text = note.content if note.is_fact else f"{note.title}\n{note.content}"
            # A value of the kind that is asked for is nearly as good as the word that asks.
            if any(one.answered_in(text) for one in self._kinds):
                for place, one in enumerate(self._words):
                    if one.term.word in self._asking:
                        best[place] = max(best[place], _OF_KIND * one.weight)
        held = {names[number] for number in stems if number != NO_WORD}
        return _Held(best, *self._named_of_title(row), held, len(stems))

    def _named_of_title(self, row: int) -> tuple[bool, float]:
        """Whether a note has a title of its own, and the share of its weight that the query names. A tag is a name as
        well where it is named whole and few notes hold its rarest word.
        """
        note, state = self._ranking.state.notes[row], self._ranking.state
        language, titled = state.language(row), 0.0
        scope, _, rest = note.title.partition(":")
        title = words(rest if scope in SCOPES and rest else note.title, compounds=True)
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


def _weighed(state: State, term: Term, idle: bool, done: bool) -> _Asked:
    """A word of the query with its weight: its rarity, or that of what it is taken for. done: whether it is a verb."""
    own = _own(term)
    known = max(state.count(term.stem), sum(state.count(one.stem) for one in own if one.kind == "word"))
    if known or not own:
        rarity = _rarity(state, known)
    else:
        rarity = max(_sureness(one) * _rarity(state, state.count(one.stem)) for one in own)
    weight = _weight(rarity, term.stem) * (_IDLE if idle or (not own and _is_slip(term.word)) else 1.0)
    readings = {one.stem: _sureness(one) for one in (*term.meanings, *own)}
    asks, tells = is_telling(term.stem) and not done, not is_everyday(term.stem)
    return _Asked(term, weight, readings, tells, term.word.isalpha() and (asks or (tells and not idle)))


def _is_slip(word: str) -> bool:
    """Whether a word is no word: "hw", "thes"."""
    unusual = len(word) <= _SHORT and word.isalpha() and not is_usual(word)
    return len(word) < _SHORTEST or unusual or not is_content_word(word.removesuffix("s"))


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
