"""A second file of one nugget: brought into the one that is used and set aside, and nothing of it is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import fact_object, facts_of, tree, write_nugget
from kits.original_writer import Original

from core import Memory
from core.errors import ConflictError
from core.facts.edits import forget, remember
from core.graph.edits import delete_note, hide_note
from core.storage import writing
from core.storage.safety.quarantine import record_bytes

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


def hidden(memory: Memory) -> set[tuple[str, str]]:
    return {(note.key, note.content) for note in memory.snapshot.notes if note.hidden}


def repaired(home: Path) -> Memory:
    memory = Memory.open(home)
    assert [found.repair != "" for found in memory.maintenance.verify() if found.kind == "second-file"] == [
        True
    ]
    memory.maintenance.repair()
    assert memory.maintenance.verify() == ()
    assert not (home / SECOND).exists()
    return memory


@pytest.mark.slow
@pytest.mark.parametrize("starts_anew", [False, True])
def test_beside_the_newest_original_what_was_hidden_stays_hidden_and_an_edit_stands(
    memory: Memory, starts_anew: bool
) -> None:
    home = memory.home
    original = Original(home)
    memory.refresh()
    hidden_note = note_id(memory, "user:k0")
    memory.change("hid", lambda draft: hide_note(draft, hidden_note))
    memory.change("edited", lambda draft: remember(draft, "memory", "user:k1", "new"))
    # The newest build saves all the facts that it has in mind, under its own name.
    original._path = home / USED
    original.recall("user:k2", "s-1")
    if starts_anew:
        Original(home).load()
    bytes_before = (home / SECOND).read_bytes()
    again = repaired(home)
    assert values(home) == {"user:k1": "new", "user:k2": "same"}
    assert {(note.key, note.content) for note in again.snapshot.visible} == {
        ("user:k1", "new"),
        ("user:k2", "same"),
    }
    assert ("user:k0", "v0") in hidden(again)
    assert bytes_before in [record_bytes(record) for record in again.maintenance.set_aside()]


@pytest.mark.slow
def test_what_the_log_says_was_given_last_stands_and_the_other_value_is_kept(memory: Memory) -> None:
    home = memory.home
    memory.change("edited", lambda draft: remember(draft, "memory", "user:k1", "new"))
    memory.close()
    # Long after, so that no stale save is seen in it: both fact and note have the old value.
    (home / USED).write_bytes((home / SECOND).read_bytes().replace(b'"new"', b'"old"'))
    graph = home / "graph" / "graph.json"
    graph.write_bytes(graph.read_bytes().replace(b'"content": "new"', b'"content": "old"'))
    fresh = Memory.open(home)
    fresh.maintenance.repair()
    assert fresh.maintenance.verify() == ()
    assert values(home)["user:k1"] == "new"
    assert fresh.snapshot.note(note_id(fresh, "user:k1")).content == "new"


def test_without_a_log_the_used_file_stands_and_the_other_value_waits_in_a_hidden_note(
    tmp_path: Path,
) -> None:
    write_nugget(tmp_path, "memory", [fact_object("user:k", "used", hits=1)], suffix=".donna.json")
    write_nugget(
        tmp_path, "memory", [fact_object("user:k", "second", hits=3), fact_object("user:more", "alone")]
    )
    again = repaired(tmp_path)
    assert values(tmp_path) == {"user:k": "used", "user:more": "alone"}
    assert hidden(again) == {("user:k", "second")}
    assert {note.key for note in again.snapshot.visible} == {"user:k", "user:more"}


def test_recalls_counted_in_the_second_file_are_not_lost(tmp_path: Path) -> None:
    write_nugget(tmp_path, "memory", [fact_object("user:k", hits=1)], suffix=".donna.json")
    write_nugget(tmp_path, "memory", [fact_object("user:k", hits=3, last_hit_session="s-3")])
    repaired(tmp_path)
    assert [(fact["hits"], fact["last_hit_session"]) for fact in facts_of(tmp_path, USED)] == [(3, "s-3")]


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
    again = repaired(home)
    assert set(values(home)) == {"user:k1", "user:k2"}
    assert "user:k0" not in {note.key for note in again.snapshot.visible}


def two_files(home: Path) -> Memory:
    used = [fact_object("user:k0", "v0"), fact_object("user:k1", "used")]
    write_nugget(home, "memory", used, suffix=".donna.json")
    write_nugget(home, "memory", [fact_object("user:k1", "other"), fact_object("user:k2", "v2")])
    return Memory.open(home)


def test_a_repair_that_brought_facts_in_can_be_taken_back_with_its_file(tmp_path: Path) -> None:
    memory = two_files(tmp_path)
    bytes_before = (tmp_path / SECOND).read_bytes()
    done = memory.maintenance.repair()
    assert set(values(tmp_path)) == {"user:k0", "user:k1", "user:k2"}
    memory.history.undo(done)
    assert values(tmp_path) == {"user:k0": "v0", "user:k1": "used"}
    assert (tmp_path / SECOND).read_bytes() == bytes_before
    assert memory.snapshot.notes == ()
    memory.history.redo()
    assert set(values(tmp_path)) == {"user:k0", "user:k1", "user:k2"}
    assert not (tmp_path / SECOND).exists()


def test_a_repair_that_was_taken_back_brings_the_same_in_again(tmp_path: Path) -> None:
    memory = two_files(tmp_path)
    memory.history.undo(memory.maintenance.repair())
    again = repaired(tmp_path)
    assert set(values(tmp_path)) == {"user:k0", "user:k1", "user:k2"}
    assert hidden(again) == {("user:k1", "other")}


def test_where_another_file_stands_in_its_place_a_repair_keeps_its_facts(tmp_path: Path) -> None:
    memory = two_files(tmp_path)
    done = memory.maintenance.repair()
    write_nugget(tmp_path, "memory", [fact_object("user:new", "somebody's")])
    with pytest.raises(ConflictError):
        memory.history.undo(done)
    assert set(values(tmp_path)) == {"user:k0", "user:k1", "user:k2"}
    assert values(tmp_path, SECOND) == {"user:new": "somebody's"}


def test_what_lies_in_the_quarantine_of_a_second_file_is_called_sound(tmp_path: Path) -> None:
    repaired(two_files(tmp_path).home)
    assert [record.sound for record in Memory.open(tmp_path).maintenance.set_aside()] == [True]


def test_a_second_file_that_is_written_to_meanwhile_stays(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = memory.home
    (home / USED).write_bytes((home / SECOND).read_bytes())
    write_nugget(home, "memory", [fact_object("user:first", "brought in")])
    fresh = Memory.open(home)
    put = writing.put_instead

    def late(*args: Any, **named: Any) -> object:
        write_nugget(home, "memory", [fact_object("user:late", "newer")])
        return put(*args, **named)

    monkeypatch.setattr(writing, "put_instead", late)
    fresh.maintenance.repair()
    assert (home / SECOND).exists()
    monkeypatch.undo()
    fresh.maintenance.repair()
    assert values(home).items() >= {"user:first": "brought in", "user:late": "newer"}.items()
    assert not (home / SECOND).exists()


def test_a_copy_that_somebody_made_under_another_name_is_left_to_them(memory: Memory) -> None:
    home = memory.home
    (home / "memory-before.nugget.json").write_bytes((home / SECOND).read_bytes())
    fresh = Memory.open(home)
    fresh.maintenance.repair()
    assert (home / "memory-before.nugget.json").exists()
    assert [(found.kind, found.repair) for found in fresh.maintenance.verify()] == [("second-file", "")]


@pytest.mark.slow
def test_a_second_repair_writes_nothing(memory: Memory) -> None:
    home = memory.home
    write_nugget(home, "memory", [fact_object("user:k1", "other")], suffix=".donna.json")
    again = repaired(home)
    written = tree(home)
    assert again.maintenance.repair().empty
    assert tree(home) == written
