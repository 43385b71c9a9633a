"""A recall that does not open the memory: it is answered from what was made ahead, where that is sure to be right.

Nothing else is loaded for it, so that a process which asks one thing is as quick as its language starts. Any doubt, of
the files, of the cache or of the system, is no answer, and the caller opens the memory.
"""

from __future__ import annotations

import os
import struct
import time

from core.storage import waiting
from core.storage.cache import answers
from core.text.exact import exact_form
from core.user_folders import cache_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

SWITCH: Final = "NUGGETS_QUICK"
_OFF: Final = ("0", "off", "no", "false")
# While somebody counts, files and state differ for a moment, which is shorter than it takes to open the memory: so
# often it is looked again, and so often while the process is at work that does nothing else.
_LOOKS: Final = 5
_LOOKS_WHILE_LOCKED: Final = 150
_PAUSE: Final = 0.005
_TROUBLE: Final = (OSError, ValueError, struct.error, OverflowError, MemoryError)


class QuickAnswer:
    """An answer for the memory as it is. texts: as of `core.storage.cache.answers.Answer`; folder: of the cache;
    others_wait: whether there are recalls that wait to be counted.
    """

    __slots__ = ("_answer", "_home", "_sessions", "code", "folder", "others_wait", "texts")

    def __init__(
        self, home: str, folder: str, answer: answers.Answer, sessions: tuple[bytes, ...], others_wait: bool
    ) -> None:
        self._home = home
        self._answer = answer
        # Of the fact and the note that answer, where each counted last; while others wait that is not sure.
        self._sessions = sessions
        self.others_wait = others_wait
        self.folder = folder
        self.code = answer.code
        self.texts = answer.texts

    def counts_in(self, session: str) -> bool:
        """Whether there is something to count: the same session counts once."""
        if not self._answer.counts or not session:
            return False
        counted = answers.digest(session)
        return self.others_wait or any(one != counted for one in self._sessions)

    def leave(self, session: str, author: str) -> None:
        """Leaves a record for who counts it. author: a signature. Raises OSError, ValueError."""
        found = self._answer
        waiting.put(self._home, found.nugget, found.key, found.note, session, author)


def is_on() -> bool:
    """Whether recalls may be answered, and counted a moment later, without opening the memory."""
    return hasattr(os, "geteuid") and os.environ.get(SWITCH, "").strip().casefold() not in _OFF


def cache_of(home: str) -> str | None:
    """The folder for the answers of a memory; None where there is to be none, or the system cannot keep them."""
    if not hasattr(os, "posix_spawn") or not hasattr(os, "geteuid"):
        return None
    return cache_folder(home)


def quick_answer(home: str, query: str, nugget: str | None) -> QuickAnswer | None:
    """The answer that a recall of these words prints, in one nugget or all; None for: open the memory and see."""
    folder = cache_of(home)
    if folder is None:
        return None
    try:
        for look in range(_LOOKS_WHILE_LOCKED):
            state = answers.read_state(folder)
            if state is None or state.version != answers.code_version():
                return None
            # In this order: what was counted before is in the files that are looked at then.
            none_waits = waiting.is_empty(home)
            if answers.holds(state, home):
                found = _find(folder, state.content, query, nugget)
                if found is None:
                    return None
                return QuickAnswer(home, folder, found, _sessions(state, found), not none_waits)
            if look >= _LOOKS and not is_locked(folder):
                return None
            time.sleep(_PAUSE)
    except _TROUBLE:
        return None
    return None


def _find(folder: str, content: bytes, query: str, nugget: str | None) -> answers.Answer | None:
    handle = answers.open_own(os.path.join(folder, answers.ANSWERS_NAME))
    try:
        table = answers.Table(handle)
        if table.content != content:
            return None
        texts = (("same", query), ("folded", exact_form(query)), ("asked", query))
        for kind, text in texts:
            data = table.find(answers.question(kind, text, nugget))
            if data is not None:
                return answers.Answer.unpacked(data)
        return None
    finally:
        os.close(handle)


def _sessions(state: answers.State, found: answers.Answer) -> tuple[bytes, ...]:
    targets = []
    if found.key:
        targets.append(answers.fact_target(found.nugget, found.key))
    if found.note:
        targets.append(answers.note_target(found.note))
    return tuple(map(state.counted_in, targets))


# Who counts and makes answers


def take_lock(folder: str) -> int:
    """A handle that holds the lock of who counts and makes answers, to be handed on or closed; -1 where another process
    has it, or nothing can be kept there.
    """
    import fcntl

    handle = -1
    try:
        handle = answers.open_lock(folder)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if handle >= 0:
            os.close(handle)
        return -1
    return handle


def try_again(lock: int, wanted: Callable[[], bool]) -> bool:
    """Releases the lock; takes it again and returns True where there is something to do then that nobody else does."""
    import fcntl

    fcntl.flock(lock, fcntl.LOCK_UN)
    if not wanted():
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_locked(folder: str) -> bool:
    """Whether some process has that lock."""
    import fcntl

    try:
        handle = answers.open_own(os.path.join(folder, answers.LOCK_NAME), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def known_files(home: str) -> list[str]:
    """Names in a memory's folder of the files for which answers were made; none where none were."""
    folder = cache_of(home)
    state = answers.read_state(folder) if folder is not None else None
    return [] if state is None else [name for name, (version, _) in state.files.items() if any(version)]


def something_waits(home: str) -> bool:
    """Whether recalls wait to be counted."""
    return bool(waiting.paths(home))
