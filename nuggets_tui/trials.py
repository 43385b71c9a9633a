"""Searches put to the memory off the event loop: hits with other weights, and how kept searches stand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from core.model.kept import KeptSearch
from nuggets_tui.desk import RESULTS, Desk
from nuggets_tui.threads import aside
from nuggets_tui.view import Found

if TYPE_CHECKING:
    from core.search.goldens import Verdict
    from core.settings import SearchSettings

Told = Callable[[tuple["Verdict", ...]], None]
# Seconds of judging between two looks at whether anybody still waits for it.
_PART: Final = 0.02
# Seconds between two tellings of what is known by then.
_TELL: Final = 0.15
# In the background: shorter pieces, with pauses in which keys are answered.
_PATIENT_PART: Final = 0.015
_PAUSE: Final = 0.045


class Trials:
    """Puts questions of one kind; a newer one ends an older one of its kind."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._ranking = 0
        self._judging = 0

    def stop(self) -> None:
        """Nobody waits for answers any more."""
        self._ranking += 1
        self._judging += 1

    def stop_judging(self) -> None:
        """Nobody waits for verdicts any more: what comes next gets the machine for itself."""
        self._judging += 1

    async def rank(self, query: str, settings: SearchSettings) -> Found | None:
        """The hits of a query with other weights. None when something else was asked for meanwhile."""
        self._ranking += 1
        turn = self._ranking
        return await aside(self._rank, query, settings, turn)

    def _rank(self, query: str, settings: SearchSettings, turn: int) -> Found | None:
        def stale() -> bool:
            return turn != self._ranking

        desk = self._desk
        if stale():
            return None
        started = desk.timer()
        hits = desk.memory.search(query, RESULTS, new_since=desk.last_visit, stopped=stale, settings=settings)
        seconds = desk.timer() - started
        return None if stale() else Found(query, hits, None, seconds, len(hits) >= RESULTS)

    async def judge(
        self,
        searches: Sequence[KeptSearch] | None = None,
        settings: SearchSettings | None = None,
        told: Told | None = None,
        *,
        patient: bool = False,
    ) -> tuple[Verdict, ...] | None:
        """How kept searches stand (None: all of them). None when something else was asked for meanwhile.

        told: gets what is known by then, again and again. patient: with pauses, for work that nobody looks at.
        """
        self._judging += 1
        turn = self._judging

        def stale() -> bool:
            return turn != self._judging

        def begin() -> Iterator[Verdict]:
            memory = self._desk.memory
            return memory.judge_searches(
                searches, settings=settings, new_since=self._desk.last_visit, stopped=stale
            )

        verdicts = await aside(begin)
        found: list[Verdict] = []
        told_at = 0.0
        while part := await aside(_part_of, verdicts, _PATIENT_PART if patient else _PART):
            if stale():
                return None
            found += part
            if told is not None and time.monotonic() - told_at >= _TELL:
                told(tuple(found))
                told_at = time.monotonic()
            if patient:
                await asyncio.sleep(_PAUSE)
        if stale():
            return None
        if told is not None:
            told(tuple(found))
        return tuple(found)


def _part_of(verdicts: Iterator[Verdict], seconds: float) -> list[Verdict]:
    """As many as can be judged in so many seconds, at least one while there are any."""
    end = time.perf_counter() + seconds
    part: list[Verdict] = []
    for one in verdicts:
        part.append(one)
        if time.perf_counter() >= end:
            break
    return part
