"""Files damaged in any way: everything ends in an error that says what is wrong, and nothing sound is ever lost.

The number of damaged memories is small here; NUGGETS_FUZZ=20000 makes it the full test.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.memory_files import GRAPH, fact_object, javascript, note_object, tree, write_graph, write_nugget
from kits.mutations import damaged_bytes, damaged_shape, shape_of

from core import Memory
from core.errors import NuggetsError
from core.facts.edits import forget, remember
from core.graph.edits import create_note, edit_note, link_notes

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("NUGGETS_FUZZ", "40"))
FIRST = int(os.environ.get("NUGGETS_FUZZ_FIRST", "0"))
FILES = (str(GRAPH), "memory.nugget.json", "other.donna.json")
CHUNKS = 2


def _sound_memory(home: Path) -> dict[str, dict[str, bytes]]:
    """A memory of all that there is. For each file the bytes of its notes by id, or of its facts by key."""
    link = {"to": "note-memory-00000002", "reason": "kin", "createdAt": "2026-01-02T03:04:05.678Z"}
    back = link | {"to": "note-memory-00000001"}
    kept = {"key": "user:gone", "value": "was here", "hits": 2, "last_hit_session": "s", "index": 1}
    notes = [
        note_object(1, links=[link], later={"deep": [1, None]}),
        note_object(2, links=[back], content="Second.\n\n    code()"),
        note_object(3, title="Ünïcödé 日本語 👩‍👩‍👧", content="\ud800 lone", tags=["memory", "own"]),
        note_object(4, kind="fact", id="fact-memory-00000004", sourceKey="user:a", title="user:a", content="a value"),
        note_object(5, kind="fact", id="fact-memory-00000005", sourceKey="user:gone", title="user:gone",
                    content="was here", hidden=True, hiddenFact=kept),
        note_object(6, nugget="other", hits=3),
    ]  # fmt: skip
    facts = [
        fact_object("user:a"),
        fact_object("user:b", "two\nlines", hits=4),
        fact_object("user:c", "c", later=1),
    ]
    others = [fact_object("plain", "d"), fact_object("e", "f")]
    write_graph(home, notes, unknown=[1])
    write_nugget(home, "memory", facts, D=64)
    write_nugget(home, "other", others, ".donna.json", D=64)
    return {
        FILES[0]: {note["id"]: _raw(note, 2) for note in notes},
        FILES[1]: {fact["key"]: _raw(fact, None) for fact in facts},
        FILES[2]: {fact["key"]: _raw(fact, None) for fact in others},
    }


def _raw(item: Any, indent: int | None) -> bytes:
    text = javascript(item, indent=indent)
    return text if indent is None else text.replace(b"\n", b"\n    ")


def _damage(home: Path, chance: Random) -> dict[str, bytes]:
    """Damages one or several files; their new bytes."""
    damaged = {}
    for file in chance.sample(FILES, chance.choice((1, 1, 1, 2, 3))):
        data = (home / file).read_bytes()
        new = damaged_bytes(data, chance) if chance.randrange(2) else damaged_shape(shape_of(data), chance)
        (home / file).write_bytes(new)
        damaged[file] = new
    return damaged


# What a person may do


def _first_plain(memory: Memory) -> str:
    return next((note.id for note in memory.snapshot.notes if not note.is_fact), "note-memory-00000001")


STEPS: dict[str, Callable[[Memory], object]] = {
    "look": lambda memory: (
        [(note.title, note.content, note.links, note.vector) for note in memory.snapshot.notes],
        [(nugget.name, nugget.facts, nugget.problem) for nugget in memory.snapshot.nuggets],
        memory.snapshot.problems, memory.snapshot.by_id, memory.snapshot.links_in, memory.snapshot.fact_notes),
    "recall": lambda memory: memory.recall("user:b", session="s"),
    "search": lambda memory: memory.search("content of note"),
    "verify": lambda memory: memory.maintenance.verify(),
    "edit": lambda memory: memory.change("e", lambda draft: edit_note(draft, _first_plain(memory), content="Ours.")),
    "create": lambda memory: memory.change("c", lambda draft: create_note(draft, "memory", "New", "Text.")),
    "link": lambda memory: memory.change(
        "l", lambda draft: link_notes(draft, _first_plain(memory), "note-memory-00000002", "new")),
    "fact of its own": lambda memory: memory.change("n", lambda draft: remember(draft, "fresh", "user:k", "v")),
    "remember": lambda memory: memory.change("r", lambda draft: remember(draft, "memory", "user:new", "value")),
    "again": lambda memory: memory.change("r", lambda draft: remember(draft, "memory", "user:a", "other value")),
    "forget": lambda memory: memory.change("f", lambda draft: forget(draft, "memory", "user:b")),
    "reflect": lambda memory: memory.reflect(limit=3, dry_run=True),
    "repair": lambda memory: memory.maintenance.repair(),
    "undo": lambda memory: memory.history.undo(),
    "redo": lambda memory: memory.history.redo(),
    "log": lambda memory: [memory.history.entry(entry.id) for entry in memory.history.log()],
    "restoration": lambda memory: memory.maintenance.restoration(),
    "resolve": lambda memory: memory.maintenance.resolve(),
    "refresh": lambda memory: memory.refresh(),
    "set aside": lambda memory: memory.maintenance.set_aside(),
}  # fmt: skip


def _lives_on(home: Path, chance: Random) -> None:
    """Opens the memory and does this and that with it."""
    for tolerant in (False, True):
        try:
            memory = Memory.open(home, tolerant=tolerant)
        except NuggetsError as error:
            _assert_told(error)
            continue
        _take_steps(memory, [chance.choice(list(STEPS)) for _ in range(8)])
        memory.close()


def _take_steps(memory: Memory, steps: list[str]) -> None:
    """Does this and that with an open memory; whatever goes wrong is one of our errors."""
    for step in ["look", *steps, "repair", "verify", "undo", "undo"]:
        try:
            STEPS[step](memory)
        except NuggetsError as error:
            _assert_told(error)
    memory.take_notices()


def _assert_told(error: NuggetsError) -> None:
    assert error.what
    assert "\n" not in error.message


# What may not be lost


def _kept_files(home: Path) -> set[Path]:
    return {path for side in ("quarantine", "backups") for path in (home / side).rglob("*") if path.is_file()}


def _kept_bytes(home: Path, known: set[Path]) -> Iterator[bytes]:
    """Everything that is kept of former times; not what lay there already (`known`)."""
    for path in _kept_files(home) - known:
        yield path.read_bytes()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                yield from (archive.read(name) for name in archive.namelist())


def _assert_nothing_lost(
    home: Path, sound: dict[str, dict[str, bytes]], damaged: dict[str, bytes], known: set[Path]
) -> None:
    kept, files = list(_kept_bytes(home, known)), tree(home)
    for file, items in sound.items():
        before = damaged.get(file)
        for name, raw in items.items():
            if before is None or raw in before:
                shown = javascript(name)
                there = any(shown in data for data in files.values()) or any(raw in data for data in kept)
                assert there, f"{name} of {file} is gone"
    for file, data in damaged.items():
        if files.get(file) != data and data not in kept:
            assert _is_sound(home, file, data), f"the damaged {file} was written over"


def _is_sound(home: Path, file: str, data: bytes) -> bool:
    """Whether everything in a file could be read."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / file
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(data)
        try:
            return not Memory.open(name, reconcile=False).snapshot.problems
        except NuggetsError:
            return False


def _session(seed: int) -> None:
    chance = Random(seed)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        sound = _sound_memory(home)
        memory = Memory.open(home, reconcile=False)
        if chance.randrange(3):
            # A log that knows what stood there before the damage, and a backup of that day.
            STEPS["fact of its own"](memory)
        known = _kept_files(home)
        damaged = _damage(home, chance)
        if chance.randrange(2):
            _take_steps(memory, [chance.choice(list(STEPS)) for _ in range(4)])
        memory.close()
        _lives_on(home, chance)
        _assert_nothing_lost(home, sound, damaged, known)
        _assert_at_rest(home)


def _assert_at_rest(home: Path) -> None:
    """Opening once more changes nothing."""
    before = tree(home)
    for _ in range(2):
        try:
            memory = Memory.open(home, tolerant=True)
        except NuggetsError:
            return
        memory.close()
    assert tree(home) == before


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_damaged_files_are_never_lost_and_never_a_surprise(chunk: int) -> None:
    for number in range(FIRST + chunk, FIRST + COUNT, CHUNKS):
        try:
            _session(number)
        except BaseException as error:
            error.add_note(f"seed {number}")
            raise


@given(data=st.binary(max_size=200))
def test_any_bytes_at_all_are_no_surprise(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        sound = _sound_memory(home)
        for file in FILES[:2]:
            (home / file).write_bytes(data)
        _lives_on(home, Random(len(data)))
        _assert_nothing_lost(home, sound, dict.fromkeys(FILES[:2], data), set())
