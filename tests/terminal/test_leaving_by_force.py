"""The app in a real pseudo-terminal, ended from outside: what was typed is there at the next start. And what leaves
the app for the clipboard and the editor."""

from __future__ import annotations

import base64
import os
import re
import signal
import stat
import time
from pathlib import Path

import pytest
from kits.app_kit import small_memory
from kits.bound_keys import set_bound_keys
from terminal.test_terminal import Terminal

from core.graph.edits import create_note
from core.memory import Memory
from core.unsaved import UnsavedTexts

pytestmark = [pytest.mark.terminal, pytest.mark.slow]

_PATIENCE = 30.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    small_memory(tmp_path / "memory")
    return tmp_path / "memory"


def until_on_disk(home: Path, text: str, terminal: Terminal) -> None:
    """Waits until a text lies in the folder of unsaved texts."""
    found = UnsavedTexts.of(home)
    assert found is not None
    end = time.monotonic() + _PATIENCE
    while not any(text in path.read_text() for path in found._files._folder.glob("*.json")):
        if time.monotonic() > end:
            raise AssertionError(f"{text!r} never came to disk:\n{terminal.text}")
        terminal.read(0.1)


def typed(home: Path, text: str) -> Terminal:
    """The app with a text being written in its editor, on disk already."""
    terminal = Terminal(home)
    terminal.until("Auth middleware")
    terminal.until_gone("Reading the log")
    terminal.press("n")
    terminal.until("Write a note")
    terminal.press(f"A new idea\t\t{text}")
    until_on_disk(home, text, terminal)
    return terminal


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_typed_is_offered_after_the_app_was_ended_by(home: Path, how: signal.Signals) -> None:
    terminal = typed(home, "It came to me")
    os.kill(terminal.child.pid, how)
    while terminal.child.isalive():
        terminal.read(0.1)
    again = Terminal(home)
    again.until("A new idea")
    again.until("unsaved")
    again.press("\r")
    again.until("Write a note")
    again.until("It came to me")
    again.press("\x13")
    again.until("Auth middleware")
    assert again.leave() == 0
    assert any(note.content == "It came to me" for note in Memory.open(home).snapshot.notes)


def test_a_program_that_ends_the_app_leaves_a_terminal_as_it_was(home: Path) -> None:
    terminal = typed(home, "It came to me")
    os.kill(terminal.child.pid, signal.SIGTERM)
    while terminal.child.isalive():
        terminal.read(0.1)
    assert terminal.child.exitstatus == 128 + signal.SIGTERM
    # No other screen, no mouse reports, a cursor.
    for restored in (b"\x1b[?1049l", b"\x1b[?1003l", b"\x1b[?25h"):
        assert restored in terminal.output[-400:]


def test_a_terminal_that_calls_itself_dumb_is_not_drawn_for_ever(home: Path) -> None:
    terminal = Terminal(home, (100, 30), from_scratch=True, TERM="dumb")
    terminal.until("Auth middleware")
    terminal.until_gone("Reading the log")
    end = time.monotonic() + _PATIENCE
    while terminal.read(1.0):
        assert time.monotonic() < end, "drawn on and on"
    assert terminal.leave() == 0


def test_what_is_typed_in_one_window_is_not_offered_in_another(home: Path) -> None:
    terminal = typed(home, "Still at it")
    other = Terminal(home)
    other.until("Auth middleware")
    other.until_gone("Reading the log")
    assert "unsaved" not in other.text
    assert other.leave() == 0
    terminal.child.close(force=True)
    last = Terminal(home)
    last.until("You were editing")
    last.child.close(force=True)


def test_a_copied_text_leaves_as_one_harmless_sequence(home: Path) -> None:
    text = "First\n\x1b]0;OWNED\x07\x1b[201~rm -rf\tend"
    Memory.open(home).change("evil", lambda draft: create_note(draft, "project", "Evil", text))
    set_bound_keys(home)
    terminal = Terminal(home)
    terminal.until("Evil")
    terminal.press("/evil\r")
    terminal.until("hit")
    terminal.press("y")
    terminal.until("Copied the text")
    terminal.until("control")
    terminal.press("Y")
    terminal.until("and the title")
    sent = [
        base64.b64decode(data).decode() for data in re.findall(rb"\x1b\]52;c;([\w+/=]*)\x07", terminal.output)
    ]
    assert len(sent) == 2
    assert sent[0] == text.replace("\x1b", "\ufffd").replace("\x07", "\ufffd")
    assert re.fullmatch(r"note-\S+ Evil", sent[1])
    assert terminal.leave() == 0


def test_a_key_opens_the_file_that_a_note_names_at_its_line_and_comes_back(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").write_text("one\ntwo\n")
    editor = tmp_path / "vim"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/told\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    Memory.open(home).change("one", lambda draft: create_note(draft, "project", "Named", "See `src/a.py:2`."))
    monkeypatch.chdir(project)
    set_bound_keys(home)
    terminal = Terminal(home, EDITOR=str(editor))
    terminal.until("Named")
    terminal.press("/named\r")
    terminal.until("src/a.py:2")
    terminal.press("\x1b[19~")
    end = time.monotonic() + _PATIENCE
    while not (tmp_path / "told").exists() and time.monotonic() < end:
        terminal.read(0.1)
    assert (tmp_path / "told").read_text().split() == ["+2", str(project / "src" / "a.py")]
    terminal.until("src/a.py:2")
    assert terminal.leave() == 0


@pytest.mark.parametrize("key", ["i"])
def test_a_program_that_ends_the_app_while_a_dialog_opens_is_told_of_no_fault(home: Path, key: str) -> None:
    terminal = Terminal(home)
    terminal.until("Auth middleware")
    terminal.until_gone("Reading the log")
    terminal.press(key)
    terminal.read(0.03)
    os.kill(terminal.child.pid, signal.SIGTERM)
    while terminal.child.isalive():
        terminal.read(0.1)
    assert b"Traceback" not in terminal.output
    # By the app, or by the system where the app had not begun to listen.
    assert terminal.child.exitstatus == 128 + signal.SIGTERM or terminal.child.signalstatus == signal.SIGTERM
