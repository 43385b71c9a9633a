"""The process that nobody waits for: it counts the recalls that wait, and makes answers for the next ones."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from typing import Final

from core.memory import Memory
from core.quick_recall import known_files, something_waits, try_again
from core.workspace import open_memory

# So often it begins anew, while recalls go on.
_ROUNDS: Final = 1000
# So often it waits for whoever keeps the memory from being written, and how long.
_TRIES: Final = 20
_PAUSE: Final = 0.25
# After this a file that was written last bears another time than one written now.
_TICK: Final = 0.03


def main(words: Sequence[str]) -> None:
    """words: the number of the handle that holds the lock, the memory's folder, and maybe a question and its nugget."""
    work_alone(int(words[0]), words[1], words[2:], None)


def work_alone(lock: int, home: str, question: Sequence[str], memory: Memory | None) -> None:
    """In a process of its own: leaves all that belongs to the one that began it, and works. memory: opened there, and
    closed.
    """
    with contextlib.suppress(OSError):
        os.setsid()
        sys.path[:] = [os.path.abspath(path) for path in sys.path]
        # No folder is kept from being removed or unmounted.
        os.chdir("/")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    # Somebody may wait for the end of what a handle leads to that was inherited.
    os.closerange(3, lock)
    os.closerange(lock + 1, 1 << 20)
    with contextlib.suppress(Exception):
        _work(lock, home, question, memory)


def _work(lock: int, home: str, question: Sequence[str], memory: Memory | None) -> None:
    asked = [(question[0], question[1] if len(question) > 1 else None)] if question else []
    # Whoever was answered in a hurry was so for these files. Whoever was not may have met others.
    known = () if asked else known_files(home)
    if memory is None:
        memory = open_memory(home, reconcile=None, tolerant=True)
    try:
        if not memory.write_only_while_it_stands(known):
            return
        for _ in range(_ROUNDS):
            counted = any(_counted(memory, turn) for turn in range(_TRIES))
            if not memory.stands:
                return
            _make(memory, asked)
            # Who recalls while this process holds the lock leaves the counting to it.
            if not counted or not try_again(lock, lambda: something_waits(home)):
                return
    finally:
        memory.close()


def _counted(memory: Memory, turn: int) -> bool:
    if turn:
        time.sleep(_PAUSE)
    # A memory that somebody removes is not waited for.
    return not memory.stands or memory.count_waiting()


def _make(memory: Memory, asked: Sequence[tuple[str, str | None]]) -> None:
    from nuggets_tui.cli.recalled import present

    for _ in range(3):
        if memory.keep_answers(present, asked):
            break
    if something_waits(str(memory.home)):
        return
    # Once more, so that no file bears the very time at which it was looked at.
    time.sleep(_TICK)
    memory.keep_answers(present)
