"""How this very program is started: for what others are told to run."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

_NAMES: Final = ("nuggets", "nuggets-tui")


def program() -> list[str]:
    """The words that start this very program, whatever the search path is then."""
    called = Path(sys.argv[0]) if sys.argv and sys.argv[0] else Path()
    if called.name in _NAMES and called.is_file() and os.access(called, os.X_OK):
        return [str(called.absolute())]
    beside = Path(sys.executable).with_name(_NAMES[0])
    found = str(beside) if os.access(beside, os.X_OK) else None
    if found is None and "nuggets_tui" not in str(called):
        found = shutil.which(_NAMES[0])
    return [found] if found else [sys.executable, "-m", "nuggets_tui.cli"]
