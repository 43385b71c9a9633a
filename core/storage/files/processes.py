"""Names a process of some machine, and tells whether one of this machine runs."""

from __future__ import annotations

import os
import platform

import msgspec


class Process(msgspec.Struct, frozen=True):
    """A process of some machine."""

    host: str
    pid: int


def this_process() -> Process:
    """The process that asks."""
    return Process(platform.node(), os.getpid())


def runs(pid: int) -> bool:
    """Whether a process of this number runs on this machine; True where that cannot be told."""
    if os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass
    return pid > 0
