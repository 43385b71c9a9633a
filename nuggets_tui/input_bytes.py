"""What no terminal should send, and Textual takes to be the end of the app: bytes that are no UTF-8 become U+FFFD, and
keys that name no character are passed over.
"""

from __future__ import annotations

import codecs
import sys
from functools import partial
from typing import TYPE_CHECKING, Final

from textual._xterm_parser import XTermParser
from textual.events import Key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.driver import Driver

_STRICT: Final = "getincrementaldecoder"
_PARSER: Final = "XTermParser"


class AnyKeys(XTermParser):
    """Textual's own reader of what the terminal sends, for keys of any number."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        try:
            yield from super()._sequence_to_key_events(sequence, alt)
        except (ValueError, OverflowError):
            # Were there no key at all, what follows would be taken to belong to it.
            yield Key("unknown", None)


def reading_any_bytes(driver: type[Driver]) -> type[Driver]:
    """The driver class itself, its module made to decode whatever is typed; on Windows, bytes come decoded."""
    # Both are made inside the loop that reads: only the names by which they are found can be given another meaning.
    names = vars(sys.modules[driver.__module__])
    if names.get(_STRICT) is codecs.getincrementaldecoder:
        names[_STRICT] = _lenient
    if names.get(_PARSER) is XTermParser:
        names[_PARSER] = AnyKeys
    return driver


def _lenient(encoding: str) -> partial[codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")
