"""Frames of a driven app, drawn where a test pauses and not while it waits.

Textual draws up to 60 frames a second, for a test's app as well, which has no terminal and throws each of them away.
What is drawn when keys have been handled is what a person would see at that moment; frames between are drawn by nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakSet

import pytest
from textual._context import visible_screen_stack
from textual.app import App
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import Screen

_waiting: WeakSet[App[object]] = WeakSet()
_refresh = Screen._compositor_refresh
_pause = Pilot.pause


def draw_at_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes apps that `wait_with_frames` draw where their pilot pauses."""
    monkeypatch.setattr(Screen, "_compositor_refresh", _remember)
    monkeypatch.setattr(Pilot, "pause", _pause_and_draw)


def wait_with_frames(app: App[object]) -> None:
    """Lets the frames of an app wait for a pause."""
    _waiting.add(app)


def draw(app: App[object]) -> None:
    """Draws what changed since the last frame: each widget its lines. They are put side by side where a test looks, and
    so is what a dialog shows behind it: lines that the screen below has drawn, in darker colours.
    """
    compositor = app.screen._compositor
    if app in _waiting and app.is_running and compositor._dirty_regions:
        visible_screen_stack.set(app._background_screens)
        changed = Region.from_union(compositor._dirty_regions)
        compositor._dirty_regions.clear()
        for widget, (region, clip) in compositor.visible_widgets.items():
            seen = region.intersection(clip)
            if seen and clip.overlaps(changed) and not (widget is app.screen and app.screen.is_modal):
                widget.render_lines(seen.translate(-region.offset))
        app._update_mouse_over(app.screen)


@contextmanager
def every_frame(app: App[object]) -> Iterator[None]:
    """Draws each frame of an app at its time, for tests of when that is."""
    draw(app)
    _waiting.discard(app)
    try:
        yield
    finally:
        _waiting.add(app)


def _remember(screen: Screen[object]) -> None:
    app = screen.app
    if app not in _waiting or screen is not app.screen:
        _refresh(screen)
        return
    # The compositor knows the regions by now; it draws them all at once.
    screen._dirty_widgets.clear()
    app._update_mouse_over(screen)


async def pause_undrawn(pilot: Pilot[object], delay: float) -> None:
    """Pauses as a pilot does, without a look at what came of it."""
    await _pause(pilot, delay)


async def _pause_and_draw(pilot: Pilot[object], delay: float | None = None) -> None:
    await _pause(pilot, delay)
    draw(pilot.app)
