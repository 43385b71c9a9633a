"""Waiting between the keys that a test presses until nothing is left to do, and no longer.

Textual (8.2) takes an app for idle once its process hardly worked for 20 ms, and waits for that twice after each key.
Here an app is idle once nobody has a turn in its event loop, no thread works for it and no timer is about to ring.
What a thread waits for may be long in coming; with such a thread the process is looked at, as Textual does.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import pytest
import textual.app
import textual.pilot
import textual.screen

from nuggets_tui import pace, process

_LOOK: Final = 0.002
# Of a process that hardly works though a thread of its is under way.
_QUIET: Final = 0.05
# A timer that rings within this time is waited for.
_SOON: Final = 0.02
# Of the clock of frames; 16 ms as the app comes.
_TICK: Final = 0.004
# Looks of Python's for middle-aged garbage before it looks at everything.
_OLD: Final = 5

_in_threads: set[asyncio.Future[Any]] = set()
_run_in_executor = asyncio.BaseEventLoop.run_in_executor


def shorten_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes an app that is given keys wait no longer than it must before the next one."""
    monkeypatch.setattr(textual.app, "wait_for_idle", _until_idle)
    monkeypatch.setattr(textual.pilot, "wait_for_idle", _until_idle)
    monkeypatch.setattr(asyncio.BaseEventLoop, "run_in_executor", _run_remembered)
    monkeypatch.setattr(textual.screen, "UPDATE_PERIOD", _TICK)
    # Keys follow one another so quickly that work in the background would step aside all the time.
    monkeypatch.setattr(pace.PACE, "_sleep", lambda seconds: time.sleep(0))


def find_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets Python find what apps leave behind. An app puts all that is there out of its way, for it stays to the end;
    the next app of the same process would put there what the one before it left."""

    def begin() -> None:
        gc.set_threshold(process._YOUNG, process._MIDDLE, _OLD)
        gc.enable()

    monkeypatch.setattr(process, "begin_collecting", begin)
    monkeypatch.setattr(process, "keep_uncollected", lambda: None)


def _run_remembered(
    loop: asyncio.BaseEventLoop, executor: Any, function: Callable[..., Any], *arguments: Any
) -> asyncio.Future[Any]:
    """The loop's own way into a thread: `asyncio.to_thread` and Textual's workers in threads take it too."""
    future = _run_in_executor(loop, executor, function, *arguments)
    _in_threads.add(future)
    future.add_done_callback(_in_threads.discard)
    return future


def _thread_at_work(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether somebody in the loop waits for a thread; of `run_in_thread` by the names of its threads."""
    if any(future.get_loop() is loop for future in _in_threads):
        return True
    return any(thread.name.startswith("run-in-thread-") for thread in threading.enumerate())


def _next_ring(loop: Any) -> float:
    """The seconds until the next timer of the loop rings. asyncio (3.11) names neither its timers nor its turns in
    public."""
    times = [timer.when() for timer in loop._scheduled if not timer.cancelled()]
    return min(times, default=float("inf")) - loop.time()


async def _until_idle(min_sleep: float = _SOON, max_sleep: float = 1) -> None:
    loop: Any = asyncio.get_running_loop()
    began, quiet = time.monotonic(), 0.0
    while (passed := time.monotonic() - began) < max_sleep:
        await asyncio.sleep(0)
        if loop._ready:
            continue
        if _thread_at_work(loop):
            worked = time.process_time()
            await asyncio.sleep(_LOOK)
            quiet = quiet + _LOOK if time.process_time() - worked < _LOOK / 20 else 0.0
            if quiet < _QUIET:
                continue
        elif (ring := _next_ring(loop)) < _SOON:
            await asyncio.sleep(max(ring, 0))
            continue
        if passed >= min_sleep:
            return
        await asyncio.sleep(min_sleep - passed)
