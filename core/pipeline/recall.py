"""The pipeline's signals for a search: reads its database, when there is one, and writes nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from core.model.judgement import OpenChange
from core.pipeline.database.connection import GLANCE_SECONDS, open_read_only
from core.pipeline.database.notes import NotesNamed
from core.pipeline.database.tables import Tables
from core.pipeline.intake.redaction import shown
from core.pipeline.signals import (
    ABOUT,
    NamedInQuery,
    NamingHit,
    factors,
    gains,
    gravity,
    greatest_score,
    hint_signal,
    hub,
    least_hub,
    likeness,
    names_in_query,
    resolution,
    telling,
    tokens,
)
from core.search.results import FoundPassage
from core.search.signals import NO_SIGNALS, Ranked, Signal, Signals, after, waits
from core.settings import SettingsReader
from core.settings.pipeline_sections import PipelineConfiguration

if TYPE_CHECKING:
    from core.model.note import Note
    from core.pipeline.meaning import BeyondWords
    from core.pipeline.models.provider import EmbeddingProvider

# Decisions about what a query names stand no lower than the hit at this place; so many of them.
_PLACE: Final = 5
_MOST_DECISIONS: Final = 3
_LEAST_DECISION: Final = 0.2
# So many hints are looked at; one says something of a query from such a likeness on.
_MOST_HINTS: Final = 100
_NEAR: Final = 0.5
_LITTLE_MORE: Final = 1 + 1e-9
# A decision that holds so much of the query is one about it, whatever the query is about.
_HOLDS: Final = 0.5
_UNREAD: Final = NotesNamed(frozenset(), False)


class PipelineSignals:
    """What the pipeline of one memory knows of its notes. Safe to use from several threads.

    clock: seconds, for deadlines. note_of: gives the note of an id as it is now. patient: whether who searches waits a
    moment for a model, where nobody says otherwise (`core.search.signals.waiting`). embedder: instead of the
    configured one.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], float] = time.monotonic,
        *,
        note_of: Callable[[str], Note | None] = lambda id: None,
        patient: bool = True,
        embedder: EmbeddingProvider | None = None,
    ) -> None:
        self._home = home
        self._clock = clock
        self._note_of = note_of
        self._patient = patient
        self._embedder = embedder
        self._beyond: BeyondWords | None = None
        self._settings = SettingsReader(home)
        self._counted_chunk_words: dict[str, tuple[int, int]] = {}

    def signals(self, text: str, ranked: Sequence[Ranked]) -> Signals:
        """See `SignalSource`."""
        try:
            configuration = self._configuration()
            if not configuration.enabled:
                return NO_SIGNALS
            beyond = self._beyond_words(configuration)
            # Models are asked while nothing of the database is held.
            asked = None if beyond is None else beyond.asked(configuration, text, waits(self._patient))
            with open_read_only(self._home, seconds=GLANCE_SECONDS) as reader:
                if beyond is None or asked is None:
                    return self._asked(reader, configuration, text, ranked)
                first, lifted = beyond.by_meaning(reader, asked, ranked)
                told = self._asked(reader, configuration, text, lifted)
            of_notes = {
                id: (*first.of_notes.get(id, ()), *told.of_notes.get(id, ()))
                for id in (*first.of_notes, *told.of_notes)
            }
            whole = told._replace(of_notes=of_notes, more=told.more or first.more)
            return beyond.in_order(asked, ranked, whole)
        except (NuggetsError, OSError):
            # A search goes on without what cannot be read now; who looks at the pipeline is told of it.
            return NO_SIGNALS

    def _beyond_words(self, configuration: PipelineConfiguration) -> BeyondWords | None:
        """Who asks models, where settings name one."""
        if not (configuration.embedding.model or configuration.reranker.enabled):
            return None
        if self._beyond is None:
            from core.pipeline.meaning import BeyondWords

            self._beyond = BeyondWords(self._home, self._clock, self._note_of, self._embedder)
        return self._beyond

    def passages(self, text: str, most: int) -> Sequence[FoundPassage]:
        """See `PassageSource`."""
        try:
            configuration = self._configuration()
            if not configuration.enabled:
                return ()
            beyond = self._beyond_words(configuration)
            # The signals of this query were asked for before, so its vector is kept.
            asked = None if beyond is None else beyond.asked(configuration, text, waits(self._patient))
            with open_read_only(self._home, seconds=GLANCE_SECONDS) as reader:
                if not reader.has("SELECT 1 FROM documents WHERE removed_at IS NULL AND status = 'done'"):
                    return ()
                found = reader.documents.search(text, most, self._counted_chunk_words)
                near: dict[int, Signal] = {}
                if beyond is not None and asked is not None:
                    known = {one.chunk_id for one in found}
                    near = beyond.of_chunks(reader, asked, known)
                    found = (*found, *reader.documents.hits_of(near.keys() - known)[:most])
                found = shown(found, reader.masking.load_not_secrets())
        except (NuggetsError, OSError):
            return ()
        return tuple(
            FoundPassage(
                one.document_id, one.title, one.source, one.place, one.text, one.nugget,
                (near[one.chunk_id],) if one.chunk_id in near else (),
            )
            for one in found
        )  # fmt: skip

    def document_text(self, document_id: str) -> str:
        """See `PassageSource`."""
        try:
            with open_read_only(self._home, seconds=GLANCE_SECONDS) as reader:
                return shown(reader.documents.text_of(document_id), reader.masking.load_not_secrets())
        except (NuggetsError, OSError):
            return ""

    def open_changes(self, note_id: str = "") -> Mapping[str, Sequence[OpenChange]]:
        """See `OpenChanges`."""
        found: dict[str, list[OpenChange]] = {}
        try:
            if self._configuration().enabled:
                with open_read_only(self._home, seconds=GLANCE_SECONDS) as reader:
                    rows = tuple(map(tuple, reader.ask(
                        "SELECT target_note, id, content FROM open_proposals WHERE target_note <> ''"
                        " AND (?1 = '' OR target_note = ?1) AND action IN ('update', 'delete')"
                        " ORDER BY created_at, raw_id, place",
                        note_id,
                    )))  # fmt: skip
                for target, *change in shown(rows):
                    found.setdefault(target, []).append(OpenChange(*change))
        except (NuggetsError, OSError):
            return {}
        return found

    def _configuration(self) -> PipelineConfiguration:
        return self._settings.read().pipeline

    def _asked(
        self, reader: Tables, configuration: PipelineConfiguration, text: str, ranked: Sequence[Ranked]
    ) -> Signals:
        named = reader.note_names.of_notes([one.note.id for one in ranked])
        asked, ends = NamedInQuery(), self._clock() + configuration.graph.boost_timeout_ms / 1000
        if configuration.graph.enabled:
            asked = names_in_query(reader, text, lambda: self._clock() >= ends)
        hubs = _hubs(reader, configuration, named)
        words = telling(tokens(text))
        hints = _hints(reader, configuration, words)
        # What no word of the query found is found by its hint alone.
        found: dict[str, tuple[Signal, ...]] = {
            id: (hint_signal(hint, score, alone=True),) for id, (score, hint) in hints.items()
        }
        of_notes = [named.get(one.note.id, _UNREAD) for one in ranked]
        namings = _naming(configuration, ranked, of_notes, asked)
        for one, of_note, naming in zip(ranked, of_notes, namings, strict=True):
            found.pop(one.note.id, None)
            given = tuple(_signals(configuration, one, of_note, naming, hubs, words, hints.get(one.note.id)))
            if given:
                found[one.note.id] = given
        for id in _decisions(reader, configuration, asked, ranked, named):
            floor = Signal("constraint", at_least=_floor(ranked, found))
            found[id] = (*found.get(id, ()), floor)
        return Signals(found, asked.timed_out)


def _naming(
    configuration: PipelineConfiguration,
    ranked: Sequence[Ranked],
    of_notes: Sequence[NotesNamed],
    asked: NamedInQuery,
) -> Iterator[tuple[Signal | None, Signal | None]]:
    """For each of the best hits what it gains by naming what the query names; and by being decided or dated, of which
    nothing counts in others (measured).
    """
    names = [asked.best(of_note.names) for of_note in of_notes]
    hits = [NamingHit(one.score, one.coverage, name) for one, name in zip(ranked, names, strict=True)]
    gained = gains(configuration.graph.boost_weight, hits)
    settled = [
        resolution(
            configuration.dampening, of_note.protected or "decision" in one.note.tags, one.note.content
        )
        if name.share
        else None
        for one, of_note, name in zip(ranked, of_notes, names, strict=True)
    ]
    raised = [hit._replace(score=hit.score + gain) for hit, gain in zip(hits, gained, strict=True)]
    wanted = [
        1.0 + (one.factor - 1.0) * name.counts if one else 1.0
        for one, name in zip(settled, names, strict=True)
    ]
    allowed = factors(raised, wanted)
    most, later = greatest_score(hits), greatest_score(raised)
    for name, gain, one, factor in zip(names, gained, settled, allowed, strict=True):
        entity = Signal("entity", name.why, added=gain, ceiling=most) if name.share else None
        yield entity, one._replace(factor=factor, ceiling=later) if one else None


def _signals(
    configuration: PipelineConfiguration,
    one: Ranked,
    of_note: NotesNamed,
    naming: tuple[Signal | None, Signal | None],
    hubs: Collection[int],
    words: Collection[str],
    hinted: tuple[float, str] | None,
) -> Iterator[Signal]:
    """What a note among the best hits gets, in the order in which it counts."""
    part, note = configuration.dampening, one.note
    if hinted is not None:
        yield hint_signal(hinted[1], hinted[0], alone=not one.shares_words)
    entity, settled = naming
    if entity is not None and entity.added:
        yield entity
    drawn = None
    if not (one.shares_words or entity or hinted):
        drawn = gravity(part, one.score, words, tokens(f"{note.title}\n{note.content}"))
    for signal in (drawn, hub(part, of_note.names, hubs), settled):
        if signal is not None and signal.factor != 1.0:
            yield signal


def _hints(
    reader: Tables, configuration: PipelineConfiguration, words: Collection[str]
) -> dict[str, tuple[float, str]]:
    """Of notes with a hint that is near to the query, how near, and the hint that is nearest."""
    found: dict[str, tuple[float, str]] = {}
    if not configuration.hints.enabled:
        return found
    for hint in reader.hints.matching(words, _MOST_HINTS):
        score = likeness(words, telling(tokens(hint.text)))
        if score >= _NEAR and score > found.get(hint.note_id, (0.0, ""))[0]:
            found[hint.note_id] = score, hint.text
    return found


def _hubs(
    reader: Tables, configuration: PipelineConfiguration, named: Mapping[str, NotesNamed]
) -> frozenset[int]:
    names = reader.count("SELECT count(*) FROM entities WHERE notes > 0")

    def borne_at(place: int) -> int:
        return reader.count(
            "SELECT notes FROM entities WHERE notes > 0 ORDER BY notes LIMIT 1 OFFSET ?", place
        )

    least = least_hub(configuration.dampening, names, reader.note_names.count_notes(), borne_at)
    if least is None:
        return frozenset()
    asked = json.dumps(list({name for one in named.values() for name in one.names}))
    common = "SELECT id FROM entities WHERE notes >= ? AND id IN (SELECT value FROM json_each(?))"
    return frozenset(reader.column(common, least, asked))


def _decisions(
    reader: Tables,
    configuration: PipelineConfiguration,
    asked: NamedInQuery,
    ranked: Sequence[Ranked],
    named: Mapping[str, NotesNamed],
) -> list[str]:
    """Notes with decisions about what the query names in full, the best hits among them first. What it only mentions
    brings none that shares little else with it.
    """
    if not asked.whole:
        return []
    about = frozenset(name for name in asked.whole if asked.names[name].weight >= ABOUT)
    hits = [
        one.note.id
        for one in ranked
        if (of := named.get(one.note.id))
        and of.protected
        and of.names & (asked.whole if one.coverage >= _HOLDS else about)
    ]
    others: tuple[str, ...] = ()
    if about and len(hits) < _MOST_DECISIONS:
        others = reader.column(
            "SELECT DISTINCT note_id FROM mentions JOIN note_links ON note_id = target"
            " WHERE protected = 1 AND entity_id IN (SELECT value FROM json_each(?)) LIMIT ?",
            json.dumps(list(about)), _MOST_DECISIONS,
        )  # fmt: skip
    return list(dict.fromkeys([*hits, *others]))[:_MOST_DECISIONS]


def _floor(ranked: Sequence[Ranked], found: Mapping[str, Sequence[Signal]]) -> float:
    """What a decision scores at least: a little more than the hit at its place, for many may have one score."""
    scores = sorted((after(found.get(one.note.id, ()), one.score) for one in ranked), reverse=True)
    return _LITTLE_MORE * max(scores[_PLACE - 1] if len(scores) >= _PLACE else 0.0, _LEAST_DECISION)
