"""The weights of the search as a person turns them: what each does, its steps, and how hits move by it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from core.model.saved_search import SavedSearch
from core.settings import SearchSettings
from core.settings.tree import Setting, setting_named
from nuggets_tui.session import RESULTS, Session
from nuggets_tui.threads import run_in_thread
from nuggets_tui.view import Found

if TYPE_CHECKING:
    from core.search import Hit
    from core.search.search_checks import SearchCheckResult

USUAL: Final = SearchSettings()


@dataclass(frozen=True)
class Weight:
    """One setting of the search. name: in settings.toml. step, fine: how far a key moves it; full: the most it can
    be moved to.
    """

    name: str
    label: str
    step: float
    fine: float
    full: float

    @property
    def setting(self) -> Setting:
        """What the tree of settings says of it."""
        return setting_named(f"search.{self.name}")

    @property
    def meaning(self) -> str:
        """What it does, in plain words."""
        return self.setting.words.meaning

    @property
    def least(self) -> float:
        """The least it can be moved to."""
        return self.setting.low + (self.fine if self.setting.above else 0)

    def of(self, settings: SearchSettings) -> float:
        """Its value."""
        return float(getattr(settings, self.name))

    @property
    def usual(self) -> float:
        """Its default."""
        return float(self.setting.default)

    @property
    def whole(self) -> bool:
        """Whether it is a whole number."""
        return self.setting.kind == "integer"

    def shown(self, settings: SearchSettings) -> str:
        """Its value as it is shown: as many places as its steps have."""
        value = self.of(settings)
        if self.whole:
            return f"{value:.0f}"
        return f"{value:.3f}" if round(value, 2) != round(value, 3) else f"{value:.2f}"

    def stepped(self, settings: SearchSettings, steps: float, *, fine: bool = False) -> SearchSettings:
        """The settings with this value some steps further, within what it can be."""
        size = self.fine if fine else self.step
        value = self.of(settings)
        # A value that somebody wrote beyond the end of the bar is not pulled back by a step upwards.
        wanted = min(max(value + steps * size, self.least), max(self.full, value))
        return self.put(settings, round(wanted, 4))

    def put(self, settings: SearchSettings, value: float) -> SearchSettings:
        """The settings with this value."""
        changes: dict[str, Any] = {self.name: round(value) if self.whole else value}
        return replace(settings, **changes)


WEIGHTS: Final = (
    Weight("text_weight", "words", 0.05, 0.01, 1.0),
    Weight("vector_weight", "vector", 0.05, 0.01, 1.0),
    Weight("associative_weight", "like", 0.05, 0.01, 1.0),
    Weight("link_weight", "link", 0.02, 0.005, 0.5),
    Weight("durable_boost", "durable", 0.01, 0.002, 0.3),
    Weight("own_boost", "own", 0.01, 0.002, 0.3),
    Weight("confidence_boost", "confidence", 0.01, 0.002, 0.3),
    Weight("pair_weight", "pairs", 0.1, 0.02, 3.0),
    Weight("meaning_weight", "meaning", 0.1, 0.02, 1.0),
    Weight("relevance_floor", "floor", 0.05, 0.01, 1.0),
    Weight("temperature", "temperature", 0.05, 0.01, 2.0),
    Weight("softmax_over", "score among", 5, 1, 100),
)


def changes(before: SearchSettings, after: SearchSettings) -> Mapping[str, float]:
    """What differs, as `Memory.save_settings` takes it."""
    return {
        f"search.{name}": getattr(after, name)
        for name in SearchSettings.__struct_fields__
        if getattr(after, name) != getattr(before, name)
    }


# Moves


@dataclass(frozen=True)
class Moved:
    """How hits lie against an order before. up: by note, how many places it rose (below 0: fell); those that were not
    there are missing. new, gone: how many came and went.
    """

    up: Mapping[str, int]
    new: int
    gone: int

    @property
    def count(self) -> int:
        """How many hits have another place than before."""
        return sum(1 for places in self.up.values() if places)


def moved(before: Sequence[Hit], after: Sequence[Hit]) -> Moved:
    """How one list of hits lies against another."""
    former = {hit.note.id: hit.rank for hit in before}
    up = {hit.note.id: former[hit.note.id] - hit.rank for hit in after if hit.note.id in former}
    return Moved(up, len(after) - len(up), len(before) - len(up))


def move_sign(places: int | None) -> str:
    """ "↑2", "↓1", "new" (None), or nothing for a hit that stayed."""
    if places is None:
        return "new"
    return f"↑{places}" if places > 0 else f"↓{-places}" if places < 0 else ""


def describe_moves(found: Moved) -> str:
    """The moves in a few words."""
    said = [
        f"{count} {word}"
        for count, word in ((found.count, "moved"), (found.new, "new"), (found.gone, "gone"))
        if count
    ]
    return " · ".join(said) or "unchanged"


ReportVerdicts = Callable[[tuple["SearchCheckResult", ...]], None]
# Seconds of judging between two looks at whether anybody still waits for it.
_PART: Final = 0.02
# Seconds between two reports of what is known by then.
_REPORT_EVERY: Final = 0.15
# In the background: shorter pieces, with pauses in which keys are answered.
_PATIENT_PART: Final = 0.015
_PAUSE: Final = 0.045


class Trials:
    """Puts questions of one kind; a newer one ends an older one of its kind."""

    def __init__(self, session: Session) -> None:
        self._session = session
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
        return await run_in_thread(self._rank, query, settings, turn)

    def _rank(self, query: str, settings: SearchSettings, turn: int) -> Found | None:
        def stale() -> bool:
            return turn != self._ranking

        session = self._session
        if stale():
            return None
        started = session.timer()
        hits = session.memory.search(
            query, RESULTS, new_since=session.last_visit, stopped=stale, settings=settings
        )
        seconds = session.timer() - started
        return None if stale() else Found(query, hits, None, seconds, len(hits) >= RESULTS)

    async def judge(
        self,
        searches: Sequence[SavedSearch] | None = None,
        settings: SearchSettings | None = None,
        report_progress: ReportVerdicts | None = None,
        *,
        patient: bool = False,
    ) -> tuple[SearchCheckResult, ...] | None:
        """How saved searches stand (None: all of them). None when something else was asked for meanwhile.

        report_progress: gets what is known by then, again and again. patient: with pauses, for work that
        nobody looks at.
        """
        self._judging += 1
        turn = self._judging

        def stale() -> bool:
            return turn != self._judging

        def begin() -> Iterator[SearchCheckResult]:
            memory = self._session.memory
            return memory.judge_searches(
                searches, settings=settings, new_since=self._session.last_visit, stopped=stale
            )

        verdicts = await run_in_thread(begin)
        found: list[SearchCheckResult] = []
        reported_at = 0.0
        while part := await run_in_thread(_part_of, verdicts, _PATIENT_PART if patient else _PART):
            if stale():
                return None
            found += part
            if report_progress is not None and time.monotonic() - reported_at >= _REPORT_EVERY:
                report_progress(tuple(found))
                reported_at = time.monotonic()
            if patient:
                await asyncio.sleep(_PAUSE)
        if stale():
            return None
        if report_progress is not None:
            report_progress(tuple(found))
        return tuple(found)


def _part_of(verdicts: Iterator[SearchCheckResult], seconds: float) -> list[SearchCheckResult]:
    """As many as can be judged in so many seconds, at least one while there are any."""
    end = time.perf_counter() + seconds
    part: list[SearchCheckResult] = []
    for one in verdicts:
        part.append(one)
        if time.perf_counter() >= end:
            break
    return part
