"""How somebody arranged the app's panes over a memory: kept for the next start, outside the memory.

Where lines between panes stand is nothing that is remembered: it makes no entry of the log, and no copy takes it along.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from core.storage.cache.container import own_file, read_up_to
from core.storage.files.atomic import make_folder, replace_file
from core.storage.personal.unsaved_files import unsaved_folder

FILE: Final = "panes.json"
_LONGEST: Final = 4096
_MOST: Final = 50


def kept_panes(home: Path, environ: Mapping[str, str] | None = None) -> dict[str, float]:
    """Shares of the space by the name of the line, each above 0 and below 1; {} where none are kept or legible."""
    folder = unsaved_folder(home, os.environ if environ is None else environ)
    found: object = None
    if folder is not None:
        with contextlib.suppress(OSError, ValueError, RecursionError), own_file(folder / FILE) as handle:
            found = json.loads(read_up_to(handle, _LONGEST))
    if not isinstance(found, dict):
        return {}
    return {str(name): float(share) for name, share in list(found.items())[:_MOST] if _is_share(share)}


def keep_panes(home: Path, shares: Mapping[str, float], environ: Mapping[str, str] | None = None) -> bool:
    """Keeps shares, as `kept_panes` gives them; whether there is a place for them. Raises StorageError."""
    folder = unsaved_folder(home, os.environ if environ is None else environ)
    if folder is None:
        return False
    make_folder(folder)
    replace_file(folder / FILE, json.dumps(dict(shares)).encode())
    return True


def _is_share(share: object) -> bool:
    return (
        isinstance(share, float | int)
        and not isinstance(share, bool)
        and math.isfinite(share)
        and 0 < share < 1
    )
