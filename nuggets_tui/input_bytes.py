"""Bytes from the terminal that are no UTF-8 become U+FFFD; as Textual reads them they would end the app."""

from __future__ import annotations

import codecs
import sys
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from textual.driver import Driver

_STRICT: Final = "getincrementaldecoder"


def reading_any_bytes(driver: type[Driver]) -> type[Driver]:
    """The driver class itself, its module made to decode whatever is typed; on Windows nothing has to change."""
    # The decoder is made inside the loop that reads: only the name by which it is found can be given another meaning.
    names = vars(sys.modules[driver.__module__])
    if names.get(_STRICT) is codecs.getincrementaldecoder:
        names[_STRICT] = _lenient
    return driver


def _lenient(encoding: str) -> partial[codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")
