"""Whose turn it is: whoever is at the keyboard comes first, and work in the background goes on between two keys."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Final, ParamSpec, TypeVar

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


_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


async def run_in_thread(
    function: Callable[_Arguments, _Result], *arguments: _Arguments.args, **named: _Arguments.kwargs
) -> _Result:
    """What a function returns, run in a thread that ends with the program.

    For reading and reckoning alone: `asyncio.to_thread`, which the program waits for at its end, is for writing.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_Result] = loop.create_future()

    def resolve(result: _Result | None, error: BaseException | None) -> None:
        if answer.cancelled():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        result, failure = None, None
        try:
            result = function(*arguments, **named)
        except BaseException as error:
            failure = error
        # The loop may be gone when the app has ended meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(resolve, result, failure)

    threading.Thread(target=work, name=f"run-in-thread-{function.__name__}", daemon=True).start()
    return await answer


# Seconds of work that nothing is said of: a sign that comes and goes at once only flickers.
PATIENCE = 0.3
# Seconds between two looks at how far it is.
_SHOW_EVERY: Final = 0.1


class StoppedError(Exception):
    """Somebody stopped the work; it has changed nothing."""


class LongWork:
    """One piece of reading and reckoning that somebody may stop. The screen and the thread at work share it.

    words: what goes on, as "indexing". asked_for: somebody waits for it, so that esc stops it before anything else.
    writes: once all is counted it is written, which nobody stops any more.
    breathe: called whenever the work reports its progress.
    """

    def __init__(
        self,
        words: str,
        *,
        stops: bool = True,
        asked_for: bool = True,
        writes: bool = False,
        breathe: Callable[[], None] = PACE.breathe,
    ) -> None:
        self.words = words
        self.stops = stops
        self.asked_for = asked_for
        self._writes = writes
        self._breathe = breathe
        self._stopped = self._ended_early = False
        self._done = self._total = 0

    def report_progress(self, done: int, total: int) -> None:
        """Takes down how much of how much is done; called by the work. Raises StoppedError once it shall stop."""
        self._breathe()
        if self._stopped:
            self._ended_early = True
            raise StoppedError
        if self._writes and total > 0:
            self.stops = done < total
        # Of several rounds of one work the later ones may be small: what was said is not taken back.
        if total > 0 and done * self._total >= self._done * total:
            self._done, self._total = done, total

    def stopped(self) -> bool:
        """Whether the work shall stop; asked by work that does not count."""
        self._breathe()
        return self._stopped

    def stop(self) -> None:
        self._stopped = True

    @property
    def was_stopped(self) -> bool:
        """Whether the work ended because it was stopped."""
        return self._ended_early

    @property
    def status(self) -> str:
        """What goes on, how far it is, and how it is stopped."""
        counted = f" {self._done:,} of {self._total:,}" if self._total else ""
        if self._stopped:
            return f"{self.words}{counted}, stopping"
        return f"{self.words}{counted} …" + (" esc stops" if self.stops else "")


class Works:
    """All long work under way. `show_status` is given the status of the newest; "" when nothing is."""

    def __init__(
        self, show_status: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._show_status = show_status
        self._clock = clock
        self._under_way: dict[LongWork, float] = {}
        self._shown = ""

    async def run(self, work: LongWork, asked: Awaitable[_Result]) -> _Result:
        """What the work brings. Raises StoppedError when it was stopped, and what it raises."""
        self._under_way[work] = self._clock()
        future = asyncio.ensure_future(asked)
        try:
            await asyncio.wait([future], timeout=PATIENCE)
            while not future.done():
                self._show_newest()
                await asyncio.wait([future], timeout=_SHOW_EVERY)
            return future.result()
        finally:
            # Whoever does not wait any longer wants no more of it either.
            work.stop()
            future.cancel()
            del self._under_way[work]
            self._show_newest()

    def stop(self, *, asked_for: bool) -> bool:
        """Stops the newest work that may be stopped; False for none."""
        for work in reversed(self._under_way):
            if work.stops and work.asked_for is asked_for:
                work.stop()
                self._show_newest()
                return True
        return False

    def _show_newest(self) -> None:
        now = self._clock()
        long = [work for work, begun in self._under_way.items() if now - begun >= PATIENCE]
        said = long[-1].status if long else ""
        if said != self._shown:
            self._shown = said
            self._show_status(said)
