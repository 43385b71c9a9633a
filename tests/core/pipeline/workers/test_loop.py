"""The loop around the ticks: it goes on through trouble, says each trouble once, ends and wakes when told to."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from core.errors import LockTimeoutError
from core.pipeline.records import TickResult
from core.pipeline.workers.runner import run, until_idle


class Course:
    """Ticks that a list gives; the loop is ended with the last. Rests are cut short by a nudge in each tick."""

    def __init__(self, *ticks: TickResult | Exception) -> None:
        self.left = list(ticks)
        self.stop, self.nudged = threading.Event(), threading.Event()
        self.said: list[str] = []

    def tick(self) -> TickResult:
        given = self.left.pop(0)
        self.nudged.set()
        if not self.left:
            self.stop.set()
        if isinstance(given, Exception):
            raise given
        return given

    def run(self) -> list[str]:
        run(self.tick, self.stop, self.nudged, self.said.append)
        return self.said


def test_it_goes_on_through_trouble_and_says_each_once() -> None:
    busy, bug = LockTimeoutError("another process is still writing"), ValueError("odd")
    course = Course(busy, busy, TickResult(), busy, bug, TickResult(warnings=("notes wait",)))
    said = course.run()
    assert said == [
        busy.message, busy.message, "this is a bug in nuggets-tui: ValueError: odd", "notes wait",
    ]  # fmt: skip
    assert not course.left


def test_a_loop_that_was_ended_before_does_nothing() -> None:
    course = Course(TickResult())
    course.stop.set()
    course.run()
    assert course.left


def test_a_nudge_ends_the_longest_rest_and_so_does_the_end() -> None:
    stop, nudged = threading.Event(), threading.Event()
    ticks: list[int] = []
    ticked = threading.Semaphore(0)

    def tick() -> TickResult:
        ticks.append(1)
        ticked.release()
        return TickResult(delay_ms=3_600_000)

    thread = threading.Thread(target=run, args=(tick, stop, nudged, lambda line: None))
    thread.start()
    for _ in range(3):
        assert ticked.acquire(timeout=60)
        nudged.set()
    stop.set()
    thread.join(60)
    assert not thread.is_alive()
    assert len(ticks) >= 3


@pytest.mark.slow
def test_waiting_for_jobs_in_flight_ends_with_the_last_or_with_the_deadline() -> None:
    left: list[Callable[[], tuple[str, ...]]] = [lambda: ("job",), lambda: ("job",), lambda: ()]
    assert until_idle(lambda: left.pop(0)(), 60) == ()
    assert until_idle(lambda: ("job",), 0) == ("job",)
