"""What an edit costs does not grow with the log: neither in the database nor in the memory of a process."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from kits.beside import edit_text
from kits.memory_files import note_object, write_graph

from core import Memory
from core.storage.journal.journal import Journal

pytestmark = pytest.mark.slow

_ENTRY = (
    "INSERT INTO entry (id, at, author_kind, author_name, kind, reason, about, made_by, state, body, size) "
    "VALUES (?, '2026-01-01T00:00:00.000Z', 'person', '', ?, 'r', ?, 'person', ?, ?, 2)"
)
_BODY = b'{"id": "x", "at": "", "author": {"kind": "person"}, "reason": "r"}'
_READS: dict[str, Callable[[Journal], object]] = {
    "pending_count": Journal.pending_count,
    "pending": Journal.pending,
    "last_seq": lambda journal: journal.last_seq,
    "undone": Journal.undone,
    "conflicts": lambda journal: journal.entries(state="conflict"),
}


def _journal(path: Path, count: int) -> Journal:
    """A journal with so many entries, all of one note, a few of which are taken back."""
    path.mkdir()
    journal = Journal(path)
    with journal.transaction() as connection:
        for number in range(count):
            connection.execute(_ENTRY, (f"{number:08x}", "edit", "", "done", _BODY))
            connection.execute("INSERT INTO touched (item, seq) VALUES ('n one', ?)", (number + 1,))
        for number in range(5):
            connection.execute(_ENTRY, (f"u{number}", "undo", f"{number:08x}", "done", _BODY))
    return journal


def _database_steps(journal: Journal, read: Callable[[Journal], object]) -> int:
    """How many steps SQLite takes for a call."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    journal.connect().set_progress_handler(step, 1)
    read(journal)
    journal.connect().set_progress_handler(None, 0)
    return count


@pytest.mark.parametrize("what", _READS)
def test_what_each_edit_asks_of_the_log_takes_as_many_steps_however_long_it_is(
    tmp_path: Path, what: str
) -> None:
    short, long = (_journal(tmp_path / str(count), count) for count in (300, 3000))
    few = _database_steps(short, _READS[what])
    assert _database_steps(long, _READS[what]) <= few * 1.1 + 20
    for journal in (short, long):
        journal.close()


def test_a_turn_that_another_process_puts_into_the_log_is_seen(tmp_path: Path) -> None:
    journal = _journal(tmp_path / "log", 10)
    assert journal.undone() == {f"{number:08x}" for number in range(5)}
    with journal.transaction() as connection:
        connection.execute(_ENTRY, ("p", "undo", "00000007", "pending", _BODY))
        connection.execute(_ENTRY, ("q", "edit", "", "done", _BODY))
    assert "00000007" not in journal.undone()
    with journal.transaction() as connection:
        connection.execute("UPDATE entry SET state = 'done' WHERE id = 'p'")
    assert "00000007" in journal.undone()
    with journal.transaction() as connection:
        connection.execute(_ENTRY, ("r", "redo", "00000007", "done", _BODY))
    assert "00000007" not in journal.undone()
    journal.close()


def test_edits_in_one_process_do_not_make_it_grow(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(1)])
    memory = Memory.open(tmp_path)
    for turn in range(20):
        edit_text(memory, f"Turn {turn}. " + "word " * 400)
    tracemalloc.start()
    try:
        edit_text(memory, "First. " + "word " * 400)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for turn in range(40):
            edit_text(memory, f"Again {turn}. " + "word " * 400)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    # Each of these change sets holds 4 kB of text.
    assert grown < 40_000
    assert len(memory.history.log()) == 61
