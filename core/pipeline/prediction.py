"""Predictor: code that says how much each memory will help a session which begins, and what it is told of them."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from math import isfinite, log2
from typing import Final, NamedTuple, Protocol

from core.model.names import parse_iso
from core.model.note import Note, normalise_tag

# A session begins meanwhile; whoever takes longer is not waited for.
SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that a session would be given. nugget: the name of its nugget."""

    note_id: str
    nugget: str
    scope: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of a candidate. place: where it stands without a predictor, counted from 1. hits: recalls counted,
    once for each session. days: since it was touched, None where nobody knows. confidence: 0 to 1. of_project: whether
    it is of the project that the session is about. sessions: how many were given it and ended; helped: how much it
    helped in them on average, 0 to 1, None for none.
    """

    place: int
    hits: int
    days: float | None
    confidence: float
    pinned: bool
    durable: bool
    of_project: bool
    sessions: int
    helped: float | None


class Predictor(Protocol):
    """What a predictor has to be."""

    def score(self, candidates: Sequence[Candidate], features: Sequence[Features]) -> Sequence[float] | None:
        """How much each candidate will help, in their order; the higher, the earlier it is given. None while it does
        not know enough to say. Whatever it raises, and whatever else it returns, changes nothing.
        """
        ...


class NullPredictor:
    """Says nothing, so that everything stays in the order that it has."""

    def score(self, candidates: Sequence[Candidate], features: Sequence[Features]) -> Sequence[float] | None:
        """None."""
        return None


class Ordered(NamedTuple):
    """The ids of candidates in the order in which to give them. active: whether a predictor made it. fault: what was
    wrong with one, without any text that it was given; "" for nothing.
    """

    note_ids: tuple[str, ...]
    active: bool = False
    fault: str = ""


def order_notes(
    source: str, notes: Sequence[Note], helped: Mapping[str, tuple[int, float]], nugget: str, now: datetime
) -> Ordered:
    """Notes in the order that a predictor of this name gives them; see `features_of`. Never raises for what it does."""
    predictor, wrong = load_predictor(source)
    candidates = [Candidate(one.id, one.nugget_name, one.scope, one.title, one.content) for one in notes]
    done = run_predictor_scoring(predictor, candidates, features_of(notes, helped, nugget, now))
    return done._replace(fault=wrong) if wrong else done


def run_predictor_scoring(
    predictor: Predictor,
    candidates: Sequence[Candidate],
    features: Sequence[Features],
    seconds: float = SECONDS,
) -> Ordered:
    """The candidates in the order that a predictor gives them; in the one that they have where it says nothing, raises,
    takes longer than `seconds`, or does not give each a finite number. Those it finds equal stay in their order.
    """
    unchanged = Ordered(tuple(one.note_id for one in candidates))
    said: list[Sequence[float] | None] = []
    wrong: list[str] = []

    def ask() -> None:
        try:
            given = predictor.score(tuple(candidates), tuple(features))
            said.append(None if given is None else [float(each) for each in given])
        except BaseException as error:
            # Somebody else's code, which may even ask to exit.
            wrong.append(type(error).__name__)

    if not candidates:
        return unchanged
    thread = threading.Thread(target=ask, name="nuggets-predictor", daemon=True)
    thread.start()
    thread.join(seconds)
    scores = said[0] if said else None
    if not (said or wrong):
        wrong = [f"no answer within {seconds:g} s"]
    elif scores is not None and len(scores) != len(candidates):
        wrong = [f"{len(scores)} scores for {len(candidates)} candidates"]
    elif scores is not None and not all(map(isfinite, scores)):
        wrong = ["a score is no finite number"]
    if wrong or scores is None:
        return unchanged._replace(fault=wrong[0] if wrong else "")
    ranked = sorted(zip(scores, unchanged.note_ids, strict=True), key=lambda one: -one[0])
    return Ordered(tuple(id for _, id in ranked), active=True)


_PINNED = "pinned"
_DAY = 86_400


def features_of(
    notes: Sequence[Note], helped: Mapping[str, tuple[int, float]], nugget: str, now: datetime
) -> tuple[Features, ...]:
    """The features of notes, in their order. helped: by id, in how many sessions a note was given, and how much it
    helped there on average. nugget: of the project that the session is about, "" for none.
    """
    found = []
    for place, note in enumerate(notes, 1):
        touched = parse_iso(note.last_accessed_at or note.updated_at or note.created_at)
        sessions, share = helped.get(note.id, (0, None))
        days = None if touched is None else max(0.0, (now - touched).total_seconds() / _DAY)
        is_pinned, of_project = _PINNED in map(normalise_tag, note.tags), note.nugget_name == nugget != ""
        found.append(
            Features(
                place, note.hits, days, note.confidence, is_pinned, note.durable, of_project, sessions, share
            )
        )
    return tuple(found)


_LONGEST_WHY: Final = 200
# The path for imports is the process's; one thread at a time narrows it.
_narrowing: Final = threading.Lock()


def load_predictor(source: str) -> tuple[Predictor, str]:
    """The predictor of a name such as "package.module:name", and what is wrong with it; one that says nothing for ""
    and for whatever cannot be loaded. name: a predictor, or what makes one when it is called without anything.

    The caller answers for where the name comes from: the code is run.
    """
    if not source:
        return NullPredictor(), ""
    module, separator, name = source.partition(":")
    words = (*module.split("."), *name.split("."))
    if not separator or not all(word.isidentifier() for word in words):
        return NullPredictor(), "must be written as module:name"
    try:
        with _without_working_folder():
            found: object = importlib.import_module(module)
        for word in name.split("."):
            found = getattr(found, word)
        if isinstance(found, type) or not hasattr(found, "score"):
            found = found()  # type: ignore[operator]
        if not callable(getattr(found, "score", None)):
            return NullPredictor(), "has no method score"
    except BaseException as error:
        # Somebody else's code, which may even ask to exit.
        return NullPredictor(), f"{type(error).__name__}: {error}"[:_LONGEST_WHY]
    return found, ""  # type: ignore[return-value]


@contextmanager
def _without_working_folder() -> Iterator[None]:
    """Meanwhile nothing is imported from the folder that the process was started in: it may be anybody's project."""
    with _narrowing:
        before = list(sys.path)
        try:
            here = os.path.realpath(os.getcwd())
        except OSError:
            here = ""
        sys.path[:] = [path for path in before if path and os.path.realpath(path) != here]
        try:
            yield
        finally:
            sys.path[:] = before


# Only the first so many places count.
PLACES: Final = 10


def ndcg(relevance: Sequence[float], places: int = PLACES) -> float | None:
    """The normalised discounted cumulative gain, 0 to 1, of memories in the order given, by how much each helped; 1 for
    the best order there is. None where none helped.
    """

    def gain(order: Sequence[float]) -> float:
        return sum(max(0.0, value) / log2(place + 2) for place, value in enumerate(order[:places]))

    best = gain(sorted(relevance, reverse=True))
    return gain(relevance) / best if best > 0 else None
