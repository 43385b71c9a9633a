"""What a page sends to its app, read strictly: keys, sizes, focus. Whatever else comes is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

# Bytes of one message: more than anybody pastes.
LARGEST: Final = 1 << 20
# A wall of screens in a small type. More cells would only cost the memory of the process that draws them.
MOST_COLUMNS: Final = 800
MOST_ROWS: Final = 300
_FEWEST: Final = 2
_LONGEST_ECHO: Final = 100


class UnreadableFrameError(Exception):
    """A message that is none of ours."""


@dataclass(frozen=True)
class Typed:
    """Keys and pasted text, as the terminal of the page encodes them."""

    data: bytes


@dataclass(frozen=True)
class Resized:
    """The size of the page, in cells that the app can bear."""

    columns: int
    rows: int


@dataclass(frozen=True)
class Ping:
    """The page asks whether the server is there; `echo` goes back."""

    echo: str


@dataclass(frozen=True)
class Focus:
    """The page came to the front, or left it."""

    here: bool


Frame = Typed | Resized | Ping | Focus


def read_frame(text: str) -> Frame:
    """A message of a page. Raises UnreadableFrameError for anything that our page does not send."""
    try:
        envelope = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableFrameError from error
    match envelope:
        case ["stdin", str() as typed]:
            # Half of a character that was pasted is no reason to end.
            return Typed(typed.encode("utf-8", "replace"))
        case ["resize", {"width": int() as columns, "height": int() as rows}]:
            if not isinstance(columns, bool) and not isinstance(rows, bool):
                return Resized(*clamped(columns, rows))
        case ["ping", str() as echo] if len(echo) <= _LONGEST_ECHO:
            return Ping(echo)
        case ["focus"] | ["blur"]:
            return Focus(envelope[0] == "focus")
    raise UnreadableFrameError


def clamped(columns: int, rows: int) -> tuple[int, int]:
    """A size in cells, brought into what an app can draw."""
    return max(_FEWEST, min(columns, MOST_COLUMNS)), max(_FEWEST, min(rows, MOST_ROWS))
