"""Starting the app: the memory is opened in a thread while the terminal library is still being imported."""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path

from nuggets_tui.opening import Opening


def run_app(home: str | Path | None = None, *, notice: str = "", demo: bool = False) -> int:
    """Opens the app on a memory (default: NUGGETS_HOME, else ~/.nuggets); its exit code.

    notice: a line shown when the app opens, such as where a copy of the demo lies. demo: whether the memory is such a
    copy.
    """
    # More threads than one only make the small products of a search slower; read when numpy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Nothing becomes garbage while everything is being loaded; the app turns this on again.
    gc.disable()
    opening = Opening(None if home is None else Path(home)).start()
    from nuggets_tui.application import NuggetsApp

    app = NuggetsApp(opening, notice=notice, demo=demo)
    try:
        app.run()
    finally:
        app.remove_copies()
    return app.return_code or 0


def visit() -> int:
    """Opens the app on a copy of the demo that goes with it; its exit code. Errors as in `write_demo`."""
    from nuggets_tui.demo import copy_for_session, write_visit

    # A visit leaves nothing behind.
    os.environ.setdefault("NUGGETS_CACHE", "off")
    os.environ.setdefault("NUGGETS_STATE", "off")
    home = copy_for_session()
    try:
        write_visit(home)
        notice = "This is a sample memory. Change what you like: your own is not touched."
        return run_app(home, notice=notice, demo=True)
    finally:
        shutil.rmtree(home, ignore_errors=True)
