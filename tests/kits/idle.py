"""Waiting between the keys that a test presses, in a fraction of the time that Textual's tests allow for it.

Textual (8.2) takes an app for idle once its process hardly worked for 20 ms, and waits for that twice after each key.
While our app has work under way in threads, that is so here too. With nothing under way a shorter look does, and a
pause after the keys is as long as ever.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final
from weakref import WeakSet

import pytest
import textual.app
from textual.app import App

_LOOK: Final = 0.004
_WHILE_WORKING: Final = 0.02
# What follows the files for as long as the app is open is no work that ends.
_LASTING: Final = "watch"

_running: WeakSet[App[object]] = WeakSet()


def rests_soon(app: App[object]) -> None:
    """Says that an app keeps to the rule: what it does beside its messages, it does in workers."""
    _running.add(app)


def _under_way() -> bool:
    """Whether an app may be at work where nobody sees its process working: at the disk, or in a thread that waits."""
    running = [app for app in _running if app.is_running]
    workers = [worker for app in running for worker in app.workers if worker.group != _LASTING]
    return not running or not all(worker.is_finished for worker in workers)


async def _until_idle(min_sleep: float = _WHILE_WORKING, max_sleep: float = 1) -> None:
    began, quiet = time.monotonic(), 0.0
    while (passed := time.monotonic() - began) < max_sleep:
        worked = time.process_time()
        await asyncio.sleep(_LOOK)
        quiet = quiet + _LOOK if time.process_time() - worked < _LOOK / 20 else 0.0
        if passed + _LOOK > min_sleep and quiet >= (_WHILE_WORKING if _under_way() else _LOOK):
            return


def shorten_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes an app that is given keys wait no longer than it must before the next one."""
    monkeypatch.setattr(textual.app, "wait_for_idle", _until_idle)
