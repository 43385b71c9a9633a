"""`nuggets watch`: a line for each change by whomever, and an end that leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from kits.memory_files import fact_object, write_nugget

from core import Memory
from core.facts import edits

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.slow


@pytest.fixture
def memory(home: Path) -> Memory:
    write_nugget(home, "web", [fact_object("port", "8080")], D=64)
    return Memory.open(home)


def _watch(home: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-u", "-m", "nuggets_tui.cli", "watch", "--home", str(home), *words]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def _until_it_says(running: subprocess.Popen[str], memory: Memory) -> str:
    """Changes the memory until the first line comes: nothing tells from outside when the watching began."""
    import threading

    said: list[str] = []
    assert running.stdout is not None
    reader = threading.Thread(target=lambda: said.append(running.stdout.readline()))  # type: ignore[union-attr]
    reader.start()
    number = 0
    while reader.is_alive():
        number += 1
        memory.change("first", partial(edits.remember, nugget="web", key="first", value=str(number)))
        reader.join(0.5)
    return said[0]


def _next(running: subprocess.Popen[str], reason: str) -> dict[str, object]:
    """The document of the next change for another reason than those that waited for the beginning."""
    assert running.stdout is not None
    while (found := json.loads(running.stdout.readline()))["reason"] == "first":
        assert reason
    return dict(found)


def test_each_change_is_one_line_whoever_made_it_and_ctrl_c_ends_it(memory: Memory, home: Path) -> None:
    running = _watch(home, "--json")
    first = json.loads(_until_it_says(running, memory))
    assert (first["reason"], first["authorKind"]) == ("first", "person")
    memory.recall("port", session="an agent")
    found = _next(running, "recalled port")
    assert (found["kind"], found["author"]) == ("hit", "an agent")
    write_nugget(home, "zoo", [fact_object("lion", "roars")], D=64)
    found = _next(running, "another program")
    assert found["authorKind"] == "program"
    running.send_signal(signal.SIGINT)
    assert running.wait(20) == 0
    assert running.stderr is not None
    assert running.stderr.read() == ""


def test_lines_are_for_people_and_it_ends_when_nobody_reads(memory: Memory, home: Path) -> None:
    running = _watch(home)
    line = _until_it_says(running, memory)
    assert "remembered" in line or "edited" in line
    assert running.stdout is not None
    running.stdout.close()
    # Nothing changes any more.
    assert running.wait(20) == 141
    assert running.stderr is not None
    assert running.stderr.read() == ""
