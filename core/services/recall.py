"""Answers agents: with the fact whose key is asked for, else with the best fact or note of a search; counts recalls."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import msgspec

from core.errors import NuggetsError
from core.grounding import names_something
from core.model.change import Author, ChangeSet
from core.model.judgement import Candidate, Judgement
from core.model.note import disputed_note, newer_preference
from core.services.search import SearchQuery, SearchService
from core.text.mask import all_masked
from core.text.normalise import LONGEST_QUERY, plain_words, squeeze

if TYPE_CHECKING:
    from core.facts.recall import AnsweringPassage, Decoder, KeyedFact, Keys, Match, OtherSide, Recall
    from core.grounding.service import Text
    from core.model.draft import Draft
    from core.model.judgement import OpenChange, OpenChanges, Stale
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from core.projects import Standpoint
    from core.search import Filters, Hit, SearchIndex, SearchResult
    from core.search.results import Passage
    from core.services.search import JoinedSearch

SESSION_VARIABLE: Final = "NUGGETS_SESSION"
# So many candidates are offered where an answer is not sure; so many hits are looked at, masked ones among them.
_CANDIDATES: Final = 3
_LOOKED_AT: Final = 12
# What another project says, and what another key or note says as well, is never claimed.
_UNCLAIMED: Final = 0.69
# How certain it is that the only note of a day is meant by a question about that day, and one of several.
_ONLY_OF_DAY: Final = 0.8
_OF_DAY: Final = 0.45
# How much of its certainty an answer loses of which everything that it names is gone.
_PRICE_OF_GONE: Final = 0.4
# The scope of keys about whom a question says "my" or "your".
_SPEAKERS: Final = {"my": "user", "mine": "user", "your": "self", "yours": "self", "yourself": "self"}


@dataclass(frozen=True)
class _Searched:
    """One's own notes alone."""

    service: SearchService
    snapshot: Snapshot

    def index(self) -> SearchIndex:
        return self.service.index(self.snapshot)

    def result(self, query: SearchQuery, limit: int) -> SearchResult:
        return self.service.result(self.snapshot, query, limit)


_Searching: TypeAlias = "_Searched | JoinedSearch"


@dataclass(frozen=True)
class _Question:
    """What is asked of which nuggets. syntax: the text may hold conditions. decode: the vectors are asked as well.
    weaker: candidates are named where none of them is likely enough to be offered.
    """

    text: str
    nugget: str | None
    syntax: bool
    decode: bool
    other_than: frozenset[str] = frozenset()
    own: Callable[[str], bool] = lambda nugget: True
    weaker: bool = False


class _Likely(NamedTuple):
    """A hit with how likely it answers, in [0, 1]."""

    hit: Hit
    likelihood: float


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
        self.changes: OpenChanges | None = None
        # Who holds texts against the code that they name; None for nobody.
        self.stale: Callable[[Sequence[Text]], Mapping[str, Stale]] | None = None
        # How many recalls of this run were answered and could not be counted.
        self.uncounted = 0
        self._search = search
        self._draft = draft
        self._apply = apply
        self._guard = guard
        self._clock = clock

    @cached_property
    def _facts(self) -> tuple[Keys, Decoder]:
        from core.facts.recall import Decoder, Keys

        return Keys(), Decoder()

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
        searched = _Searched(self._search, snapshot) if beside is None else beside
        asked = _Question(query[:LONGEST_QUERY], nugget, syntax, decode)
        # Outside of the guard: nobody's edit waits for an index that is built for the first time.
        found = self._asked(snapshot, searched, asked, here) if nugget is None else None
        found = found or self._answered(snapshot, searched, asked)
        found = self._with_other_sides(snapshot, found)
        found = self._marked(found, beside)
        found = self._held_against_code(searched.snapshot, found, here)
        if record and found.found:
            usual = os.environ.get(SESSION_VARIABLE, "").strip()
            session = session or usual or f"process-{os.getpid()}-{self._clock():%Y-%m-%d}"
            if beside is not None and found.whose == "team":
                team = beside.memory
                team.recalls.count(team.snapshot, beside.joined.in_team[found.note_id or ""], session)
            else:
                with self._guard:
                    self._record(found, session)
        return found

    def count(self, snapshot: Snapshot, note_id: str, session: str) -> None:
        """Counts that a note answered a recall, once a session, where that is possible."""
        from core.facts.recall import Recall

        note = snapshot.note(note_id)
        via = "facts" if note.is_fact else "graph"
        with self._guard:
            self._record(
                Recall(key=note.key, nugget_name=note.nugget_name, note_id=note_id, via=via), session
            )

    def open_changes(self, note_id: str = "") -> Mapping[str, Sequence[OpenChange]]:
        """The changes of a note, or of all, that wait for a person; by the id of the note."""
        return {} if self.changes is None else self.changes(note_id)

    # Whom to ask

    def _asked(
        self, snapshot: Snapshot, searched: _Searching, asked: _Question, here: Standpoint | None
    ) -> Recall | None:
        """The answer of the nugget that a question names; in a project else that of its own nuggets and the person's,
        with what other projects say as candidates. None where all nuggets are asked alike.
        """
        ask = self._answered
        meant = (here.meant(asked.text) if here else None) or _named_nugget(snapshot, asked.text)
        if meant:
            owners = {here.owner_of(name) for name in meant} if here else ()
            others = frozenset(searched.snapshot.nugget_names) - meant
            rest = _without(asked.text, *owners, *meant)
            named = ask(snapshot, searched, replace(asked, text=rest, other_than=others))
            if named.found:
                owner = here.owner_of(named.nugget_name) if here else ""
                return msgspec.structs.replace(named, project=owner)
        if here is None:
            return None
        # What one's own notes say stands before what others do, however weakly.
        owned = replace(asked, other_than=here.foreign, own=here.is_own, weaker=bool(here.foreign))
        own = ask(snapshot, searched, owned)
        if own.found or not here.foreign:
            return own
        found = ask(snapshot, searched, asked)
        note = snapshot.by_id.get(found.note_id or "")
        if found.found and note is not None and note.type == "preference" and note.scope == "user":
            return found
        claimed = (_offered(note, found.key, found.answer or "", found.nugget_name, found.certainty),)
        said = claimed if found.found else found.candidates
        marked = ((one, here.owner_of(one.nugget_name)) for one in said)
        foreign = [msgspec.structs.replace(one, project=owner) for one, owner in marked if owner]
        sure = bool(foreign) or own.judgement == "not sure"
        candidates = (*own.candidates[: _CANDIDATES - bool(foreign)], *foreign)[:_CANDIDATES] if sure else ()
        judgement: Judgement = "not sure" if sure else "nothing"
        return msgspec.structs.replace(own, judgement=judgement, candidates=candidates)

    # The answer

    def _answered(self, snapshot: Snapshot, searched: _Searching, asked: _Question) -> Recall:
        """The fact whose key is asked for, else what a search finds."""
        from core.facts.recall import Recall, Skipped, asked_nuggets

        words, narrow = asked.text, False
        if asked.syntax:
            from core.search.query_syntax import parse_question

            question = parse_question(asked.text)
            words, narrow = question.words, question.narrow
        # Facts are one's own: a team has notes alone.
        theirs = asked.nugget not in snapshot.nugget_names and asked.nugget in searched.snapshot.nugget_names
        nuggets = [] if theirs else asked_nuggets(snapshot, asked.nugget, asked.other_than)
        missed = Recall(
            skipped=tuple(Skipped(one.name, "unreadable", one.problem) for one in nuggets if one.problem)
        )
        readable = [one for one in nuggets if one.facts and not one.problem]
        named = [] if narrow else self._facts[0].named(readable, words)
        if named:
            return self._of_keys(snapshot, named, asked, missed)
        return self._by_search(snapshot, searched, asked, missed)

    def _of_keys(
        self, snapshot: Snapshot, named: list[KeyedFact], asked: _Question, missed: Recall
    ) -> Recall:
        """The fact that is asked for by its key; where several say something else, all of them are candidates."""
        from core.facts.recall import Match

        named = [one for one in named if asked.own(one.nugget.name)] or named
        first = named[0]
        others = [one for one in named[1:] if squeeze(one.fact.value) != squeeze(first.fact.value)]
        if others:
            candidates = tuple(
                _offered(
                    snapshot.fact_notes.get((one.nugget.name, one.fact.key)),
                    *(one.fact.key, one.fact.value, one.nugget.name, one.certainty),
                )
                for one in (first, *others)[:_CANDIDATES]
            )
            return msgspec.structs.replace(missed, judgement="not sure", candidates=candidates)
        note = snapshot.fact_notes.get((first.nugget.name, first.fact.key))
        return self._of_fact(first, note, Match("exact", first.certainty), asked, missed)

    def _of_fact(
        self, one: KeyedFact, note: Note | None, match: Match, asked: _Question, missed: Recall
    ) -> Recall:
        answer = msgspec.structs.replace(
            missed,
            answer=one.fact.value,
            certainty=match.strength,
            found=True,
            judgement="found",
            key=one.fact.key,
            match=match,
            nugget_name=one.nugget.name,
            via="facts",
            note_id=note.id if note is not None else None,
        )
        return self._facts[1].with_decoding(answer, one.nugget, one.place) if asked.decode else answer

    def _by_search(
        self, snapshot: Snapshot, searched: _Searching, asked: _Question, missed: Recall
    ) -> Recall:
        """What the likeliest note of a search answers; up to three candidates where that is not sure."""
        from core.search import Filters
        from core.search.judge import CANDIDATE_FROM, judged
        from core.text.tokens import words
        from core.text.when import asks_for_before

        chosen = Filters(nugget=asked.nugget, other_than=asked.other_than)
        text = asked.text if asked.syntax else searched.index().respelt(_about_speaker(snapshot, asked.text))
        if not any(map(_distinguishes, words(text))):
            return missed
        result = searched.result(SearchQuery(text, chosen, syntax=asked.syntax), _LOOKED_AT)
        hits = _likeliest(result.hits, oldest=asks_for_before(text))
        of_time = [] if asked.syntax else self._of_time(searched, asked.text, chosen)
        if of_time and (not hits or of_time[0].likelihood >= hits[0].likelihood):
            hits = of_time
        missed = msgspec.structs.replace(missed, passages=_passages(result.passages))
        judgement = judged(*(one.likelihood for one in hits[:_CANDIDATES]))
        if judgement == "found":
            return self._of_hit(snapshot, hits[0], asked, missed)
        offered = [one for one in hits[:_CANDIDATES] if one.likelihood >= CANDIDATE_FROM]
        candidates = tuple(map(_candidate, offered)) if judgement == "not sure" or asked.weaker else ()
        return msgspec.structs.replace(missed, judgement=judgement, candidates=candidates)

    def _of_hit(self, snapshot: Snapshot, best: _Likely, asked: _Question, missed: Recall) -> Recall:
        """The answer of a note, or of the fact that it mirrors."""
        from core.facts.recall import KeyedFact, Match

        note = best.hit.note
        missed = msgspec.structs.replace(missed, matched=tuple(best.hit.breakdown.matched))
        nugget = snapshot.by_name.get(note.nugget_name)
        fact = nugget.find(note.key) if note.is_fact and nugget is not None else None
        if nugget is not None and fact is not None:
            guessed = best.hit.breakdown.query_words().guessed
            match = Match("fuzzy" if guessed else "tokens", best.likelihood)
            keyed = KeyedFact(nugget, fact[0], best.likelihood)
            return self._of_fact(keyed, note, match, asked, missed)
        return msgspec.structs.replace(
            missed,
            # A note that says all in its title answers with it.
            answer=note.content if note.content.strip() else note.title,
            confidence=note.confidence,
            certainty=best.likelihood,
            found=True,
            judgement="found",
            key=note.key if note.is_fact else note.title,
            match=Match("graph", best.likelihood),
            nugget_name=note.nugget_name,
            via="graph",
            note_id=note.id,
        )

    def _of_time(self, searched: _Searching, text: str, chosen: Filters) -> list[_Likely]:
        """The likeliest notes of the time that a question names, or that name it; none where it names none."""
        from core.search.results import Breakdown, Hit
        from core.text.tokens import words
        from core.text.when import named_time

        time = named_time(text, self._clock().astimezone().date())
        if time is None:
            return []
        among = [
            note
            for note in searched.snapshot.visible
            if chosen.admits(note) and time.admits(f"{note.title} {note.content}", note.created_at)
        ]
        wanted = replace(chosen, among=frozenset(note.id for note in among))
        hits = searched.result(SearchQuery(time.rest, wanted, syntax=False), _LOOKED_AT).hits if among else ()
        likely = _likeliest(hits, oldest=False)
        if not (time.is_day and among):
            return likely
        least = _ONLY_OF_DAY if len(among) == 1 else _OF_DAY
        if likely:
            return [one._replace(likelihood=max(one.likelihood, least)) for one in likely]
        # Where nothing is asked of the day but what it was about, its only note tells it.
        asked = any(map(_distinguishes, words(time.rest)))
        unranked = (Hit(note=note, score=0.0, rank=0, breakdown=Breakdown()) for note in among)
        return [_Likely(hit, _OF_DAY if asked else least) for hit in unranked]

    # What is said beside it, and counted

    def _marked(self, found: Recall, beside: JoinedSearch | None) -> Recall:
        """The recall that says whose its answer and its candidates are."""
        if beside is None:
            return found
        whose = beside.joined.whose
        candidates = tuple(msgspec.structs.replace(one, whose=whose(one.note_id)) for one in found.candidates)
        answers = whose(found.note_id) if found.found and found.note_id else "yours" if found.found else ""
        return msgspec.structs.replace(found, candidates=candidates, whose=answers)

    def _held_against_code(self, snapshot: Snapshot, found: Recall, here: Standpoint | None) -> Recall:
        """The recall with what its answer or candidates name and their project has no more. An answer most of which is
        gone is no longer claimed.
        """
        said = (
            [] if not found.found else [(found.note_id, found.answer or "", found.nugget_name, found.whose)]
        )
        said += [(one.note_id, one.first_line, one.nugget_name, one.whose) for one in found.candidates]
        if self.stale is None or not any(names_something(text) for _, text, _, _ in said):
            return found
        own = here.nugget if here is not None else ""
        texts = [_text(snapshot, *one, own) for one in said]
        stale = self.stale(texts)
        if not stale:
            return found
        candidates = tuple(
            msgspec.structs.replace(one, stale=stale[one.note_id].references) if one.note_id in stale else one
            for one in found.candidates
        )
        if not found.found:
            return msgspec.structs.replace(found, candidates=candidates)
        held = stale.get(texts[0].id)
        if held is None:
            return found
        certainty = found.certainty * (1 - _PRICE_OF_GONE * held.gone)
        if certainty > _UNCLAIMED:
            return msgspec.structs.replace(found, certainty=certainty, stale=held.references)
        note = snapshot.by_id.get(found.note_id or "")
        offered = _offered(note, found.key, found.answer or "", found.nugget_name, certainty)
        offered = msgspec.structs.replace(
            offered, stale=held.references, whose=found.whose, project=found.project
        )
        from core.facts.recall import Recall

        return Recall(
            judgement="not sure", candidates=(offered,), passages=found.passages, skipped=found.skipped
        )

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
        disputed_by = _other_sides(disputing, self.open_changes(note.id).get(note.id, ()))
        if not disputed_by and not disputes:
            return found
        return msgspec.structs.replace(found, disputed_by=disputed_by, disputes=disputes)

    def _record(self, found: Recall, session: str) -> None:
        """Counts a recall. An answer is never withheld because it could not be counted."""
        from core.facts.edits import record_hit

        draft, key = self._draft(), found.key if found.via == "facts" else None
        if not record_hit(draft, found.nugget_name, key, found.note_id, session):
            return
        try:
            self._apply(
                draft.change_set(f"recalled {found.key}", author=Author("agent", session), kind="hit")
            )
        except NuggetsError:
            self.uncounted += 1


def _text(snapshot: Snapshot, id: str | None, said: str, nugget: str, whose: str, own: str) -> Text:
    """What a note says, to be held against the code; of a fact without a note, and of a team's, who lack a nugget."""
    from core.grounding.service import Text, text_of

    note = snapshot.by_id.get(id or "")
    text = Text(id or f"{nugget}\0{said}", nugget, said) if note is None else text_of(note)
    return text._replace(nugget=own) if whose == "team" else text


def _named_nugget(snapshot: Snapshot, text: str) -> frozenset[str]:
    """The nugget whose name a question holds beside other words; none of several, or of a usual word."""
    said = f" {plain_words(text)} "
    found = [name for name in snapshot.nugget_names if (plain := plain_words(name)) and f" {plain} " in said]
    if len(found) != 1 or said.strip() == plain_words(found[0]):
        return frozenset()
    from core.text.languages import is_common, is_everyday
    from core.text.tokens import stem

    name = stem(plain_words(found[0]))
    return frozenset() if is_common(name) or is_everyday(name) else frozenset(found)


def _without(text: str, *names: str) -> str:
    """A question without some names; as it is where nothing else is in it."""
    said = f" {plain_words(text)} "
    for name in filter(None, map(plain_words, names)):
        said = said.replace(f" {name} ", " ")
    return said.strip() or text


def _about_speaker(snapshot: Snapshot, text: str) -> str:
    """A question with the scope of the keys that it means by "my" and "your", where keys have such a scope."""
    scope = next((_SPEAKERS[word] for word in plain_words(text).split() if word in _SPEAKERS), "")
    keys = (fact.key for nugget in snapshot.nuggets for fact in nugget.facts)
    return f"{text} {scope}" if scope and any(key.startswith(f"{scope}:") for key in keys) else text


def _likeliest(hits: Sequence[Hit], oldest: bool) -> list[_Likely]:
    """The hits, the first few by how likely they answer; of those as likely the newest first, or the oldest."""
    # What is but a masked credential answers nothing.
    likely = [_Likely(hit, hit.breakdown.likelihood) for hit in hits if not all_masked(hit.note.content)]
    first = sorted(likely[:_CANDIDATES], key=lambda one: one.hit.note.created_at, reverse=not oldest)
    first.sort(key=lambda one: -round(one.likelihood, 2))
    return [*first, *likely[_CANDIDATES:]]


def _offered(note: Note | None, key: str, text: str, nugget: str, likelihood: float) -> Candidate:
    """A fact or a claimed note as a candidate."""
    return Candidate(
        note_id=note.id if note is not None else "",
        title=key,
        first_line=text.strip().split("\n", 1)[0],
        nugget_name=nugget,
        likelihood=min(likelihood, _UNCLAIMED),
    )


def _other_sides(notes: Sequence[Note], changes: Sequence[OpenChange] = ()) -> tuple[OtherSide, ...]:
    """What notes say otherwise, and what proposals would put in the place of one."""
    from core.facts.recall import OtherSide

    said = [OtherSide(note.id, note.content) for note in notes]
    said += [OtherSide("", one.content, one.proposal_id) for one in changes if one.content.strip()]
    return tuple(one for one in said if not all_masked(one.content))


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


def _distinguishes(word: str) -> bool:
    """Whether a word says anything by itself: a lone letter or digit does not, a sign that is a word does."""
    return len(word) > 1 or not word.isascii()


def _candidate(one: _Likely) -> Candidate:
    note, asked = one.hit.note, one.hit.breakdown.query_words()
    return Candidate(
        note_id=note.id,
        title=note.title,
        first_line=note.content.strip().split("\n", 1)[0],
        nugget_name=note.nugget_name,
        holds=asked.held,
        lacks=asked.missing,
        guessed=asked.guessed,
        likelihood=one.likelihood,
    )
