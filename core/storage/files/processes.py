"""Identifies a process, so that a later one with the same number is not mistaken for it."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Literal

import msgspec

Life = Literal["alive", "dead", "unknown"]


class Process(msgspec.Struct, frozen=True):
    """A process of some machine. `start`: when it started, as its system tells it; "" where that does not tell."""

    host: str
    pid: int
    start: str


def this_process() -> Process:
    """The process that asks."""
    return Process(platform.node(), os.getpid(), _start_of(os.getpid()))


def life_of(process: Process) -> Life:
    """Whether a process still runs. "unknown" on another machine, and where the system tells too little."""
    if process.host != platform.node():
        return "unknown"
    if process.start:
        return "alive" if _start_of(process.pid) == process.start else "dead"
    if os.name == "nt":
        # There is no asking without harming it.
        return "unknown"
    try:
        os.kill(process.pid, 0)
    except (ProcessLookupError, OverflowError):
        return "dead"
    except OSError:
        pass
    return "unknown"


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


def _start_of(pid: int) -> str:
    """The machine's start and the process's in clock ticks from there; "" where /proc is not to be had."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
    # The name of the program stands in brackets and may hold anything, so fields count from the last bracket.
    fields = status.rpartition(")")[2].split()
    # A dead process that nobody has taken note of yet still stands there.
    return f"{boot} {fields[19]}" if len(fields) > 19 and fields[0] not in "ZX" else ""
