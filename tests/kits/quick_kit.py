"""For recalls that do not open the memory: answers made ahead in this process, and asked as the process does."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from core.quick_recall import QuickAnswer, quick_answer
from core.storage.cache import answers
from core.user_folders import cache_folder
from core.workspace import open_memory
from nuggets_tui.cli.recalled import present


def make_ahead(home: Path, asked: Iterable[tuple[str, str | None]] = ()) -> bool:
    """What the process that nobody waits for does; whether the answers are kept."""
    memory = open_memory(home, reconcile=False, tolerant=True)
    try:
        return memory.keep_answers(present, asked)
    finally:
        memory.close()


def quick(home: Path, query: str, nugget: str | None = None) -> QuickAnswer | None:
    """The answer that was made ahead, if there is one for sure."""
    return quick_answer(str(home), query, nugget)


def answered(home: Path, query: str, nugget: str | None = None) -> str:
    """The first line of such an answer; "" for none."""
    found = quick(home, query, nugget)
    return "" if found is None else found.texts[2].decode().partition("\n")[0]


def cache_files(home: Path) -> tuple[Path, Path]:
    """The files of answers and state."""
    folder = cache_folder(os.fspath(home))
    assert folder is not None
    return Path(folder, answers.ANSWERS_NAME), Path(folder, answers.STATE_NAME)
