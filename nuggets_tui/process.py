"""This program as a process: its streams, its version, how it is started, and processes that nobody waits for.

Loaded where an agent waits, so it loads next to nothing.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_NAMES: Final = ("nuggets", "nuggets-tui")
_BEGINS: Final = "nuggets_tui-"
_ENDS: Final = ".dist-info"


def prepare_streams() -> None:
    """Makes standard output and error take any text, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def program() -> list[str]:
    """The words that start this very program, whatever the search path is then."""
    import shutil
    from pathlib import Path

    called = Path(sys.argv[0]) if sys.argv and sys.argv[0] else Path()
    if called.name in _NAMES and called.is_file() and os.access(called, os.X_OK):
        return [str(called.absolute())]
    beside = Path(sys.executable).with_name(_NAMES[0])
    found = str(beside) if os.access(beside, os.X_OK) else None
    if found is None and "nuggets_tui" not in str(called):
        found = shutil.which(_NAMES[0])
    return [found] if found else [sys.executable, "-m", "nuggets_tui.cli"]


def start(words: list[str]) -> None:
    """Starts a program with its arguments, with streams that lead nowhere and, where the system can, in a session of
    its own. Handles that are inheritable go along. Raises OSError, ValueError.
    """
    if hasattr(os, "posix_spawn"):
        nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
        try:
            os.posix_spawn(words[0], words, os.environ, file_actions=nowhere, setsid=True)
        except NotImplementedError:
            os.posix_spawn(words[0], words, os.environ, file_actions=nowhere, setpgroup=0)
        return
    import subprocess

    quiet = subprocess.DEVNULL
    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    subprocess.Popen(words, stdin=quiet, stdout=quiet, stderr=quiet, creationflags=flags)


def installed_version() -> str | None:
    """The version; None where the program runs from its sources and was not installed."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue
        found = [name for name in names if name.startswith(_BEGINS) and name.endswith(_ENDS)]
        if len(found) == 1 and "_" not in (version := found[0][len(_BEGINS) : -len(_ENDS)]):
            return version
        if found:
            break
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as described

    try:
        return described("nuggets-tui")
    except PackageNotFoundError:
        return None


def version_line() -> str:
    return f"nuggets {installed_version() or '(not installed, runs from its sources)'}"


# Objects made before the young ones are looked at, and such looks before the middle-aged are.
_YOUNG: Final = 20_000
_MIDDLE: Final = 20
# Everything is looked at by `collect_garbage` alone, while nobody is at the keyboard.
_NEVER: Final = 1_000_000


def begin_collecting() -> None:
    """Everything loaded so far stays: it is kept out of the collector's way, which works again from now on."""
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
    gc.enable()


def keep_uncollected() -> None:
    """Something large was made that stays, such as an index: it is kept out of the collector's way as well."""
    gc.freeze()


def give_memory_back() -> None:
    """Gives memory that is free back to the system, where the C library would keep it for later (glibc, on Linux).
    Takes some milliseconds after large work; for a thread.
    """
    with contextlib.suppress(ImportError, AttributeError, OSError, TypeError):
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)


def collect_garbage() -> None:
    """Looks at everything that does not stay."""
    gc.collect()
