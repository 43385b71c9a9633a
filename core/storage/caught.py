"""What hooks caught of an agent's session and is not in the memory yet: one small file each, and the log of hooks.

Both lie in the folder of the memory's state. An agent waits for whoever writes here, so this loads nothing.
"""

from __future__ import annotations

import os

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
