"""What importing the engine loads: no terminal library, and nothing heavy before it is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TERMINAL = {"textual", "rich", "click", "nuggets_tui", "netext", "curses"}
HEAVY = {"numpy", "rapidfuzz", "snowballstemmer", "watchfiles", "anyio", "hypothesis", "pytest"}


def _loaded_by(code: str) -> set[str]:
    """Top-level modules in a fresh interpreter after running `code`."""
    return {name.partition(".")[0] for name in _modules_after(code)}


def _modules_after(code: str) -> set[str]:
    report = "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code + report], cwd=ROOT, capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_the_engine_loads_neither_a_terminal_library_nor_anything_heavy() -> None:
    assert not _loaded_by("import core") & (TERMINAL | HEAVY)


def test_opening_browsing_and_changing_a_memory_needs_no_numpy(store: Path) -> None:
    code = f"""
from core import Memory
from core.graph.edits import hide_note
memory = Memory.open({str(store)!r})
memory.change("hide", lambda draft: hide_note(draft, "fact-memory-00000002"))
"""
    loaded = _loaded_by(code)
    assert not loaded & TERMINAL
    assert not loaded & (HEAVY - {"snowballstemmer"})


def test_a_memory_whose_notes_are_no_pages_loads_nothing_that_reads_pages(store: Path) -> None:
    code = f"""
from core import Memory
from core.graph.edits import hide_note
memory = Memory.open({str(store)!r})
memory.change("hide", lambda draft: hide_note(draft, "fact-memory-00000002"))
memory.recall("test command")
"""
    loaded = _modules_after(code)
    assert "core.storage.writing" in loaded
    assert not {name for name in loaded if name.startswith("core.exchange")}
    assert "core.storage.format.pages" not in loaded


@pytest.mark.parametrize(
    "room", ["search", "facts.recall", "fhrr", "reflection", "promotion", "graph.neighbours"]
)
def test_no_room_of_the_engine_loads_a_terminal_library(room: str) -> None:
    assert not _loaded_by(f"import core.{room}") & TERMINAL
