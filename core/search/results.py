"""The types of a search: filters, hits, the parts of their scores, and explanations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from core.model.joined import Whose
from core.model.judgement import Judgement
from core.model.note import Note, normalise_tag
from core.search.query_syntax import Clause

if TYPE_CHECKING:
    from core.search.signals import Signal

T = TypeVar("T")
Line = Literal["vector", "text", "boost", "exact", "signals"]
ReasonKind = Literal[
    "word", "form", "beginning", "spelling", "part", "meaning", "pair", "phrase", "title",
    "durable", "scope", "confidence", "exact",
    "hint", "entity", "constraint", "gravity", "hub", "resolution", "embedding", "rerank",
]  # fmt: skip
Obstacle = Literal["", "hidden", "filters", "nothing in common", "too little in common", "nothing asked"]


@dataclass(frozen=True, slots=True)
class Filters:
    """Which notes may be hits; None admits every value. Hidden notes only with `include_hidden`."""

    nugget: str | None = None
    scope: str | None = None
    type: str | None = None
    subject: str | None = None
    tag: str | None = None
    include_hidden: bool = False
    # No notes of these.
    other_than: frozenset[str] = frozenset()
    # Only these notes, by their ids.
    among: frozenset[str] | None = None

    def admits(self, note: Note) -> bool:
        """Whether the note may be a hit."""
        return (
            (self.include_hidden or not note.hidden)
            and (self.nugget is None or note.nugget_name == self.nugget)
            and note.nugget_name not in self.other_than
            and (self.among is None or note.id in self.among)
            and (self.scope is None or note.scope == self.scope)
            and (self.type is None or note.type == self.type)
            and (self.subject is None or note.subject == self.subject)
            and (self.tag is None or normalise_tag(self.tag) in map(normalise_tag, note.tags))
        )

    @property
    def preferred(self) -> tuple[str, ...]:
        """Exact words: notes that hold them come first."""
        return ()

    @property
    def narrow(self) -> bool:
        """Whether anything but hiddenness is asked for."""
        return bool(self.other_than) or any(
            wanted is not None
            for wanted in (self.nugget, self.scope, self.type, self.subject, self.tag, self.among)
        )


class ScoreReason(NamedTuple):
    """One thing that gave a note a part of its score.

    line: the part that `value` belongs to; all values of a line add up to it. kind: how `found` came to count. asked:
    the word of the query. found: what of the memory answered it: a word, a pair "first second", or the id of a note.
    likeness: how nearly `found` means what was asked,
    in (0, 1]; 1 where that is no question.
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
    memory has 1. coverage: share of the query that the note holds, rare words
    counting more, in [0, 1]. reached: the same with words that mean nearly what was typed. likelihood: how likely it
    answers if it ranks best, in [0, 1]. score: softmax over the best hits, in [0, 1]; 0 for a note that is no hit.
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
    score: float = 0.0
    _raw_vector: Callable[[], float] = field(default=lambda: 0.0, repr=False, compare=False)
    _raw_text: Callable[[], float] = field(default=lambda: 0.0, repr=False, compare=False)
    _matched: Callable[[], tuple[str, ...]] = field(default=lambda: (), repr=False, compare=False)
    _query_words: Callable[[], QueryWords] = field(default=lambda: QueryWords(), repr=False, compare=False)
    _reasons: Callable[[], tuple[ScoreReason, ...]] = field(default=lambda: (), repr=False, compare=False)

    @cached_property
    def raw_vector(self) -> float:
        """The cosine of the vectors of query and note, in [0, 1]."""
        return self._raw_vector()

    @cached_property
    def raw_text(self) -> float:
        """The text score of the original: 0.75 for the whole query standing in the note, plus the share of its tokens
        that the note has, in [0, 1.75].
        """
        return self._raw_text()

    @cached_property
    def matched(self) -> tuple[str, ...]:
        """Words of the note that matched, folded, for `highlights`."""
        return self._matched()

    @cached_property
    def query_words(self) -> QueryWords:
        """Which words of the query the note holds, and which it lacks."""
        return self._query_words()

    @cached_property
    def reasons(self) -> tuple[ScoreReason, ...]:
        """What made each part, part by part, the greatest first."""
        return self._reasons()


@dataclass(frozen=True, slots=True)
class Hit:
    """A note with its place in the ranking. `rank` counts from 1; 0 marks an explained note that is no hit.

    sure: whether it stands above the line; below it is what has something in common and is less likely. whose: the
    note is. project: the other project that it is from, "" for none.
    """

    note: Note
    score: float
    rank: int
    breakdown: Breakdown
    sure: bool = True
    whose: Whose = ""
    project: str = ""


class ExactWords(NamedTuple):
    """Exact words that were asked for, and how many hits hold them."""

    text: str
    holders: int


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
    they add up to `blend`, and what its signals add is a part of `vector`. A note has a little more: what it is, what
    it is like and linked with.

    coverage: share of the query that it holds, in [0, 1]. likelihood: how likely it answers, in [0, 1]. sure: whether
    that is enough. matched: its words that matched, folded.
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


def merged(
    hits: Sequence[T], passages: Sequence[Passage], blend_of: Callable[[T], float]
) -> list[T | Passage]:
    """Hits in their order, with each passage before the first hit that scores less."""
    listed: list[T | Passage] = []
    rest = list(passages)
    for hit in hits:
        while rest and rest[0].blend > blend_of(hit):
            listed.append(rest.pop(0))
        listed.append(hit)
    return [*listed, *rest]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search brought: hits best first, and one judgement of them all.

    judgement: "found" when the best hit answers, "not sure" when it may, "nothing" when nothing does. exact: the exact
    words that were asked for. clauses: how the query was read, and what became of its words, in plain words.
    spellings: words that no note holds, each with the word that was searched in its place. nowhere: words, everyday
    ones aside, that no note holds in any form. instead: queries that find something, where this one found no hit.
    cut_short: whether time ran out before all was looked up that is known of the notes beside their words. more:
    whether the same search finds out more for who waits (`signals.waiting`), or another time. passages: parts of
    documents, best first; they take no place from a note, and `judgement` is of the notes alone.
    """

    hits: tuple[Hit, ...] = ()
    judgement: Judgement = "nothing"
    exact: tuple[ExactWords, ...] = ()
    clauses: tuple[Clause, ...] = ()
    spellings: tuple[tuple[str, str], ...] = ()
    nowhere: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    cut_short: bool = False
    more: bool = False
    passages: tuple[Passage, ...] = ()

    @property
    def listed(self) -> list[Hit | Passage]:
        """Hits and passages by score."""
        return merged(self.hits, self.passages, lambda hit: hit.breakdown.blend)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a note stands where it does in a search, or why it does not.

    hit: the note with its rank (0: no hit) and the parts that it has or would have. total: how many hits there are.
    obstacle: what keeps it out, "" for a hit. missing: words of the query that the note lacks. floor: the coverage
    that stands above the line. needed: the blend of the last hit that is shown, 0 when there is room. judgement: of
    the whole search, and best: how likely its best hit answers, in [0, 1]. nowhere: words of the query, everyday ones
    aside, that no note of the memory holds in any form.
    """

    hit: Hit
    total: int
    obstacle: Obstacle
    missing: tuple[str, ...]
    floor: float
    needed: float
    judgement: Judgement = "nothing"
    best: float = 0.0
    nowhere: tuple[str, ...] = ()
