"""The app in a real pseudo-terminal, and a memory whose texts try to take that terminal over."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import sys
import time
from pathlib import Path
from typing import Any

import pexpect
import pyte

from kits.forked import ForkedSpawn

ROOT = Path(__file__).parents[2]
_RUN = "import sys; from nuggets_tui.app import run_app; sys.exit(run_app(sys.argv[1]))"
_PATIENCE = 30.0
# What Textual itself sends: control sequences, the mouse pointer's shape, keypad modes.
_TEXTUALS_OWN = re.compile(
    rb"\x1b\[[0-9;:?<=>$ ]*[@-~]|\x1b\]22;[a-z]*(?:\x07|\x1b\\)|\x1b[=>78]|\x1b\([A-Z0-9]"
)
EVIL = (
    "\x1b]0;OWNED\x07\x1b]52;c;T1dORUQ=\x07\x1b[2J\x1bP+q544e\x1b\\\x9b31m\u202eOWNED\u2066\x00\x08\x7f\x85"
)


def obeyed(output: bytes) -> bytes:
    """Of what reached a terminal, the control bytes that are not the terminal library's own: there should be none."""
    rest = _TEXTUALS_OWN.sub(b"", output)
    return b"".join(re.findall(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]", rest))


# Colours and styles are most of what an app writes, and nearly all work of the emulated screen; nobody looks at them.
_COLOURS = re.compile(rb"\x1b\[[0-9;:]*m")
# A sequence of which the rest has not come yet.
_BEGUN = re.compile(rb"\x1b(?:\[[0-9;:]*)?\Z")
_AT_ONCE = 1 << 18
_open: list[Terminal] = []


def close_all() -> None:
    """Ends what still runs on a terminal. What a failed test leaves behind would keep the test runner from its end."""
    while _open:
        _open.pop().child.close(force=True)


class Terminal:
    """A process behind a pseudo-terminal and the screen that a person would see, without its colours.

    from_scratch: by an interpreter that starts and loads everything, where that matters.
    """

    def __init__(
        self,
        home: Path,
        size: tuple[int, int] = (120, 40),
        *,
        cwd: Path | None = None,
        from_scratch: bool = False,
        **environment: str,
    ) -> None:
        self.size = size
        self._output: list[bytes] = []
        self._unseen = b""
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        # The size comes from the terminal, not from what a test runner may have set.
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        settings = kept | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        command, lines_and_columns = [sys.executable, "-c", _RUN, str(home)], (size[1], size[0])
        given = {
            "dimensions": lines_and_columns,
            "env": settings | environment,
            "timeout": _PATIENCE,
            "cwd": cwd,
        }
        self.child: Any = (
            pexpect.spawn(command[0], command[1:], use_poll=True, **given)
            if from_scratch
            else ForkedSpawn(command, **given)
        )
        _open.append(self)

    def read(self, seconds: float) -> bool:
        """Takes in what comes within some seconds; False when nothing did. A program that has given the terminal back
        has these seconds to end.
        """
        # Unlike select, it takes a file of any number.
        waiting = select.poll()
        waiting.register(self.child.child_fd, select.POLLIN)
        if not waiting.poll(seconds * 1000):
            return False
        data = b""
        with contextlib.suppress(OSError):
            while more := os.read(self.child.child_fd, 65536):
                data += more
                if len(data) > _AT_ONCE or not waiting.poll(0):
                    break
        if not data:
            self._await_end(seconds)
        self._output.append(data)
        self._unseen += data
        return bool(data)

    def _await_end(self, seconds: float) -> None:
        # From here on every look at the terminal returns at once, whatever the machine has to do before it ends the
        # program: who looks so many times would give up within milliseconds.
        end = time.monotonic() + seconds
        while self.child.isalive() and time.monotonic() < end:
            time.sleep(0.001)

    @property
    def output(self) -> bytes:
        """All that came."""
        self._output = [b"".join(self._output)]
        return self._output[0]

    @property
    def screen(self) -> pyte.Screen:
        """The screen as it is now. What came is put onto it when somebody looks."""
        begun = _BEGUN.search(self._unseen)
        end = begun.start() if begun else len(self._unseen)
        self._stream.feed(_COLOURS.sub(b"", self._unseen[:end]))
        self._unseen = self._unseen[end:]
        return self._screen

    def until(self, text: str | re.Pattern[str]) -> None:
        """Takes in output until a text, or one of this pattern, stands on the screen."""
        pattern = re.compile(re.escape(text)) if isinstance(text, str) else text
        end = time.monotonic() + _PATIENCE
        while not pattern.search(self.text):
            if time.monotonic() > end or (not self.read(0.5) and not self.child.isalive()):
                raise AssertionError(f"{pattern.pattern!r} never came:\n{self.text}")

    @property
    def ending(self) -> str:
        """How the program ended, once it has."""
        return f"exit code {self.child.exitstatus}, signal {self.child.signalstatus}"

    def until_gone(self, text: str) -> None:
        """Takes in output until a text stands on the screen no more."""
        end = time.monotonic() + _PATIENCE
        while text in self.text:
            if time.monotonic() > end or (not self.read(0.5) and not self.child.isalive()):
                raise AssertionError(f"{text!r} never went:\n{self.text}")

    def press(self, keys: str) -> None:
        """Sends keys and takes in what they bring."""
        self.child.send(keys)
        # What follows esc within a tenth of a second belongs to it, as alt+3 does.
        while self.read(0.3 if keys.endswith("\x1b") else 0.1):
            pass

    def resize(self, size: tuple[int, int]) -> None:
        """Gives the terminal another size."""
        self.size = size
        self.screen.resize(size[1], size[0])
        self.child.setwinsize(size[1], size[0])

    def leave(self) -> int:
        """Leaves the app; its exit code.

        A letter that comes right behind an escape is one key with it to a terminal (alt+q), and the app may be slow
        to take the escape in: so the key is pressed again as long as the app stays.
        """
        end = time.monotonic() + _PATIENCE
        while self.child.isalive():
            if time.monotonic() > end:
                raise AssertionError(f"the app never ended:\n{self.text}")
            self.child.send("q")
            while self.child.isalive() and self.read(3.0):
                pass
        self.child.wait()
        return int(self.child.exitstatus)

    @property
    def text(self) -> str:
        """The screen as text."""
        return "\n".join(self.lines)

    @property
    def lines(self) -> list[str]:
        """The lines of the screen. pyte's own way to them fails where half of a wide character was overwritten."""
        screen = self.screen
        columns = range(screen.columns)
        return ["".join(screen.buffer[y][x].data for x in columns) for y in range(screen.lines)]


def evil_memory(home: Path) -> None:
    """A memory whose texts try to take the terminal over."""
    (home / "graph").mkdir(parents=True)
    made = "2026-11-01T10:00:00.000Z"
    notes: list[dict[str, Any]] = [
        {
            "id": f"note-evil-0000000{number}", "nuggetName": "evil", "title": f"Note {number} {EVIL}",
            "content": f"Text {number} {EVIL}\n\n```\n{EVIL}\n```\n&#27;]0;OWNED&#7; &#x202E;", "tags": [EVIL],
            "links": [{"to": f"note-evil-0000000{1 - number}", "reason": EVIL, "createdAt": made}],
            "hidden": False, "kind": "note", "hits": 1, "lastHitSession": EVIL, "createdAt": made, "updatedAt": made,
            "lastAccessedAt": made, "subject": EVIL, "scope": "project", "type": "note", "source": "inferred",
            "confidence": 0.9, "stability": "durable", "vector": {"seed": 0, "basis": []},
        }
        for number in range(2)
    ]  # fmt: skip
    (home / "graph" / "graph.json").write_text(json.dumps({"version": 3, "notes": notes}))
    facts = [{"key": f"key {EVIL}", "value": f"value {EVIL}", "hits": 0, "last_hit_session": ""}]
    (home / "evil.nugget.json").write_text(
        json.dumps({"version": 4, "name": f"evil{EVIL}", "D": 1024, "banks": 4, "facts": facts})
    )
