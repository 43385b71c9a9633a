"""Whose turn it is: whoever is at the keyboard comes first, and work in the background goes on between two keys."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

# Seconds that a cursor rests before the panes beside its list follow it.
REST = 0.07
# Seconds after a key, or a program's write, in which work in the background steps aside at every breath it takes.
_BUSY: Final = 0.15
# How long it steps aside then: most of the time is the person's, and a held key does not stop the work for good.
_YIELD: Final = 0.012
# Work breathes as often as it likes; only so often does it cost something.
_BREATH_EVERY: Final = 0.002


class Pace:
    """When somebody last did something, and how work in the background steps aside for them."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._touched = self._hurried = float("-inf")
        self._breathed = float("-inf")

    def touched(self) -> None:
        """Somebody pressed a key, or moved the mouse."""
        self._touched = self._clock()

    def hurry(self) -> None:
        """Something is to come onto the screen soon, though nobody pressed a key: a program wrote."""
        self._hurried = self._clock()

    def rests(self, seconds: float) -> bool:
        """Whether nobody has done anything for so long."""
        return self._clock() - self._touched >= seconds

    def breathe(self) -> None:
        """Called again and again by work in a thread: steps aside while somebody is at the keyboard."""
        now = self._clock()
        if now - self._breathed < _BREATH_EVERY:
            return
        # Even an empty sleep lets the screen's own thread go on.
        self._sleep(_YIELD if now - max(self._touched, self._hurried) < _BUSY else 0.0)
        self._breathed = self._clock()


PACE: Final = Pace()


class Turns:
    """Work of one kind in the background, of which the newest alone is wanted."""

    def __init__(self) -> None:
        self._newest = 0

    def next(self) -> Callable[[], bool]:
        """What new work asks again and again: whether to stop. All before it stop."""
        self._newest += 1
        mine = self._newest

        def stopped() -> bool:
            PACE.breathe()
            return mine != self._newest

        return stopped
