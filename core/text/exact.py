"""The form that spellings of one key have in common, and text that can be written. It loads nothing else."""

from __future__ import annotations

import unicodedata


def exact_form(text: str) -> str:
    """Case folded, trimmed, one form of accents."""
    return unicodedata.normalize("NFC", text.strip().casefold())


def encodable(text: str) -> str:
    """Text that UTF-8 can hold: pairs of surrogates joined, lone ones replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
