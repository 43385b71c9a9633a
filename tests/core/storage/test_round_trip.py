"""Files of the original: opened, browsed and changed without touching what is not meant."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import GRAPH, tree

from core import Memory
from core.facts.edits import forget, record_hit
from core.graph.edits import create_note, edit_note, hide_note, unhide_note
from core.graph.neighbours import neighbours, suggestions, surroundings
from core.model.note import Note
from core.settings import InferenceSettings
from core.storage.format.documents import read_graph, read_nugget

FACT_NOTE = "fact-memory-00000002"
RULES = InferenceSettings()


def _golden_graphs(golden: Path) -> list[bytes]:
    return [(golden / "store" / GRAPH).read_bytes()]


def test_the_graph_file_round_trips_byte_for_byte(golden: Path) -> None:
    for data in _golden_graphs(golden):
        document = read_graph(Path("graph.json"), data, None, RULES)
        assert b"".join(document.to_parts()) == data
        assert not document.problems


@pytest.mark.parametrize("name", ["memory.donna.json", "projects.donna.json"])
def test_a_fact_file_round_trips_byte_for_byte(golden: Path, name: str) -> None:
    data = (golden / "store" / name).read_bytes()
    document = read_nugget(Path(name), data, None)
    assert b"".join(document.to_parts()) == data
    assert not document.problems


def _walk(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *(part for item in value.values() for part in _walk(item))]
    return [part for item in value for part in _walk(item)] if isinstance(value, list) else []


def test_opening_and_browsing_leaves_every_byte_and_makes_nothing_but_the_log(store: Path) -> None:
    before = tree(store)
    stamps = {path: path.stat().st_mtime_ns for path in store.rglob("*")}
    memory = Memory.open(store)
    snapshot = memory.snapshot
    assert len(snapshot.notes) == 25
    assert not snapshot.problems
    for note in snapshot.notes:
        assert snapshot.resolve(note.id) is note
        neighbours(snapshot, note.id)
        suggestions(snapshot, note.id)
        surroundings(snapshot, note.id, hops=3)
    for name in snapshot.nugget_names:
        assert snapshot.nugget(name).facts
    memory.refresh()
    del memory
    assert tree(store) == before
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps
    made = {path.name for path in {*store.rglob("*")} - stamps.keys()}
    assert made <= {".nuggets.lock", "nuggets.db", "nuggets.db-wal", "nuggets.db-shm"}


def test_an_edit_that_changes_nothing_writes_nothing(store: Path) -> None:
    before = tree(store)
    memory = Memory.open(store)
    note = memory.snapshot.note(FACT_NOTE)
    memory.change("nothing", lambda draft: edit_note(draft, note.id, content=note.content, title=note.title))
    memory.change("nothing", lambda draft: unhide_note(draft, note.id))
    memory.change("nothing", lambda draft: forget(draft, "memory", "no such key"))
    assert tree(store) == before
    assert memory.history.log() == ()


def _sound(memory: Memory) -> list[Note]:
    """Visible notes but two that the original wrote without the tag of their nugget: a write sets that right."""
    return [note for note in memory.snapshot.visible if note.nugget_name in note.tags]


@pytest.mark.slow
def test_unhiding_gives_back_every_byte(store: Path, clock: Callable[[], datetime]) -> None:
    before = tree(store)
    memory = Memory.open(store, clock=clock)
    for note in _sound(memory):
        memory.change("hide", lambda draft, id=note.id: hide_note(draft, id))
        clock()
        memory.change("unhide", lambda draft, id=note.id: unhide_note(draft, id))
        assert tree(store) == before, note.id


@pytest.mark.slow
def test_hidden_facts_return_to_their_places_in_any_order(store: Path) -> None:
    before = (store / "memory.donna.json").read_bytes()
    memory = Memory.open(store)
    facts = [note.id for note in memory.snapshot.visible if note.is_fact and note.nugget_name == "memory"]
    for hide_order, unhide_order in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        for id in facts[1:6][::hide_order]:
            memory.change("hide", lambda draft, id=id: hide_note(draft, id))
        for id in facts[1:6][::unhide_order]:
            memory.change("unhide", lambda draft, id=id: unhide_note(draft, id))
        assert (store / "memory.donna.json").read_bytes() == before


@pytest.mark.parametrize("step", [timedelta(), timedelta(days=400), timedelta(days=-400)])
def test_taking_a_change_back_gives_back_every_byte_whatever_the_clock_says(
    store: Path, step: timedelta
) -> None:
    before = tree(store)
    moment = datetime.fromisoformat("2026-05-05T05:05:05+00:00")
    moments = iter([moment, *(moment + step * turn for turn in range(1, 99))])
    memory = Memory.open(store, clock=lambda: next(moments))
    for edit in (
        lambda draft: hide_note(draft, FACT_NOTE),
        lambda draft: edit_note(draft, FACT_NOTE, content="light green", add_tags=["colour"]),
        lambda draft: forget(draft, "memory", "user:name"),
        lambda draft: record_hit(draft, "memory", "user:name", "fact-memory-00000001", "s-77"),
        lambda draft: hide_note(draft, "note-memory-0000000d"),
        lambda draft: create_note(draft, "fresh", "A note of a new nugget", "With content."),
    ):
        _, done = memory.change("try", edit)
        assert tree(store) != before
        memory.history.undo(done)
        assert tree(store) == before
