"""How somebody arranged the panes over a memory and what they list, kept for the next start."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeGuard

from core.app_state import read_state, write_state

FILE: Final = "panes.json"
_FACT_NOTES: Final = "fact notes"
_MOST: Final = 50


def saved_panes(home: Path, environ: Mapping[str, str] | None = None) -> dict[str, float]:
    """Shares of the space by the name of the line, each above 0 and below 1; {} where none are kept or legible."""
    found = _kept(home, environ)
    return {str(name): float(share) for name, share in list(found.items())[:_MOST] if _is_share(share)}


def saved_fact_notes(home: Path, environ: Mapping[str, str] | None = None) -> bool:
    """Whether Notes lists the notes of facts, too."""
    return _kept(home, environ).get(_FACT_NOTES) is True


def save_panes(
    home: Path,
    shares: Mapping[str, float],
    environ: Mapping[str, str] | None = None,
    *,
    fact_notes: bool = False,
) -> bool:
    """Keeps shares, as `saved_panes` gives them, and whether Notes lists the notes of facts; whether there is a place
    for them. Raises StorageError.
    """
    kept = {**shares, _FACT_NOTES: True} if fact_notes else dict(shares)
    return write_state(home, FILE, json.dumps(kept).encode(), environ)


def _kept(home: Path, environ: Mapping[str, str] | None) -> dict[str, object]:
    found: object = None
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(read_state(home, FILE, environ))
    return found if isinstance(found, dict) else {}


def _is_share(share: object) -> TypeGuard[float]:
    return (
        isinstance(share, float | int)
        and not isinstance(share, bool)
        and math.isfinite(share)
        and 0 < share < 1
    )
