"""One window on a memory: the changes made through it, so that its undo undoes only its own."""

from __future__ import annotations

from collections import deque
from typing import Final

# More than anybody undoes one by one.
_MOST: Final = 1_000


class Window:
    """What one window, or one command, changed since it was opened.

    made: ids of its entries in the log, the newest last. opened_at: the number of the entry that was the newest then,
    None until the log was looked at.
    """

    def __init__(self) -> None:
        self.made: deque[str] = deque(maxlen=_MOST)
        self.opened_at: int | None = None
