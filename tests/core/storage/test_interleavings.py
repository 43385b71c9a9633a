"""A program that reads everything, thinks, and saves it with something new, at every point of our writes: whatever it
added, and whatever we did, is there in the end.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.beside import NUGGET, ONE, TWO, content_of, make_home, slip_in
from kits.laws import examples
from kits.memory_files import (
    GRAPH,
    fact_object,
    facts_of,
    note_object,
    notes_of,
    write_graph,
    write_nugget,
)
from kits.original_writer import Original, read_graph, save_graph

from core import Memory
from core.facts.edits import remember
from core.graph.edits import edit_note
from core.storage import database, outside, store, writing
from core.storage.files import exchange
from core.storage.journal.journal import Journal

NOTES = [f"note-memory-{number:08x}" for number in range(6)]
POINTS = [
    (exchange, "_swap"), (writing, "stage_file"), (store.Store, "load"), (outside, "take_in"),
    (Journal, "begin"), (Journal, "mark_written"),
]  # fmt: skip


class Program:
    """Reads at one step and saves all of it with a new note at the next; it may tag a note, and save the facts that it
    read when it began.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        numbers = count(1)
        self.program = Original(home, load=False, ids=lambda: f"f{next(numbers):07x}")
        self.graph: dict[str, Any] | None = None
        self.made: list[str] = []
        self.tagged: list[tuple[str, str]] = []

    def step(self, choice: int) -> None:
        """choice: 0 for nothing; what is tagged, and whether the facts are saved, comes of it as well."""
        if not choice:
            return
        if self.graph is None:
            self.graph = read_graph(self.home)
            return
        self.made.append(self.program.add_note(self.graph, f"New {len(self.made)}", "Theirs."))
        for note in self.graph["notes"]:
            if choice < 4 and note["id"] == NOTES[choice]:
                self.tagged.append((note["id"], f"tag-{len(self.made)}"))
                note["tags"] = [*note["tags"], f"tag-{len(self.made)}"]
        if choice == 5:
            self.program.save_facts()
        save_graph(self.home, self.graph)
        self.graph = None

    def old(self) -> None:
        """Nobody has written for a while."""
        for path in (self.home / GRAPH, self.home / NUGGET):
            os.utime(path, ns=(1, path.stat().st_mtime_ns - 10**10))

    @contextmanager
    def beside(self, choices: Iterator[int]) -> Iterator[None]:
        """Within this it takes a step before and after all that a write of ours does."""

        def stepping(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **named: Any) -> Any:
                self.step(next(choices, 0))
                try:
                    return real(*args, **named)
                finally:
                    self.step(next(choices, 0))

            return call

        with pytest.MonkeyPatch.context() as patch:
            # Who waits for the rest of a save finds that there is none.
            patch.setattr(store.time, "sleep", lambda seconds: self.old())
            for owner, name in POINTS:
                patch.setattr(owner, name, stepping(getattr(owner, name)))
            yield


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No power fails here."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setattr(database, "DURABLE", "OFF")
    monkeypatch.setattr(database, "RELAXED", "OFF")


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@settings(
    max_examples=examples(400),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["edit", "fact", "look"])), min_size=2, max_size=9),
    st.lists(st.sampled_from([0, 0, 0, 1, 2, 3, 4, 5]), max_size=90),
)
def test_nothing_is_lost_wherever_another_program_reads_and_saves(
    acts: list[tuple[int, str]], choices: list[int]
) -> None:
    home = Path(tempfile.mkdtemp())
    write_graph(home, [note_object(number) for number in range(6)])
    write_nugget(home, "memory", [fact_object("user:kept")])
    Memory.open(home).maintenance.repair()
    program = Program(home)
    memories = [Memory.open(home) for _ in range(3)]
    texts: dict[str, str] = {}
    values = {"user:kept": "a value"}
    with program.beside(iter(choices)):
        for turn, (which, act) in enumerate(acts):
            memory, text = memories[which], f"Ours {turn}."
            if act == "edit":
                note = NOTES[turn % len(NOTES)]
                memory.change("edit", lambda draft, id=note, text=text: edit_note(draft, id, content=text))  # type: ignore[misc]
                texts[note] = text
            elif act == "fact":
                key = f"user:key {turn % 3}"
                memory.change("fact", lambda draft, key=key, text=text: remember(draft, "memory", key, text))  # type: ignore[misc]
                values[key] = text
            else:
                memory.refresh(patient=False)
    program.old()
    for memory in memories:
        # What is to be put back is, as at the next write.
        memory.settle()
        memory.settle()
    notes = notes_of(home)
    assert [id for id in program.made if id not in notes] == []
    assert [one for one in program.tagged if one[1] not in notes[one[0]]["tags"]] == []
    assert {id: notes[id]["content"] for id in texts} == texts
    assert {fact["key"]: fact["value"] for fact in facts_of(home, NUGGET)} == values
    assert memories[0].history.conflicts() == ()
    assert memories[0].store.reconciled
    assert memories[0].maintenance.verify() == ()
    for memory in memories:
        memory.close()
    shutil.rmtree(home)


def test_what_slipped_in_and_was_saved_once_more_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_home(tmp_path)
    memory, program = Memory.open(home), Program(home)

    def foreign() -> None:
        # The first save is replaced by ours; the second replaces ours, and has the first one's note.
        program.step(4)
        program.step(4)
        program.step(4)

    slip_in(monkeypatch, "graph.json", foreign)
    real = Journal.mark_written

    def mark_written(*args: Any, **named: Any) -> None:
        if len(program.made) == 1:
            program.step(4)
        real(*args, **named)

    monkeypatch.setattr(Journal, "mark_written", mark_written)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    memory.change("edit", lambda draft: edit_note(draft, TWO, content="Ours too."))
    assert len(program.made) == 2
    assert set(program.made) <= notes_of(home).keys()
    assert (content_of(home), content_of(home, TWO)) == ("Ours.", "Ours too.")
