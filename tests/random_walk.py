"""A person without a plan: every key of the catalogue, typing, pasting, mouse and resizing, in a seeded order."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from hostile import HOSTILE
from pseudo_terminal import Terminal

from nuggets_tui.commands import COMMANDS

_NAMED: Final = {
    "slash": "/", "question_mark": "?", "exclamation_mark": "!", "plus": "+", "backspace": "\x7f", "enter": "\r",
    "left_square_bracket": "[", "right_square_bracket": "]", "escape": "\x1b", "tab": "\t", "space": " ",
    "percent_sign": "%", "less_than_sign": "<", "greater_than_sign": ">", "left_curly_bracket": "{",
    "right_curly_bracket": "}", "comma": ",", "minus": "-", "equals_sign": "=", "f1": "\x1bOP",
}  # fmt: skip
_MOVING: Final = (
    "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F", "\x1b[1;2A", "\x1b[1;2B", "j",
    "k", "\t", "\x1b[Z", "\r", "\r", " ", "\x7f", "\x1b", "\x1b",
)  # fmt: skip
_OTHER: Final = (
    "\x01",
    "\x10",
    "\x13",
    "\x13",
    "\x12",
    "\x1a",
    "\x19",
    "\x04",
    "-",
    "=",
    "h",
    "l",
    "y",
    "0",
    "~",
)
_WORDS: Final = (
    "auth",
    "test command",
    "tag:auth -staging",
    "is:hidden",
    '"exact',
    "zzz",
    "hits:>0",
    "the",
    "3 days ago",
)
_SIZES: Final = ((120, 40), (80, 24), (180, 50), (100, 30), (60, 12))
_TAIL: Final = 80


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
    """A walk through a running app. `trail`: what was done last, oldest first."""

    def __init__(self, terminal: Terminal, seed: int, *, resizing: bool = False) -> None:
        self.terminal = terminal
        self.trail: deque[str] = deque(maxlen=_TAIL)
        self._random = random.Random(seed)
        steps: list[tuple[Callable[[], str], int]] = [
            (self._move, 40), (self._command, 40), (self._other, 6), (self._type, 8), (self._paste, 2),
            (self._click, 12), (self._wheel, 4), (self._drag, 2), (self._resize if resizing else self._move, 1),
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
            self.terminal.child.send(keys.encode("utf-8", "replace"))
            while self.terminal.read(0.012):
                pass
            assert self.terminal.child.isalive(), (
                f"the app ended after {' '.join(self.trail)}:\n{self.terminal.text}"
            )
            count += 1
        return count

    def leave(self) -> int:
        """Closes what is open, whatever it asks, and leaves; the exit code."""
        for _ in range(60):
            for keys in ("\x1b", "\x1b", "y", "\x1b", "q"):
                if not self.terminal.child.isalive():
                    break
                self.terminal.child.send(keys)
                while self.terminal.child.isalive() and self.terminal.read(0.3):
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

    def _paste(self) -> str:
        text = self._random.choice(HOSTILE)[:2000].replace("\x1b[201~", "")
        return f"\x1b[200~{text}\x1b[201~"

    def _place(self) -> tuple[int, int]:
        columns, rows = self.terminal.size
        return self._random.randint(1, columns), self._random.randint(1, rows)

    def _click(self) -> str:
        (x, y), modifier = self._place(), self._random.choice((0, 0, 0, 4, 16))
        return f"\x1b[<{modifier};{x};{y}M\x1b[<{modifier};{x};{y}m" * self._random.choice((1, 1, 2))

    def _wheel(self) -> str:
        x, y = self._place()
        return f"\x1b[<{self._random.choice((64, 65))};{x};{y}M"

    def _drag(self) -> str:
        (x, y), (right, down) = self._place(), self._place()
        return f"\x1b[<0;{x};{y}M\x1b[<32;{right};{down}M\x1b[<0;{right};{down}m"

    def _resize(self) -> str:
        self.terminal.resize(self._random.choice(_SIZES))
        return ""
