"""What could not be read: each thing with the reason, where its bytes are kept, and the bytes themselves."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.model.snapshot import Problem

if TYPE_CHECKING:
    from core.memory import Memory, Record

_SHOWN_BYTES: Final = 20_000


@dataclass(frozen=True)
class Unreadable:
    """One thing that could not be read. `kept`: the file with its exact bytes, `at` since when; None when the bytes
    stand in their own file alone. `data`: their beginning; `size`: how many there are.
    """

    problem: Problem
    kept: Path | None = None
    at: str = ""
    data: bytes = b""
    size: int = 0

    @property
    def path(self) -> Path:
        """The memory's file that it stands in."""
        return Path(self.problem.file or self.problem.where)

    @property
    def place(self) -> str:
        """Where in its file it stands, in words; the file's name when it is the whole file."""
        name = self.path.name
        return f"{name}: {self.problem.place}" if self.problem.place else name

    @property
    def whole(self) -> bool:
        """Whether nothing of the file can be read."""
        return not self.problem.kind.of_an_item


def unreadable(memory: Memory) -> tuple[Unreadable, ...]:
    """Everything that cannot be read at present, in the order of the files."""
    records = memory.set_aside()
    return tuple(
        _with_bytes(problem, _record_of(problem, records, memory.home))
        for problem in memory.snapshot.problems
    )


def _record_of(problem: Problem, records: tuple[Record, ...], home: Path) -> Record | None:
    for record in records:
        same_file = os.path.normpath(home / record.file) == os.path.normpath(problem.file)
        if same_file and (record.where == problem.where if problem.kind.of_an_item else record.whole):
            return record
    return None


def _with_bytes(problem: Problem, record: Record | None) -> Unreadable:
    if record is not None:
        return Unreadable(problem, record.path, record.at, _beginning(record.path), record.size)
    path = Path(problem.file or problem.where)
    if problem.kind.of_an_item:
        return Unreadable(problem)
    return Unreadable(problem, None, "", _beginning(path), _size(path))


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_SHOWN_BYTES)
    except OSError:
        return b""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
