"""What a typed text asks for, put to the index: words to rank by, and a question that notes have to fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.search.index import SearchIndex
from core.search.query_syntax import Clause, Question
from core.search.results import Breakdown, Explanation, Filters, Hit, NoteRank, Obstacle, SearchResult
from core.settings import SearchSettings

_NOTHING: Final = Question()
_UNWEIGHED: Final = Breakdown()
_LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class QuestionFilters(Filters):
    """Filters that a question narrows further. now, new_since: as `Question.admits` takes them."""

    question: Question = _NOTHING
    now: datetime = _LONG_AGO
    new_since: str | None = None

    def admits(self, note: Note) -> bool:
        """Whether the note may be a hit."""
        return super().admits(note) and self.question.admits(
            note, now=self.now, new_since=self.new_since, include_hidden=self.include_hidden
        )

    @property
    def preferred(self) -> tuple[str, ...]:
        """Exact words: notes that hold them come first."""
        return self.question.phrases

    @property
    def narrow(self) -> bool:
        """Whether notes have to be looked at one by one."""
        return self.question.narrow or super().narrow


def question_filters(
    question: Question, *, now: datetime, new_since: str | None = None, filters: Filters | None = None
) -> QuestionFilters:
    """The filters of a question, on top of other filters. now: with the time zone in which dates are meant."""
    given = filters or Filters()
    return QuestionFilters(
        nugget=given.nugget,
        scope=given.scope,
        type=given.type,
        subject=given.subject,
        tag=given.tag,
        include_hidden=given.include_hidden or question.hidden,
        question=question,
        now=now,
        new_since=new_since,
    )


def search_question(
    index: SearchIndex,
    snapshot: Snapshot,
    wanted: QuestionFilters,
    limit: int,
    settings: SearchSettings,
    stopped: Callable[[], bool] | None = None,
) -> SearchResult:
    """The best notes for a question; those that conditions alone admit come newest first, and all are sure."""
    question = wanted.question
    if question.words:
        result = index.result(question.words, limit, wanted, settings, stopped)
        clauses = (*question.described(), *_spelling_clauses(result), *_exact_word_clauses(result))
        result = replace(result, clauses=clauses)
    else:
        found = _only_filtered(snapshot, wanted, limit) if question.narrow else ()
        result = SearchResult(found, "found" if found else "nothing", clauses=question.described())
    if result.hits or question.empty or (stopped is not None and stopped()):
        return result
    from core.search.nearest import nearest_queries

    return replace(result, instead=nearest_queries(snapshot, question, result.nowhere, index.spelling))


def _spelling_clauses(result: SearchResult) -> Iterator[Clause]:
    """Which words were searched as others."""
    for typed, found in result.spellings:
        yield Clause(f"{typed}: searched as {found}")


def _exact_word_clauses(result: SearchResult) -> Iterator[Clause]:
    """What became of exact words that none or only some of the hits hold."""
    for text, holders in result.exact:
        if not holders:
            yield Clause(f'no note contains "{text}" exactly; these words are searched one by one', True)
        elif holders < len(result.hits):
            notes = "1 note contains" if holders == 1 else f"{holders} notes contain"
            yield Clause(f'{notes} "{text}" exactly; the notes below match its words')


def note_rank(
    index: SearchIndex,
    snapshot: Snapshot,
    wanted: QuestionFilters,
    note_id: str,
    settings: SearchSettings,
    stopped: Callable[[], bool] | None = None,
) -> NoteRank | None:
    """Where a note stands among all hits for a question, and how many there are. None when it was stopped."""
    if wanted.question.words:
        return index.note_rank(wanted.question.words, note_id, wanted, settings, stopped)
    if not wanted.question.narrow:
        return NoteRank(0, 0)
    ids = [note.id for note in _admitted(snapshot, wanted)]
    return NoteRank(len(ids), ids.index(note_id) + 1 if note_id in ids else 0)


def explain_question(
    index: SearchIndex,
    snapshot: Snapshot,
    wanted: QuestionFilters,
    note_id: str,
    settings: SearchSettings,
    shown: int,
) -> Explanation | None:
    """Why a note stands where it does; see `SearchIndex.explain`.

    What conditions alone admit has a place and no score.
    """
    if wanted.question.words or not wanted.question.narrow:
        return index.explain(wanted.question.words, note_id, wanted, settings, shown)
    note = snapshot.by_id.get(note_id)
    if note is None:
        return None
    place = note_rank(index, snapshot, wanted, note_id, settings) or NoteRank(0, 0)
    left_out: Obstacle = "hidden" if note.hidden and not wanted.include_hidden else "filters"
    return Explanation(
        hit=Hit(note=note, score=0.0, rank=place.rank, breakdown=Breakdown(), sure=bool(place.rank)),
        total=place.total,
        obstacle="" if place.rank else left_out,
        missing=(),
        floor=0.0,
        needed=0.0,
        judgement="found" if place.total else "nothing",
    )


def _admitted(snapshot: Snapshot, filters: Filters) -> list[Note]:
    """Notes that filters alone admit, newest first."""
    admitted = [note for note in snapshot.notes if filters.admits(note)]
    admitted.sort(key=lambda note: max(note.updated_at, note.created_at), reverse=True)
    return admitted


def _only_filtered(snapshot: Snapshot, filters: Filters, limit: int) -> tuple[Hit, ...]:
    """The same in the shape of hits."""
    admitted = _admitted(snapshot, filters)
    ranked = enumerate(admitted[:limit], 1)
    return tuple(Hit(note=note, score=0.0, rank=rank, breakdown=_UNWEIGHED) for rank, note in ranked)
