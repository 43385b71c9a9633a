"""Answers agents: with the fact that a query means, else with the best note of a search; counts each recall."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from core.errors import NuggetsError
from core.model.change import Author, ChangeSet
from core.model.judgement import Candidate, Judgement
from core.model.note_origin import disputed_note, newer_preference
from core.services.search import SearchQuery, SearchService
from core.text.mask import all_masked

if TYPE_CHECKING:
    from core.facts.recall import AnsweringPassage, OtherSide, Recall, Recaller
    from core.model.draft import Draft
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from core.projects import Standpoint
    from core.search import Filters, Hit, SearchIndex, SearchResult
    from core.search.results import Passage
    from core.search.signals import OpenChange, OpenChangeSource
    from core.services.team import JoinedSearch

SESSION_VARIABLE: Final = "NUGGETS_SESSION"
# Chinese, Japanese and Korean signs begin here.
_FIRST_OF_WORD_SIGNS: Final = 0x2E80
# So many candidates are offered where an answer is not sure; so many hits are looked at, masked ones among them.
_CANDIDATES: Final = 3
_LOOKED_AT: Final = 12
# Of notes whose scores differ by less the likelier one answers (measured).
_NEARLY: Final = 0.05
# Notes whose likelihoods differ by less fit a guess equally well.
_CLOSE: Final = 0.05
# What another project says is no likelier to hold here: it is never claimed.
_FOREIGN: Final = 0.69


class _Searching(Protocol):
    """Notes, with what searches them."""

    @property
    def snapshot(self) -> Snapshot: ...

    def index(self) -> SearchIndex: ...

    def result(self, query: SearchQuery, limit: int) -> SearchResult: ...


@dataclass(frozen=True)
class _Searched:
    """One's own notes alone."""

    service: SearchService
    snapshot: Snapshot

    def index(self) -> SearchIndex:
        return self.service.index(self.snapshot)

    def result(self, query: SearchQuery, limit: int) -> SearchResult:
        return self.service.result(self.snapshot, query, limit)


class RecallService:
    """Answers agents from a memory, and counts what they are answered. Safe to use from several threads.

    draft and apply count a recall, as those of `Memory` do; guard is held meanwhile.
    """

    def __init__(
        self,
        search: SearchService,
        *,
        draft: Callable[[], Draft],
        apply: Callable[[ChangeSet], ChangeSet],
        guard: AbstractContextManager[object],
        clock: Callable[[], datetime],
    ) -> None:
        # Who knows which changes wait for a person; None for nobody.
        self.changes: OpenChangeSource | None = None
        # How many recalls of this run were answered and could not be counted.
        self.uncounted = 0
        self._search = search
        self._draft = draft
        self._apply = apply
        self._guard = guard
        self._clock = clock
        # Facts are decoded for seconds the first time, and nothing else waits for that.
        self._decoding = threading.RLock()

    @cached_property
    def _recaller(self) -> Recaller:
        from core.facts.recall import Recaller

        return Recaller()

    def recall(
        self,
        snapshot: Snapshot,
        query: str,
        nugget: str | None,
        session: str,
        *,
        record: bool,
        syntax: bool,
        decode: bool = True,
        beside: JoinedSearch | None = None,
        here: Standpoint | None = None,
    ) -> Recall:
        """See `Memory.recall`. beside: own notes and the team's, where there are such. here: the project at hand."""

        # Outside of the guard: nobody's edit waits for an index that is built for the first time.
        def ask(query: str, nugget: str | None, other_than: frozenset[str] = frozenset()) -> Recall:
            return self._recalled(snapshot, query, nugget, syntax, decode, beside, other_than)

        found = (
            ask(query, nugget) if here is None or nugget is not None else _from(here, snapshot, query, ask)
        )
        found = self._with_other_sides(snapshot, found)
        found = self._marked(found, beside)
        if record and found.found:
            session = session or self._default_session()
            if beside is not None and found.whose == "team":
                beside.memory.count_recall(beside.joined.in_team[found.note_id or ""], session)
            else:
                with self._guard:
                    self._record(found, session)
        return found

    def count(self, snapshot: Snapshot, note_id: str, session: str) -> None:
        """See `Memory.count_recall`."""
        from core.facts.recall import Recall

        note = snapshot.note(note_id)
        with self._guard:
            self._record(
                Recall(found=True, key=note.key, nugget_name=note.nugget_name, note_id=note_id, via="graph"),
                session,
            )

    def _marked(self, found: Recall, beside: JoinedSearch | None) -> Recall:
        """The recall that says whose its answer and its candidates are."""
        if beside is None:
            return found
        whose = beside.joined.whose
        candidates = tuple(msgspec.structs.replace(one, whose=whose(one.note_id)) for one in found.candidates)
        answers = whose(found.note_id) if found.found and found.note_id else "yours" if found.found else ""
        return msgspec.structs.replace(found, candidates=candidates, whose=answers)

    def open_changes(self, note_id: str = "") -> Mapping[str, Sequence[OpenChange]]:
        """The changes of a note, or of all, that wait for a person; by the id of the note."""
        return {} if self.changes is None else self.changes.open_changes(note_id)

    def _with_other_sides(self, snapshot: Snapshot, found: Recall) -> Recall:
        """The answer with what says otherwise, while nobody decided between them."""
        note = snapshot.by_id.get(found.note_id) if found.note_id else None
        if note is None:
            return found
        newer = newer_preference(snapshot, note)
        if newer is not None and found.found:
            note = newer
            found = msgspec.structs.replace(
                found,
                answer=note.content,
                key=note.key,
                nugget_name=note.nugget_name,
                note_id=note.id,
                runners_up=(),
            )
        target = snapshot.by_id.get(disputed_note(note))
        disputed = () if target is None or target.hidden else (target,)
        disputes, disputing = _other_sides(disputed), snapshot.disputing.get(note.id, ())
        waiting = _without_notes(self.open_changes(note.id).get(note.id, ()), disputing)
        disputed_by = (*_other_sides(disputing), *waiting)
        if not disputed_by and not disputes:
            return found
        return msgspec.structs.replace(found, disputed_by=disputed_by, disputes=disputes)

    def _recalled(
        self,
        snapshot: Snapshot,
        query: str,
        nugget: str | None,
        syntax: bool,
        decode: bool,
        beside: JoinedSearch | None,
        other_than: frozenset[str],
    ) -> Recall:
        from core.facts.recall import Recall
        from core.search import Filters
        from core.search.query_syntax import parse_question

        question = parse_question(query) if syntax else None
        words = query if question is None else question.words
        searched = _Searched(self._search, snapshot) if beside is None else beside
        with self._decoding:
            # Facts are one's own: a team has notes alone.
            others = nugget is not None and nugget not in snapshot.nugget_names and beside is not None
            if others and nugget in searched.snapshot.nugget_names:
                found = Recall()
            else:
                found = self._recaller.recall(snapshot, words, nugget, decode=decode, other_than=other_than)
            if found.match is not None and found.match.kind == "fuzzy":
                found = self._recall_unguessed(searched, snapshot, words, nugget, found, other_than)
        if found.found and (question is None or not question.narrow):
            return found
        missed = Recall(skipped=found.skipped)
        chosen = Filters(nugget=nugget, other_than=other_than)
        answer = self._recall_by_search(searched, query, chosen, syntax, missed)
        respelt = query if answer.found or syntax else searched.index().respelt(query)
        if respelt == query:
            return answer
        other = self._recall_by_search(searched, respelt, chosen, syntax, missed)
        return other if other.found or not (answer.candidates or answer.passages) else answer

    def _recall_unguessed(
        self,
        searched: _Searching,
        snapshot: Snapshot,
        query: str,
        nugget: str | None,
        found: Recall,
        other_than: frozenset[str],
    ) -> Recall:
        """The recall, with words that are half typed ones of notes taken for no others."""
        from core.facts.recall_text import parse_recall_query

        index = searched.index()
        begun = {word for word in parse_recall_query(query).words if index.begins(word)}
        return (
            self._recaller.recall(snapshot, query, nugget, begun, other_than=other_than) if begun else found
        )

    def _recall_by_search(
        self, searched: _Searching, query: str, chosen: Filters, syntax: bool, missed: Recall
    ) -> Recall:
        """What the best note of a search answers; up to three candidates where that is not sure."""
        from core.facts.recall import MOST_INCOMPLETE, Match
        from core.text.languages import is_everyday
        from core.text.tokens import stem, words

        if not any(map(_distinguishes, words(query))):
            return missed
        result = searched.result(SearchQuery(query, chosen, syntax=syntax), _LOOKED_AT)
        # What is but a masked credential answers nothing.
        hits = likelier_first([hit for hit in result.hits if not all_masked(hit.note.content)])
        judgement = judged_among(hits, query)
        missed = msgspec.structs.replace(missed, passages=_passages(result.passages))
        if judgement != "found":
            offered = hits[:_CANDIDATES] if judgement == "not sure" else []
            return msgspec.structs.replace(
                missed, judgement=judgement, candidates=tuple(map(_candidate, offered))
            )
        note, likely = hits[0].note, hits[0].breakdown.likelihood
        # The likelihood is of the judgement; an answer that lacks a word of the question is never a sure one.
        lacks = any(not is_everyday(stem(word)) for word in hits[0].breakdown.query_words.missing)
        certain = min(likely, MOST_INCOMPLETE) if lacks else likely
        return msgspec.structs.replace(
            missed,
            # A note that says all in its title answers with it.
            answer=note.content if note.content.strip() else note.title,
            confidence=note.confidence,
            certainty=certain * min(1.0, max(0.0, note.confidence)),
            found=True,
            judgement="found",
            key=note.key if note.is_fact else note.title,
            match=Match("graph", likely),
            nugget_name=note.nugget_name,
            via="graph",
            note_id=note.id,
            matched=tuple(hits[0].breakdown.matched),
        )

    def _record(self, found: Recall, session: str) -> None:
        """Counts a recall. An answer is never withheld because it could not be counted."""
        from core.facts.edits import record_hit

        draft = self._draft()
        key = counted_key(found, draft.note(found.note_id) if found.note_id else None)
        if not record_hit(draft, found.nugget_name, key, found.note_id, session):
            return
        reason = f"recalled {found.key}"
        try:
            self._apply(draft.change_set(reason, author=Author("agent", session), kind="hit"))
        except NuggetsError:
            self.uncounted += 1

    def _default_session(self) -> str:
        given = os.environ.get(SESSION_VARIABLE, "").strip()
        return given or f"process-{os.getpid()}-{self._clock():%Y-%m-%d}"


def _from(here: Standpoint, snapshot: Snapshot, query: str, ask: Callable[..., Recall]) -> Recall:
    """What a question is answered in a project: from its own nuggets and the person's, from another project's where the
    question names it. What other projects say else are candidates.
    """
    meant = here.meant(query)
    if meant:
        found = ask(here.without(query, meant), None, frozenset(snapshot.nugget_names) - meant)
        if found.found:
            return msgspec.structs.replace(found, project=here.owner_of(found.nugget_name))
    own = ask(query, None, here.foreign)
    if own.found:
        return own
    found = ask(query, None)
    note = snapshot.by_id.get(found.note_id or "")
    if found.found and note is not None and note.type == "preference" and note.scope == "user":
        return found
    if found.found:
        first = Candidate(
            note_id=found.note_id or "",
            title=found.key,
            first_line=(found.answer or "").strip().split("\n", 1)[0],
            nugget_name=found.nugget_name,
            likelihood=found.certainty,
        )
        also = (
            msgspec.structs.replace(
                first, note_id=note.id, title=one.key, first_line=one.answer.strip().split("\n", 1)[0],
                nugget_name=one.nugget_name,
            )
            for one in found.also
            if (note := snapshot.fact_notes.get((one.nugget_name, one.key))) is not None
        )  # fmt: skip
        found = msgspec.structs.replace(found, candidates=(first, *also))
    others = [
        msgspec.structs.replace(
            one, project=here.owner_of(one.nugget_name), likelihood=min(one.likelihood, _FOREIGN)
        )
        for one in found.candidates
        if here.owner_of(one.nugget_name)
    ]
    candidates = (*own.candidates, *others)[:_CANDIDATES]
    judgement: Judgement = "not sure" if candidates else own.judgement
    return msgspec.structs.replace(own, judgement=judgement, candidates=candidates)


def _other_sides(notes: Sequence[Note]) -> tuple[OtherSide, ...]:
    from core.facts.recall import OtherSide

    return tuple(OtherSide(note.id, note.content) for note in notes if not all_masked(note.content))


def _passages(found: Sequence[Passage]) -> tuple[AnsweringPassage, ...]:
    """The parts of documents that answer likely enough to be named beside the notes."""
    from core.facts.recall import AnsweringPassage
    from core.search.judge import judged

    return tuple(
        AnsweringPassage(
            one.found.document_id, one.found.title, one.found.source, one.found.place, one.found.text, one.blend,
            one.likelihood, one.sure,
        )
        for one in found
        if judged(one.likelihood) != "nothing" and not all_masked(one.found.text)
    )  # fmt: skip


def _without_notes(changes: Sequence[OpenChange], notes: Sequence[Note]) -> Iterator[OtherSide]:
    """Changes that wait and that no note says yet."""
    from core.facts.recall import OtherSide

    said = {note.id for note in notes}
    for one in changes:
        if one.note_id not in said and one.content.strip() and not all_masked(one.content):
            yield OtherSide("", one.content, one.proposal_id)


def counted_key(found: Recall, note: Note | None) -> str | None:
    """The key of the fact that a recall counts for, None for a note alone. note: the one that answered, if any."""
    return found.key if found.via == "facts" or (note is not None and note.is_fact) else None


def _distinguishes(word: str) -> bool:
    """Whether a word says anything by itself: a lone letter or digit does not, a sign that is a word does."""
    return len(word) > 1 or ord(word) >= _FIRST_OF_WORD_SIGNS


def likelier_first(hits: list[Hit]) -> list[Hit]:
    """The hits in their order, but of those that rank nearly as high as the best one the likeliest first."""
    if not hits:
        return hits
    least = hits[0].breakdown.blend - _NEARLY
    near = [hit for hit in hits[:_CANDIDATES] if hit.breakdown.blend >= least]
    best = max(near, key=lambda hit: (round(hit.breakdown.likelihood, 2), hit.breakdown.blend))
    return [best, *(hit for hit in hits if hit is not best)]


def judged_among(hits: Sequence[Hit], query: str) -> Judgement:
    """The judgement of what answers an agent. It claims no guess that the next note fits as well, nor one that only
    completes a word of a longer question.
    """
    if not hits:
        return "nothing"
    from core.search.judge import judged

    best = judged(hits[0].breakdown.likelihood)
    return "not sure" if best == "found" and (_torn(hits) or _completed(hits[0], query)) else best


def _completed(hit: Hit, query: str) -> bool:
    """Whether a note only completes words of a question of several words: nobody asks that while still typing."""
    asked = hit.breakdown.query_words
    beginnings = sum(
        1 for typed, meant in asked.guessed if meant.startswith(typed) and len(meant) > len(typed) + 2
    )
    return bool(asked.held) and beginnings == len(asked.held) and len(query.split()) > 1


def _torn(hits: Sequence[Hit]) -> bool:
    """Whether all that the best note holds is guessed, and the next one holds another guess as likely."""
    one, *others = (hit.breakdown for hit in hits[:2])
    if not others or len(one.query_words.held) != len(one.query_words.guessed):
        return False
    close = others[0].likelihood >= one.likelihood - _CLOSE
    return (
        close and set(one.matched) != set(others[0].matched) and not set(one.matched) & set(others[0].matched)
    )


def _candidate(hit: Hit) -> Candidate:
    note, asked = hit.note, hit.breakdown.query_words
    return Candidate(
        note_id=note.id,
        title=note.title,
        first_line=note.content.strip().split("\n", 1)[0],
        nugget_name=note.nugget_name,
        holds=asked.held,
        lacks=asked.missing,
        guessed=asked.guessed,
        likelihood=hit.breakdown.likelihood,
    )
