"""The search index: follows the snapshots of a memory note by note and answers queries from any thread.

What somebody typed asks for words to rank by, and is a question that notes have to fit: it is put to the index here.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final

from core.errors import InvalidInputError
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.search.conditions import Asked
from core.search.documents import Document, Reader, digest_of, same_for_search, searched_fields
from core.search.query_syntax import Clause, Question, parse_query
from core.search.results import Breakdown, Explanation, Filters, Hit, Obstacle, SearchResult
from core.settings import SearchSettings, Synonyms
from core.text.languages import serves_grammar
from core.text.tokens import words

if TYPE_CHECKING:
    from core.search.passages import PassageSource
    from core.search.ranking import Ranking
    from core.search.signals import SignalSource
    from core.search.state import Blocks, Segment, State

# So many recent documents are kept beside the base before both become one, or an eighth of the base.
_RECENT: Final = 512
_RECENT_SHARE: Final = 8
# How many notes are read between two calls that tell of it.
_PROGRESS_EVERY: Final = 16
# How alike a spelling is at least that is named where nothing was found.
_LIKE: Final = 0.6
# Texts of so many characters are looked through for words joined or parted.
_LONGEST_RESPELT: Final = 400

# Told how much of a work is done: how many of how many.
Progress = Callable[[int, int], None]


class SearchIndex:
    """An index over all notes of a snapshot, hidden ones too; empty until the first `update`.

    `update` may run in one thread while others search: a query sees the notes before or after it, never
    between. Loads numpy when it is first used. read_anew: how many notes were read and are in no `blocks` yet.
    synonyms: a person's own, as `Settings.synonyms` has them. signals, passages: who knows more of the notes than their
    words, and who knows of documents; None for nobody.
    """

    def __init__(self) -> None:
        self.read_anew = 0
        self.synonyms: Synonyms = ()
        self.signals: SignalSource | None = None
        self.passages: PassageSource | None = None
        self._reader = Reader()
        self._snapshot: Snapshot | None = None
        self._state: State | None = None
        self._recent: list[Document] = []
        self._guard = threading.Lock()

    # Following

    def update(self, snapshot: Snapshot, progress: Progress | None = None) -> None:
        """Brings the index to a snapshot; only notes that differ from the last one are read anew.

        progress: told now and then how many notes of how many are read. What it raises ends the reading, and the index
        is as it was.
        """
        with self._guard:
            if snapshot is not self._snapshot:
                self._follow(snapshot, progress)

    def _follow(self, snapshot: Snapshot, progress: Progress | None) -> None:
        from core.search.state import NO_NOTE, Segment, State

        state = self._state or State(Segment.of([]), Segment.of([]), [], self._reader)
        notes, fresh = [NO_NOTE] * len(state), list[Note]()
        for name, note in snapshot.by_id.items():
            row = state.rows.get(name)
            if row is not None and same_for_search(state.notes[row], note):
                notes[row] = note
            else:
                fresh.append(note)
        recent = list(self._recent)
        for count, note in enumerate(fresh):
            if progress is not None and not count % _PROGRESS_EVERY:
                progress(count, len(fresh))
            recent.append(self._reader.read(note))
        made = State(state.base, Segment.of(recent), [*notes, *fresh], self._reader)
        if len(recent) > max(_RECENT, len(state.base) // _RECENT_SHARE):
            ordered = list(snapshot.by_id.values())
            base = Segment.of([made.document(made.rows[note.id]) for note in ordered])
            made, recent = State(base, Segment.of([]), ordered, self._reader), []
        # Only when it is whole does any of it count.
        self._state, self._recent, self._snapshot = made, recent, snapshot
        self.read_anew += len(fresh)

    # Keeping

    def restore(self, blocks: Blocks, snapshot: Snapshot, progress: Progress | None = None) -> None:
        """Begins with what `blocks` kept, and brings it to a snapshot. progress: as in `update`."""
        from core.search.state import documents_in

        self._begin(*documents_in(blocks), snapshot, progress)

    def _begin(
        self, segment: Segment, reader: Reader, snapshot: Snapshot, progress: Progress | None = None
    ) -> None:
        """Takes documents that were read before for the notes of a snapshot that they are of."""
        from core.search.state import NO_NOTE, Segment, State

        rows: dict[bytes, list[int]] = {}
        for row in range(len(segment)):
            rows.setdefault(segment.digest(row), []).append(row)
        notes = [NO_NOTE] * len(segment)
        for note in snapshot.by_id.values():
            free = rows.get(digest_of(searched_fields(note)))
            if free:
                notes[free.pop()] = note
        with self._guard:
            self._reader, self._recent = reader, []
            self._state = State(segment, Segment.of([]), notes, reader)
            self._follow(snapshot, progress)

    def blocks(self) -> Blocks:
        """What `restore` takes: the present state of the index; nothing when it is empty."""
        from core.search.state import blocks_of

        with self._guard:
            state, self.read_anew = self._state, 0
        return {} if state is None else blocks_of(state, self._reader)

    def for_another(self, snapshot: Snapshot) -> SearchIndex:
        """An index over another state of the memory, made of what this one has read already."""
        found, state = SearchIndex(), self._state
        found.synonyms = self.synonyms
        if state is not None:
            found._begin(state.segment(), self._reader, snapshot)
        found.update(snapshot)
        return found

    # Asking

    def result(
        self,
        text: str,
        limit: int = 10,
        filters: Filters | None = None,
        settings: SearchSettings | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> SearchResult:
        """The best notes for some words, best first, at most `limit`, in one ranking over all nuggets, with one
        judgement of them all.

        Ranked by the blend; of equals the one changed last comes first. No hit for an empty query or one that
        nothing answers; words that only serve grammar find a title, and several of them a phrase. stopped: asked now
        and then; once it says yes, there is no hit.
        Raises InvalidInputError for a negative limit and for settings that no score can be computed with.
        """
        if limit < 0:
            raise InvalidInputError("a limit cannot be negative", where=f"limit {limit}")
        ranking = self._ranking(text, filters, settings, stopped)
        if ranking is None:
            return SearchResult()
        result = ranking.result(limit)
        if self.passages is None or not limit:
            return result
        from core.search.passages import rank_passages

        most = min(limit, ranking.settings.passages)
        return replace(result, passages=rank_passages(ranking, self.passages, most))

    def explain(
        self,
        text: str,
        note_id: str,
        filters: Filters | None = None,
        settings: SearchSettings | None = None,
        shown: int = 10,
    ) -> Explanation | None:
        """Why a note stands where it does in a search, or why it is no hit. None when there is no such note.

        shown: how many hits the asker sees; what the note would have needed is counted to the last of them.
        """
        ranking = self._ranking(text, filters, settings, None, note_id)
        return None if ranking is None else ranking.explanation(ranking.state.rows[note_id], shown)

    def _ranking(
        self,
        text: str,
        filters: Filters | None,
        settings: SearchSettings | None,
        stopped: Callable[[], bool] | None,
        explained: str | None = None,
    ) -> Ranking | None:
        settings, state = settings or SearchSettings(), self._state
        for name in settings.__struct_fields__:
            if not math.isfinite(getattr(settings, name)):
                raise InvalidInputError("must be a finite number", where=f"search.{name}")
        if state is None or (explained is not None and explained not in state.rows):
            return None
        query = parse_query(text, state.languages)
        if explained is None and (query.empty or not (state.rows or self.passages)):
            return None
        from core.search.ranking import rank

        row = None if explained is None else state.rows[explained]
        return rank(state, query, filters or Filters(), settings, row, stopped, self.synonyms, self.signals)

    # Words

    def respelt(self, text: str) -> str:
        """A text with unknown words as the notes have them: joined or parted ("roll back": "rollback"), an acronym
        spelt out, a German compound in its parts; the text itself where there is none.
        """
        state = self._state
        if state is None or len(text) > _LONGEST_RESPELT:
            return text
        from core.search.terms import german_verbs, parted

        typed, found = words(text, compounds=True), list[str]()
        idle = german_verbs(text)
        for word in typed:
            known = state.knows(word)
            if known and idle and serves_grammar(word, ("german",)):
                continue
            if not known and found and state.knows(found[-1] + word):
                found[-1] += word
                continue
            other = [word] if known else parted(state, word)
            if known or other != [word] or word not in idle:
                found += other
        return text if found == typed else " ".join(found)

    def spelling(self, word: str) -> str:
        """The word of the notes that is written most like one that none of them holds; "" for none."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        known = self._state.words if self._state is not None else ()
        found = process.extractOne(word, known, scorer=OSA.normalized_similarity, score_cutoff=_LIKE)
        return str(found[0]) if found is not None else ""

    def excludes(self, text: str) -> bool:
        """Whether some note would be left out for a word, or for words side by side."""
        from core.search.scorers import is_excluded_by

        return self._state is not None and is_excluded_by(self._state, text)


# Questions


@dataclass(frozen=True, kw_only=True)
class QuestionFilters(Filters):
    """Filters that a question narrows further."""

    question: Question
    asked: Asked

    def admits(self, note: Note) -> bool:
        """Whether the note may be a hit."""
        fits = self.question.admits(note, self.asked, include_hidden=self.include_hidden)
        return fits and super().admits(note)

    @property
    def narrow(self) -> bool:
        """Whether notes have to be looked at one by one."""
        return self.question.narrow or super().narrow


def question_filters(question: Question, asked: Asked, filters: Filters | None = None) -> QuestionFilters:
    """The filters of a question, on top of other filters."""
    given = asdict(filters or Filters())
    given["include_hidden"] |= question.hidden
    given["preferred"] = question.phrases
    return QuestionFilters(**given, question=question, asked=asked)


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
        result = replace(result, clauses=(*question.clauses, *_clauses(result)))
    else:
        admitted = _admitted(snapshot, wanted)[:limit] if question.narrow else []
        hits = tuple(
            Hit(note, score=0.0, rank=rank, breakdown=Breakdown()) for rank, note in enumerate(admitted, 1)
        )
        result = SearchResult(hits, "found" if hits else "nothing", clauses=question.clauses)
    if result.hits or result.passages or question.empty or (stopped is not None and stopped()):
        return result
    from core.search.nearest import nearest_queries

    return replace(result, instead=nearest_queries(snapshot, question, result.nowhere, index.spelling))


def _clauses(result: SearchResult) -> Iterator[Clause]:
    """Which words were searched as others, what became of exact words that none or only some of the hits hold, and
    that what the query names was looked up in part only.
    """
    for typed, found in result.spellings:
        yield Clause(f"{typed}: searched as {found}")
    for text, holders in result.exact:
        if not holders:
            yield Clause(f'no note contains "{text}" exactly; these words are searched one by one', True)
        elif holders < len(result.hits):
            notes = "1 note contains" if holders == 1 else f"{holders} notes contain"
            yield Clause(f'{notes} "{text}" exactly; the notes below match its words')
    if result.cut_short:
        yield Clause("names: looked up only in part, since time ran out", True)


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
    ids = [one.id for one in _admitted(snapshot, wanted)]
    rank = ids.index(note_id) + 1 if note_id in ids else 0
    left_out: Obstacle = "hidden" if note.hidden and not wanted.include_hidden else "filters"
    return Explanation(
        hit=Hit(note=note, score=0.0, rank=rank, breakdown=Breakdown(), sure=bool(rank)),
        total=len(ids),
        obstacle="" if rank else left_out,
        judgement="found" if ids else "nothing",
    )


def _admitted(snapshot: Snapshot, filters: Filters) -> Sequence[Note]:
    """Notes that filters alone admit, newest first."""
    admitted = [note for note in snapshot.notes if filters.admits(note)]
    return sorted(admitted, key=lambda note: max(note.updated_at, note.created_at), reverse=True)
