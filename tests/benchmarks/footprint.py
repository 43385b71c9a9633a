"""How much memory the app takes when everything is loaded: notes and search index.

Run as `python tests/benchmarks/footprint.py [NOTES] [HOME]`; without a number of notes 10,000 and 100,000 are measured.
HOME: a memory of that many notes that is there already. The app runs in a real pseudo-terminal on a memory without any
cache, until nothing works in the background any more. Read is the resident size of its process (Linux): the most it
ever was, and what stays. A second start then finds the cache.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

from pty_kit import APP, Terminal, make_memory

BARS: Final = {10_000: 200.0, 100_000: 850.0}
# Processor seconds in so many seconds on the clock, below which nothing works in the background.
_IDLE, _WINDOW, _WINDOWS = 0.02, 2.0, 4
_PATIENCE = 900.0
_KIBI = 1024


def measure(home: Path, folder: Path) -> tuple[float, float, float]:
    """Megabytes at the most, megabytes that stay, and seconds until nothing works any more, of one start."""
    own = {"PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "NUGGETS_CACHE": str(folder / "cache")}
    terminal = Terminal(["-c", APP, "--home", str(home)], own)
    threading.Thread(target=_drain, args=(terminal.descriptor,), daemon=True).start()
    begun = time.monotonic()
    quiet, used = 0, -1.0
    try:
        while quiet < _WINDOWS and time.monotonic() - begun < _PATIENCE:
            time.sleep(_WINDOW)
            before, used = used, _processor_seconds(terminal.process)
            quiet = quiet + 1 if used - before < _IDLE * _WINDOW else 0
        if quiet < _WINDOWS:
            raise RuntimeError("the app never came to rest")
        return (
            _megabytes(terminal.process, "VmHWM"), _megabytes(terminal.process, "VmRSS"),
            time.monotonic() - begun - _WINDOWS * _WINDOW,
        )  # fmt: skip
    finally:
        # A large process takes its time to end.
        os.kill(terminal.process, signal.SIGKILL)
        terminal.close()


def _drain(terminal: int) -> None:
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        return


def _processor_seconds(process: int) -> float:
    """Seconds that a process has run, threads that have ended among them."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _megabytes(process: int, name: str) -> float:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * _KIBI / 1e6
    raise RuntimeError(f"the system does not tell {name}")


def main(notes: int = 0, home: str = "") -> int:
    """Measures one size, or all that have a bar; 1 when one takes more than its bar."""
    kept = True
    for size in (notes,) if notes else BARS:
        with tempfile.TemporaryDirectory() as named:
            folder = Path(named)
            memory = Path(home) if home else folder / "memory"
            if not home:
                make_memory(memory, size)
            bar = BARS.get(size, max(BARS.values()))
            for which in ("without a cache", "with its cache"):
                most, stays, seconds = measure(memory, folder)
                kept = kept and most <= bar
                print(
                    f"{size:,} notes, {which}: {most:,.0f} MB at the most, {stays:,.0f} MB stay (bar: {bar:,.0f} MB), "
                    f"at rest after {seconds:.0f} s",
                    flush=True,
                )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(*(int(sys.argv[1]),) if len(sys.argv) > 1 else (), *sys.argv[2:]))
