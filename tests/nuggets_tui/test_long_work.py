"""Long work says how far it is, never less than before; short work says nothing; stopped work ends."""

from __future__ import annotations

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggets_tui import pace
from nuggets_tui.pace import LongWork, StoppedError, Works


def quiet_work(words: str = "counting", *, stops: bool = True, asked_for: bool = True) -> LongWork:
    return LongWork(words, stops=stops, asked_for=asked_for, breathe=lambda: None)


@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 2000))))
def test_what_is_said_never_goes_backward(reports: list[tuple[int, int]]) -> None:
    work, before = quiet_work(), 0.0
    for one, other in reports:
        work.report_progress(min(one, other), max(one, other))
        found = re.search(r" ([\d,]+) of ([\d,]+)", work.status)
        done, total = (int(number.replace(",", "")) for number in found.groups()) if found else (0, 1)
        assert done / total >= before
        before = done / total


def test_stopped_work_ends_at_its_next_report() -> None:
    work = quiet_work()
    work.report_progress(1, 10)
    work.stop()
    with pytest.raises(StoppedError):
        work.report_progress(2, 10)
    assert work.was_stopped
    assert "stopping" in work.status


async def test_long_work_says_how_far_it_is_and_falls_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "PATIENCE", 0.0)
    said: list[str] = []
    told = asyncio.Event()

    def tell(words: str) -> None:
        said.append(words)
        told.set()

    work = quiet_work()
    work.report_progress(3, 10)

    async def long() -> str:
        await told.wait()
        return "done"

    assert await Works(tell).run(work, long()) == "done"
    assert said == ["counting 3 of 10 … esc stops", ""]


async def test_esc_stops_what_may_be_stopped_the_newest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "PATIENCE", 0.0)
    works = Works(lambda said: None)
    older, newer, writing = quiet_work("older"), quiet_work("newer"), quiet_work("writing", stops=False)
    behind = quiet_work("behind", asked_for=False)

    async def until_stopped(work: LongWork) -> None:
        while True:
            await asyncio.sleep(0)
            work.report_progress(1, 2)

    running = [
        asyncio.ensure_future(works.run(work, until_stopped(work)))
        for work in (behind, older, newer, writing)
    ]
    await asyncio.sleep(0)
    assert works.stop(asked_for=True)
    with pytest.raises(StoppedError):
        await running[2]
    assert works.stop(asked_for=True)
    with pytest.raises(StoppedError):
        await running[1]
    assert not works.stop(asked_for=True)
    assert works.stop(asked_for=False)
    with pytest.raises(StoppedError):
        await running[0]
    assert not running[3].done()
    running[3].cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def test_work_that_nobody_waits_for_any_more_is_stopped() -> None:
    work, begun = quiet_work(), asyncio.Event()

    async def endless() -> None:
        begun.set()
        await asyncio.Event().wait()

    running = asyncio.ensure_future(Works(lambda said: None).run(work, endless()))
    await begun.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    with pytest.raises(StoppedError):
        work.report_progress(1, 2)
