"""Facts by their keys: the answer's record, the keys that a text names, and what the vectors give beside the file.

The answer is always the value that stands in the file. The vectors give it as well while a nugget is not overfull;
where they do not, or are not sure, the answer says so.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from core.model.fact import Fact, Nugget
from core.model.joined import Whose
from core.model.judgement import Candidate, Judgement, Standing
from core.model.note import SCOPES
from core.model.snapshot import Snapshot
from core.text.exact import exact_form
from core.text.mask import all_masked

if TYPE_CHECKING:
    from core.facts.decode import Decoded

Undecoded = Literal["", "overfull", "costly", "unsure"]
"""Why the vectors gave no answer: the nugget holds too many facts for them, decoding would take too much time or
memory, or they are not sure of this fact."""

_KEPT_BYTES: Final = 2**25
# Below this certainty a decoding tells nothing.
_SURE: Final = 0.9
# A key without its scope, or with its words joined or parted, is nearly as certain as the key to the letter.
_FOLDED: Final = 0.97
_BETWEEN_WORDS: Final = re.compile(r"[\s_\-]+")


class Match(msgspec.Struct, frozen=True):
    """How a question found its answer. kind: "exact" for a key; "tokens" for a fact found by a search, "fuzzy" where a
    word of it was guessed; "graph" for a note. strength in [0, 1].
    """

    kind: Literal["exact", "tokens", "fuzzy", "graph"]
    strength: float


class RunnerUp(msgspec.Struct, frozen=True):
    """A value that was not the answer. similarity: summed cosines; probability in [0, 1] beside `certainty`."""

    value: str
    similarity: float
    probability: float


class Skipped(msgspec.Struct, frozen=True):
    """A nugget that could have answered and was passed over, since its file cannot be read. what: for people."""

    nugget_name: str
    reason: Literal["unreadable"]
    what: str


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
    """The answer to a question; with found=False everything else is empty, but for `skipped` and `candidates`.

    judgement: "found", or "not sure" where the best notes are `candidates` of which none is claimed, or "nothing".
    certainty: the chance that the answer is right, in [0, 1]. key: of the fact, or the title of the note. via: "facts",
    "graph" or "". note_id: the note of the fact, or the note that answered. disputed_by: what waits for a decision and
    would replace the answer. disputes: what the answer would replace. whose: of what answers, as of `Hit`. project: the
    other project that it is from, where the question names that. matched: words of a note that a search found. stale:
    what the answer names and its project has no more.

    Where the vectors were asked: confidence and margin are the original's, softmax over all values at the nugget's
    temperature, in [0, 1]; runners_up: other values that they give; undecoded: why they do not give the answer.
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
    disputed_by: tuple[OtherSide, ...] = ()
    passages: tuple[AnsweringPassage, ...] = ()
    disputes: tuple[OtherSide, ...] = ()
    whose: Whose = ""
    stale: tuple[Standing, ...] = ()


class KeyedFact(NamedTuple):
    """A fact that a text names. certainty: 1 for its key to the letter but for case, less without its scope or with
    its words joined or parted otherwise.
    """

    nugget: Nugget
    place: int
    certainty: float

    @property
    def fact(self) -> Fact:
        """The fact itself."""
        return self.nugget.facts[self.place]


class Keys:
    """The keys of all nuggets, read when first needed and again when they change. Safe from several threads."""

    def __init__(self) -> None:
        self._guard = RLock()
        self._read: dict[str, tuple[tuple[Fact, ...], dict[str, list[int]]]] = {}

    def named(self, nuggets: Sequence[Nugget], text: str) -> list[KeyedFact]:
        """The facts whose keys a text is to the letter, else but for case, else but for scope and the spaces between
        words. A masked value answers nothing.
        """
        if not exact_form(text):
            return []
        found = [
            KeyedFact(one, place, 1.0)
            for one in nuggets
            for place, fact in enumerate(one.facts)
            if fact.key == text and not all_masked(fact.value)
        ]
        for form, certainty in zip(_forms(text), (1.0, _FOLDED), strict=True):
            found = found or [
                KeyedFact(one, place, certainty)
                for one in nuggets
                for place in self._places(one).get(form, ())
            ]
        return found

    def _places(self, nugget: Nugget) -> dict[str, list[int]]:
        """Places of a nugget's facts by the forms of their keys; of two that differ by case alone the first."""
        with self._guard:
            kept = self._read.get(nugget.name)
            if kept is None or kept[0] is not nugget.facts:
                places: dict[str, list[int]] = {}
                for place, fact in enumerate(nugget.facts):
                    if not all_masked(fact.value):
                        exact, loose = _forms(fact.key)
                        places.setdefault(exact, [place])
                        places.setdefault(loose, []).append(place)
                kept = self._read[nugget.name] = (nugget.facts, places)
            return kept[1]


def _forms(key: str) -> tuple[str, str]:
    """A key without its case, and without its scope and what parts its words, behind a sign that begins no key."""
    text = exact_form(key)
    scope, colon, rest = text.partition(":")
    bare = rest if colon and scope in SCOPES and rest.strip() else text
    return text, " " + _BETWEEN_WORDS.sub("", bare)


class Decoder:
    """Decodes facts from the vectors of their nuggets, and keeps what it worked out.

    A nugget is decoded again when something changes that decides its vectors: name, D, banks, ensembles, config or the
    values in their order; hits and keys do not. At most about 32 MiB of decoded answers are kept, and the one in use.
    Calls from several threads wait for each other.
    """

    def __init__(self) -> None:
        self._guard = RLock()
        self._decoded: OrderedDict[tuple[object, ...], Decoded] = OrderedDict()
        # Bytes of all of these.
        self._held = 0

    def with_decoding(self, answer: Recall, nugget: Nugget, place: int) -> Recall:
        """An answer as the file has it, with what the vectors make of it; it is no surer than they are."""
        with self._guard:
            decoded = self._decode(nugget)
        if isinstance(decoded, str):
            return msgspec.structs.replace(answer, undecoded=decoded)
        values = [decoded.vocabulary[number] for number in decoded.best[place].tolist()]
        columns = (values, decoded.similarity[place].tolist(), decoded.probability[place].tolist())
        runners_up = tuple(
            RunnerUp(*other) for other in zip(*columns, strict=True) if other[0] != answer.answer
        )
        if values[0] != answer.answer:
            return msgspec.structs.replace(answer, undecoded="unsure", runners_up=runners_up)
        probability = min(max(columns[2][0], 0.0), 1.0)
        sure = probability >= _SURE
        return msgspec.structs.replace(
            answer,
            confidence=float(decoded.confidence[place]),
            certainty=min(answer.certainty, probability) if sure else answer.certainty,
            margin=float(decoded.margin[place]),
            undecoded="" if sure else "unsure",
            runners_up=runners_up,
        )

    def _decode(self, nugget: Nugget) -> Decoded | Undecoded:
        """What the vectors give, or why they are not asked."""
        from core.errors import InvalidInputError
        from core.facts.feasible import check_decodable, why_not_decoded

        meta, values = nugget.meta, tuple(fact.value for fact in nugget.facts)
        try:
            check_decodable(meta, 1, 1)
        except InvalidInputError:
            return "costly"
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


def asked_nuggets(snapshot: Snapshot, name: str | None, other_than: Collection[str] = ()) -> list[Nugget]:
    """The nuggets that a recall asks: all but some, or the one that is named.

    Raises NotFoundError for a name that nothing speaks of.
    """
    if name is None:
        return [one for one in snapshot.nuggets if one.name not in other_than]
    if name not in snapshot.by_name and name in snapshot.nugget_names:
        return []
    return [snapshot.nugget(name)]
