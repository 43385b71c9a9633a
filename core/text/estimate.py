"""About what a text costs a model to read, and texts cut to a budget of that."""

from __future__ import annotations

import math
from typing import Final

_BYTES: Final = 4
# A cut goes back to the end of a line where that takes no more than this share of the text.
_REACH: Final = 0.3


def estimate_tokens(text: str) -> int:
    """About how many tokens of a model a text takes: one for four bytes, which counts other scripts higher."""
    return math.ceil(len(text.encode()) / _BYTES)


def cut_to_tokens(text: str, tokens: int, marker: str) -> str:
    """The text, or as much of its beginning as fits into a budget with the marker behind it; "" where nothing does."""
    if estimate_tokens(text) <= tokens:
        return text
    room = tokens * _BYTES - len(marker.encode())
    if room <= 0:
        return ""
    kept = text.encode()[:room].decode("utf-8", "ignore")
    line = kept.rfind("\n")
    if line > len(kept) * (1 - _REACH):
        kept = kept[:line]
    return kept + marker
