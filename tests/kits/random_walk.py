"""A person without a plan: every key of the catalogue, typing, pasting, mouse and resizing, in a seeded order."""

from __future__ import annotations

import random
import time
import tomllib
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kits.hostile import HOSTILE
from kits.pseudo_terminal import Terminal
from nuggets_tui.commands import COMMANDS

_DATA: Final = tomllib.loads(
    (Path(__file__).parents[1] / "data/random_walk.toml").read_text(encoding="utf-8")
)
_NAMED: Final[dict[str, str]] = _DATA["named"]
_MOVING: Final[list[str]] = _DATA["moving"]
_OTHER: Final[list[str]] = _DATA["other"]
_WORDS: Final[list[str]] = _DATA["words"]
_DIVES: Final[list[list[str]]] = _DATA["dives"]
_SEARCHES: Final[list[str]] = _DATA["searches"]
_SETTINGS: Final[list[str]] = [*_DATA["settings"], "x = " + "[" * 3000]
_SIZES: Final = ((120, 40), (80, 24), (180, 50), (100, 30), (60, 12), (20, 5), (1, 1), (200, 60))
_TAIL: Final = 80
_ENOUGH: Final = 0.2
# The app may have a thousand keys before it when it is to end, and little of the machine.
_ROUNDS, _PATIENT_ROUNDS = 20, 30


# All but those that end what the walk is: ctrl+c, ctrl+q, ctrl+z, ctrl+\\, and q.
_ANY_BYTE: Final = bytes(set(range(256)) - {0x03, 0x11, 0x1A, 0x1C, ord("q")})


def _is_bytes(keys: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in keys)


def _keys_of(name: str) -> str:
    if name.startswith("ctrl+"):
        return chr(ord(name[-1].upper()) - 64) if name[-1].isalpha() else ""
    return _NAMED.get(name, name if len(name) == 1 else "")


# All commands but the ones that leave: leaving is done at the end, and is a test of its own.
_COMMANDS: Final = tuple(
    keys
    for command in COMMANDS
    if command.name != "quit"
    for key in command.keys.split(",")
    if (keys := _keys_of(key))
)


class Walk:
    """A walk through a running app. `trail`: what was done last, oldest first. meddling_in: the memory whose settings
    and searches a person changes by hand meanwhile.
    """

    def __init__(
        self, terminal: Terminal, seed: int, *, resizing: bool = False, meddling_in: Path | None = None
    ) -> None:
        self.terminal = terminal
        self.trail: deque[str] = deque(maxlen=_TAIL)
        self._random = random.Random(seed)
        self._home = meddling_in or Path()
        steps: list[tuple[Callable[[], str], int]] = [
            (self._move, 40), (self._command, 40), (self._other, 6), (self._type, 8), (self._paste, 2),
            (self._click, 12), (self._wheel, 4), (self._resize if resizing else self._move, 2),
            (self._dive, 8), (self._bytes, 1), (self._meddle if meddling_in else self._move, 1),
        ]  # fmt: skip
        self._steps = [step for step, _ in steps]
        self._weights = [weight for _, weight in steps]

    def go(self, seconds: float) -> int:
        """Walks for some seconds; the number of steps. Raises AssertionError when the app ends."""
        end = time.monotonic() + seconds
        count = 0
        while time.monotonic() < end:
            keys = self._random.choices(self._steps, self._weights)[0]()
            self.trail.append(repr(keys))
            self._send(keys)
            assert self.terminal.child.isalive(), (
                f"the app ended ({self.terminal.ending}) after {' '.join(self.trail)}:\n{self.terminal.text}"
            )
            count += 1
        return count

    def _send(self, keys: str) -> None:
        self.terminal.child.send(keys.encode("utf-8", "surrogateescape" if _is_bytes(keys) else "replace"))
        # Where another program writes all along, there is always something to take in.
        end = time.monotonic() + _ENOUGH
        while self.terminal.read(0.012) and time.monotonic() < end:
            pass

    def leave(self) -> int:
        """Closes what is open, whatever it asks, and leaves; the exit code."""
        for pause in (*[0.3] * _ROUNDS, *[1.0] * _PATIENT_ROUNDS):
            for keys in ("\x1b", "\x1b", "y", "\x1b", "q"):
                if not self.terminal.child.isalive():
                    break
                self.terminal.child.send(keys)
                while self.terminal.child.isalive() and self.terminal.read(pause):
                    pass
        assert not self.terminal.child.isalive(), f"the app never ended:\n{self.terminal.text}"
        return int(self.terminal.child.exitstatus)

    def _move(self) -> str:
        return self._random.choice(_MOVING)

    def _command(self) -> str:
        return self._random.choice(_COMMANDS)

    def _other(self) -> str:
        return self._random.choice(_OTHER)

    def _type(self) -> str:
        return self._random.choice(_WORDS)

    def _dive(self) -> str:
        *way, last = self._random.choice(_DIVES)
        for keys in way:
            self.trail.append(repr(keys))
            self._send(keys)
            # Some screens are read for first; whoever waits a little meets them, and who does not is met here, too.
            self.terminal.read(self._random.choice((0.0, 0.0, 0.1, 0.4)))
        return last

    def _bytes(self) -> str:
        # Control keys that suspend or end a program are the shell's, and a test of its own.
        made = bytes(self._random.choice(_ANY_BYTE) for _ in range(self._random.randint(1, 12)))
        return made.decode("utf-8", "surrogateescape")

    def _meddle(self) -> str:
        name, texts = self._random.choice((("settings.toml", _SETTINGS), ("searches.toml", _SEARCHES)))
        text = self._random.choice(texts)
        (self._home / name).write_text(text)
        self.trail.append(f"{name}: {text[:40]!r}")
        return ""

    def _paste(self) -> str:
        text = self._random.choice(HOSTILE)[:2000].replace("\x1b[201~", "")
        return f"\x1b[200~{text}\x1b[201~"

    def _place(self) -> tuple[int, int]:
        columns, rows = self.terminal.size
        x, y = self._random.randint(1, columns), self._random.randint(1, rows)
        # Leaving by mouse is leaving, too. What leads there stands in the last row, or is about to: the app may be
        # slower than the hand.
        leaves = y == rows or any(word in self.terminal.lines[y - 1] for word in ("quit", "Leave"))
        return (x, max(1, y - 5)) if leaves else (x, y)

    def _click(self) -> str:
        (x, y), modifier = self._place(), self._random.choice((0, 0, 0, 4, 16))
        return f"\x1b[<{modifier};{x};{y}M\x1b[<{modifier};{x};{y}m" * self._random.choice((1, 1, 2))

    def _wheel(self) -> str:
        x, y = self._place()
        return f"\x1b[<{self._random.choice((64, 65))};{x};{y}M"

    def _resize(self) -> str:
        self.terminal.resize(self._random.choice(_SIZES))
        return ""
