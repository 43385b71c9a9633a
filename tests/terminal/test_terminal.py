"""The app in a real pseudo-terminal: what bytes reach it, and what stands on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from kits import pseudo_terminal
from kits.app_kit import small_memory
from kits.bound_keys import set_bound_keys
from kits.memory_files import tree
from kits.pseudo_terminal import Terminal, evil_memory, obeyed

from core.memory import Memory

pytestmark = [pytest.mark.terminal, pytest.mark.slow]


def test_hostile_notes_never_reach_the_terminal_raw(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    evil_memory(home)
    set_bound_keys(home)
    terminal = Terminal(home)
    terminal.until("Note 0")
    terminal.until_gone("Reading the log")
    for keys in ("j", "k", "1", "\r"):
        terminal.press(keys)
    terminal.until("certainty")
    terminal.press("\x1b")
    terminal.until_gone("certainty")
    for keys in ("3", "4", "\r", "5", "6", "v", "s"):
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
    terminal.until("Undid")
    assert terminal.leave() == 0
    output = terminal.output
    assert b"OWNED" in output, "the text itself is shown"
    for payload in (b"]0;OWNED\x07", b"\x1b]0;", b"\x1b]52;", b"\x1bP", "\x9b".encode(), "\u202e".encode()):
        assert payload not in output
    assert "\u2066".encode() not in output
    assert not obeyed(output)


@pytest.mark.parametrize("size", [(80, 24)])
def test_typing_right_after_the_start_goes_where_it_should(tmp_path: Path, size: tuple[int, int]) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    before = tree(home)
    terminal = Terminal(home, size, from_scratch=True)
    terminal.until("Auth middleware")
    # In one go, as a fast typist or a paste sends it: no letter may act as a command.
    terminal.press("/xXqu redis")
    terminal.until("xXqu redis")
    terminal.press("\x1b\x1b")
    assert terminal.leave() == 0
    assert tree(home) == before


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "xterm-16color"}])
def test_without_many_colours_the_cursor_and_the_pane_in_use_are_still_seen(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    terminal = Terminal(home, from_scratch=True, **environment)
    terminal.until("Auth middleware")
    terminal.until("▌")
    terminal.until("┏")
    # The parts of a score are told apart by their names, not by colour alone.
    terminal.press("/jwt tokn\r")
    terminal.until("words█")
    terminal.press("w")
    terminal.until('"tokn" read as')
    terminal.until(re.compile(r"vector +0\.\d+ +█"))
    terminal.press("\x1b")
    assert terminal.leave() == 0


@pytest.mark.parametrize("stray", [b"\xe9", b"\xed\xa0\x80"])
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


@pytest.mark.parametrize("code", ["1114112u", "27;5;99999999999~"])
def test_a_key_that_names_no_character_does_not_end_the_app(tmp_path: Path, code: str) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    terminal = Terminal(home)
    terminal.until("Auth middleware")
    terminal.press("/red")
    terminal.until("red")
    terminal.child.send(f"\x1b[{code}")
    terminal.press("is cafe")
    terminal.until("redis cafe")
    terminal.press("\x1b\x1b")
    assert terminal.leave() == 0


def test_what_is_typed_before_the_app_is_there_is_obeyed_as_a_whole(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    terminal = Terminal(home, from_scratch=True)
    # Were the first key lost, u would take a change back.
    terminal.child.send("/auth")
    terminal.until("2 hits")
    assert Memory.open(home).snapshot.by_id
    assert "auth" in terminal.text.splitlines()[1]
    terminal.press("\x1b")
    assert terminal.leave() == 0


def test_a_program_that_gave_its_terminal_back_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        pseudo_terminal,
        "_RUN",
        "import os, time; [os.close(n) for n in range(3)]; time.sleep(0.3); os._exit(7)",
    )
    terminal = Terminal(tmp_path)
    while terminal.read(30.0):
        pass
    assert terminal.ending == "exit code 7, signal None"
