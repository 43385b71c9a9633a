"""The form that spellings of one key have in common, text that can be written, and the plain tokens of the file format.
It loads nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import islice
from typing import Final

# The stop words and the token pattern of the file format: `vector.basis` is built from them.
_STOP_WORDS: Final = """
a an and are as at be but by for from has have i in is it its of on or that the this to was with
"""
BASIS_STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
_BASIS_TOKEN: Final = re.compile(r"[a-z0-9/_:-]{2,}")


def exact_form(text: str) -> str:
    """Case folded, trimmed, one form of accents."""
    return unicodedata.normalize("NFC", text.strip().casefold())


def encodable(text: str) -> str:
    """Text that UTF-8 can hold: pairs of surrogates joined, lone ones replaced by U+FFFD. What comes from outside goes
    through here once, so that no text of a memory holds half a character.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def basis_tokens(text: str, most: int | None = None) -> list[str]:
    """The first tokens as the file format's `vector.basis` takes them, in order, repeats kept. most: None for all."""
    found = (match[0] for match in _BASIS_TOKEN.finditer(text.lower()))
    return list(islice((token for token in found if token not in BASIS_STOP_WORDS), most))
