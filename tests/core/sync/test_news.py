"""`is:new` lists what a sync brought since it came in here, whenever it was written on the other machine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from kits.synced import Machine, titled

from core import Memory
from core.graph.edits import create_note
from core.model.note import replace

pytestmark = pytest.mark.slow

_BEGUN = datetime(2031, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that both machines read."""

    def __init__(self) -> None:
        self.now = _BEGUN

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: int) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def clocked(pair: tuple[Machine, Machine]) -> tuple[Machine, Machine, Clock]:
    clock = Clock()
    for machine in pair:
        machine.memory.close()
        machine.memory = Memory.open(machine.home, clock=clock)
    return *pair, clock


def _new(memory: Memory, since: str | None) -> set[str]:
    return {hit.note.title for hit in memory.search("is:new", 20, new_since=since)}


def test_an_edit_that_arrives_after_a_visit_is_new_though_it_was_made_before(
    clocked: tuple[Machine, Machine, Clock],
) -> None:
    laptop, desk, clock = clocked
    desk.memory.change("add", lambda draft: create_note(draft, "web", "Early", "written early"))
    desk.sync()
    clock.pass_days(5)
    laptop.memory.visited()
    clock.pass_days(1)
    last = laptop.memory.visited()
    assert _new(laptop.memory, last) == set()
    clock.pass_days(1)
    laptop.sync()
    assert _new(laptop.memory, last) == {"Early"}
    # On the machine that wrote it, it is as old as it is.
    assert _new(desk.memory, last) == set()
    # After a visit that saw it, it is news no more.
    clock.pass_days(1)
    laptop.memory.visited()
    clock.pass_days(1)
    assert _new(laptop.memory, laptop.memory.visited()) == set()


def test_recalls_that_arrive_are_no_news(clocked: tuple[Machine, Machine, Clock]) -> None:
    laptop, desk, clock = clocked
    note = titled(desk.memory, "Deploy")
    desk.memory.change("count", lambda draft: draft.put(replace(note, hits=4)), kind="hit")
    desk.sync()
    clock.pass_days(5)
    last = clock.now.isoformat().replace("+00:00", "Z")
    clock.pass_days(1)
    assert laptop.sync().came_in == 1
    assert _new(laptop.memory, last) == set()
