"""Standard output and error made ready for any text; loaded before everything else, so it loads nothing."""

from __future__ import annotations

import sys


def prepare_streams() -> None:
    """Makes standard output and error take any text, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
