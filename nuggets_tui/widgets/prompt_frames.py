"""Frames at once, for what somebody waits for.

Textual paints at the ticks of a clock, and one that has just ticked skips a beat: after a letter was painted, its
results stood ready for up to two ticks, 33 ms, before they were.
"""

from __future__ import annotations

from textual.widget import Widget


class PromptFrames(Widget):
    """A widget some of whose changes are painted as soon as they are made. The last of a class's bases: Textual looks
    for styles at the first."""

    _awaited = False

    def paint_soon(self) -> None:
        """Has what changes in the message now worked on painted at its end, not at the next tick."""
        self._awaited = True

    def on_idle(self) -> None:
        """Asks for the frame once the screen has been told what changed, which happens right after this."""
        if self._awaited:
            self._awaited = False
            self.call_next(self._ask_for_frame)

    def _ask_for_frame(self) -> None:
        # What a tick of the clock calls too. It is no promise of Textual's; without it the clock is waited for.
        tick = getattr(self.screen, "_on_timer_update", None) if self.is_attached else None
        if tick is not None:
            self.screen.call_later(tick)
