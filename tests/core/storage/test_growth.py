"""Work grows with what there is and not with its square; counted in the interpreter's steps, no clock is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kits.counted_steps import steps_of
from kits.drafts import draft_over
from kits.memory_files import fact_object, note_object, write_graph, write_nugget

from core import Memory
from core.facts.edits import clear, remember
from core.model.change import PERSON
from core.model.change_parts import change_parts, select_parts
from core.model.draft import Draft
from core.settings import InferenceSettings
from core.storage.format.documents import read_folder
from core.storage.journal.baseline import named_items
from core.storage.merge.merge import rebase
from core.verify import repair

pytestmark = pytest.mark.slow

FEW, TIMES = 40, 4
# Linear work makes four times the steps or fewer, quadratic work sixteen times.
MOST = 6.0


def many_keys(home: Path, count: int) -> None:
    write_nugget(
        home, "memory", (fact_object(f"user:key {number}", f"value {number}") for number in range(count))
    )
    write_graph(home, ())


def one_key(home: Path, count: int) -> None:
    write_nugget(home, "memory", (fact_object("user:key", f"value {number}") for number in range(count)))
    write_graph(home, ())


def one_id(home: Path, count: int) -> None:
    write_graph(home, (note_object(0, content=f"Content {number}") for number in range(count)))


def copies(home: Path, count: int) -> None:
    write_graph(home, (note_object(0) for number in range(count)))


def one_way(home: Path, count: int) -> None:
    link = {"to": note_object(0)["id"], "reason": "related", "createdAt": "2026-01-02T03:04:05.678Z"}
    write_graph(home, [note_object(0), *(note_object(number, links=[link]) for number in range(1, count))])


def _steps(home: Path, make: Callable[[Path, int], None], count: int) -> dict[str, int]:
    """Steps of thinking a repair out, of bringing it onto the files, and of taking it back."""
    make(home, count)
    snapshot = Memory.open(home).snapshot
    draft = draft_over(snapshot)
    found = {"repair": steps_of(lambda: repair(draft))}
    change_set = draft.change_set("repaired", kind="repair")
    assert change_set.size >= min(count, 2) - 1
    after = draft.present()
    inverse = change_set.inverse(id="0", at=change_set.at, author=PERSON, reason="undo")
    again = inverse.inverse(id="1", at=change_set.at, author=PERSON, reason="redo", kind="redo")
    found["rebase"] = steps_of(lambda: rebase(change_set, snapshot))
    found["undo"] = steps_of(lambda: rebase(inverse, after))
    found["redo"] = steps_of(lambda: rebase(again, snapshot))
    numbers = range(1, len(change_parts(change_set)) + 1)
    found["parts"] = steps_of(lambda: select_parts(change_set, numbers))
    document = read_folder(home, InferenceSettings())
    found["seen"] = steps_of(lambda: [named_items(held) for held in document.documents().values()])
    return found


@pytest.mark.parametrize("make", [one_key, one_id, copies])
def test_what_bears_one_name_is_read_and_told_apart_at_a_cost_that_grows_with_its_number(
    tmp_path: Path, make: Callable[[Path, int], None]
) -> None:
    steps = []
    for count in (FEW, FEW * TIMES):
        make(tmp_path / str(count), count)
        memory = Memory.open(tmp_path / str(count))
        read = steps_of(lambda home=memory.home: read_folder(home, InferenceSettings()))
        steps.append((read, steps_of(memory.maintenance.repair)))
    assert all(large < MOST * small for small, large in zip(*steps, strict=True))


def test_a_repair_its_undo_and_redo_grow_with_what_is_mended(tmp_path: Path) -> None:
    small, large = (_steps(tmp_path / str(count), one_way, count) for count in (FEW, FEW * TIMES))
    for name, steps in large.items():
        assert steps < MOST * small[name], name


def _remember_all(draft: Draft, count: int) -> None:
    for number in range(count):
        remember(draft, "memory", f"user:new {number}", "v")


def _clear(draft: Draft, count: int) -> None:
    assert clear(draft, "memory") == count


@pytest.mark.parametrize("edit", [_remember_all, _clear])
def test_facts_are_remembered_and_cleared_at_a_cost_that_grows_with_their_number(
    tmp_path: Path, edit: Callable[[Draft, int], None]
) -> None:
    steps = []
    for count in (FEW, FEW * TIMES):
        many_keys(tmp_path / str(count), count)
        draft = draft_over(Memory.open(tmp_path / str(count)).snapshot)
        steps.append(steps_of(lambda draft=draft, count=count: edit(draft, count)))
    assert steps[1] < MOST * steps[0]


class _Tag(str):
    """A tag that counts how often it is compared."""

    compared = 0
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        _Tag.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_no_note_or_fact_is_looked_at_by_the_garbage_collector(tmp_path: Path) -> None:
    """Of a large memory it took as long as reading: they hold no cycle, and never become part of one."""
    import gc

    write_graph(tmp_path, [note_object(1)])
    write_nugget(tmp_path, "memory", [fact_object("user:key")])
    snapshot = Memory.open(tmp_path).snapshot
    held = (*snapshot.notes, *(fact for nugget in snapshot.nuggets for fact in nugget.facts))
    assert held
    assert not any(map(gc.is_tracked, held))
