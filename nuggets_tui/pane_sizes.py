"""How somebody arranged the panes over a memory, kept for the next start."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from core.app_state import read_state, write_state

FILE: Final = "panes.json"
_MOST: Final = 50


def saved_panes(home: Path, environ: Mapping[str, str] | None = None) -> dict[str, float]:
    """Shares of the space by the name of the line, each above 0 and below 1; {} where none are kept or legible."""
    found: object = None
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(read_state(home, FILE, environ))
    if not isinstance(found, dict):
        return {}
    return {str(name): float(share) for name, share in list(found.items())[:_MOST] if _is_share(share)}


def save_panes(home: Path, shares: Mapping[str, float], environ: Mapping[str, str] | None = None) -> bool:
    """Keeps shares, as `saved_panes` gives them; whether there is a place for them. Raises StorageError."""
    return write_state(home, FILE, json.dumps(dict(shares)).encode(), environ)


def _is_share(share: object) -> bool:
    return (
        isinstance(share, float | int)
        and not isinstance(share, bool)
        and math.isfinite(share)
        and 0 < share < 1
    )
