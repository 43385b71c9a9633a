"""Whoever presses whatever: the app stays up, the terminal obeys nothing from notes, and nothing is lost.

Seeded, for NUGGETS_WALK_SECONDS (20) seconds each; NUGGETS_WALK_SEED names another walk.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kits.app_kit import small_memory
from kits.bound_keys import set_bound_keys
from kits.pseudo_terminal import EVIL, Terminal, evil_memory, obeyed
from kits.random_walk import Walk

from core.graph.edits import create_note
from core.memory import Memory
from core.model.names import iso
from core.model.snapshot import Snapshot
from nuggets_tui.demo import write_demo

SECONDS = float(os.environ.get("NUGGETS_WALK_SECONDS", "10"))
SEED = int(os.environ.get("NUGGETS_WALK_SEED", "1"))
# The clipboard is written by the copy command, as base64: nothing in it can be obeyed.
_CLIPBOARD = re.compile(rb"\x1b\]52;c;[A-Za-z0-9+/=]*\x07")

pytestmark = [pytest.mark.terminal, pytest.mark.timeout(400 + SECONDS), pytest.mark.slow]


def demo_memory(home: Path) -> None:
    """The sample memory, whole."""
    write_demo(home)


def other_memories() -> None:
    """Others on this machine, to open instead: one of ours, and pages of Claude Code's."""
    small_memory(Path.home() / ".nuggets")
    pages = Path.home() / ".claude" / "projects" / "-work" / "memory"
    pages.mkdir(parents=True)
    (pages / "MEMORY.md").write_text(f"# Memory\n\n- a thing {EVIL}\n")


@contextmanager
def beside(home: Path, seconds: float) -> Iterator[None]:
    """A program like the original that writes all along, from what it has read a moment ago."""
    script = Path(__file__).parents[1] / "kits" / "original_writer.py"
    writer = subprocess.Popen(
        [sys.executable, str(script), str(home), "--seconds", str(seconds), "--pause", "700"],
        stdout=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        writer.terminate()
        writer.wait()


def contents(snapshot: Snapshot) -> dict[object, object]:
    """What a person would miss: titles, texts, tags and links of notes; keys and values of facts."""
    notes = {
        note.id: (
            note.title,
            note.content,
            sorted(note.tags),
            sorted((link.to, link.reason) for link in note.links),
        )
        for note in snapshot.notes
    }
    facts = {(nugget.name, fact.key): fact.value for nugget in snapshot.nuggets for fact in nugget.facts}
    return {**notes, **facts}


@pytest.mark.parametrize(
    ("fill", "size", "resizing"),
    [(evil_memory, (80, 24), False), (demo_memory, (100, 30), True)],
)
def test_a_random_walk_crashes_nothing_and_loses_nothing(
    tmp_path: Path, fill: Callable[[Path], object], size: tuple[int, int], resizing: bool
) -> None:
    home, elsewhere = tmp_path / "memory", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "here.md").write_text("one\ntwo\n")
    other_memories()
    fill(home)
    set_bound_keys(home)
    # From this entry on the log knows how the memory was.
    text = "It stays, in here.md:2."
    Memory.open(home).change("begun", lambda draft: create_note(draft, "walk", "The first entry", text))
    before, begun = contents(Memory.open(home).snapshot), iso(datetime.now(UTC))
    terminal = Terminal(home, size, cwd=elsewhere, EDITOR="true", VISUAL="true")
    terminal.until("live")
    walk = Walk(terminal, SEED + sum(size), resizing=resizing, meddling_in=home if resizing else None)
    with beside(home, SECONDS) if resizing else nullcontext():
        steps = walk.go(SECONDS)
    trail = " ".join(walk.trail)
    for name in ("settings.toml", "searches.toml") if resizing else ():
        (home / name).unlink(missing_ok=True)
    assert walk.leave() == 0, trail
    assert steps > SECONDS, "the app hardly answered"
    output = _CLIPBOARD.sub(b"", terminal.output)
    assert b"Traceback" not in output, trail
    assert b"this is a bug" not in output, trail
    assert not obeyed(output), (obeyed(output)[:40], trail)

    memory = Memory.open(home)
    assert not memory.snapshot.problems, trail
    # Masking a secret is final by design; all else comes back from the log.
    final = [entry for entry in memory.history.log() if entry.change_set.kind == "mask"]
    change_set = memory.maintenance.restoration(begun)
    if not change_set.empty:
        memory.apply(change_set)
    after = contents(Memory.open(home).snapshot)
    lost = {key: (value, after.get(key)) for key, value in before.items() if after.get(key) != value}
    assert not lost or final, (lost, trail)
