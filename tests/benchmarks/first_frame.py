"""How long the app takes until its newest notes stand on screen, against an empty app of the same library.

Run as `python tests/benchmarks/first_frame.py [NOTES] [RUNS]`. Both are started in turn in a real pseudo-terminal;
the time runs from the start of the process until the wanted text stands on the emulated screen.
"""

from __future__ import annotations

import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import pyte

ROOT = Path(__file__).parents[2]
WIDTH, HEIGHT = 120, 40
BAR = 2.0
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
    "import sys; from pathlib import Path; from nuggets_tui.demo import write_demo; "
    "write_demo(Path(sys.argv[1]), int(sys.argv[2]))"
)
_PATIENCE = 30.0
# A screen on which nothing moves for so long is done.
_QUIET = 1.5


def seconds_until(arguments: list[str], complete: Callable[[str], bool]) -> float:
    """Seconds from the start of a process until its screen is complete; the process is ended then.

    What comes is only noted down with its time, and put on the emulated screen after the process has ended, so
    that the emulator's own work does not count.
    """
    # The size comes from the terminal alone.
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environment = kept | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    started = time.perf_counter()
    child = pexpect.spawn(
        sys.executable, arguments, dimensions=(HEIGHT, WIDTH), env=environment, timeout=None
    )
    noted: list[tuple[float, bytes]] = []
    try:
        while select.select([child.child_fd], [], [], _QUIET if noted else _PATIENCE)[0]:
            try:
                noted.append((time.perf_counter() - started, os.read(child.child_fd, 65536)))
            except OSError:
                break
    finally:
        child.close(force=True)
    return _completed_at(noted, complete)


def _completed_at(noted: list[tuple[float, bytes]], complete: Callable[[str], bool]) -> float:
    screen = pyte.Screen(WIDTH, HEIGHT)
    stream = pyte.ByteStream(screen)
    for seconds, data in noted:
        stream.feed(data)
        if complete("\n".join(screen.display)):
            return seconds
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


def main(notes: int = 10_000, runs: int = 7) -> int:
    """Prints the medians and their ratio; 1 when the ratio is over the bar."""
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "memory"
        subprocess.run([sys.executable, "-c", _MAKE, str(home), str(notes)], check=True, cwd=ROOT)
        complete = full_frame(newest_titles(home))
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(runs + 1):
            theirs.append(seconds_until(["-c", _HELLO], lambda shown: _GREETING in shown))
            ours.append(seconds_until(["-c", _APP, "--home", str(home)], complete))
    # The first run of each warms the file cache.
    hello, app = statistics.median(theirs[1:]), statistics.median(ours[1:])
    print(f"first frame, {notes:,} notes, median of {runs}: {app * 1000:.0f} ms")
    print(f"an empty app of the same library:           {hello * 1000:.0f} ms")
    # Each run is compared with the one right before it, so that a load that comes and goes weighs on both.
    ratio = statistics.median(one / other for one, other in zip(ours[1:], theirs[1:], strict=True))
    print(f"ratio, median over pairs: {ratio:.2f} (bar: {BAR:.1f})")
    return 0 if ratio <= BAR else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
