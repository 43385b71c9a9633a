"""The worker's loop: rests between ticks, stops when asked to, and wakes at a nudge."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

from core.errors import Notice, NuggetsError
from core.pipeline.queue.backoff import poll_delay_ms
from core.pipeline.queue.errors import failure_of
from core.pipeline.records import TickResult

# How soon an end is noticed that no nudge came with.
_SLICE_SECONDS: Final = 0.5
_LOOK_SECONDS: Final = 0.05
Work = TypeVar("Work", bound=tuple[object, ...])


def run(
    tick: Callable[[], TickResult],
    stop: threading.Event,
    nudged: threading.Event,
    notify: Callable[[str], None],
    *,
    chance: Callable[[], float] = lambda: 0.0,
) -> None:
    """Ticks until `stop` is set. notify: takes what goes wrong, once until it is over or something else does."""
    failures, last = 0, ""
    while not stop.is_set():
        # Before the tick: what is put in while it runs makes another one follow.
        nudged.clear()
        try:
            ticked = tick()
            told, delay, failures = "; ".join(ticked.warnings), ticked.delay_ms, 0
        except Exception as error:
            failures += 1
            told = (
                Notice.of(error, error.kept) if isinstance(error, NuggetsError) else failure_of(error).message
            )
            delay = poll_delay_ms(failures, poll_ms=0, chance=chance())
        if told and told != last:
            notify(told)
        last = told
        _rest(delay / 1000, stop, nudged)


def until_idle(running: Callable[[], Work], seconds: float) -> Work:
    """Waits until nothing runs any more, so many seconds at most; what still does."""
    ends = time.monotonic() + seconds
    while (left := running()) and time.monotonic() < ends:
        time.sleep(_LOOK_SECONDS)
    return left


def _rest(seconds: float, stop: threading.Event, nudged: threading.Event) -> None:
    ends = time.monotonic() + seconds
    while not stop.is_set() and (left := ends - time.monotonic()) > 0:
        if nudged.wait(min(left, _SLICE_SECONDS)):
            return
