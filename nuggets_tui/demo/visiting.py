"""The app on the demo memory, as `nuggets demo` opens it."""

from __future__ import annotations

import os
import shutil

from nuggets_tui.app import run_app
from nuggets_tui.demo import copy_for_session, write_visit


def visit(notes: int | None = None) -> int:
    """Opens the app on a copy that goes with it; its exit code. Errors as in `write_demo`."""
    # A visit leaves nothing behind.
    os.environ.setdefault("NUGGETS_CACHE", "off")
    os.environ.setdefault("NUGGETS_STATE", "off")
    home = copy_for_session()
    try:
        write_visit(home, notes)
        notice = "This is a sample memory. Change what you like: your own is not touched."
        return run_app(home, notice=notice, demo=True)
    finally:
        shutil.rmtree(home, ignore_errors=True)
