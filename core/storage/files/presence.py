"""The daemon's lock on a folder: one daemon at a time; the system releases it when the process ends."""

from __future__ import annotations

import contextlib
import os
import platform
from pathlib import Path
from typing import Final, Self

import msgspec

from core.errors import ConflictError, ErrorCode, StorageError
from core.storage.files.atomic import Lock, identity, refused, try_lock

PRESENCE_NAME: Final = ".nuggets.daemon.lock"
_PATIENCE: Final = 1.0
_LONGEST: Final = 10_000


class Process(msgspec.Struct, frozen=True):
    """A process of some machine."""

    host: str
    pid: int


def this_process() -> Process:
    """The process that asks."""
    return Process(platform.node(), os.getpid())


class DaemonOn(msgspec.Struct, frozen=True):
    """The daemon of a folder: its process, None when it cannot be told, and since when it is there (ISO 8601, UTC)."""

    process: Process | None = None
    since: str = ""

    def __str__(self) -> str:
        return f"process {self.process.pid} on {self.process.host}" if self.process else "another process"


class Presence:
    """A daemon's hold on a folder, which may come and go under it."""

    def __init__(self, home: Path) -> None:
        self._path = home / PRESENCE_NAME
        self._lock: Lock | None = None
        self._identity: tuple[int, int] | None = None

    def hold(self, since: str) -> bool:
        """Takes the folder, or sees that it is still held; False while there is no folder.

        Raises ConflictError when another daemon has it, StorageError.
        """
        if self._lock is not None and identity(self._path) == self._identity:
            return True
        self.release()
        if not self._path.parent.is_dir():
            return False
        # Who only looks whether there is a daemon holds the lock for an instant.
        lock = try_lock(self._path, _PATIENCE)
        if lock is None:
            raise ConflictError(
                f"a daemon already runs here ({daemon_on(self._path.parent) or 'another process'})",
                code=ErrorCode.LOCKED,
                where=str(self._path.parent),
                kept="nothing was started",
            )
        self._lock, self._identity = lock, identity(self._path)
        try:
            self._path.write_bytes(msgspec.json.encode(DaemonOn(this_process(), since)))
        except OSError as error:
            raise refused(self._path, "cannot be written", error) from error
        return True

    def release(self) -> None:
        """Lets the folder be taken by another."""
        lock, self._lock = self._lock, None
        if lock is not None:
            with contextlib.suppress(OSError):
                lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def daemon_on(home: Path) -> DaemonOn | None:
    """The daemon that runs on a folder; None for none, and where that cannot be found out. Makes no file."""
    path = home / PRESENCE_NAME
    if not path.is_file():
        return None
    try:
        lock = try_lock(path, 0)
        if lock is not None:
            lock.release()
            return None
    except (OSError, StorageError):
        return None
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_LONGEST), type=DaemonOn)
    except (OSError, msgspec.MsgspecError):
        return DaemonOn()
