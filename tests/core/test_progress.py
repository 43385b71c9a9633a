"""Long reading tells how far it is, and stopping it changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from memory_files import note_object, write_graph

from core.memory import Memory
from core.model.progress import Progress, counted

WORKS: dict[str, Callable[[Memory, Progress], object]] = {
    "index": lambda memory, progress: memory.index(progress),
    "verify": lambda memory, progress: memory.verify(progress),
    "secrets": lambda memory, progress: memory.secrets(progress),
    "reflect": lambda memory, progress: memory.reflect(dry_run=True, progress=progress),
}


class Enough(Exception):
    """Somebody stopped it."""


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    write_graph(tmp_path, [note_object(number, content=f"Word {number} stays.") for number in range(1, 60)])
    return Memory.open(tmp_path)


@pytest.mark.parametrize("name", WORKS)
def test_what_is_told_grows_within_the_whole(memory: Memory, name: str) -> None:
    told: list[tuple[int, int]] = []
    WORKS[name](memory, lambda done, total: told.append((done, total)))
    assert told
    assert all(0 <= done < total for done, total in told)
    if len({total for _, total in told}) == 1 and name != "reflect":
        assert told == sorted(told)


@pytest.mark.parametrize("name", WORKS)
def test_stopped_at_any_report_it_leaves_everything_as_it_was(
    memory: Memory, name: str, tmp_path: Path
) -> None:
    told: list[int] = []
    WORKS[name](memory, lambda done, total: told.append(done))
    fresh = Memory.open(tmp_path)
    before, snapshot, entries = _files(tmp_path), fresh.snapshot, fresh.log()

    for last in range(len(told)):
        left = iter(range(last))

        def stop(done: int, total: int, left: object = left) -> None:
            if next(left, None) is None:  # type: ignore[call-overload]
                raise Enough

        with pytest.raises(Enough):
            WORKS[name](fresh, stop)
        assert (_files(tmp_path), fresh.snapshot, fresh.log()) == (before, snapshot, entries)
    # And it can be done after all.
    assert WORKS[name](fresh, lambda done, total: None) is not None
    if name == "index":
        assert [hit.note.title for hit in fresh.search("word 7")][:1]


def test_a_write_does_not_wait_for_a_proposal(memory: Memory) -> None:
    written: list[str] = []

    def write_meanwhile(done: int, total: int) -> None:
        if not written:
            note = memory.snapshot.notes[0]
            import threading

            from core.graph.edits import edit_note

            def edit() -> None:
                memory.change("meanwhile", lambda draft: edit_note(draft, note.id, content="Meanwhile."))
                written.append(note.id)

            writer = threading.Thread(target=edit)
            writer.start()
            writer.join(20)

    memory.reflect(dry_run=True, progress=write_meanwhile)
    assert memory.snapshot.note(written[0]).content == "Meanwhile."


def test_every_item_goes_by_whether_or_not_anybody_is_told() -> None:
    told: list[tuple[int, int]] = []
    assert list(counted(range(40), None)) == list(range(40))
    assert list(counted(range(40), lambda done, total: told.append((done, total)))) == list(range(40))
    assert told == [(0, 40), (16, 40), (32, 40)]


def _files(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.rglob("*.json")}
