"""A memory that another program writes beside us, without a lock: what it does, when, and what stands there then."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core import Memory
from core.graph.edits import edit_note
from core.storage import outside
from core.storage.files import exchange
from kits.memory_files import (
    GRAPH,
    fact_object,
    facts_of,
    note_object,
    notes_of,
    tree,
    write_graph,
    write_nugget,
)
from kits.original_writer import read_graph, save_graph

ONE, TWO, THREE = (f"note-memory-{number:08x}" for number in (1, 2, 3))
NUGGET = "memory.nugget.json"


def make_home(folder: Path) -> Path:
    """A sound memory of three notes and two facts with theirs, without a log."""
    made, home = folder / "made", folder / "memory"
    write_graph(made, [note_object(number) for number in (1, 2, 3)])
    write_nugget(made, "memory", [fact_object("user:a"), fact_object("user:b")])
    Memory.open(made).maintenance.repair()
    for name, data in tree(made).items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(data)
    return home


def write_later(path: Path, write: Callable[[], object], seconds: float = 1.0) -> None:
    """Writes a file such that it looks to have been written so long after what stands there now."""
    before = path.stat().st_mtime_ns
    write()
    moment = before + int(seconds * 1e9)
    os.utime(path, ns=(moment, moment))


def save_stale(home: Path, graph: dict[str, Any], seconds: float = 1.0) -> None:
    """Saves a graph that was read some time ago, so many seconds after what stands there now."""
    write_later(home / GRAPH, lambda: save_graph(home, graph), seconds)


def slip_in(monkeypatch: pytest.MonkeyPatch, name: str, foreign: Callable[[], object]) -> None:
    """Lets another program write in the instant between our last look at a file and the exchange of that file."""
    real, turns = exchange._swap, iter([True])

    def swap(one: Path, other: Path) -> bool:
        if other.name == name and next(turns, False):
            foreign()
        return real(one, other)

    monkeypatch.setattr(exchange, "_swap", swap)


def never_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever somebody looks, another program has just saved."""
    monkeypatch.setattr(outside, "is_quiet", lambda loaded: False)


def add_note(home: Path, number: int = 9) -> None:
    """Another program adds a note."""
    shaped = read_graph(home)
    save_graph(home, shaped | {"notes": [*shaped["notes"], note_object(number)]})


def kinds(memory: Memory) -> list[tuple[str, str]]:
    """Kind and state of every entry of the log, oldest first."""
    return [(entry.change_set.kind, entry.state) for entry in reversed(memory.history.log(limit=None))]


def edit_text(memory: Memory, content: str, note: str = ONE) -> str:
    """Gives a note another text; the id of the entry."""
    return memory.change(f"wrote {content[:20]}", lambda draft: edit_note(draft, note, content=content))[1].id


def content_of(home: Path, id: str = ONE) -> str:
    """What a note says in the file."""
    return str(notes_of(home)[id]["content"])


def values_of(home: Path) -> dict[str, str]:
    """The facts of the nugget "memory" in its file."""
    return {fact["key"]: fact["value"] for fact in facts_of(home, NUGGET)}
