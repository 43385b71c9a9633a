"""Two programs that think at the same time and write one after the other: conflicts write nothing, the rest holds."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.laws import examples
from kits.memory_files import tree
from kits.steps import (
    SEQUENCES,
    STEPS,
    Step,
    assert_facts_and_notes_are_one,
    assert_touched_notes_are_sound,
    make_folder,
)

from core import Memory
from core.errors import ConflictError, NuggetsError
from core.model.change import ChangeSet

pytestmark = pytest.mark.slow

TAKES_NOTES_AWAY = {"delete", "delete two"}


def _drafted(memory: Memory, step: Step) -> ChangeSet | None:
    """A step thought out on whatever the program last saw."""
    kind, one, two, word = step
    notes = memory.snapshot.notes
    if not notes:
        return None
    draft = memory.draft()
    try:
        STEPS[kind](draft, notes[one % len(notes)].id, notes[two % len(notes)].id, word)
    except NuggetsError:
        return None
    return draft.change_set(kind, kind="hit" if kind == "hit" else "edit")


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ours=SEQUENCES, theirs=SEQUENCES, turns=st.lists(st.booleans(), min_size=20, max_size=20))
def test_two_programs_with_old_snapshots_keep_facts_and_notes_one(
    ours: list[Step], theirs: list[Step], turns: list[bool]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        first = make_folder(Path(name))
        second = Memory.open(first.home, ids=_other_ids())
        waiting = {first: list(ours), second: list(theirs)}
        drafts: dict[Memory, ChangeSet] = {}
        for turn in turns:
            memory = first if turn else second
            # One turn thinks, the next one writes; the other program may write in between.
            change_set = drafts.pop(memory, None)
            if change_set is None:
                thought = _drafted(memory, waiting[memory].pop(0)) if waiting[memory] else None
                if thought is not None:
                    drafts[memory] = thought
                continue
            _applied(memory, change_set)


def _other_ids() -> Callable[[], str]:
    numbers = iter(range(0xB0000000, 0xC0000000))
    return lambda: f"{next(numbers):08x}"


def _applied(memory: Memory, change_set: ChangeSet) -> None:
    files = tree(memory.home)
    before = {note.id for note in Memory.open(memory.home).snapshot.notes}
    try:
        done = memory.apply(change_set)
    except ConflictError:
        assert tree(memory.home) == files
        memory.refresh()
        return
    now = Memory.open(memory.home).snapshot
    if not done.empty:
        assert memory.snapshot.notes == now.notes
        assert memory.snapshot.nuggets == now.nuggets
        assert_touched_notes_are_sound(now, done)
    assert_facts_and_notes_are_one(now)
    if change_set.reason not in TAKES_NOTES_AWAY:
        assert before <= {note.id for note in now.notes}
    assert memory.apply(done).empty


def _both(home: Path, ours: Step, theirs: Step) -> tuple[Memory, ChangeSet]:
    """A change set thought out before another program took a step of its own."""
    first = make_folder(home)
    second = Memory.open(home, ids=_other_ids())
    change_set = _drafted(first, ours)
    assert change_set is not None
    thought = _drafted(second, theirs)
    assert thought is not None
    second.apply(thought)
    return first, change_set


def test_a_link_made_meanwhile_to_a_note_that_goes_does_not_dangle(tmp_path: Path) -> None:
    memory, change_set = _both(tmp_path, ("delete", 0, 0, "a"), ("link", 0, 1, "a"))
    done = memory.apply(change_set)
    assert memory.snapshot.notes[0].links == ()
    memory.history.undo(done)
    assert [link.to for link in memory.snapshot.notes[1].links] == [memory.snapshot.notes[0].id]


@pytest.mark.parametrize(("ours", "theirs"), [
    (("rename away", 2, 0, "a"), ("forget, remember", 0, 0, "a")),
    (("rename away", 0, 0, "a"), ("rename away", 2, 0, "a")),
    (("content", 2, 0, "a"), ("title", 2, 0, "e")),
    (("content", 2, 0, "a"), ("hide", 2, 0, "a")),
    (("forget", 0, 0, "a"), ("forget, remember", 0, 0, "a")),
])  # fmt: skip
def test_a_fact_that_became_another_one_meanwhile_is_a_conflict(
    tmp_path: Path, ours: Step, theirs: Step
) -> None:
    memory, change_set = _both(tmp_path, ours, theirs)
    before = tree(tmp_path)
    with pytest.raises(ConflictError):
        memory.apply(change_set)
    assert tree(tmp_path) == before
