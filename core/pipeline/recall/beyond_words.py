"""What models say of a query beyond its words: notes of similar meaning, by embeddings, and the order of first hits.

Nobody waits for a model for longer than settings say, and who types does not wait at all. What was found out is kept
for the same query.
"""

from __future__ import annotations

import math
import threading
from array import array
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Sequence
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

from core.model.note import Note
from core.pipeline.database.tables import Tables
from core.pipeline.intake.normalisation import content_hash
from core.pipeline.intake.redaction import redact
from core.pipeline.knowledge.note_linking import text_of
from core.pipeline.models.embeddings import EmbeddingProvider, fitting
from core.pipeline.models.factory import embedder_of, reranker_of
from core.pipeline.models.provider import Answer, ModelTimeoutError, Schema
from core.pipeline.recall.rerank import (
    Candidate,
    RerankProvider,
    embedding_reranker,
    model_reranker,
    rerank,
)
from core.pipeline.recall.search_calls import SearchCalls
from core.pipeline.recall.vector_matrix import Near, VectorMatrix
from core.search.judge import OFFERED_FROM
from core.search.signals import Ranked, Signal, Signals, after
from core.settings.pipeline_sections import EmbeddingPart, PipelineConfiguration

# So many notes are found by their vectors alone; among many notes one must stand out by so many standard deviations.
MOST_ALONE: Final = 10
_MANY: Final = 30
_STANDS_OUT: Final = 2.0
# What the nearest note scores by its vector alone; and one that is nearer by so much than it has to be is offered as an
# answer, never claimed to be one.
ALONE: Final = 0.6
_NEARER: Final = 0.15
_LONGEST_QUERY: Final = 2_000
_MOST_KEPT: Final = 128
_STEP: Final = 1e-9

_Value = TypeVar("_Value")


class Asked(NamedTuple):
    """A query with what is known of it before its hits are. vector: None for none. waits: whether its asker does."""

    text: str
    configuration: PipelineConfiguration
    vector: array[float] | None
    near: Near | None
    waits: bool
    more: bool


class _Kept(Generic[_Value]):
    """The last values that were asked for."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._values: OrderedDict[Hashable, _Value] = OrderedDict()

    def get(self, key: Hashable) -> _Value | None:
        with self._guard:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: _Value) -> None:
        with self._guard:
            self._values[key] = value
            if len(self._values) > _MOST_KEPT:
                self._values.popitem(last=False)


class BeyondWords:
    """Asks models for one memory. Safe to use from several threads; nothing here raises but what reading the database
    does. clock: seconds. note_of: gives the note of an id as it is now.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], float],
        note_of: Callable[[str], Note | None],
        embedder: EmbeddingProvider | None = None,
    ) -> None:
        self._clock = clock
        self._note_of = note_of
        self._embedder = embedder
        self._matrix = VectorMatrix("note")
        self._chunks = VectorMatrix("chunk")
        self._vectors: _Kept[array[float]] = _Kept()
        self._orders: _Kept[tuple[str, ...]] = _Kept()
        self._calls = SearchCalls(home, clock)

    def asked(self, configuration: PipelineConfiguration, text: str, waits: bool) -> Asked:
        """A query with its vector, where that is kept or its asker waits for it. Nothing of the database is held."""
        said = redact(text.strip()[:_LONGEST_QUERY]).text
        vector, more = None, False
        if said and configuration.embedding.model:
            embedder = self._embedder or embedder_of(configuration)
            if embedder is not None:
                vector, more = self._query_vector(configuration, embedder, said, waits)
        return Asked(said, configuration, vector, None, waits, more)

    def by_meaning(
        self, reader: Tables, asked: Asked, ranked: Sequence[Ranked]
    ) -> tuple[Asked, Signals, Sequence[Ranked]]:
        """What embeddings add: to hits by how near they are, as hits of their own, and their order where settings ask
        for it; and the hits with that. What else is known of notes counts after it.
        """
        near = self._near_notes(reader, asked)
        asked = asked._replace(near=near)
        if near is None:
            return asked, Signals({}, more=asked.more), ranked
        found, others = self._by_nearness(near, asked.configuration, ranked)
        told = self._in_order_of_vectors(asked, ranked, Signals(found, more=asked.more))
        hits = [
            one._replace(score=after(told.of_notes.get(one.note.id, ()), one.score))
            for one in (*ranked, *others)
        ]
        return asked, told, sorted(hits, key=lambda one: -one.score)

    def _by_nearness(
        self, near: Near, configuration: PipelineConfiguration, ranked: Sequence[Ranked]
    ) -> tuple[dict[str, Sequence[Signal]], list[Ranked]]:
        """What each note gains, and the notes that are hits by that alone, with a score of 0."""
        part = configuration.embedding
        found: dict[str, Sequence[Signal]] = {}
        if not part.weight:
            return found, []
        notes = {one.note.id: one.note for one in ranked}
        others: list[Ranked] = []
        alone = _alone(near, part.min_similarity)
        for id in dict.fromkeys((*notes, *alone)):
            note = notes.get(id) or self._note_of(id)
            if note is None or id not in near.rows or not _says_still(note, near.hashes[near.rows[id]]):
                continue
            signal = _nearness(near, part, id, id in alone)
            if signal is None:
                continue
            found[id] = (signal,)
            if id not in notes:
                others.append(Ranked(note, 0.0, shares_words=False, coverage=0.0))
        return found, others

    def _near_notes(self, reader: Tables, asked: Asked) -> Near | None:
        if asked.vector is None:
            return None
        return self._matrix.near(reader, asked.configuration.embedding.model, asked.vector)

    def near_chunks(self, reader: Tables, asked: Asked) -> Near | None:
        """How near the chunks of documents are to a query; None where nothing is known of it."""
        if asked.vector is None:
            return None
        return self._chunks.near(reader, asked.configuration.embedding.model, asked.vector)

    def of_chunks(self, reader: Tables, asked: Asked, known: Collection[int]) -> dict[int, Signal]:
        """What some chunks of documents gain by how near they are, and those that are found by that alone; by chunk."""
        near, part = self.near_chunks(reader, asked), asked.configuration.embedding
        if near is None or not part.weight:
            return {}
        least, notes = part.min_similarity, self._near_notes(reader, asked)
        if notes is not None:
            # Of few chunks nobody can tell what is near; of notes there are mostly more.
            near, least = near._replace(base=max(near.base, notes.base)), _least(notes, least)
        alone = _alone(near, least)
        told = {
            int(target): _nearness(near, part, target, target in alone)
            for target in (*map(str, known), *alone)
            if target in near.rows
        }
        return {chunk: signal for chunk, signal in told.items() if signal is not None}

    def in_order(self, asked: Asked, ranked: Sequence[Ranked], told: Signals) -> Signals:
        """The first hits put in order by a model, where settings name one. Nothing of the database is held."""
        part = asked.configuration.reranker
        if not (part.enabled and part.model and asked.text):
            return told
        hits = self._hits(ranked, told)
        order, more = self._order_of_model(asked, hits, ranked[-1].note.id if ranked else "")
        if order is None:
            return told._replace(more=told.more or more)
        return _reordered(hits, order, told)

    def _hits(self, ranked: Sequence[Ranked], told: Signals) -> list[Candidate]:
        """All hits with their scores, best first."""
        hits = [
            Candidate(one.note.id, after(told.of_notes.get(one.note.id, ()), one.score), text_of(one.note))
            for one in ranked
        ]
        known = {one.id for one in hits}
        for id, signals in told.of_notes.items():
            note = None if id in known else self._note_of(id)
            if note is not None and any(one.at_least for one in signals):
                hits.append(Candidate(id, after(signals, 0.0), text_of(note)))
        return sorted(hits, key=lambda one: -one.score)

    def _in_order_of_vectors(self, asked: Asked, ranked: Sequence[Ranked], told: Signals) -> Signals:
        near, part = asked.near, asked.configuration.reranker
        if near is None or not part.enabled or part.model:
            return told
        hits = self._hits(ranked, told)
        cosines = {one.id: near.cosine(one.id) for one in hits[: part.top_n]}
        ordered = rerank(asked.text, hits, embedding_reranker(cosines), part, self._clock)
        return _reordered(hits, _ids(ordered, part.top_n), told)

    def _order_of_model(
        self, asked: Asked, hits: Sequence[Candidate], last: str
    ) -> tuple[tuple[str, ...] | None, bool]:
        """The order, None for none; and whether who waits, or waits another time, gets one."""
        configuration, part = asked.configuration, asked.configuration.reranker
        provider = reranker_of(configuration)
        if provider is None:
            return None, False
        # A note that is explained stands behind the hits, and has no part in their order.
        for some in (hits, [one for one in hits if one.id != last]):
            kept = self._orders.get(_key(provider.identity, asked.text, some[: part.top_n]))
            if kept is not None:
                return kept, False
        if not asked.waits:
            return None, not self._calls.is_paused(provider)
        if self._calls.is_paused(provider):
            return None, True
        answered = False

        def ask(prompt: str, schema: Schema, seconds: float) -> Answer:
            nonlocal answered
            budget = configuration.extraction.daily_call_budget
            found = self._calls.ask(provider, budget, lambda: provider.generate(prompt, schema, seconds))
            if found is None:
                raise ModelTimeoutError("the model gave no answer")
            answered = True
            return found

        chosen: RerankProvider = model_reranker(ask, configuration.guardrails.max_content_chars)
        order = _ids(rerank(asked.text, hits, chosen, part, self._clock), part.top_n)
        if not answered:
            return None, True
        self._orders.put(_key(provider.identity, asked.text, hits[: part.top_n]), order)
        return order, False

    def _query_vector(
        self, configuration: PipelineConfiguration, embedder: EmbeddingProvider, text: str, waits: bool
    ) -> tuple[array[float] | None, bool]:
        """The vector of a query, None for none; and whether who waits, or waits another time, gets one."""
        part = configuration.embedding
        key = (embedder.identity, part.dimensions, text)
        kept = self._vectors.get(key)
        if kept is not None:
            return kept, False
        if self._calls.is_paused(embedder):
            return None, waits
        if not waits:
            return None, True

        def call() -> array[float]:
            found = embedder.embed([text], part.query_timeout_ms / 1_000)
            return fitting(found.vectors[0], part.dimensions)

        made = self._calls.ask(embedder, configuration.extraction.daily_call_budget, call)
        if made is not None:
            self._vectors.put(key, made)
        return made, made is None


def _alone(near: Near, least: float) -> set[str]:
    """What its vector alone makes a hit."""
    return {near.targets[row] for row in near.best(MOST_ALONE, _least(near, least))}


def _least(near: Near, least: float) -> float:
    """From which cosine on something stands out among all."""
    if len(near.cosines) < _MANY:
        return least
    return max(least, float(near.cosines.mean()) + _STANDS_OUT * near.spread)


def _nearness(near: Near, part: EmbeddingPart, target: str, alone: bool) -> Signal | None:
    """What a target gains by its vector, None for nothing. alone: whether that makes it a hit."""
    cosine = float(near.cosines[near.rows[target]])
    share = max(0.0, cosine - near.base) / (1.0 - near.base) if near.base < 1.0 else 1.0
    if not share:
        return None
    signal = Signal("embedding", f"{cosine:.2f}", added=part.weight * share, ceiling=math.inf)
    if not alone:
        return signal
    offered = OFFERED_FROM if cosine >= part.min_similarity + _NEARER else 0.0
    return signal._replace(at_least=ALONE * share, likelihood=offered)


def _says_still(note: Note, hashed: str) -> bool:
    """Whether a note says what was embedded."""
    return content_hash(text_of(note)) == hashed


def _ids(ordered: Sequence[Candidate], top_n: int) -> tuple[str, ...]:
    return tuple(one.id for one in ordered[:top_n])


def _key(identity: str, text: str, head: Sequence[Candidate]) -> Hashable:
    return identity, text, tuple((one.id, content_hash(one.text)) for one in head)


def _reordered(hits: Sequence[Candidate], order: Sequence[str], told: Signals) -> Signals:
    """The hits of the order share out their scores, the best to the first: so they stay above all others."""
    head = hits[: len(order)]
    if tuple(order) == tuple(one.id for one in head):
        return told
    known = {one.id: (place, one.score) for place, one in enumerate(head, 1)}
    counts = Counter(one.score for one in head)
    found: dict[str, Sequence[Signal]] = dict(told.of_notes)
    for number, (id, one) in enumerate(zip(order, head, strict=True), 1):
        place, before = known[id]
        if place == number and counts[before] == 1:
            continue
        # Of equals the first stays first.
        now = one.score + _STEP * (len(order) - number)
        signal = Signal("rerank", f"{place} to {number}", added=now - before, ceiling=math.inf)
        found[id] = (*found.get(id, ()), signal)
    return told._replace(of_notes=found)
