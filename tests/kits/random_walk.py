"""A person without a plan: every key of the catalogue, typing, pasting, mouse and resizing, in a seeded order."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kits.hostile import HOSTILE
from kits.pseudo_terminal import Terminal
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
_SIZES: Final = ((120, 40), (80, 24), (180, 50), (100, 30), (60, 12), (20, 5), (1, 1), (200, 60))
_UP, _DOWN, _RIGHT, _LEFT, _ESCAPE, _SAVE = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b", "\x13"
# Ways deep into screens that keys in any order hardly find.
_DIVES: Final[tuple[tuple[str, ...], ...]] = (
    ("T", _LEFT, _LEFT, "\x1b[1;2D", "\r"),
    ("T", "\x1b[H", "=", "b"),
    ("T", _LEFT, "=", "B"),
    ("T", "T", "3 days ago", "\r"),
    ("T", _LEFT, "/", "auth", "\r", "\x1b"),
    ("/", "auth", "\r", "%", _RIGHT, _RIGHT, _DOWN, _LEFT, _SAVE),
    ("%", "D", _SAVE),
    ("/", "payment", "\r", "K", "kept", "\r"),
    ("/", "token", "\r", "K", "golden", "\t", " ", _SAVE),
    ("Q", "\r"),
    ("Q", _DOWN, "e", "x", _SAVE),
    ("Q", "s", "x", "u"),
    ("/", "auth", "\r", "w", "\r"),
    ("/", "auth", "\r", "W", "led", "\r"),
    ("G", _RIGHT, _DOWN, "+", "\r"),
    ("G", "-", "]", "G"),
    ("g", _RIGHT, _RIGHT, "\r", "]", "+"),
    (" ", _DOWN, " ", "x", "\r", _SAVE),
    (" ", "\x1b[1;2B", "\x1b[1;2B", "t", "walked", _SAVE, _SAVE),
    ("2", "\x01", "M", _DOWN, "\r", _SAVE),
    ("2", "\x01", "x", " ", " ", _SAVE),
    (" ", _DOWN, " ", "m", _SAVE),
    ("o", _DOWN, "\r"),
    ("E",),
    ("C", _DOWN, "\r"),
    ("C", _DOWN, _DOWN, "\r", _ESCAPE),
    ("F", "claude", _SAVE),
    ("F", "\t", _DOWN, " ", _SAVE),
    ("F", "\r"),
    ("6", "\r", "u"),
    ("6", _DOWN, "\r", "u", "y"),
    ("6", "\r", "T"),
    ("r", "a", " ", _SAVE),
    ("p", " ", _SAVE),
    ("V", "a", _SAVE),
    ("S", _ESCAPE),
    ("B", "\r", _ESCAPE),
    ("u", "U"),
    ("u", "\x12"),
    ("n", "A thought", "\t", "a-tag", "\t", "Text of it", _SAVE),
    ("n", "Half a thought", _ESCAPE, "n"),
    ("f", "a key", "\t", "its value", _SAVE),
    ("e", "\t", "\t", " more", _SAVE),
    ("t", "another", "\r", _SAVE),
    ("l", "auth", "\r", "why", "\r"),
    ("X", "y"),
    ("\x10", "check mem", "\r", "a", _SAVE),
    ("\x10", "backup", "\r", "\r", _ESCAPE),
    ("\x10", "memories", "\r", _DOWN, "\r"),
    ("\x10", "threshold", "\r", "7", "\r"),
    ("\x10", "note", _DOWN, _DOWN, "\r"),
    ("\x10", "theme", "\r", _DOWN, "\r"),
    ("\x10", "unsaved", "\r"),
    ("\x10", "usual", "\r"),
    (">", ">", "}", "z", "<", "{"),
)
_SETTINGS: Final = (
    "",
    "[app]\nvim = true\n",
    '[app]\ntheme = "nuggets-light"\n',
    '[app]\ntheme = "nothing"\nvim = 3\n',
    '[keys]\nsearch = "s"\n',
    '[keys]\nsearch = ""\nhide = "ctrl+k,x,x"\n"\u202e" = 1\n',
    "[search]\ntext_weight = 0.9\nlimit = 3\n",
    "[app\n",
    "\x00",
    "x = " + "[" * 3000,
)
_SEARCHES: Final = (
    "",
    '[searches.one]\nquery = "auth"\n',
    '[searches."\u202e"]\nquery = 3\n',
    "[searches\n",
    "searches = 1\n",
)
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
