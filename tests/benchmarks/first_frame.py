"""How long the app takes until its newest notes stand on screen, against an empty app of the same library.

Run as `python tests/benchmarks/first_frame.py [NOTES] [RUNS]`; without a number of notes 10,000 and 100,000 are
measured. Both apps are started in turn in a real pseudo-terminal; the time runs from the start of the process until
the wanted text stands on the emulated screen. Beside the time on the clock stands the processor time that the process
had used by then, which a busy machine changes less (where the system tells it: Linux).
"""

from __future__ import annotations

import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pexpect
import pyte

ROOT: Final = Path(__file__).parents[2]
WIDTH, HEIGHT = 120, 40
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
_APP = "import sys; from nuggets_tui.entry import main; sys.argv[0] = 'nuggets'; main()"
_MAKE = (
    "import sys; from pathlib import Path; from tools.demo.resizing import write_sized; "
    "write_sized(Path(sys.argv[1]), int(sys.argv[2]))"
)
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

    folder: where bytecode and caches of these runs lie, as those of an installed program lie beside it. What comes is
    only noted down with its time, and put on the emulated screen after the process has ended, so that the emulator's
    own work does not count.
    """
    started = time.perf_counter()
    child = start(arguments, folder)
    noted: list[tuple[Taken, bytes]] = []
    try:
        while select.select([child.child_fd], [], [], _QUIET if noted else _PATIENCE)[0]:
            try:
                data = os.read(child.child_fd, 65536)
            except OSError:
                break
            noted.append((Taken(time.perf_counter() - started, _processor_seconds(child.pid)), data))
    finally:
        child.close(force=True)
    return _completed_at(noted, complete)


def start(arguments: Sequence[str], folder: Path) -> pexpect.spawn[bytes]:
    """A Python process in a pseudo-terminal of its own."""
    # The size comes from the terminal alone, and both apps start from bytecode.
    unwanted = ("COLUMNS", "LINES", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    environment |= {
        "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        "NUGGETS_CACHE": str(folder / "cache"), "TERM": "xterm-256color", "COLORTERM": "truecolor",
    }  # fmt: skip
    return pexpect.spawn(
        sys.executable, list(arguments), dimensions=(HEIGHT, WIDTH), env=environment, timeout=None
    )


def _processor_seconds(process: int) -> float:
    """Seconds that all threads of a process have run; 0 where the system does not tell."""
    try:
        threads = list(Path(f"/proc/{process}/task").iterdir())
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _completed_at(noted: list[tuple[Taken, bytes]], complete: Callable[[str], bool]) -> Taken:
    screen = pyte.Screen(WIDTH, HEIGHT)
    stream = pyte.ByteStream(screen)
    for taken, data in noted:
        stream.feed(data)
        if complete("\n".join(screen.display)):
            return taken
    shown = "\n".join(line.rstrip() for line in screen.display if line.strip())
    raise RuntimeError(f"the frame never was complete:\n{shown}")


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


def make_memory(home: Path, notes: int) -> None:
    """The sample memory with so many notes."""
    subprocess.run([sys.executable, "-c", _MAKE, str(home), str(notes)], check=True, cwd=ROOT)


def measure(home: Path, notes: int, runs: int) -> bool:
    """Prints the medians and their ratios; whether the ratio is within the bar."""
    complete = full_frame(newest_titles(home))
    with tempfile.TemporaryDirectory() as named:
        folder = Path(named)
        app = ["-c", _APP, "--home", str(home)]
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
    sys.path.insert(0, str(ROOT))
    kept = True
    for size in (notes,) if notes else BARS:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "memory"
            make_memory(home, size)
            kept = measure(home, size, runs) and kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
