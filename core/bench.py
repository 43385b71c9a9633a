"""Measures recall and search on questions with known answers, a person's own and prepared sets, beside BM25."""

from __future__ import annotations

import json
import math
import os
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from core.errors import InvalidInputError
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.text.tokens import stems

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.memory import Memory

UNKNOWN: Final = "unknown"
_CUT: Final = 10
_ROUNDS: Final = 1000
# Of a normal distribution, for intervals of 95 %.
_Z: Final = 1.96
_K1: Final = 1.2
_B: Final = 0.75
# Claims are counted by certainty in bands that begin here.
BANDS: Final = (0.70, 0.80, 0.90, 0.95)


class Question(NamedTuple):
    """A question with the ids of the notes that answer it, each with its grade above 0; none for one without answer."""

    text: str
    relevant: Mapping[str, float]


class Answer(NamedTuple):
    """What came of a question: ids of hits, best first, of search and of BM25; the id of the note that recall claims,
    "" for none, and how certain it says to be; whether it offers one of the right notes without a claim.
    """

    question: Question
    hits: Sequence[str]
    plain_hits: Sequence[str]
    claimed: str
    certainty: float
    offered: bool

    @property
    def right(self) -> bool:
        """Whether the claim is right; no claim is not."""
        return self.claimed in self.question.relevant


class Share(NamedTuple):
    """A number of a total, as a share with its 95 % interval, all in [0, 1]; 0 and the whole interval for none."""

    number: int
    total: int

    @property
    def value(self) -> float:
        """The share."""
        return self.number / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval (E. B. Wilson, JASA 22, 1927)."""
        if not self.total:
            return 0.0, 1.0
        share, total = self.value, self.total
        middle = share + _Z**2 / (2 * total)
        around = _Z * math.sqrt(share * (1 - share) / total + _Z**2 / (4 * total**2))
        whole = 1 + _Z**2 / total
        return max(0.0, (middle - around) / whole), min(1.0, (middle + around) / whole)


class Mean(NamedTuple):
    """A mean of values in [0, 1], with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class BenchResult:
    """What a set came to: one answer a question."""

    name: str
    notes: int
    answers: tuple[Answer, ...]

    @property
    def answerable(self) -> list[Answer]:
        """Answers to questions that a note answers."""
        return [one for one in self.answers if one.question.relevant]

    @property
    def ndcg(self) -> tuple[Mean, Mean]:
        """nDCG@10 of search, and of BM25."""
        pairs = [
            (ndcg(one.hits, one.question.relevant), ndcg(one.plain_hits, one.question.relevant))
            for one in self.answerable
        ]
        return _mean([ours for ours, _ in pairs]), _mean([plain for _, plain in pairs])

    @property
    def plain_right(self) -> Share:
        """Of the questions that have an answer those whose first hit of BM25 is right."""
        firsts = [one for one in self.answerable if one.plain_hits]
        return Share(sum(one.plain_hits[0] in one.question.relevant for one in firsts), len(self.answerable))

    @property
    def right(self) -> Share:
        """Of the questions that have an answer those that recall answers rightly."""
        return Share(sum(one.right for one in self.answerable), len(self.answerable))

    @property
    def offered(self) -> Share:
        """Of the questions that have an answer those for which recall offers it without a claim."""
        return Share(sum(one.offered and not one.claimed for one in self.answerable), len(self.answerable))

    @property
    def claims_right(self) -> Share:
        """Of the claims on questions that have an answer those that are right."""
        claims = [one for one in self.answerable if one.claimed]
        return Share(sum(one.right for one in claims), len(claims))

    @property
    def unanswerable_claimed(self) -> Share:
        """Of the questions without an answer those that recall claims to answer."""
        others = [one for one in self.answers if not one.question.relevant]
        return Share(sum(bool(one.claimed) for one in others), len(others))

    def reliability(self) -> Iterator[tuple[float, Share]]:
        """Claims by certainty: where each band begins, and how many of its claims are right."""
        for low, high in zip(BANDS, (*BANDS[1:], 1.01), strict=True):
            claims = [one for one in self.answers if one.claimed and low <= one.certainty < high]
            yield low, Share(sum(one.right for one in claims), len(claims))


# Running


def run_own(memory: Memory, path: Path) -> BenchResult:
    """Measures a memory on the questions of a TOML file: [[question]] tables with text and expect, which is the title,
    key or id of a note, a list of such, or "unknown".

    Raises InvalidInputError for another shape and for a note that is not there. Nothing is counted or written.
    """
    questions = []
    for place, entry in enumerate(_tables(path), 1):
        where = f"{path}: question {place}"
        text, expected = entry.get("text"), entry.get("expect")
        expected = [expected] if isinstance(expected, str) else expected
        if not (isinstance(text, str) and text.strip() and isinstance(expected, list) and expected):
            raise InvalidInputError(
                "a question needs a text and what it expects",
                where=where,
                todo='text = "…", expect = "a title"',
            )
        ids = {id for one in expected if one != UNKNOWN for id in _ids_of(memory, str(one), where)}
        questions.append(Question(text, dict.fromkeys(ids, 1.0)))
    return _run(
        path.stem,
        memory.search.snapshot.visible,
        questions,
        lambda text: [hit.note.id for hit in memory.search.result(text, _CUT, syntax=False).hits],
        lambda text: memory.recall(text, record=False, decode=False),
    )


def _tables(path: Path) -> list[Mapping[str, Any]]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("question")
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"cannot be read ({error})", where=str(path)) from error
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        raise InvalidInputError("has no [[question]] tables", where=str(path), todo="see docs/performance.md")
    return tables


def _ids_of(memory: Memory, name: str, where: str) -> list[str]:
    """The notes that a title, key or id names: all of them that bear it."""
    bearing = [note.id for note in memory.search.snapshot.visible if name in (note.title, note.key, note.id)]
    if bearing:
        return bearing
    raise InvalidInputError(f"no note is named {name!r}", where=where, todo='or expect = "unknown"')


def run_set(path: Path) -> BenchResult:
    """Measures the engine on a prepared set: a JSON file as docs/performance.md describes it.

    Raises InvalidInputError for another shape. Everything is kept in memory.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        collections = [
            (
                _snapshot(part["notes"]),
                [
                    Question(str(one["text"]), {id: float(grade) for id, grade in one["relevant"].items()})
                    for one in part["queries"]
                ],
            )
            for part in data["collections"]
        ]
        name = str(data.get("name", path.stem))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInputError(
            f"not a prepared set ({type(error).__name__}: {error})",
            where=str(path),
            todo="see docs/performance.md",
        ) from error
    notes, answers = 0, list[Answer]()
    for snapshot, questions in collections:
        search, recall = _engine(snapshot)
        result = _run(name, snapshot.visible, questions, search, recall)
        notes, answers = notes + result.notes, [*answers, *result.answers]
    return BenchResult(name, notes, tuple(answers))


def _snapshot(entries: Sequence[Mapping[str, Any]]) -> Snapshot:
    """The notes of a set; one with a key is a fact, and its content the value."""
    notes = tuple(map(_note, entries))
    facts: dict[str, list[Fact]] = {}
    for note in notes:
        if note.is_fact:
            facts.setdefault(note.nugget_name, []).append(Fact(key=note.key, value=note.content))
    nuggets = tuple(Nugget(meta=NuggetMeta(name=name), facts=tuple(some)) for name, some in facts.items())
    return Snapshot(notes=notes, nuggets=nuggets)


def _note(entry: Mapping[str, Any]) -> Note:
    day, key, content = str(entry.get("created", "2026-01-01")), entry.get("key"), str(entry["content"])
    at = day if "T" in day else f"{day}T00:00:00.000Z"
    return Note(
        id=str(entry["id"]),
        nugget_name=str(entry.get("nugget", "memory")),
        title=str(entry.get("title") or key or " ".join(content.split()[:6])),
        content=content,
        tags=tuple(map(str, entry.get("tags", ()))),
        kind="note" if key is None else "fact",
        source_key=None if key is None else str(key),
        created_at=at,
        updated_at=at,
        type="note" if key is None else "fact",
        confidence=0.5,
    )


def _engine(snapshot: Snapshot) -> tuple[Callable[[str], Sequence[str]], Callable[[str], Recall]]:
    """Search and recall over a snapshot that is in no folder."""
    from core.services.recall import RecallService
    from core.services.search import SearchQuery, SearchService
    from core.settings import SearchSettings

    def never(*_: object) -> Any:
        raise AssertionError("a measured recall is not counted")

    settings = SearchSettings()
    # A folder that has no cache.
    service = SearchService(Path(os.devnull), lambda: settings, datetime.now)
    recalls = RecallService(service, draft=never, apply=never, guard=nullcontext(), clock=datetime.now)

    def search(text: str) -> list[str]:
        return [hit.note.id for hit in service.result(snapshot, SearchQuery(text, syntax=False), _CUT).hits]

    def recall(text: str) -> Recall:
        return recalls.recall(snapshot, text, None, "", record=False, syntax=False, decode=False)

    return search, recall


def _run(
    name: str,
    notes: Sequence[Note],
    questions: Sequence[Question],
    search: Callable[[str], Sequence[str]],
    recall: Callable[[str], Recall],
) -> BenchResult:
    plain = BM25(notes)
    answers = []
    for question in questions:
        found = recall(question.text)
        offered = any(one.note_id in question.relevant for one in found.candidates)
        claimed = (found.note_id or found.key) if found.found else ""
        hits, plain_hits = search(question.text), plain.search(question.text)
        answers.append(Answer(question, hits, plain_hits, claimed, found.certainty, offered))
    return BenchResult(name, len(notes), tuple(answers))


# Measures


class BM25:
    """Okapi BM25 over title, content and tags as one text, as the baseline. terms: those of a text, its stems."""

    def __init__(self, notes: Sequence[Note], terms: Callable[[str], Iterable[str]] = stems) -> None:
        self._ids = [note.id for note in notes]
        self._terms = terms
        counts = [Counter(terms("\n".join((note.title, note.content, *note.tags)))) for note in notes]
        lengths = [count.total() for count in counts]
        mean = sum(lengths) / max(len(notes), 1) or 1.0
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for place, count in enumerate(counts):
            norm = _K1 * (1 - _B + _B * lengths[place] / mean)
            for stem, times in count.items():
                self._postings.setdefault(stem, []).append((place, times * (_K1 + 1) / (times + norm)))

    def search(self, text: str, limit: int = _CUT) -> list[str]:
        """Ids of the best notes, best first; of equals the earlier one."""
        scores = Counter[int]()
        for stem, times in Counter(self._terms(text)).items():
            held = self._postings.get(stem, ())
            rarity = math.log(1 + (len(self._ids) - len(held) + 0.5) / (len(held) + 0.5))
            for place, gain in held:
                scores[place] += times * rarity * gain  # type: ignore[assignment]
        best = sorted(scores, key=lambda place: (-scores[place], place))
        return [self._ids[place] for place in best[:limit]]


def ndcg(ranked: Sequence[str], relevant: Mapping[str, float], cut: int = _CUT) -> float:
    """Discounted gain of the first `cut` ids (best first) by the best that was possible, in [0, 1].

    relevant: grade of each id that is right, above 0, at least one.
    """
    grades = [relevant.get(id, 0.0) for id in ranked[:cut]]
    best = sorted(relevant.values(), reverse=True)[:cut]
    return _discounted(grades) / _discounted(best)


def _discounted(grades: Sequence[float]) -> float:
    return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades))


def _mean(values: Sequence[float]) -> Mean:
    """The mean with its bootstrap interval, the same at each call; zeros for none."""
    if not values:
        return Mean(0.0, 0.0, 0.0)
    dice, number = random.Random(0), len(values)
    means = sorted(sum(dice.choices(values, k=number)) / number for _ in range(_ROUNDS))
    return Mean(sum(values) / number, means[int(0.025 * _ROUNDS)], means[int(0.975 * _ROUNDS)])
