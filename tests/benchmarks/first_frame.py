"""How long the app takes until its newest notes stand on screen, against an empty app of the same library.

Run as `python tests/benchmarks/first_frame.py [NOTES] [RUNS]`; without a number of notes 10,000 and 100,000 are
measured. Both apps are started in turn in a real pseudo-terminal; the time runs from the start of the process until
the wanted text stands on the emulated screen. Beside the time on the clock stands the processor time that the process
had used by then, which a busy machine changes less (where the system tells it: Linux).
"""

from __future__ import annotations

import select
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

from pty_kit import APP, Terminal, lines, make_memory

BARS: Final = {10_000: 1.4, 100_000: 3.0}
_GREETING = "Hello from an empty app"
_HELLO = f"""
from textual.app import App
from textual.widgets import Static

class Hello(App):
    def compose(self):
        yield Static({_GREETING!r})

Hello().run()
"""
_PATIENCE = 30.0
# A screen on which nothing moves for so long is done.
_QUIET = 1.5


@dataclass(frozen=True)
class Taken:
    """Seconds on the clock and seconds of processor time until a screen was complete."""

    clock: float
    processor: float


def time_until(arguments: Sequence[str], complete: Callable[[str], bool], folder: Path) -> Taken:
    """What a process took from its start until its screen was complete; the process is ended then.

    folder: where bytecode and caches of these runs lie, as those of an installed program lie beside it.
    """
    own = {"PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "NUGGETS_CACHE": str(folder / "cache")}
    started, used = time.monotonic(), list[float]()
    terminal = Terminal(list(arguments), own)
    try:
        while (
            select.select([terminal.descriptor], [], [], _QUIET if used else _PATIENCE)[0] and terminal.take()
        ):
            used.append(_processor_seconds(terminal.process))
    finally:
        terminal.close()
    for (at, shown), processor in zip(
        terminal.frames(lambda screen: "\n".join(lines(screen))), used, strict=False
    ):
        if complete(shown):
            return Taken(at - started, processor)
    raise RuntimeError(f"the frame never was complete:\n{terminal.screen()}")


def _processor_seconds(process: int) -> float:
    """Seconds that all threads of a process have run; 0 where the system does not tell."""
    try:
        threads = list(Path(f"/proc/{process}/task").iterdir())
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def full_frame(newest: list[str]) -> Callable[[str], bool]:
    """Whether every pane is drawn and the newest notes stand in it."""
    wanted = ["Facts", "Notes", "Neighbours", "Graph", "Audit log", "live", *newest]
    return lambda shown: all(text in shown for text in wanted)


def newest_titles(home: Path, count: int = 10) -> list[str]:
    """The beginnings of the titles that stand on top of the list."""
    from core.memory import Memory
    from nuggets_tui.view import listed

    notes = listed(Memory.open(home).snapshot, "newest", False)[:count]
    return [note.title[:20].rstrip() for note in notes]


def measure(home: Path, notes: int, runs: int) -> bool:
    """Prints the medians and their ratios; whether the ratio is within the bar."""
    complete = full_frame(newest_titles(home))
    with tempfile.TemporaryDirectory() as named:
        folder = Path(named)
        app = ["-c", APP, "--home", str(home)]
        # The first run of each makes the bytecode and warms the file cache.
        time_until(["-c", _HELLO], lambda shown: _GREETING in shown, folder)
        time_until(app, complete, folder)
        ours: list[Taken] = []
        theirs: list[Taken] = []
        for _ in range(runs):
            theirs.append(time_until(["-c", _HELLO], lambda shown: _GREETING in shown, folder))
            ours.append(time_until(app, complete, folder))
    print(f"first frame, {notes:,} notes, median of {runs}: {_median(ours)}")
    print(f"an empty app of the same library:           {_median(theirs)}")
    # Each run is compared with the one right before it, so that a load that comes and goes weighs on both.
    ratio = statistics.median(one.clock / other.clock for one, other in zip(ours, theirs, strict=True))
    bar = BARS.get(notes, max(BARS.values()))
    print(f"ratio, median over pairs: {ratio:.2f} (bar: {bar:.1f})")
    if all(other.processor for other in theirs):
        used = statistics.median(
            one.processor / other.processor for one, other in zip(ours, theirs, strict=True)
        )
        print(f"ratio of processor time:  {used:.2f}", flush=True)
    return ratio <= bar


def _median(taken: Sequence[Taken]) -> str:
    return f"{statistics.median(one.clock for one in taken) * 1000:.0f} ms"


def main(notes: int = 0, runs: int = 11) -> int:
    """Measures one size, or all that have a bar; 1 when a ratio is over it."""
    kept = True
    for size in (notes,) if notes else BARS:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "memory"
            make_memory(home, size)
            kept = measure(home, size, runs) and kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
