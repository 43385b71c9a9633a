"""What a list of 100,000 rows costs against one of 1,000: first paint, a key with its redraw, a reload, a selection.

Run from the root of the repository: python tests/benchmarks/row_list.py
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from textual.app import App, ComposeResult
from textual.content import Content

from nuggets_tui.safe_text import content
from nuggets_tui.widgets.row_list import Row, RowList

FEW, MANY, RUNS, KEYS = 1_000, 100_000, 5, 200
# Odd, so that all are selected in the end.
SELECTIONS = 9


class Probe(App[None]):
    """An app with nothing but a list of two-line rows."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count
        self.keys = tuple(map(str, range(count)))
        self.rows = RowList(multi_select=True)

    def compose(self) -> ComposeResult:
        yield self.rows

    def on_mount(self) -> None:
        self.fill()

    def fill(self) -> None:
        key_at = self.keys.__getitem__
        self.rows.set_source(self.count, row, height=2, key_at=key_at, mark_at=key_at)


def row(index: int) -> Row:
    return Row(
        str(index), (content(f"Title of note {index} 重要", "bold"), lambda width: Content(f"row of {width}"))
    )


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


async def measure(count: int) -> dict[str, float]:
    """First paint, a key with its redraw, and a reload with its redraw, in milliseconds."""
    start = time.perf_counter()
    app = Probe(count)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        paint = (time.perf_counter() - start) * 1000

        def redraw() -> None:
            for y in range(app.rows.size.height):
                app.rows.render_line(y)

        def key() -> None:
            app.rows.action_move("down")
            redraw()

        def reload() -> None:
            app.fill()
            redraw()

        def toggle() -> None:
            app.rows.action_toggle_row()
            redraw()

        def select_all() -> None:
            app.rows.action_select_all()
            redraw()

        redraw()
        return {
            "first paint": paint,
            "cursor key": median(milliseconds(key) for _ in range(KEYS)),
            "reload": median(milliseconds(reload) for _ in range(KEYS)),
            "select all, or let all go": median(milliseconds(select_all) for _ in range(SELECTIONS)),
            "space, all others selected": median(milliseconds(toggle) for _ in range(SELECTIONS)),
        }


def main() -> None:
    asyncio.run(measure(10))
    runs = {count: [asyncio.run(measure(count)) for _ in range(RUNS)] for count in (FEW, MANY)}
    print(f"{'':28} {FEW:>10,} {MANY:>10,}  ratio")
    for name in runs[FEW][0]:
        few, many = (median(run[name] for run in runs[count]) for count in (FEW, MANY))
        print(f"{name:28} {few:7.2f} ms {many:7.2f} ms  {many / few:.2f}")


if __name__ == "__main__":
    main()
