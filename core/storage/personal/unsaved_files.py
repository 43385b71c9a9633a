"""Files of texts that somebody is still writing: one for each text, owned by a process for as long as it lives.

<owner>-<text>.json    a text; <owner> and <text> are 16 hexadecimal digits each
<owner>.lock           held by the process that owns these texts; the system lets it go when the process ends

A text whose owner is gone, however it went, may be claimed by another process: a rename decides who has it.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from core.errors import LockTimeoutError, StorageError
from core.storage.cache import is_ours, own_file, read_up_to
from core.storage.files.atomic import Lock, make_folder, refused, replace_file
from core.storage.files.side_folders import names_in
from core.user_folders import state_folder

# A separate owner for texts set aside on purpose: no process ever holds it.
_NOBODY: Final = "0" * 16
_TEXT: Final = re.compile(r"(?P<owner>[0-9a-f]{16})-[0-9a-f]{16}\.json")
_LOCK: Final = re.compile(r"(?P<owner>[0-9a-f]{16})\.lock")
_LEFTOVER: Final = re.compile(r"\..+\.\d+-[0-9a-f]{8}\.tmp")
_PATIENCE: Final = 1.0
# A lock or half-written file of a process that has only just begun is not taken for one that was left.
_OLD_SECONDS: Final = 3600.0
_LONGEST: Final = 32 << 20
_MOST: Final = 200


class FoundText(NamedTuple):
    """A text that nobody owns: the name of its file, and its bytes."""

    name: str
    body: bytes


def unsaved_folder(home: Path, environ: Mapping[str, str]) -> Path | None:
    """The folder for unsaved texts of the memory in `home`, as `core.user_folders` finds it; None for none."""
    found = state_folder(os.fspath(home), environ)
    return None if found is None else Path(found)


class UnsavedFiles:
    """The unsaved texts of a memory, as one process has them. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._owner = os.urandom(8).hex()
        self._lock: Lock | None = None
        self._guard = threading.Lock()

    def new_name(self) -> str:
        """The name for the file of another text."""
        return self._named(self._owner)

    def write(self, name: str, body: bytes) -> None:
        """Replaces the file of a text that this process owns, safe on disk. Raises StorageError."""
        self._hold()
        replace_file(self._folder / name, body)

    def remove(self, name: str) -> None:
        """Removes the file of a text, if it is there. Raises StorageError."""
        try:
            (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise refused(self._folder / name, "cannot be removed", error) from error

    def put_aside(self, name: str) -> None:
        """Gives a text up for whoever wants it, this process too. Raises StorageError."""
        self._rename(name, self._named(_NOBODY))

    def claim(self, name: str) -> str | None:
        """Takes a text that nobody owns; its new name, None when another was quicker. Raises StorageError."""
        self._hold()
        own = self.new_name()
        return own if self._rename(name, own) else None

    def found(self) -> list[FoundText]:
        """The texts that nobody owns. Makes no file; what cannot be read is passed over."""
        names = names_in(self._folder)
        self._clear(names)
        gone: dict[str, bool] = {_NOBODY: True, self._owner: False}
        unowned: list[str] = []
        for match in filter(None, map(_TEXT.fullmatch, names)):
            if match["owner"] not in gone:
                gone[match["owner"]] = self._is_gone(match["owner"])
            if gone[match["owner"]]:
                unowned.append(match.string)
        return self._read(unowned[:_MOST], _LONGEST)

    def all(self) -> list[FoundText]:
        """Every text, of processes that live too, and what was left half written; what cannot be read is left out."""
        names = names_in(self._folder)
        return self._read([name for name in names if _TEXT.fullmatch(name) or _LEFTOVER.fullmatch(name)])

    def _read(self, names: list[str], longest: int = sys.maxsize) -> list[FoundText]:
        texts: list[FoundText] = []
        for name in names:
            with contextlib.suppress(OSError, ValueError), own_file(self._folder / name) as handle:
                texts.append(FoundText(name, read_up_to(handle, min(os.fstat(handle).st_size, longest))))
        return texts

    def replace(self, name: str, body: bytes) -> None:
        """Replaces the file of a text, whoever owns it, if it is there still. Raises StorageError."""
        if (self._folder / name).exists():
            replace_file(self._folder / name, body)

    def close(self) -> None:
        """Lets go of what this process owns: its texts are there for the next one."""
        with self._guard, contextlib.suppress(OSError):
            lock, self._lock = self._lock, None
            if lock is not None:
                lock.release()
                (self._folder / f"{self._owner}.lock").unlink()

    @staticmethod
    def _named(owner: str) -> str:
        return f"{owner}-{os.urandom(8).hex()}.json"

    def _rename(self, name: str, new: str) -> bool:
        try:
            os.rename(self._folder / name, self._folder / new)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise refused(self._folder / name, "cannot be moved", error) from error
        return True

    def _hold(self) -> None:
        """Makes the folder and says that this process lives. Raises StorageError."""
        with self._guard:
            if self._lock is not None:
                return
            make_folder(self._folder)
            try:
                if self._folder.is_symlink() or not is_ours(self._folder.stat()):
                    raise StorageError("is not a folder of yours", where=str(self._folder))
                # Whoever only looks whether the owner lives holds the lock for an instant.
                lock = Lock(self._folder / f"{self._owner}.lock")
                lock.acquire(_PATIENCE)
            except OSError as error:
                raise refused(self._folder, "cannot be used", error) from error
            except LockTimeoutError as error:
                raise StorageError("cannot be used", where=str(self._folder)) from error
            self._lock = lock

    def _is_gone(self, owner: str) -> bool:
        """Whether the process that owned texts has ended. Where that cannot be told it is taken to live."""
        path = self._folder / f"{owner}.lock"
        if path.exists():
            try:
                lock = Lock(path)
                lock.acquire(0)
            except (OSError, LockTimeoutError):
                return False
            lock.release()
        return True

    def _clear(self, names: list[str]) -> None:
        """Removes what processes left that ended long ago and that holds no text."""
        owners = {self._owner, *(match["owner"] for name in names if (match := _TEXT.fullmatch(name)))}
        for name in names:
            lock, path = _LOCK.fullmatch(name), self._folder / name
            if _LEFTOVER.fullmatch(name) or (lock is not None and lock["owner"] not in owners):
                with contextlib.suppress(OSError):
                    old = time.time() - path.stat().st_mtime > _OLD_SECONDS
                    if old and (lock is None or self._is_gone(lock["owner"])):
                        path.unlink()
