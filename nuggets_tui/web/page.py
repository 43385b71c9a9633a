"""The process behind one page of a browser: the app on a memory, which ends when its server does."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Final

_POLL_EVERY: Final = 1.0
# Seconds that the app has to leave as it does on `q` once nobody can reach it any more.
_TO_LEAVE: Final = 5
# What the app may take: several times what it needs for any memory, which is about twenty bytes for each of its files.
_ROOM: Final = 2 << 30
_ROOM_FOR_A_BYTE: Final = 60


def main() -> None:
    """Runs the app on the folder named on the command line, for the server whose process stands behind it; that speaks
    with it through the standard streams.
    """
    from nuggets_tui.app import run_app

    home, server = sys.argv[1], int(sys.argv[2])
    bound_memory(_ROOM + _ROOM_FOR_A_BYTE * _bytes_in(Path(home)))
    threading.Thread(target=_end_with, args=(server,), name="server-watch", daemon=True).start()
    sys.exit(run_app(home))


def bound_memory(size: int) -> None:
    """Lets the process take so many bytes at most; it ends where it needs more. Nothing on systems that cannot."""
    if sys.platform == "win32":
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    size = size if most == resource.RLIM_INFINITY else min(size, most)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def _bytes_in(home: Path) -> int:
    found = 0
    for pattern in ("*.json", "graph/*.json"):
        with contextlib.suppress(OSError):
            found += sum(path.stat().st_size for path in home.glob(pattern))
    return found


def _end_with(server: int) -> None:
    """Ends the app once the server is gone, since nobody can reach it any more: first as SIGTERM does, and a little
    later whatever the app is doing then.
    """
    while os.getppid() == server:
        time.sleep(_POLL_EVERY)
    if sys.platform != "win32":
        # The system itself obeys this one, also where the interpreter is busy.
        signal.alarm(_TO_LEAVE)
        os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_TO_LEAVE)
    os._exit(1)


if __name__ == "__main__":
    main()
