"""What two texts that count as the same key have in common. Loaded before everything else, so it loads nothing."""

from __future__ import annotations

import unicodedata


def exact_form(text: str) -> str:
    """Case folded, trimmed, one form of accents."""
    return unicodedata.normalize("NFC", text.strip().casefold())
