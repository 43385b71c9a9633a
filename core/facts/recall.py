"""Recall: a query is resolved to a key, the key's place is decoded, and the answer comes with how far to trust it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from core.errors import InvalidInputError
from core.facts.resolve import KeyIndex, Match, Resolved
from core.facts.wording import read_query
from core.model.fact import Fact, FactConfig, Nugget
from core.model.snapshot import Snapshot
from core.text.mask import all_masked

if TYPE_CHECKING:
    from core.facts.decode import Decoded

__all__ = ["Match", "Recall", "Recaller", "RunnerUp"]

_KEPT_BYTES: Final = 2**25
_KEPT_NUGGETS: Final = 256

_DecodeKey: TypeAlias = tuple[str, int, int, int, FactConfig, tuple[str, ...]]


class RunnerUp(msgspec.Struct, frozen=True):
    """A value that was not the answer. similarity: summed cosines; probability in [0, 1] beside `certainty`."""

    value: str
    similarity: float
    probability: float


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a query; with found=False everything else is empty.

    confidence and margin are the original's: softmax over all values at the nugget's temperature, in [0, 1].
    certainty in [0, 1] is the probability that the answer is what was stored. key: the key that was meant.
    via: "facts", "graph" or "". note_id: the note of the fact, or the note that answered.
    """

    answer: str | None = None
    confidence: float = 0.0
    certainty: float = 0.0
    margin: float = 0.0
    found: bool = False
    key: str = ""
    match: Match | None = None
    nugget_name: str = ""
    via: str = ""
    note_id: str | None = None
    runners_up: tuple[RunnerUp, ...] = ()


@dataclass(frozen=True)
class _Candidate:
    nugget: Nugget
    resolved: Resolved

    @property
    def rank(self) -> tuple[float, int]:
        return self.resolved.match.rank


class Recaller:
    """Answers recalls over the facts of any snapshot, and keeps what it worked out for the next time.

    A nugget is decoded again when something changes that decides its vectors: name, D, banks, ensembles, config or
    the values in their order; hits and keys do not. At most about 32 MiB of decoded answers are kept, and the one in
    use. Calls from several threads wait for each other.
    """

    def __init__(self) -> None:
        self._guard = RLock()
        self._indexes: OrderedDict[str, tuple[tuple[Fact, ...], KeyIndex]] = OrderedDict()
        self._decoded: OrderedDict[_DecodeKey, Decoded] = OrderedDict()

    def recall(
        self, snapshot: Snapshot, query: str, nugget: str | None = None, begun: Collection[str] = ()
    ) -> Recall:
        """The fact that a query means, over all nuggets or in one; any text may be asked.

        The strongest match wins, of equal ones the one decoded with more certainty, then the first. Nuggets that
        could not be read are passed over, and so are, unless named, those whose numbers cannot be decoded. A value
        that is masked answers nothing. begun: words of the query that are half typed ones of notes.
        Raises NotFoundError for a nugget that nothing speaks of, InvalidInputError for a named nugget that cannot
        be decoded.
        """
        with self._guard:
            candidates = self._candidates(self._nuggets(snapshot, nugget), query, begun)
            best: Recall | None = None
            best_rank = (0.0, 0)
            for candidate in candidates:
                if best is not None and candidate.rank < best_rank:
                    break
                try:
                    answer = self._answer(snapshot, candidate)
                except InvalidInputError:
                    if nugget is not None:
                        raise
                    continue
                if best is None or answer.certainty > best.certainty:
                    best, best_rank = answer, candidate.rank
            return best or Recall()

    def _nuggets(self, snapshot: Snapshot, name: str | None) -> Iterable[Nugget]:
        if name is None:
            return snapshot.nuggets
        if name not in snapshot.by_name and name in snapshot.nugget_names:
            return ()
        return (snapshot.nugget(name),)

    def _candidates(self, nuggets: Iterable[Nugget], query: str, begun: Collection[str]) -> list[_Candidate]:
        """One candidate a nugget, the strongest first."""
        reading = read_query(query)
        found: list[_Candidate] = []
        indexes = [(nugget, self._index(nugget)) for nugget in nuggets if nugget.facts and not nugget.problem]
        known = {token for token in reading.stems if any(token in index.postings for _, index in indexes)}
        begun = {
            word
            for word, token in zip(reading.words, reading.stems, strict=True)
            if token not in known and (word in begun or any(index.begins(word) for _, index in indexes))
        }
        for nugget, index in indexes:
            resolved = index.resolve(query, reading, begun)
            if resolved is not None:
                found.append(_Candidate(nugget, resolved))
        found.sort(key=lambda candidate: candidate.rank, reverse=True)
        return found

    def _index(self, nugget: Nugget) -> KeyIndex:
        kept = self._indexes.get(nugget.name)
        if kept is not None and kept[0] is nugget.facts:
            self._indexes.move_to_end(nugget.name)
            return kept[1]
        # Places stay when a key is passed over: it is left blank.
        keys = tuple("" if all_masked(fact.value) else fact.key for fact in nugget.facts)
        index = kept[1] if kept is not None and kept[1].keys == keys else KeyIndex(keys)
        self._indexes[nugget.name] = (nugget.facts, index)
        self._indexes.move_to_end(nugget.name)
        while len(self._indexes) > _KEPT_NUGGETS:
            self._indexes.popitem(last=False)
        return index

    def _answer(self, snapshot: Snapshot, candidate: _Candidate) -> Recall:
        nugget, place = candidate.nugget, candidate.resolved.place
        decoded = self._decode(nugget)
        values = [decoded.vocabulary[number] for number in decoded.best[place].tolist()]
        similarity, probability = decoded.similarity[place].tolist(), decoded.probability[place].tolist()
        key = nugget.facts[place].key
        note = snapshot.fact_notes.get((nugget.name, key))
        return Recall(
            answer=values[0],
            confidence=float(decoded.confidence[place]),
            certainty=min(max(probability[0], 0.0), 1.0),
            margin=float(decoded.margin[place]),
            found=True,
            key=key,
            match=candidate.resolved.match,
            nugget_name=nugget.name,
            via="facts",
            note_id=note.id if note is not None else None,
            runners_up=tuple(
                RunnerUp(*other) for other in zip(values[1:], similarity[1:], probability[1:], strict=True)
            ),
        )

    def _decode(self, nugget: Nugget) -> Decoded:
        # Loaded when something is decoded: numpy takes longer to start than most commands to run.
        from core.facts.decode import decode

        meta, values = nugget.meta, tuple(fact.value for fact in nugget.facts)
        key = (meta.name, meta.D, meta.banks, meta.ensembles, meta.config, values)
        decoded = self._decoded.get(key)
        if decoded is None:
            decoded = self._decoded[key] = decode(meta, values)
        self._decoded.move_to_end(key)
        held = sum(other.size for other in self._decoded.values())
        while held > _KEPT_BYTES and len(self._decoded) > 1:
            _, dropped = self._decoded.popitem(last=False)
            held -= dropped.size
        return decoded
