"""Syncs beside each other and beside a program that knows no lock: nothing of anybody is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from kits.forked import Forked
from kits.memory_files import notes_of
from kits.synced import Machine

from core.graph.edits import create_note

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
WRITES = 40
# For so many seconds at least the writer and the syncs go on beside each other.
SECONDS = float(os.environ.get("NUGGETS_SYNC_SECONDS", "0"))
# Reads the note graph and writes it back with one note more, as the original does, without any lock.
WRITER = """
import sys
sys.path.insert(0, "tests")
from pathlib import Path
from kits.memory_files import graph_of, note_object, write_graph
home = Path(sys.argv[1])
for number, _ in enumerate(sys.stdin):
    write_graph(home, [*graph_of(home)["notes"], note_object(number, nugget="web")])
"""
SYNCS = """
import sys
from core import Memory
from core.sync import Sync
for _ in range(3):
    memory = Memory.open(sys.argv[1])
    Sync(memory).run()
    memory.close()
"""


@pytest.mark.timeout(120)
def test_a_writer_without_a_lock_beside_syncs_loses_nothing_and_costs_nobody_anything(
    machine: Callable[[str], Machine],
) -> None:
    laptop, desk = machine("laptop"), machine("desk")
    laptop.memory.change("add", lambda draft: create_note(draft, "web", "First", "one"))
    laptop.sync()
    desk.sync()
    writer = Forked(
        [sys.executable, "-c", WRITER, str(laptop.home)], cwd=ROOT, stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert writer.stdin is not None
    turns, until = 0, time.monotonic() + SECONDS
    while turns < 4 or time.monotonic() < until:
        turn, turns = turns, turns + 1
        desk.memory.change("add", lambda draft, turn=turn: create_note(draft, "web", f"Desk {turn}", "two"))
        desk.sync()
        writer.stdin.write(b"\n" * (WRITES // 4))
        writer.stdin.flush()
        laptop.sync()
    _, errors = writer.communicate()
    assert errors == b""
    for each in (laptop, desk, laptop, desk):
        each.sync()
    notes = notes_of(desk.home)
    assert {f"note-web-{number:08x}" for number in range(turns * (WRITES // 4))} <= notes.keys()
    assert {f"Desk {turn}" for turn in range(turns)} <= {note["title"] for note in notes.values()}
    assert laptop.state() == desk.state()
    assert [*laptop.memory.maintenance.verify(), *desk.memory.maintenance.verify()] == []


@pytest.mark.timeout(120)
def test_processes_that_sync_one_memory_and_another_machine_at_once_all_finish(
    machine: Callable[[str], Machine],
) -> None:
    laptop, desk = machine("laptop"), machine("desk")
    for one in (laptop, desk):
        one.memory.change("add", lambda draft, one=one: create_note(draft, "web", one.name, "text"))
        one.memory.close()
    running = [
        Forked([sys.executable, "-c", SYNCS, str(home)], cwd=ROOT, stderr=subprocess.PIPE)
        for home in (laptop.home, laptop.home, desk.home)
    ]
    assert [each.communicate()[1] for each in running] == [b"", b"", b""]
    for each in (laptop, desk, laptop):
        each.sync()
    assert laptop.state() == desk.state()
    assert {note.title for note in desk.memory.snapshot.notes} == {"laptop", "desk"}
    assert laptop.memory.history.conflicts() == desk.memory.history.conflicts() == ()
