"""Calls of models for searches. A search is a read: nothing of it is written, and a memory may be read-only.

What is stored of providers and of the day's calls is heeded; what searches add to it stays in this process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from core.errors import NuggetsError
from core.local_zone import local_zone
from core.pipeline.database.connection import GLANCE_SECONDS, open_read_only
from core.pipeline.models.breaker import FIRST_PAUSE_MS, is_fault, pause_ms
from core.pipeline.models.provider import AskedToWaitError, ModelError, Named
from core.pipeline.transaction_guard import assert_outside_transaction

# The searches of a process leave such a share of the day's calls to the reading of texts.
_SHARE_LEFT: Final = 2

_Answered = TypeVar("_Answered")

# Of each memory the day, and the calls that searches of this process made on it.
_made: Final[dict[Path, tuple[str, int]]] = {}
_guard: Final = threading.Lock()


class _Pause(NamedTuple):
    """How often a provider failed in a row, and until when nobody waits for it, by the clock."""

    failures: int = 0
    until: float = 0.0


class SearchCalls:
    """Asks models for the searches of one memory. Safe to use from several threads. clock: seconds."""

    def __init__(self, home: Path, clock: Callable[[], float]) -> None:
        self._home = home
        self._clock = clock
        self._pauses: dict[str, _Pause] = {}

    def is_paused(self, provider: Named) -> bool:
        """Whether searches leave a provider alone for a while."""
        return self._clock() < self._pauses.get(provider.identity, _Pause()).until

    def ask(self, provider: Named, budget: int, call: Callable[[], _Answered]) -> _Answered | None:
        """What a call of a provider gives; None where it failed or was not made, and then it is left alone for a while.

        budget: calls in one day of the local calendar, of which searches make a share.
        """
        assert_outside_transaction("asking a model for a search")
        failures = self._pauses.get(provider.identity, _Pause()).failures
        asked: float | None = None
        try:
            if self._may_ask(provider, budget):
                answer = call()
                self._pauses.pop(provider.identity, None)
                return answer
        except ModelError as error:
            failures += is_fault(error)
            asked = error.seconds if isinstance(error, AskedToWaitError) else None
        except (NuggetsError, OSError):
            pass
        # One failure is enough: who searches has little time.
        seconds = max(FIRST_PAUSE_MS, pause_ms(failures, 1, asked)) / 1_000
        self._pauses[provider.identity] = _Pause(failures, self._clock() + seconds)
        return None

    def _may_ask(self, provider: Named, budget: int) -> bool:
        """Whether a call is made now, and then it counts."""
        moment = datetime.now(UTC)
        day = moment.astimezone(local_zone()).date().isoformat()
        with open_read_only(self._home, seconds=GLANCE_SECONDS) as reader:
            if reader.calls.breaker_of(provider.identity).is_open(_milliseconds(moment)):
                return False
            with _guard:
                known, made = _made.get(self._home, (day, 0))
                made = made if known == day else 0
                if made >= max(1, budget // _SHARE_LEFT) or reader.calls.spent(day, budget - made):
                    return False
                _made[self._home] = day, made + 1
        return True


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000)
