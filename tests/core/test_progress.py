"""Long reading tells how far it is, and stopping it changes nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from kits.memory_files import note_object, write_graph

from core.graph.edits import edit_each, edit_note, hide_note
from core.memory import Memory
from core.model.progress import Progress

WORKS: dict[str, Callable[[Memory, Progress], object]] = {
    "index": lambda memory, progress: memory.search.index(progress),
    "verify": lambda memory, progress: memory.maintenance.verify(progress),
    "secrets": lambda memory, progress: memory.secrets.holders(progress),
    "reflect": lambda memory, progress: memory.reflect(dry_run=True, progress=progress),
    "promote": lambda memory, progress: memory.promotion.promote(
        dry_run=True, memory_dir=memory.home, progress=progress
    ),
    "back to a backup": lambda memory, progress: memory.maintenance.restoration(progress=progress),
    "back to a moment": lambda memory, progress: memory.maintenance.going_back(
        memory.history.timeline().at(1), "before", progress=progress
    ),
}
_PROPOSALS = [name for name in WORKS if name not in ("index", "verify", "secrets")]


class Enough(Exception):
    """Somebody stopped it."""


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    notes = [note_object(number, content=f"Word {number} stays.", hits=5) for number in range(1, 60)]
    write_graph(tmp_path, notes)
    memory = Memory.open(tmp_path)
    ids = [note.id for note in memory.snapshot.notes[-20:]]
    # Makes a backup of what was there before, too.
    memory.change("hid some", lambda draft: edit_each(draft, ids, hide_note))
    return memory


@pytest.mark.parametrize("name", WORKS)
def test_what_is_told_grows_within_the_whole(memory: Memory, name: str) -> None:
    told: list[tuple[int, int]] = []
    WORKS[name](memory, lambda done, total: told.append((done, total)))
    # Where nothing is counted, whether to go on is asked all the same.
    counts = [(done, total) for done, total in told if (done, total) != (0, 0)]
    # What differs by a few notes is compared at once.
    assert counts or (told and name == "back to a moment")
    assert all(0 <= done < total for done, total in counts)
    # Each piece of work counts from the beginning.
    assert all(later > sooner or later[0] == 0 for sooner, later in pairwise(counts))


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKS)
def test_stopped_at_any_report_it_leaves_everything_as_it_was(
    memory: Memory, name: str, tmp_path: Path
) -> None:
    told: list[int] = []
    WORKS[name](memory, lambda done, total: told.append(done))
    fresh = Memory.open(tmp_path)
    before, snapshot, entries = _files(tmp_path), fresh.snapshot, fresh.history.log()

    for last in range(len(told)):
        left = iter(range(last))

        def stop(done: int, total: int, left: object = left) -> None:
            if next(left, None) is None:  # type: ignore[call-overload]
                raise Enough

        with pytest.raises(Enough):
            WORKS[name](fresh, stop)
        assert (_files(tmp_path), fresh.snapshot, fresh.history.log()) == (before, snapshot, entries)
    # And it can be done after all.
    assert WORKS[name](fresh, lambda done, total: None) is not None
    if name == "index":
        assert [hit.note.title for hit in fresh.search("word 7")][:1]


@pytest.mark.parametrize("name", _PROPOSALS)
def test_a_write_does_not_wait_for_a_proposal(memory: Memory, name: str) -> None:
    written: list[str] = []

    def write_meanwhile(done: int, total: int) -> None:
        if not written:
            note = memory.snapshot.notes[0]

            def edit() -> None:
                memory.change("meanwhile", lambda draft: edit_note(draft, note.id, content="Meanwhile."))
                written.append(note.id)

            writer = threading.Thread(target=edit)
            writer.start()
            writer.join(20)

    WORKS[name](memory, write_meanwhile)
    assert memory.snapshot.note(written[0]).content == "Meanwhile."


def _files(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.rglob("*.json")}
