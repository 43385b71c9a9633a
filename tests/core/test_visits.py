"""When a person looked at a memory last is kept in the log, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from kits.memory_files import tree

from core.facts.edits import remember
from core.memory import Memory


def at(day: int) -> Callable[[], datetime]:
    return lambda: datetime(2026, 11, day, tzinfo=UTC)


def files(home: Path) -> dict[str, object]:
    return {name: data for name, data in tree(home).items() if not name.startswith("nuggets.db")}


def test_a_visit_is_remembered_and_changes_no_file_of_the_memory(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, clock=at(1))
    memory.change("wrote", lambda draft: remember(draft, "memory", "kettle", "boils"))
    before = files(tmp_path)
    assert memory.visited() is None
    assert Memory.open(tmp_path, clock=at(2)).visited() == "2026-11-01T00:00:00.000Z"
    assert Memory.open(tmp_path, clock=at(3)).visited() == "2026-11-02T00:00:00.000Z"
    assert files(tmp_path) == before


def test_looking_at_a_folder_without_a_memory_makes_nothing(tmp_path: Path) -> None:
    assert Memory.open(tmp_path / "none").visited() is None
    assert not (tmp_path / "none").exists()
