"""Recall: finds the key that a query means, reads its value from the fact file, and decodes it from the vectors.

The answer is always the value that stands in the file under the key that was meant. The vectors give it as well while
a nugget is not overfull; where they do not, are not sure, or are not asked, the answer says so.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import msgspec

from core.errors import InvalidInputError
from core.facts.feasible import check_decodable, why_not_decoded
from core.facts.recall_text import parse_recall_query
from core.facts.resolve import ExactKeys, KeyIndex, Match, ResolvedKey, lacks_a_word
from core.model.compare import alike
from core.model.fact import Fact, FactConfig, Nugget
from core.model.joined import Whose
from core.model.judgement import Candidate, Judgement
from core.model.snapshot import Snapshot
from core.text.mask import all_masked

if TYPE_CHECKING:
    from core.facts.decode import Decoded

__all__ = ["AlsoHeld", "Match", "OtherSide", "Recall", "Recaller", "RunnerUp", "Skipped", "Undecoded"]

Undecoded = Literal["", "overfull", "costly", "unsure"]
"""Why the vectors gave no answer: the nugget holds too many facts for them, decoding would take too much time or
memory, or they are not sure of this fact."""

_KEPT_BYTES: Final = 2**25
_KEPT_NUGGETS: Final = 256
# Below this certainty a decoding tells nothing; and a key that fits less well says no more than how well it fits.
_SURE: Final = 0.9
# An answer to a question of which a word is missing from the key is no surer than this.
MOST_INCOMPLETE: Final = 0.89

_DecodeKey: TypeAlias = tuple[str, int, int, int, FactConfig, tuple[str, ...]]


class RunnerUp(msgspec.Struct, frozen=True):
    """A value that was not the answer. similarity: summed cosines; probability in [0, 1] beside `certainty`."""

    value: str
    similarity: float
    probability: float


class Skipped(msgspec.Struct, frozen=True):
    """A nugget that could have answered and was passed over. what: a sentence for people.

    reason: "unreadable" (its file cannot be read) or "undecodable" (numbers in it make no phase vectors).
    """

    nugget_name: str
    reason: Literal["unreadable", "undecodable"]
    what: str


class AlsoHeld(msgspec.Struct, frozen=True):
    """What another nugget holds under the key that was meant."""

    nugget_name: str
    key: str
    answer: str


class OtherSide(msgspec.Struct, frozen=True):
    """What says otherwise than the answer, while nobody decided which of them holds: a note, or a proposed change that
    has no note yet, then with its id.
    """

    note_id: str
    content: str
    proposal_id: str = ""

    @property
    def id(self) -> str:
        """Of the note, or of the proposal."""
        return self.note_id or self.proposal_id


class AnsweringPassage(msgspec.Struct, frozen=True):
    """A part of a document that may answer. place: of the part in its document, from 0. score: as search has it.
    likelihood: how likely it answers, in [0, 1]. sure: whether that is enough.
    """

    document_id: str
    title: str
    source: str
    place: int
    text: str
    score: float
    likelihood: float
    sure: bool


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a query; with found=False everything else is empty, but for `skipped` and `candidates`.

    judgement: "found", or "not sure" where the best notes are `candidates` of which none is claimed, or "nothing".

    confidence and margin are the original's: softmax over all values at the nugget's temperature, in [0, 1]; 0 where
    the vectors give another value or are not asked. certainty in [0, 1] is the probability that the vectors give what
    was stored; where `undecoded` is not "", the answer was read from the fact file alone, and it is the strength of
    the match. It is never above that strength where the key was guessed or fits weakly, and below 0.9 where a word
    of the question is missing. key: the key that was meant. via: "facts", "graph" or
    "". note_id: the note of the fact, or the note that answered. runners_up: other values that the vectors give. also:
    other values that other nuggets hold under that key. disputed_by: what waits for a decision and would replace the
    answer. disputes: what the answer would replace. whose: of what answers, as of `Hit`. project: the other project
    that it is from, where the question names that. matched: words of a note that a search found.
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
    undecoded: Undecoded = ""
    skipped: tuple[Skipped, ...] = ()
    judgement: Judgement = "nothing"
    project: str = ""
    matched: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    also: tuple[AlsoHeld, ...] = ()
    disputed_by: tuple[OtherSide, ...] = ()
    passages: tuple[AnsweringPassage, ...] = ()
    disputes: tuple[OtherSide, ...] = ()
    whose: Whose = ""


class _Candidate(NamedTuple):
    nugget: Nugget
    resolved: ResolvedKey

    @property
    def rank(self) -> tuple[float, int]:
        return self.resolved.match.rank


class _Keys:
    """The keys of one nugget in two depths: by their text at once, by their words when that is not enough."""

    def __init__(self, facts: tuple[Fact, ...], keys: tuple[str, ...]) -> None:
        self.facts = facts
        self.exact = ExactKeys(keys)

    @cached_property
    def index(self) -> KeyIndex:
        return KeyIndex(self.exact.keys)


class Recaller:
    """Answers recalls over the facts of any snapshot, and keeps what it worked out for the next time.

    A nugget is decoded again when something changes that decides its vectors: name, D, banks, ensembles, config or
    the values in their order; hits and keys do not. At most about 32 MiB of decoded answers are kept, and the one in
    use. Calls from several threads wait for each other.
    """

    def __init__(self) -> None:
        self._guard = RLock()
        self._keys: OrderedDict[str, _Keys] = OrderedDict()
        self._decoded: OrderedDict[_DecodeKey, Decoded] = OrderedDict()
        # Bytes of all of these.
        self._held = 0

    def recall(
        self,
        snapshot: Snapshot,
        query: str,
        nugget: str | None = None,
        begun: Collection[str] = (),
        *,
        decode: bool = True,
        other_than: Collection[str] = (),
    ) -> Recall:
        """The fact that a query means, over all nuggets or in one; any text may be asked.

        The strongest match wins, of equal ones one that the vectors give, then the first. Of several nuggets that hold
        the key which is meant, the one answers that does when the key is asked for to the letter. Nuggets that
        could not be read are passed over, and so are, unless named, those whose numbers make no vectors; the answer
        names both. A value that is masked answers nothing. begun: words of the query that are half typed ones of
        notes. other_than: nuggets that may not answer. decode: whether the vectors are asked for an exact key as well.
        Raises NotFoundError for a nugget that nothing speaks of, InvalidInputError for a named one whose numbers make
        no vectors.
        """
        with self._guard:
            asked = self._nuggets(snapshot, nugget)
            nuggets = tuple(one for one in asked if one.name not in other_than)
            readable = [one for one in nuggets if one.facts and not one.problem]
            skipped = [Skipped(one.name, "unreadable", one.problem) for one in nuggets if one.problem]
            best: Recall | None = None
            for candidates in self._candidates(readable, query, begun):
                best = self._best(snapshot, candidates, skipped, nugget is not None, decode)
                if best is not None:
                    best = _as_sure_as_its_match(self._beside_others(snapshot, best, readable), query)
                    break
            return msgspec.structs.replace(best or Recall(), skipped=tuple(skipped))

    def _beside_others(self, snapshot: Snapshot, best: Recall, nuggets: list[Nugget]) -> Recall:
        """The answer of the nugget that answers for the key that was meant, with what others hold under it."""
        places = [(nugget, self._keys_of(nugget).exact.find(best.key)) for nugget in nuggets]
        held = [(nugget, found.place) for nugget, found in places if found is not None]
        if len(held) < 2 or best.match is None:
            return best
        if best.match.kind != "exact":
            # How well the words fit differs with the other keys of each nugget, which says nothing of this one.
            match = best.match
            each = [_Candidate(nugget, ResolvedKey(place, match)) for nugget, place in held]
            best = self._best(snapshot, each, [], named=False, decode=True) or best
        facts = [(nugget.name, nugget.facts[place]) for nugget, place in held]
        return msgspec.structs.replace(
            best,
            also=tuple(
                AlsoHeld(name, fact.key, fact.value)
                for name, fact in facts
                if name != best.nugget_name and not alike(fact.value, best.answer or "")
            ),
        )

    def _best(
        self,
        snapshot: Snapshot,
        candidates: Iterable[_Candidate],
        skipped: list[Skipped],
        named: bool,
        decode: bool,
    ) -> Recall | None:
        """The answer of the strongest candidate that gives one; those that give none go to `skipped`."""
        best: Recall | None = None
        best_rank, best_decoded = (0.0, 0), False
        for candidate in candidates:
            if best is not None and candidate.rank < best_rank:
                break
            try:
                answer = self._answer(snapshot, candidate, decode)
            except InvalidInputError as error:
                if named:
                    raise
                skipped.append(Skipped(candidate.nugget.name, "undecodable", error.what))
                continue
            # How sure the vectors are differs with every fact beside it.
            decoded = not answer.undecoded
            if best is None or decoded > best_decoded:
                best, best_rank, best_decoded = answer, candidate.rank, decoded
        return best

    def _nuggets(self, snapshot: Snapshot, name: str | None) -> Iterable[Nugget]:
        if name is None:
            return snapshot.nuggets
        if name not in snapshot.by_name and name in snapshot.nugget_names:
            return ()
        return (snapshot.nugget(name),)

    def _candidates(
        self, nuggets: list[Nugget], query: str, begun: Collection[str]
    ) -> Iterator[list[_Candidate]]:
        """One candidate a nugget: those with the exact key, then the others, the strongest first.

        Nothing is stronger than an exact key, so that the words of keys are read only where none of them answers.
        """
        exact: list[_Candidate] = []
        others: list[tuple[Nugget, _Keys]] = []
        for nugget in nuggets:
            keys = self._keys_of(nugget)
            resolved = keys.exact.find(query)
            if resolved is not None:
                exact.append(_Candidate(nugget, resolved))
            else:
                others.append((nugget, keys))
        yield exact
        yield _by_meaning([(nugget, keys.index) for nugget, keys in others], query, begun)

    def _keys_of(self, nugget: Nugget) -> _Keys:
        kept = self._keys.get(nugget.name)
        if kept is None or kept.facts is not nugget.facts:
            # Places stay when a key is passed over: it is left blank.
            keys = tuple("" if all_masked(fact.value) else fact.key for fact in nugget.facts)
            if kept is not None and kept.exact.keys == keys:
                kept.facts = nugget.facts
            else:
                kept = _Keys(nugget.facts, keys)
            self._keys[nugget.name] = kept
        self._keys.move_to_end(nugget.name)
        while len(self._keys) > _KEPT_NUGGETS:
            self._keys.popitem(last=False)
        return kept

    def _answer(self, snapshot: Snapshot, candidate: _Candidate, decode: bool) -> Recall:
        nugget, place = candidate.nugget, candidate.resolved.place
        fact = nugget.facts[place]
        note = snapshot.fact_notes.get((nugget.name, fact.key))
        answer = Recall(
            answer=fact.value,
            certainty=candidate.resolved.match.strength,
            found=True,
            judgement="found",
            key=fact.key,
            match=candidate.resolved.match,
            nugget_name=nugget.name,
            via="facts",
            note_id=note.id if note is not None else None,
        )
        if not decode and candidate.resolved.match.kind == "exact":
            return answer
        decoded = self._decode(nugget)
        if isinstance(decoded, str):
            return msgspec.structs.replace(answer, undecoded=decoded)
        return _with_decoding(answer, decoded, place)

    def _decode(self, nugget: Nugget) -> Decoded | Undecoded:
        """What the vectors give, or why they are not asked.

        Raises InvalidInputError for numbers that make no vectors of a single fact.
        """
        meta, values = nugget.meta, tuple(fact.value for fact in nugget.facts)
        check_decodable(meta, 1, 1)
        why_not = why_not_decoded(meta, len(values), len(set(values)))
        if why_not:
            return why_not
        key = (meta.name, meta.D, meta.banks, meta.ensembles, meta.config, values)
        decoded = self._decoded.get(key)
        if decoded is None:
            # Loaded when something is decoded: numpy takes longer to start than most commands to run.
            from core.facts.decode import decode

            decoded = self._decoded[key] = decode(meta, values)
            self._held += decoded.size
        self._decoded.move_to_end(key)
        while self._held > _KEPT_BYTES and len(self._decoded) > 1:
            _, dropped = self._decoded.popitem(last=False)
            self._held -= dropped.size
        return decoded


def _by_meaning(
    indexes: list[tuple[Nugget, KeyIndex]], query: str, begun: Collection[str]
) -> list[_Candidate]:
    """One candidate a nugget, the strongest first."""
    reading = parse_recall_query(query)
    found: list[_Candidate] = []
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


def _as_sure_as_its_match(answer: Recall, query: str) -> Recall:
    """The answer, no surer than that its key is the one meant: the vectors tell what stands under a key, not whether
    the question was about that key.
    """
    match = answer.match
    if match is None or match.kind == "exact":
        return answer
    most = 1.0 if match.strength >= _SURE and match.kind != "fuzzy" else match.strength
    if lacks_a_word(query, answer.key):
        most = min(most, MOST_INCOMPLETE)
    return msgspec.structs.replace(answer, certainty=min(answer.certainty, most))


def _with_decoding(answer: Recall, decoded: Decoded, place: int) -> Recall:
    """The answer as the file has it, with what the vectors make of it."""
    values = [decoded.vocabulary[number] for number in decoded.best[place].tolist()]
    columns = (values, decoded.similarity[place].tolist(), decoded.probability[place].tolist())
    runners_up = tuple(RunnerUp(*other) for other in zip(*columns, strict=True) if other[0] != answer.answer)
    if values[0] != answer.answer:
        return msgspec.structs.replace(answer, undecoded="unsure", runners_up=runners_up)
    probability = min(max(columns[2][0], 0.0), 1.0)
    sure = probability >= _SURE
    return msgspec.structs.replace(
        answer,
        confidence=float(decoded.confidence[place]),
        certainty=probability if sure else answer.certainty,
        margin=float(decoded.margin[place]),
        undecoded="" if sure else "unsure",
        runners_up=runners_up,
    )
