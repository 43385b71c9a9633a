"""What a call asks the disk and the ledger: opened files, looks at files and folders, and statements."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from core import Memory

_HEARD: Final = ("open", "os.scandir", "os.listdir")
_listening: list[list[tuple[str, str]]] = []
_installed: list[bool] = []


def _hear(event: str, given: tuple[Any, ...]) -> None:
    if _listening and event in _HEARD:
        _listening[-1].append((event, str(given[0])))


@contextmanager
def disk_calls() -> Iterator[list[tuple[str, str]]]:
    """Within this, every opening of a file, listing of a folder and look at a path, each with its path."""
    if not _installed:
        # It cannot be taken out again, and hears nothing while nobody listens.
        sys.addaudithook(_hear)
        _installed.append(True)
    calls: list[tuple[str, str]] = []
    plain = os.stat

    def stat(path: Any, *given: Any, **named: Any) -> Any:
        calls.append(("stat", str(path)))
        return plain(path, *given, **named)

    _listening.append(calls)
    os.stat = stat  # type: ignore[assignment]
    try:
        yield calls
    finally:
        os.stat = plain
        _listening.pop()


def statements_of(memory: Memory, call: Callable[[], object]) -> list[str]:
    """The statements that a call has the memory's journal carry out."""
    found: list[str] = []
    journal = memory.store.journal
    assert journal is not None
    journal.connect().set_trace_callback(lambda said: found.append(" ".join(said.split())))
    try:
        call()
    finally:
        journal.connect().set_trace_callback(None)
    assert memory.store.journal is journal
    return found


def looks_at(calls: list[tuple[str, str]], kind: str, path: Path) -> int:
    """How often a path was asked for so."""
    return calls.count((kind, str(path)))
