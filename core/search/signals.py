"""Signals: what is known of notes beside their words, and what it does to their scores. A search never learns where
they come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from typing import Final, Literal, NamedTuple, Protocol

from core.model.note import Note

SignalKind = Literal["hint", "entity", "constraint", "gravity", "hub", "resolution", "embedding", "rerank"]

# So many of the best hits are told to a source.
MOST_RANKED = 200


class Signal(NamedTuple):
    """One thing that changes the score of a note.

    kind: what it is. found: why, in words of the memory, "" where the kind says all. A score is first raised to
    `at_least`, then multiplied by `factor`, then `added` to; neither takes it beyond `ceiling`. A note that shares
    nothing with the query becomes a hit by a signal with `at_least`. likelihood: how likely the note answers, by this
    alone, in [0, 1].
    """

    kind: SignalKind
    found: str = ""
    at_least: float = 0.0
    factor: float = 1.0
    added: float = 0.0
    likelihood: float = 0.0
    ceiling: float = 1.0

    def applied(self, score: float) -> float:
        """The score that this makes of another one."""
        raised = max(score, self.at_least)
        changed = raised * self.factor + self.added
        return changed if changed < raised else max(raised, min(changed, self.ceiling))


class Ranked(NamedTuple):
    """A note as it stands without signals. shares_words: whether it holds the query's own words in any form, and not
    only such as mean nearly the same. coverage: the share of the query's weight that it holds by them, in [0, 1].
    """

    note: Note
    score: float
    shares_words: bool
    coverage: float = 1.0


class Signals(NamedTuple):
    """What a source says to a query. of_notes: by id, the signals in the order in which they apply. cut_short: whether
    time ran out before all was looked up. more: whether the source would say more to who waits for it, or, to who
    waits already, another time.
    """

    of_notes: Mapping[str, Sequence[Signal]]
    cut_short: bool = False
    more: bool = False


NO_SIGNALS = Signals({})
_waits: Final = ContextVar[bool | None]("waits", default=None)


@contextmanager
def waiting(for_all: bool) -> Iterator[None]:
    """Within this, searches of this thread wait for what takes a moment to find out, or do not."""
    before = _waits.set(for_all)
    try:
        yield
    finally:
        _waits.reset(before)


def waits(usually: bool) -> bool:
    """Whether who searches in this thread waits. usually: where nobody has said."""
    said = _waits.get()
    return usually if said is None else said


class SignalSource(Protocol):
    """Who knows something of notes. Safe to ask from several threads."""

    def signals(self, text: str, ranked: Sequence[Ranked]) -> Signals:
        """The signals of notes for a query. Never raises.

        ranked: the best hits, best first, at most `MOST_RANKED`, and behind them a note that is explained; other notes
        may have signals as well. text: the words of the query.
        """


def after(signals: Sequence[Signal], score: float) -> float:
    """The score of a note with all of its signals."""
    return reduce(lambda before, signal: signal.applied(before), signals, score)
