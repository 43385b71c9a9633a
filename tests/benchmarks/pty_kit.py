"""A real pseudo-terminal for benchmarks: output is noted with its time, and put on an emulated screen afterwards."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pexpect
import pyte

ROOT = Path(__file__).parents[2]
WIDTH, HEIGHT = 120, 40
APP = "import sys; from nuggets_tui.entry import main; sys.argv[0] = 'nuggets'; main()"
MAKE = (
    "import sys; from pathlib import Path; from tools.demo.resizing import write_sized; "
    "write_sized(Path(sys.argv[1]), int(sys.argv[2]))"
)
_AT_ONCE = 65536
_Seen = TypeVar("_Seen")


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a program under measurement sees: a colour terminal whose size comes from the terminal alone, and bytecode
    as an installed program has it.
    """
    unwanted = ("COLUMNS", "LINES", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return (
        kept
        | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        | dict(more or {})
    )


@dataclass
class Terminal:
    """A program in a pseudo-terminal. Times are those of `time.monotonic`, which other processes share.

    What comes is only noted down: the emulator works when `frames` or `screen` is asked for, so that its own work
    never counts.
    """

    arguments: list[str]
    more: Mapping[str, str] = field(default_factory=dict)
    noted: list[tuple[float, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._screen = pyte.Screen(WIDTH, HEIGHT)
        self._stream = pyte.ByteStream(self._screen)
        self._fed = 0
        self._child = pexpect.spawn(
            sys.executable,
            self.arguments,
            dimensions=(HEIGHT, WIDTH),
            env=environment(self.more),
            timeout=None,
        )

    @property
    def descriptor(self) -> int:
        """Where its output is read and its input written."""
        return int(self._child.child_fd)

    @property
    def process(self) -> int:
        """The id of the program's process."""
        return int(self._child.pid)

    def send(self, keys: str) -> float:
        """Types something; when."""
        at = time.monotonic()
        os.write(self.descriptor, keys.encode())
        return at

    def take(self) -> bool:
        """Notes what is there; False once the program has ended."""
        try:
            data = os.read(self.descriptor, _AT_ONCE)
        except OSError:
            return False
        self.noted.append((time.monotonic(), data))
        return bool(data)

    def frames(self, look: Callable[[pyte.Screen], _Seen]) -> Iterator[tuple[float, _Seen]]:
        """What is to be seen on the screen after each piece of output not looked at so far, and when it came."""
        while self._fed < len(self.noted):
            at, data = self.noted[self._fed]
            self._fed += 1
            self._stream.feed(data)
            yield at, look(self._screen)

    @property
    def emulated(self) -> pyte.Screen:
        """The screen as far as it was looked at."""
        return self._screen

    def screen(self) -> str:
        """The screen with all that was noted."""
        while self._fed < len(self.noted):
            self._stream.feed(self.noted[self._fed][1])
            self._fed += 1
        return "\n".join(lines(self._screen))

    def wait_for(self, complete: Callable[[str], bool], patience: float = 60.0) -> str:
        """Notes what comes until the screen is complete. Raises RuntimeError when it never is."""
        end = time.monotonic() + patience
        while not complete(shown := self.screen()):
            if time.monotonic() > end:
                raise RuntimeError(f"it never came onto the screen:\n{self.screen()}")
            note([self], 0.1)
        return shown

    def close(self) -> None:
        """Ends the program."""
        with contextlib.suppress(OSError):
            self._child.close(force=True)


def make_memory(home: Path, notes: int) -> None:
    """The sample memory with so many notes."""
    subprocess.run([sys.executable, "-c", MAKE, str(home), str(notes)], check=True, cwd=ROOT)


def lines(screen: pyte.Screen) -> list[str]:
    """What stands on an emulated screen; its own way to say so breaks where half a wide sign was painted over."""
    return ["".join(screen.buffer[y][x].data for x in range(screen.columns)) for y in range(screen.lines)]


def note(terminals: list[Terminal], seconds: float) -> None:
    """Notes what comes from some terminals within some seconds; none of them waits for room to write in."""
    by_descriptor = {terminal.descriptor: terminal for terminal in terminals}
    end = time.monotonic() + seconds
    while by_descriptor and (left := end - time.monotonic()) > 0:
        for descriptor in select.select(list(by_descriptor), [], [], left)[0]:
            if not by_descriptor[descriptor].take():
                del by_descriptor[descriptor]
