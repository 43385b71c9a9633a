"""What the overview of a memory costs: its layout, a repaint, a cursor key; and how long a layout holds up others.

Run from the root of the repository: python tests/benchmarks/overview.py [NOTES]
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
from textual.app import App, ComposeResult

from core.model.note import Link, Note
from core.model.snapshot import Snapshot
from nuggets_tui.graph.overview import lay_out_overview
from nuggets_tui.widgets.graph_overview import WAYS, GraphOverview

FEW, MANY, RUNS, KEYS = 10_000, 100_000, 3, 60
SIZE = (120, 40)
FRAME = 16.0
_TOPICS, _NUGGETS = 48, 12


def memory(count: int) -> Snapshot:
    """Notes of twelve nuggets and 48 topics, with tags, and with links mostly inside a topic."""
    chance = random.Random(1)
    notes = []
    for number in range(count):
        topic = number % _TOPICS
        near = chance.randrange(count // _TOPICS) * _TOPICS + topic
        to = [near, chance.randrange(count)] if chance.random() < 0.4 else [near]
        tags = (f"topic{topic}",) if chance.random() < 0.8 else ()
        links = tuple(Link(to=f"n{other}") for other in to)
        nugget = f"nugget{topic % _NUGGETS}"
        notes.append(
            Note(
                id=f"n{number}",
                nugget_name=nugget,
                title=f"note {number}",
                content="",
                tags=tags,
                links=links,
            )
        )
    return Snapshot(notes=tuple(notes))


class Probe(App[None]):
    """An app with nothing but an overview."""

    def __init__(self) -> None:
        super().__init__()
        self.picture = GraphOverview()

    def compose(self) -> ComposeResult:
        yield self.picture


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def held_up(work: Callable[[], object]) -> tuple[float, float]:
    """How late a thread that wants to run every millisecond is, while the work is done: p99 and worst, in ms."""
    late: list[float] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            late.append(seconds(lambda: time.sleep(0.001)) * 1000 - 1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    work()
    done.set()
    watcher.join()
    return quantiles(late, n=100)[98], max(late)


def breath() -> None:
    """What the app does between two slices of a layout."""
    time.sleep(0.0005)


async def repaints(snapshot: Snapshot) -> dict[str, float]:
    """A repaint of another part of the picture, and a cursor key with its repaint, in milliseconds."""
    app = Probe()
    async with app.run_test(size=SIZE) as pilot:
        app.picture.show(snapshot, snapshot.notes[0].id)
        await app.workers.wait_for_complete()
        await pilot.pause()

        def redraw() -> None:
            for y in range(SIZE[1]):
                app.picture.render_line(y)

        def key(number: int) -> None:
            app.picture.walk(WAYS[("right", "down", "left", "up")[number // 15 % 4]])
            redraw()

        def anew() -> None:
            app.picture._renew()
            redraw()

        redraw()
        keys = [seconds(lambda number=number: key(number)) * 1000 for number in range(KEYS)]
        whole = median(seconds(anew) * 1000 for _ in range(KEYS // 3))
        app.picture.zoom_by(6)
        close = median(seconds(anew) * 1000 for _ in range(KEYS // 3))
        return {
            "cursor key": median(keys),
            "cursor key, p99": quantiles(keys, n=100)[98],
            "repaint, whole": whole,
            "repaint, close": close,
        }


async def compare(count: int) -> None:
    """Prints what a memory of so many notes costs."""
    snapshot = memory(count)
    _ = snapshot.by_id
    numbers = np.random.default_rng(1).random(count)
    sort = median(seconds(lambda: np.sort(numbers)) for _ in range(9))
    before = lay_out_overview(snapshot)
    layout = median(seconds(lambda: lay_out_overview(snapshot, pause=breath)) for _ in range(RUNS))
    again = median(seconds(lambda: lay_out_overview(snapshot, before, breath)) for _ in range(RUNS))
    late, worst = held_up(lambda: lay_out_overview(snapshot, pause=breath))
    print(f"\n{count:,} notes, {len(before.communities)} communities, {SIZE[0]}x{SIZE[1]}")
    print(f"  layout           {layout * 1000:8.0f} ms   {layout / sort:6.0f} x sort")
    print(f"  after a change   {again * 1000:8.0f} ms   {again / layout:6.2f} x layout")
    print(f"  others wait      {late:8.1f} ms at the 99th percentile, {worst:.0f} ms at worst")
    for name, value in (await repaints(snapshot)).items():
        print(f"  {name:16} {value:8.1f} ms   {value / FRAME:6.2f} x frame of {FRAME:.0f} ms")


async def main(counts: tuple[int, ...]) -> None:
    print("a sort of as many numbers is the measure of the machine")
    for count in counts:
        await compare(count)


if __name__ == "__main__":
    import asyncio

    asyncio.run(main(tuple(map(int, sys.argv[1:])) or (FEW, MANY)))
