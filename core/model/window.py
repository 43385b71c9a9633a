"""One window on a memory: the changes made through it, so that its undo undoes only its own."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

# More than anybody undoes one by one.
_MOST: Final = 1_000


@dataclass
class Window:
    """What one window, or one command, changed since it was opened.

    made: ids of its entries in the log, the newest last. opened_at: the number of the entry that was the newest then,
    None until the log was looked at.
    """

    made: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST))
    opened_at: int | None = None
