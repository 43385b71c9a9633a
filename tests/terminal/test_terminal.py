"""The app in a real pseudo-terminal: what bytes reach it, and what stands on it."""

from __future__ import annotations

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
import pytest
from app_kit import small_memory
from memory_files import tree

pytestmark = pytest.mark.terminal

ROOT = Path(__file__).parents[2]
_RUN = "import sys; from nuggets_tui.app import run_app; sys.exit(run_app(sys.argv[1]))"
_PATIENCE = 30.0
# What Textual itself sends: control sequences, the mouse pointer's shape, keypad modes.
_TEXTUALS_OWN = re.compile(
    rb"\x1b\[[0-9;:?<=>$ ]*[@-~]|\x1b\]22;[a-z]*(?:\x07|\x1b\\)|\x1b[=>78]|\x1b\([A-Z0-9]"
)
_EVIL = (
    "\x1b]0;OWNED\x07\x1b]52;c;T1dORUQ=\x07\x1b[2J\x1bP+q544e\x1b\\\x9b31m\u202eOWNED\u2066\x00\x08\x7f\x85"
)


class Terminal:
    """A process behind a pseudo-terminal and the screen that a person would see."""

    def __init__(self, home: Path, size: tuple[int, int] = (120, 40), **environment: str) -> None:
        self.size = size
        self.output = b""
        self.screen = pyte.Screen(*size)
        self.stream = pyte.ByteStream(self.screen)
        # The size comes from the terminal, not from what a test runner may have set.
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        settings = kept | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self.child: Any = pexpect.spawn(
            sys.executable,
            ["-c", _RUN, str(home)],
            dimensions=(size[1], size[0]),
            env=settings | environment,
            timeout=_PATIENCE,
        )

    def read(self, seconds: float) -> bool:
        """Takes in what comes within some seconds; False when nothing did."""
        if not select.select([self.child.child_fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.child.child_fd, 65536)
        except OSError:
            return False
        self.output += data
        self.stream.feed(data)
        return bool(data)

    def until(self, text: str) -> None:
        """Takes in output until a text stands on the screen."""
        end = time.monotonic() + _PATIENCE
        while text not in self.text:
            if time.monotonic() > end or (not self.read(0.5) and not self.child.isalive()):
                raise AssertionError(f"{text!r} never came:\n{self.text}")

    def press(self, keys: str) -> None:
        """Sends keys and takes in what they bring."""
        self.child.send(keys)
        while self.read(0.1):
            pass

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
        return "\n".join(self.screen.display)


def evil_memory(home: Path) -> None:
    """A memory whose texts try to take the terminal over."""
    (home / "graph").mkdir(parents=True)
    made = "2026-11-01T10:00:00.000Z"
    notes: list[dict[str, Any]] = [
        {
            "id": f"note-evil-0000000{number}", "nuggetName": "evil", "title": f"Note {number} {_EVIL}",
            "content": f"Text {number} {_EVIL}\n\n```\n{_EVIL}\n```\n&#27;]0;OWNED&#7; &#x202E;", "tags": [_EVIL],
            "links": [{"to": f"note-evil-0000000{1 - number}", "reason": _EVIL, "createdAt": made}],
            "hidden": False, "kind": "note", "hits": 1, "lastHitSession": _EVIL, "createdAt": made, "updatedAt": made,
            "lastAccessedAt": made, "subject": _EVIL, "scope": "project", "type": "note", "source": "inferred",
            "confidence": 0.9, "stability": "durable", "vector": {"seed": 0, "basis": []},
        }
        for number in range(2)
    ]  # fmt: skip
    (home / "graph" / "graph.json").write_text(json.dumps({"version": 3, "notes": notes}))
    facts = [{"key": f"key {_EVIL}", "value": f"value {_EVIL}", "hits": 0, "last_hit_session": ""}]
    (home / "evil.nugget.json").write_text(
        json.dumps({"version": 4, "name": f"evil{_EVIL}", "D": 1024, "banks": 4, "facts": facts})
    )


def test_hostile_notes_never_reach_the_terminal_raw(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    evil_memory(home)
    terminal = Terminal(home)
    terminal.until("Note 0")
    terminal.until("within 1 link")
    for keys in ("j", "k", "1", "\r", "\x1b", "3", "4", "\r", "5", "6", "v", "s"):
        terminal.press(keys)
    terminal.press("/note")
    terminal.until("hits")
    terminal.press("\r")
    terminal.press("w")
    terminal.until("searched for")
    terminal.until("score")
    terminal.press("\x1b")
    terminal.press("W")
    terminal.until("Which note?")
    terminal.press("\r")
    terminal.until("searched for")
    terminal.press("\x1b")
    for keys in (
        "\x1b",
        "\x1b",
        "2",
        "e",
        "\t",
        "\x1b",
        "t",
        "\x1b",
        "l",
        "\x1b",
        "m",
        "\x1b",
        "?",
        "\x1b",
        "r",
        "\x1b",
    ):
        terminal.press(keys)
    terminal.press("x")
    terminal.until("Hid")
    terminal.press("u")
    terminal.until("Took back")
    assert terminal.leave() == 0
    output = terminal.output
    assert b"OWNED" in output, "the text itself is shown"
    for payload in (b"]0;OWNED\x07", b"\x1b]0;", b"\x1b]52;", b"\x1bP", "\x9b".encode(), "\u202e".encode()):
        assert payload not in output
    assert "\u2066".encode() not in output
    rest = _TEXTUALS_OWN.sub(b"", output)
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", rest)
    assert not re.search(rb"\xc2[\x80-\x9f]", rest)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
def test_typing_right_after_the_start_goes_where_it_should(tmp_path: Path, size: tuple[int, int]) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    before = tree(home)
    terminal = Terminal(home, size)
    terminal.until("Auth middleware")
    # In one go, as a fast typist or a paste sends it: no letter may act as a command.
    terminal.press("/xXqu redis")
    terminal.until("xXqu redis")
    terminal.press("\x1b\x1b")
    assert terminal.leave() == 0
    assert tree(home) == before


@pytest.mark.parametrize(
    "environment", [{"NO_COLOR": "1"}, {"TEXTUAL_THEME": "ansi-dark"}, {"TERM": "xterm-16color"}]
)
def test_without_many_colours_the_cursor_and_the_pane_in_use_are_still_seen(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    terminal = Terminal(home, **environment)
    terminal.until("Auth middleware")
    terminal.until("▌")
    assert "┏" in terminal.text
    # The parts of a score are told apart by their names, not by colour alone.
    terminal.press("/jwt tokn\r")
    terminal.until("words█")
    terminal.press("w")
    terminal.until("“tokn” read as")
    assert re.search(r"vector +0\.\d+ +█", terminal.text)
    terminal.press("\x1b")
    assert terminal.leave() == 0


@pytest.mark.parametrize("stray", [b"\xe9", b"\xff", b"\xc3\x28", b"\xed\xa0\x80"])
def test_bytes_that_are_no_utf_8_do_not_end_the_app(tmp_path: Path, stray: bytes) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    terminal = Terminal(home)
    terminal.until("Auth middleware")
    terminal.press("/red")
    terminal.until("red")
    terminal.child.send(stray)
    terminal.press("is caf\u00e9")
    terminal.until("is caf\u00e9")
    assert "red\ufffd" in terminal.text
    terminal.press("\x1b\x1b")
    assert terminal.leave() == 0
