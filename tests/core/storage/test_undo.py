"""Any sequence of edits: facts and notes stay one thing, every step repeats without effect, and all is taken back."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from kits.laws import examples
from kits.steps import (
    SEQUENCES,
    STEPS,
    Step,
    assert_facts_and_notes_are_one,
    make_folder,
    take_step,
)

from core import Memory
from core.errors import NuggetsError
from core.model.draft import Draft

pytestmark = pytest.mark.slow


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
