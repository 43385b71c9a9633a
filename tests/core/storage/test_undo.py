"""Any sequence of edits: facts and notes stay one thing, every step repeats without effect, and all is taken back."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from kits.laws import examples
from kits.memory_files import tree
from kits.steps import (
    SEQUENCES,
    STEPS,
    Step,
    assert_facts_and_notes_are_one,
    assert_touched_notes_are_sound,
    make_folder,
    take_step,
)

from core import Memory
from core.errors import NuggetsError
from core.graph.edits import hide_note, link_notes
from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.snapshot import Snapshot

pytestmark = pytest.mark.slow


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=SEQUENCES)
def test_facts_and_notes_stay_one_and_all_is_taken_back(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as name:
        memory = make_folder(Path(name))
        done: list[tuple[ChangeSet, Snapshot, dict[str, bytes]]] = []
        for step in steps:
            before, files = memory.snapshot, tree(memory.home)
            change_set = take_step(memory, step)
            if change_set is None or change_set.empty:
                assert tree(memory.home) == files
                continue
            done.append((change_set, before, files))
            assert_facts_and_notes_are_one(memory.snapshot)
            assert_touched_notes_are_sound(memory.snapshot, change_set)
            assert Memory.open(memory.home).snapshot.notes == memory.snapshot.notes
            assert Memory.open(memory.home).snapshot.nuggets == memory.snapshot.nuggets
            assert memory.apply(change_set).empty
        for change_set, before, files in reversed(done):
            memory.history.undo(change_set)
            assert memory.snapshot.notes == before.notes
            assert memory.snapshot.nuggets == before.nuggets
            assert tree(memory.home).keys() == files.keys()
        assert Memory.open(memory.home).snapshot.notes == memory.snapshot.notes


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=SEQUENCES)
def test_what_was_taken_back_can_be_done_again(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as name:
        memory = make_folder(Path(name))
        for step in steps:
            change_set = take_step(memory, step)
            if change_set is None or change_set.empty:
                continue
            after = memory.snapshot
            undone = memory.history.undo(change_set)
            memory.history.undo(undone)
            assert memory.snapshot.notes == after.notes
            assert memory.snapshot.nuggets == after.nuggets


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=SEQUENCES)
def test_many_edits_in_one_change_set_are_as_good_as_one_after_the_other(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        single, several = make_folder(Path(one)), make_folder(Path(other))
        before = single.snapshot
        for step in steps:
            several.change("step", lambda draft, step=step: _quietly(draft, step))

        def all_of_them(draft: Draft) -> None:
            for step in steps:
                _quietly(draft, step)

        _, done = single.change("all", all_of_them)
        assert_facts_and_notes_are_one(single.snapshot)
        assert _facts(single) == _facts(several)
        assert [(n.title, n.content, n.hidden) for n in single.snapshot.notes] == [
            (n.title, n.content, n.hidden) for n in several.snapshot.notes
        ]
        single.history.undo(done)
        assert single.snapshot.notes == before.notes
        assert single.snapshot.nuggets == before.nuggets


def _quietly(draft: Draft, step: Step) -> None:
    kind, one, two, word = step
    notes = list(draft.notes())
    if kind == "hit" or not notes:
        return
    try:
        STEPS[kind](draft, notes[one % len(notes)].id, notes[two % len(notes)].id, word)
    except NuggetsError:
        if kind in ("hide and unhide", "swap", "delete two", "rename away", "forget, remember", "merge"):
            return


def _facts(memory: Memory) -> object:
    return [
        (nugget.name, sorted((f.key, f.value) for f in nugget.facts)) for nugget in memory.snapshot.nuggets
    ]


@pytest.mark.parametrize("kind", STEPS)
def test_every_kind_of_step_does_something_here(tmp_path: Path, kind: str) -> None:
    memory = make_folder(tmp_path)
    if kind in ("unhide", "unlink", "swap"):
        memory.change("first", lambda draft: (link_notes(draft, "fact-memory-00000010", "fact-memory-00000011"),
                                              hide_note(draft, "fact-memory-00000011"),
                                              hide_note(draft, "fact-memory-00000013")))  # fmt: skip
    change_set = take_step(memory, (kind, {"unhide": 3, "title": 0}.get(kind, 2), 3, "b"))
    assert change_set is not None
    assert not change_set.empty
