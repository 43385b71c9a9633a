"""A second file of one nugget, as another build of the original keeps it: joined like a conflict copy."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.memory_files import fact_object, facts_of, write_nugget

from core import Memory
from core.facts.edits import forget, remember
from core.graph.edits import delete_note

USED, SECOND = "memory.donna.json", "memory.nugget.json"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """Three facts in the file of the older name."""
    memory = Memory.open(tmp_path)
    for key, value in (("user:k0", "v0"), ("user:k1", "old"), ("user:k2", "same")):
        memory.change("stored", lambda draft, key=key, value=value: remember(draft, "memory", key, value))
    return memory


def note_id(memory: Memory, key: str) -> str:
    return next(note.id for note in memory.snapshot.notes if note.key == key)


def values(home: Path, file: str = USED) -> dict[str, str]:
    return {fact["key"]: fact["value"] for fact in facts_of(home, file)}


def joined(home: Path) -> Memory:
    memory = Memory.open(home)
    assert "conflict-copy" in [found.kind for found in memory.maintenance.verify()]
    (copy,) = memory.maintenance.resolve().copies
    assert (copy.path, copy.original, copy.problem) == (home / SECOND, home / USED, "")
    assert not (home / SECOND).exists()
    memory.maintenance.repair()
    assert {found.kind for found in memory.maintenance.verify()} <= {"conflict"}
    return memory


def test_without_a_log_the_used_file_stands_and_the_other_value_waits(tmp_path: Path) -> None:
    write_nugget(tmp_path, "memory", [fact_object("user:k", "used", hits=1)], suffix=".donna.json")
    facts = [
        fact_object("user:k", "second", hits=3, last_hit_session="s-3"),
        fact_object("user:more", "alone"),
    ]
    write_nugget(tmp_path, "memory", facts)
    again = joined(tmp_path)
    assert values(tmp_path) == {"user:k": "used", "user:more": "alone"}
    assert next((fact["hits"], fact["last_hit_session"]) for fact in facts_of(tmp_path, USED)) == (3, "s-3")
    (waiting,) = again.history.log(state="conflict")
    assert waiting.conflict is not None
    assert waiting.conflict.ours == "second"
    assert {note.key for note in again.snapshot.visible} == {"user:k", "user:more"}


@pytest.mark.parametrize("way", ["forgotten", "deleted"])
def test_what_was_forgotten_on_purpose_does_not_come_back(memory: Memory, way: str) -> None:
    home = memory.home
    stale = (home / SECOND).read_bytes()
    if way == "forgotten":
        memory.change("forgot", lambda draft: forget(draft, "memory", "user:k0"))
    else:
        id = note_id(memory, "user:k0")
        memory.change("deleted", lambda draft: delete_note(draft, id))
    (home / SECOND).rename(home / USED)
    (home / SECOND).write_bytes(stale)
    again = joined(home)
    assert set(values(home)) == {"user:k1", "user:k2"}
    assert "user:k0" not in {note.key for note in again.snapshot.visible}
