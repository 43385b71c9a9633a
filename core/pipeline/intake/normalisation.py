"""Normalises raw text: content to store, content to compare, and a hash that finds duplicates."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from core.text.normalise import encodable

# Stored beside each hash: whoever changes a rule below raises it, so that old hashes are known for what they are.
HASH_VERSION: Final = 1
# White space as ECMAScript has it; Python's \s has U+001C to U+001F and U+0085 instead of U+FEFF.
WHITE_SPACE: Final = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_WHITE_SPACE_RUN: Final = re.compile(f"[{WHITE_SPACE}]+")
_TRAILING_PUNCTUATION: Final = ".,!?;:"
# Stream-safe text has no more combining marks in a row (UAX 15, section 13).
_MARKS_IN_A_ROW: Final = re.compile(rb"[^\x00]{31,}")


@dataclass(frozen=True, slots=True)
class Normalised:
    """A text in the forms that the pipeline keeps of it.

    raw_content: as it came. storage_content: NFC, ends trimmed, white space runs as one space.
    normalised_content: that in lower case without the trailing run of punctuation; may be empty.
    hash_basis: the normalised content or, where that is empty, the storage content in lower case.
    content_hash: SHA-256 of the basis in UTF-8, 64 hexadecimal digits. hash_version: the rules it was made by.
    """

    raw_content: str
    storage_content: str
    normalised_content: str
    hash_basis: str
    content_hash: str
    hash_version: int = HASH_VERSION


def normalise(text: str) -> Normalised:
    """All forms of a text; linear in its length, but for sorting runs of more than 30 combining marks."""
    storage = collapse_white_space(compose(encodable(text)))
    # Lower case can make a letter whose composed form exists in lower case alone (J with caron).
    lower = compose(storage.lower())
    normalised = lower.rstrip(_TRAILING_PUNCTUATION).rstrip(" ")
    basis = normalised or lower
    return Normalised(text, storage, normalised, basis, content_hash(basis))


def content_hash(basis: str) -> str:
    """SHA-256 of a hash basis in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(encodable(basis).encode()).hexdigest()


def collapse_white_space(text: str) -> str:
    """Text with trimmed ends and each run of white space (as ECMAScript knows it) as one space."""
    return _WHITE_SPACE_RUN.sub(" ", text).strip(" ")


def compose(text: str) -> str:
    """Normalisation form C (UAX 15).

    Putting marks in canonical order takes quadratic time in the standard library, so long runs of them are sorted
    beforehand: canonical order is a stable sort by combining class, so the result is the same.
    """
    if text.isascii():
        return text
    classes = bytes(map(unicodedata.combining, text))
    parts: list[str] = []
    place = 0
    for run in _MARKS_IN_A_ROW.finditer(classes):
        parts += [
            text[place : run.start()],
            *sorted(text[run.start() : run.end()], key=unicodedata.combining),
        ]
        place = run.end()
    return unicodedata.normalize("NFC", "".join(parts) + text[place:])
