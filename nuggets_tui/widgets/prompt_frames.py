"""Frames at once, for what somebody waits for, and none for what turns out to look as before.

Textual paints at the ticks of a clock, and one that has just ticked skips a beat: after a letter was painted, its
results stood ready for up to two ticks, 33 ms, before they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from textual.geometry import Region
from textual.widget import Widget


class PromptFrames(Widget):
    """A widget some of whose changes are painted as soon as they are made. The last of a class's bases: Textual looks
    for styles at the first."""

    _awaited = False
    _painting = True

    def paint_soon(self) -> None:
        """Has what changes in the message now worked on painted at its end, not at the next tick."""
        self._awaited = True

    @contextmanager
    def unpainted(self) -> Iterator[None]:
        """Nothing that is done inside has the widget painted anew: who does it says afterwards what has to be."""
        self._painting = False
        try:
            yield
        finally:
            self._painting = True

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """As every widget's, but for what may turn out to look as before."""
        if not self._painting and not layout and not recompose:
            return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def on_idle(self) -> None:
        if self._awaited:
            self._awaited = False
            self.call_next(self._ask_for_frame)

    def _ask_for_frame(self) -> None:
        # What a tick of the clock calls too. It is no promise of Textual's; without it the clock is waited for.
        tick = getattr(self.screen, "_on_timer_update", None) if self.is_attached else None
        if tick is not None:
            self.screen.call_later(tick)
