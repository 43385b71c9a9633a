"""The memory at any moment: every state that ever was, in whatever order one asks for them, and the way back to it."""

from __future__ import annotations

import contextlib
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.app_kit import agent_on, small_memory
from kits.laws import examples
from kits.steps import SEQUENCES, Step, make_folder, take_step

from core.errors import ConflictError, NotFoundError
from core.graph.edits import create_note
from core.memory import Memory
from core.model.snapshot import Snapshot
from core.timeline import Timeline, times_in_order

FEW = settings(
    max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def state(snapshot: Snapshot) -> tuple[object, ...]:
    """What a memory holds."""
    return snapshot.notes, [(nugget.name, nugget.facts) for nugget in snapshot.nuggets]


def live(memory: Memory, steps: list[Step]) -> list[tuple[str, tuple[object, ...]]]:
    """Takes steps, one change and one undo at times; each state with the time of the entry that led to it."""
    states = []
    for number, step in enumerate(steps):
        done = take_step(memory, step)
        if done is not None and number % 4 == 3:
            with contextlib.suppress(ConflictError):
                done = memory.history.undo(done)
        newest = memory.history.log(limit=1)
        if done is not None and not done.empty and newest:
            states.append((newest[0].change_set.at, state(memory.snapshot)))
    return states


@pytest.mark.slow
@FEW
@given(steps=SEQUENCES, data=st.data())
def test_every_state_that_ever_was_is_there_at_its_time(steps: list[Step], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        memory = make_folder(Path(name))
        begin = state(memory.snapshot)
        # Recalls that follow each other are one entry with the time of the last.
        states = dict(live(memory, [step for step in steps if step[0] != "hit"]))
        if not states:
            return
        timeline = memory.history.timeline()
        for at in data.draw(st.permutations(list(states))):
            assert state(timeline.at(timeline.position_at(at))) == states[at]
        assert state(timeline.at(len(timeline))) == begin
        assert state(timeline.at(0)) == state(memory.snapshot)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A small memory with one entry in its log."""
    return small_memory(tmp_path / "memory")


def test_a_time_before_the_log_is_refused_with_how_far_it_reaches(memory: Memory) -> None:
    with pytest.raises(NotFoundError) as caught:
        memory.history.timeline().position_at("2001-01-01T00:00:00.000Z")
    assert memory.history.timeline().reach in caught.value.todo


def test_a_person_stops_at_changes_and_passes_over_recalls(memory: Memory) -> None:
    agent = agent_on(memory.home)
    agent.recall("test command", session="one")
    memory.change("added", partial(create_note, nugget="project", title="Later", content="x"))
    agent.recall("deploy command", session="two")
    timeline = memory.history.timeline()
    assert [mark.recall for mark in timeline.marks] == [True, False, True, False]
    assert timeline.stops == [0, 1, 3, 4]
    assert [timeline.earlier(position) for position in (0, 1, 2, 3, 4)] == [1, 3, 3, 4, 4]
    assert [timeline.later(position) for position in (4, 3, 2, 1, 0)] == [3, 1, 1, 0, 0]
    assert [timeline.changes_after(position) for position in range(5)] == [0, 0, 1, 1, 2]


def test_an_entry_that_cannot_be_read_is_passed_over(memory: Memory) -> None:
    memory.change("added", partial(create_note, nugget="project", title="Later", content="x"))
    journal = memory.store.journal
    assert journal is not None
    with journal.transaction() as connection:
        connection.execute("UPDATE entry SET body = x'78ff' WHERE seq = 2")
    timeline = memory.history.timeline()
    assert "Later" in [note.title for note in timeline.at(1).notes]


@pytest.mark.slow
def test_states_asked_for_at_once_by_several_threads_are_the_same(memory: Memory) -> None:
    from concurrent.futures import ThreadPoolExecutor

    for title in "abcdef":
        memory.change(f"added {title}", partial(create_note, nugget="project", title=title, content="x"))
    timeline: Timeline = memory.history.timeline()
    positions = [*range(len(timeline) + 1)] * 8
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(timeline.at, positions))
    for position, snapshot in zip(positions, found, strict=True):
        assert state(snapshot) == state(timeline.at(position))


# Where a clock was wrong

A, B, C, D = (f"2026-11-23T0{hour}:00:00.000Z" for hour in range(1, 5))
PAST, FUTURE = "1998-01-01T00:00:00.000Z", "2036-01-01T00:00:00.000Z"
EARLIER = "2026-11-23T00:59:30.000Z"


@given(st.lists(st.sampled_from([A, B, C, D, PAST, FUTURE, EARLIER, "no time"]), max_size=12))
def test_times_never_go_back_and_each_is_one_that_was_given(times: list[str]) -> None:
    made = times_in_order(times, D)
    assert made == sorted(made)
    assert len(made) == len(times)
    assert set(made) <= set(times)
