"""The types of a search: filters, hits, the parts of their scores, and explanations."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from core.model.joined import Whose
from core.model.judgement import Judgement
from core.model.note import Note, normalise_tag
from core.search.query_syntax import Clause
from core.search.signals import Signal, SignalKind

Line = Literal["vector", "text", "boost", "exact", "signals"]
ReasonKind = Literal[
    "word", "form", "beginning", "spelling", "part", "meaning", "pair", "phrase", "title",
    "durable", "scope", "confidence", "exact", SignalKind,
]  # fmt: skip
Obstacle = Literal["", "hidden", "filters", "nothing in common", "too little in common", "nothing asked"]


@dataclass(frozen=True, slots=True)
class Filters:
    """Which notes may be hits; None admits every value. Hidden notes only with `include_hidden`. other_than: no notes
    of these nuggets. among: only these notes, by their ids. preferred: exact words; notes that hold them come first.
    """

    nugget: str | None = None
    scope: str | None = None
    type: str | None = None
    subject: str | None = None
    tag: str | None = None
    include_hidden: bool = False
    other_than: frozenset[str] = frozenset()
    among: frozenset[str] | None = None
    preferred: tuple[str, ...] = ()

    def admits(self, note: Note) -> bool:
        """Whether the note may be a hit."""
        return (
            (self.include_hidden or not note.hidden)
            and self.nugget in (None, note.nugget_name)
            and self.scope in (None, note.scope)
            and self.type in (None, note.type)
            and self.subject in (None, note.subject)
            and (self.tag is None or normalise_tag(self.tag) in map(normalise_tag, note.tags))
            and note.nugget_name not in self.other_than
            and (self.among is None or note.id in self.among)
        )

    @property
    def narrow(self) -> bool:
        """Whether anything but hiddenness is asked for."""
        wanted = (self.nugget, self.scope, self.type, self.subject, self.tag, self.among)
        return bool(self.other_than) or wanted.count(None) < len(wanted)


class ScoreReason(NamedTuple):
    """One thing that gave a note a part of its score.

    line: the part that `value` belongs to; all values of a line add up to it. kind: how `found` came to count. asked:
    the word of the query. found: what of the memory answered it: a word, a pair "first second", or the id of a note.
    likeness: how nearly `found` means what was asked, in (0, 1]; 1 where that is no question.
    """

    line: Line
    kind: ReasonKind
    asked: str
    found: str
    value: float
    likeness: float = 1.0


class QueryWords(NamedTuple):
    """Words of a query as they were typed: what a note holds of them and what it lacks.

    guessed: those of `held` that count as another word, half typed or misspelt, each with that word.
    """

    held: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    guessed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Breakdown:
    """Why a note stands where it does.

    vector, text, boost, exact, signals: the parts after their weights; they add up to `blend`, by which hits
    are ranked. exact: for exact words that were asked for. signals: what is known of the note beside its words, and
    may take away. vector_score, text_score: the first two before their weights, in [0, 1]; the best of the whole
    memory has 1. coverage: share of the query that the note holds, rare words counting more, in [0, 1]. reached: the
    same with words that mean nearly what was typed. likelihood: how likely it answers if it ranks best, in [0, 1].
    query_words: tells what the note holds of the query.
    """

    vector: float = 0.0
    text: float = 0.0
    boost: float = 0.0
    exact: float = 0.0
    signals: float = 0.0
    blend: float = 0.0
    vector_score: float = 0.0
    text_score: float = 0.0
    coverage: float = 0.0
    reached: float = 0.0
    likelihood: float = 0.0
    query_words: Callable[[], QueryWords] = field(default=QueryWords, repr=False, compare=False)
    _matched: Callable[[], tuple[str, ...]] = field(default=tuple, repr=False, compare=False)
    _reasons: Callable[[], tuple[ScoreReason, ...]] = field(default=tuple, repr=False, compare=False)

    @cached_property
    def matched(self) -> tuple[str, ...]:
        """Words of the note that matched, folded, for `highlights`."""
        return self._matched()

    @cached_property
    def reasons(self) -> tuple[ScoreReason, ...]:
        """What made each part, part by part, the greatest first."""
        return self._reasons()


@dataclass(frozen=True, slots=True)
class Hit:
    """A note with its place in the ranking. `rank` counts from 1; 0 marks an explained note that is no hit.

    score: softmax over the best hits, in [0, 1]; 0 for a note that is no hit. sure: whether it stands above the line;
    below it is what has something in common and is less likely. whose: the note is. project: the other project that
    it is from, "" for none.
    """

    note: Note
    score: float
    rank: int
    breakdown: Breakdown
    sure: bool = True
    whose: Whose = ""
    project: str = ""


class FoundPassage(NamedTuple):
    """A part of a document that shares words with a query, or is a hit by a signal with `at_least`.

    place: of the part in its document, from 0. signals: what is known of it beside its words, as of notes.
    """

    document_id: str
    title: str
    source: str
    place: int
    text: str
    nugget: str = ""
    signals: tuple[Signal, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document as a hit. words, vector: the parts of its score after their weights, as those of a note;
    they add up to `blend`, and what its signals add is a part of `vector`. coverage: share of the query that it holds,
    in [0, 1]. likelihood: how likely it answers, in [0, 1]. sure: whether that is enough. matched: its words that
    matched, folded.
    """

    found: FoundPassage
    words: float
    vector: float
    coverage: float
    likelihood: float
    sure: bool
    matched: tuple[str, ...]

    @property
    def blend(self) -> float:
        """The score by which it stands among the notes."""
        return self.words + self.vector


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search brought: hits best first, and one judgement of them all.

    judgement: "found" when the best hit answers, "not sure" when it may, "nothing" when nothing does. exact: the exact
    words that were asked for, each with how many hits hold it. clauses: how the query was read, and what became of its
    words, in plain words. spellings: words that no note holds, each with the word that was searched in its place.
    nowhere: words, everyday ones aside, that no note holds in any form. instead: queries that find something, where
    this one found no hit. cut_short: whether time ran out before all was looked up that is known of the notes beside
    their words. more: whether the same search finds out more for who waits (`signals.waiting`), or another time.
    passages: parts of documents, best first; they take no place from a note, and `judgement` is of the notes alone.
    """

    hits: tuple[Hit, ...] = ()
    judgement: Judgement = "nothing"
    exact: tuple[tuple[str, int], ...] = ()
    clauses: tuple[Clause, ...] = ()
    spellings: tuple[tuple[str, str], ...] = ()
    nowhere: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    cut_short: bool = False
    more: bool = False
    passages: tuple[Passage, ...] = ()

    @property
    def listed(self) -> list[Hit | Passage]:
        """Hits in their order, with each passage before the first hit that scores less."""
        ranked: tuple[Sequence[Hit | Passage], ...] = (self.hits, self.passages)
        merged = heapq.merge(*ranked, key=lambda one: -(one.breakdown if isinstance(one, Hit) else one).blend)
        return list(merged)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a note stands where it does in a search, or why it does not.

    hit: the note with its rank (0: no hit) and the parts that it has or would have. total: how many hits there are.
    obstacle: what keeps it out, "" for a hit. floor: the coverage that stands above the line. needed: the blend of the
    last hit that is shown, 0 when there is room. judgement: of the whole search, and best: how likely its best hit
    answers, in [0, 1]. nowhere: words of the query, everyday ones aside, that no note holds in any form.
    """

    hit: Hit
    total: int
    obstacle: Obstacle
    floor: float = 0.0
    needed: float = 0.0
    judgement: Judgement = "nothing"
    best: float = 0.0
    nowhere: tuple[str, ...] = ()
