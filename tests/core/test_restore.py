"""Going back: the memory, or one note of it, becomes what it was, and going back can be taken back."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.drafts import make_fact_note, make_note
from kits.laws import examples
from kits.memory_files import fact_object, tree, write_graph, write_nugget
from kits.steps import SEQUENCES, Step, assert_facts_and_notes_are_one, make_folder, take_step

from core import Memory
from core.errors import BrokenFileError, ConflictError, InvalidInputError, NotFoundError
from core.facts.edits import remember
from core.graph.edits import delete_note
from core.model.change import PERSON, ChangeSet
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.restore import restoration

AT = "2026-05-05T12:00:00.000Z"
FEW = settings(max_examples=examples(25))


def _back(current: Snapshot, wanted: Snapshot, note: str | None = None) -> ChangeSet:
    return restoration(current, wanted, note=note, id="back", at=AT, author=PERSON, reason="went back")


def _facts(snapshot: Snapshot) -> dict[str, dict[str, Fact]]:
    """Facts by nugget and key; nuggets without facts do not count."""
    return {n.name: {fact.key: fact for fact in n.facts} for n in snapshot.nuggets if n.facts}


def _memory(*notes: Note, facts: dict[str, str] | None = None, **more: Any) -> Snapshot:
    nuggets = () if facts is None else (_nugget(facts),)
    return Snapshot(**({"notes": notes, "nuggets": nuggets} | more))


def _nugget(values: dict[str, str], name: str = "memory", **more: Any) -> Nugget:
    facts = tuple(Fact(key=key, value=value) for key, value in values.items())
    return Nugget(**({"meta": NuggetMeta(name=name), "facts": facts, "file": f"{name}.nugget.json"} | more))


def _take(memory: Memory, steps: list[Step]) -> list[tuple[ChangeSet, Snapshot]]:
    """Each applied change set with the snapshot before it."""
    done = []
    for step in steps:
        before = memory.snapshot
        change_set = take_step(memory, step)
        if change_set is not None and not change_set.empty:
            done.append((change_set, before))
    return done


def _two_moments(memory: Memory, before: list[Step], since: list[Step]) -> tuple[Snapshot, Snapshot]:
    """The memory after the former steps, and after the later ones too."""
    _take(memory, before)
    wanted = memory.snapshot
    _take(memory, since)
    return wanted, memory.snapshot


# The laws


@pytest.mark.slow
@FEW
@given(before=SEQUENCES, since=SEQUENCES)
def test_going_back_gives_the_memory_as_it_was_and_taking_that_back_the_one_before(
    before: list[Step], since: list[Step]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        memory = make_folder(Path(name))
        wanted, newest = _two_moments(memory, before, since)
        change_set = _back(newest, wanted)
        applied = memory.apply(change_set)
        assert dict(memory.snapshot.by_id) == dict(wanted.by_id)
        assert _facts(memory.snapshot) == _facts(wanted)
        assert_facts_and_notes_are_one(memory.snapshot)
        assert _back(memory.snapshot, wanted).empty
        memory.history.undo(applied)
        assert memory.snapshot.notes == newest.notes
        assert _facts(memory.snapshot) == _facts(newest)


@pytest.mark.slow
@FEW
@given(before=SEQUENCES, since=SEQUENCES, data=st.data())
def test_one_note_comes_back_as_it_was_and_everything_else_stays_sound(
    before: list[Step], since: list[Step], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as name:
        memory = make_folder(Path(name))
        wanted, newest = _two_moments(memory, before, since)
        if not wanted.notes:
            return
        former = data.draw(st.sampled_from(wanted.notes))
        try:
            change_set = _back(newest, wanted, former.id)
        except ConflictError:
            return
        applied = memory.apply(change_set)
        found = memory.snapshot.note(former.id)
        linked = {link.to for link in former.links}
        assert {(link.to, link.reason) for link in found.links} == {
            (link.to, link.reason) for link in former.links if link.to in memory.snapshot.by_id
        }
        for other in memory.snapshot.notes:
            if other.id != former.id:
                plain = {"links": (), "vector": found.vector}
                assert replace(other, **plain) == replace(newest.note(other.id), **plain)
            assert all(link.to in memory.snapshot.by_id for link in other.links)
            assert (other.id in linked and other.id in newest.by_id) == any(
                link.to == former.id for link in other.links
            ) or other.id == former.id
        # Recalls since then may stay: see the tests of recalls below.
        recalls = {name: getattr(former, name) for name in ("hits", "last_hit_session", "last_accessed_at")}
        assert replace(found, links=(), vector=former.vector, **recalls) == replace(former, links=())
        assert_facts_and_notes_are_one(memory.snapshot)
        memory.history.undo(applied)
        assert memory.snapshot.notes == newest.notes
        assert _facts(memory.snapshot) == _facts(newest)


# All of it


def test_a_nugget_that_came_since_keeps_its_file_without_facts(tmp_path: Path) -> None:
    write_graph(tmp_path, [])
    memory = Memory.open(tmp_path)
    wanted = memory.snapshot
    path = write_nugget(tmp_path, "later", [fact_object("a")], unknown={"kept": 1})
    memory.refresh()
    applied = memory.apply(_back(memory.snapshot, wanted))
    assert b'"unknown":{"kept":1}' in path.read_bytes()
    assert not memory.snapshot.nugget("later").facts
    memory.history.undo(applied)
    assert [fact.key for fact in memory.snapshot.nugget("later").facts] == ["a"]


def test_what_cannot_be_read_then_or_now_is_left_alone() -> None:
    mirror = make_fact_note(1, "a", "1")
    note, other = make_note(2), make_note(3)
    whole = _memory(mirror, note, facts={"a": "1"})
    broken = _memory(nuggets=(_nugget({}, problem="cut off"),), set_aside=frozenset({note.id}))
    for current, wanted in ((broken, whole), (whole, broken)):
        found = _back(current, wanted)
        assert found.notes == found.facts == ()
    renamed = _nugget({"a": "1"}, name="mine", file="memory.nugget.json")
    found = _back(_memory(other, nuggets=(renamed,)), broken)
    assert found.facts == ()
    assert [change.id for change in found.notes] == [other.id]


def test_a_nugget_that_no_file_can_be_named_after_does_not_hold_up_the_rest() -> None:
    bad = _nugget({"a": "1"}, name="../evil")
    found = _back(Snapshot(), Snapshot(notes=(make_note(1),), nuggets=(bad, _nugget({"b": "2"}))))
    assert [change.nugget for change in found.facts] == ["memory"]
    assert len(found.notes) == 1
    assert "'../evil'" in found.reason


# One note


def _edited(memory: Memory, edit: Any) -> Snapshot:
    memory.change("edit", edit)
    return memory.snapshot


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return make_folder(tmp_path)


A, B, C = (f"fact-memory-{number:08x}" for number in (0x10, 0x11, 0x12))
ONE, TWO = (f"note-memory-{number:08x}" for number in (1, 2))


def test_a_key_that_was_stored_anew_is_not_overwritten(memory: Memory) -> None:
    wanted = memory.snapshot
    _edited(memory, lambda draft: (delete_note(draft, B), remember(draft, "memory", "b", "another")))
    before = tree(memory.home)
    with pytest.raises(ConflictError, match="has a new fact") as caught:
        _back(memory.snapshot, wanted, B)
    assert (caught.value.ours, caught.value.theirs) == ("b", "another")
    assert tree(memory.home) == before


def test_a_note_that_was_not_there_or_cannot_be_read_is_named() -> None:
    note, mirror = make_note(1), make_fact_note(2, "a", "1")
    with pytest.raises(NotFoundError, match="did not exist"):
        _back(_memory(note), Snapshot(), note.id)
    for current, wanted in ((_memory(note), Snapshot(set_aside=frozenset({note.id}))),
                            (Snapshot(set_aside=frozenset({note.id})), _memory(note))):  # fmt: skip
        with pytest.raises(BrokenFileError, match="cannot be read"):
            _back(current, wanted, note.id)
    closed = _memory(nuggets=(_nugget({}, problem="cut off"),))
    with pytest.raises(BrokenFileError, match="fact file cannot be read"):
        _back(closed, _memory(mirror, facts={"a": "1"}), mirror.id)
    evil = replace(mirror, nugget_name="../evil")
    with pytest.raises(InvalidInputError):
        _back(Snapshot(), _memory(evil, nuggets=(_nugget({"a": "1"}, name="../evil"),)), evil.id)


# Recalls


def test_a_note_that_comes_back_keeps_what_it_was_recalled_since() -> None:
    then = make_note(1, content="old", hits=1)
    now = replace(then, content="new", hits=7, last_hit_session="late")
    (change,) = _back(_memory(now), _memory(then), then.id).notes
    assert change.after is not None
    assert (change.after.content, change.after.hits, change.after.last_hit_session) == ("old", 7, "late")


def test_a_change_made_while_the_clock_stood_in_the_past_begins_no_log(tmp_path: Path) -> None:
    clock = [datetime(2026, 11, 23, 12, tzinfo=UTC)]
    memory = Memory.open(tmp_path, clock=lambda: clock[0])
    memory.change("first", lambda draft: remember(draft, "m", "first", "1"))
    clock[0] = datetime(1998, 1, 1, tzinfo=UTC)
    memory.change("past", lambda draft: remember(draft, "m", "past", "2"))
    clock[0] = datetime(2026, 11, 23, 14, tzinfo=UTC)
    memory.change("later", lambda draft: remember(draft, "m", "later", "3"))
    timeline = memory.history.timeline()
    for moment in ("1999-01-01T00:00:00.000Z", "2026-11-23T11:00:00.000Z"):
        with pytest.raises(NotFoundError):
            timeline.position_at(moment)
    there = timeline.at(timeline.position_at("2026-11-23T13:00:00.000Z"))
    assert [fact.key for fact in there.nugget("m").facts] == ["first", "past"]


def test_a_change_made_while_the_clock_stood_in_the_future_is_not_taken_back_for_that(tmp_path: Path) -> None:
    clock = [datetime(2026, 11, 23, 12, tzinfo=UTC)]
    memory = Memory.open(tmp_path, clock=lambda: clock[0])
    memory.change("first", lambda draft: remember(draft, "m", "first", "1"))
    clock[0] = datetime(2036, 1, 1, tzinfo=UTC)
    memory.change("future", lambda draft: remember(draft, "m", "future", "2"))
    clock[0] = datetime(2026, 11, 23, 14, tzinfo=UTC)
    assert memory.maintenance.restoration("2026-11-23T13:59:59Z").empty
