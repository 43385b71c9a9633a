"""Marks on rows that were changed just now; they go out by themselves."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from textual.scroll_view import ScrollView


class Glowing(ScrollView):
    """A view some of whose rows, named by keys, glow for a moment."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._glowing: dict[str, int] = {}
        self._glow_count = 0

    @property
    def glowing(self) -> frozenset[str]:
        """Keys of the rows that glow."""
        return frozenset(self._glowing)

    def glow(self, keys: Collection[str], seconds: float = 2.0) -> None:
        """Mark the rows with these keys as changed, for so many seconds (0: until `clear_glow`)."""
        if not keys:
            return
        self._glow_count += 1
        batch = self._glow_count
        self._glowing.update(dict.fromkeys(keys, batch))
        self.refresh()
        if seconds > 0:
            self.set_timer(seconds, lambda: self._end_glow(batch))

    def clear_glow(self) -> None:
        """No row glows any more."""
        self._glowing.clear()
        self.refresh()

    def _end_glow(self, batch: int) -> None:
        self._glowing = {key: other for key, other in self._glowing.items() if other != batch}
        self.refresh()
