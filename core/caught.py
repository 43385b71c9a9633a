"""What hooks keep in the folder of a memory's state: what they caught and is not in the memory yet, one small file
each; their log; and the session that each agent named.

An agent waits for whoever writes here, so this loads nothing.
"""

from __future__ import annotations

import os

from core.user_folders import name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FOLDER: Final = "hooks"
LOG: Final = "hooks.log"
_SUFFIX: Final = ".json"
_UNFINISHED: Final = ".tmp"
_UNREADABLE: Final = ".unreadable"
_LONGEST_LOG: Final = 32_768
_KEPT_LOG: Final = 8_192
_SESSIONS: Final = "sessions"
_MOST_SESSIONS: Final = 100
_LONGEST_SESSION: Final = 1_000


def count(state: str) -> int:
    """How many files wait, those that are being written among them. Raises OSError where there is no folder of them."""
    return len(os.listdir(os.path.join(state, FOLDER)))


def put(state: str, at: int, data: bytes, most: int) -> bool:
    """Puts a record down; it is there from the rename on, also for who is killed then. at: time in ns. False where
    `most` wait already. Raises OSError.
    """
    folder = os.path.join(state, FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if count(state) >= most:
        return False
    path = os.path.join(folder, f"{at:020d}-{os.getpid()}{_SUFFIX}")
    handle = os.open(path + _UNFINISHED, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)
    os.rename(path + _UNFINISHED, path)
    return True


def paths(state: str) -> list[str]:
    """The files of the records, oldest first; none where they cannot be listed."""
    folder = os.path.join(state, FOLDER)
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(_SUFFIX)]
    except OSError:
        return []


def set_aside(path: str) -> None:
    """Gives a record that cannot be read another name, its bytes intact. Raises OSError."""
    os.rename(path, path.removesuffix(_SUFFIX) + _UNREADABLE)


def remove(path: str) -> None:
    """Removes a record that is in the memory. Raises OSError."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def remove_unfinished(state: str, before: float) -> None:
    """Removes what processes left that were killed while they wrote: files last written before a time."""
    folder = os.path.join(state, FOLDER)
    try:
        left = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(_UNFINISHED)]
    except OSError:
        return
    for path in left:
        try:
            if os.stat(path).st_mtime < before:
                os.unlink(path)
        except OSError:
            continue


def add_to_log(state: str, line: str) -> None:
    """Adds a line to the log of hooks, of which the newest are kept. Raises OSError."""
    os.makedirs(state, mode=0o700, exist_ok=True)
    path = os.path.join(state, LOG)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        os.write(handle, line.encode("utf-8", "replace"))
        size = os.fstat(handle).st_size
        if size > _LONGEST_LOG:
            os.lseek(handle, size - _KEPT_LOG, os.SEEK_SET)
            last = os.read(handle, _KEPT_LOG).partition(b"\n")[2]
            os.ftruncate(handle, 0)
            os.write(handle, last)
    finally:
        os.close(handle)


# The session of an agent, one small file for each that runs


def session_of(state: str, process: str) -> str:
    """The session of an agent, "" for none. state: the memory's folder for state; process: of the agent, told from any
    other. Never raises.
    """
    try:
        with open(_path(state, process), encoding="utf-8") as file:
            name = file.read(_LONGEST_SESSION + 1).strip()
    except (OSError, ValueError):
        return ""
    return name if name.isprintable() and len(name) <= _LONGEST_SESSION else ""


def keep_session(state: str, process: str, session: str) -> None:
    """Takes over the session of an agent. Where that cannot be, its commands count for one of their own."""
    if session_of(state, process) == session:
        return
    path = _path(state, process)
    try:
        folder = os.path.dirname(path)
        os.makedirs(folder, 0o700, exist_ok=True)
        # Agents that were killed leave their sessions behind.
        paths = [os.path.join(folder, name) for name in os.listdir(folder)]
        if len(paths) >= 2 * _MOST_SESSIONS:
            for old in sorted(paths, key=os.path.getmtime)[:-_MOST_SESSIONS]:
                os.unlink(old)
        new = f"{path}.{os.getpid()}"
        with open(new, "w", encoding="utf-8") as file:
            file.write(session)
        os.replace(new, path)
    except (OSError, ValueError):
        return


def drop_session(state: str, process: str) -> None:
    """The session of an agent is over. Never raises."""
    try:
        os.unlink(_path(state, process))
    except (OSError, ValueError):
        return


def _path(state: str, process: str) -> str:
    return os.path.join(state, _SESSIONS, name_of(process.encode()))
