"""The process behind one page of a browser: the app on a memory, which ends when its server does."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Final

_LOOK_EVERY: Final = 1.0


def main() -> None:
    """Runs the app on the folder named on the command line; the server speaks with it through the standard streams."""
    from nuggets_tui.app import run_app

    threading.Thread(target=_end_with, args=(os.getppid(),), name="server-watch", daemon=True).start()
    sys.exit(run_app(sys.argv[1]))


def _end_with(server: int) -> None:
    """Leaves the app, as SIGTERM does, once the server is gone: nobody could reach it any more."""
    while os.getppid() == server:
        time.sleep(_LOOK_EVERY)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
