"""Arranging the panes: wider, higher, one alone, and all as they were; the arrangement is there at the next start."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import on, work

from nuggets_tui.notices import say
from nuggets_tui.screens.main_opening import MainOpening
from nuggets_tui.threads import aside
from nuggets_tui.widgets.pane_shapes import USUAL, Shares
from nuggets_tui.widgets.panes import Panes

if TYPE_CHECKING:
    from nuggets_tui.application import NuggetsApp

_COLUMNS, _ROWS = 4, 2
# Lines are mostly moved by several keys, or while the mouse goes about.
_PAUSE: Final = 0.5


class MainPanes(MainOpening):
    """The commands that move the lines between panes. The mouse can take hold of the lines, too."""

    def _after_first_frame(self) -> None:
        super()._after_first_frame()
        self._arrange_as_kept()

    @work(group="panes", exclusive=True, exit_on_error=False)
    async def _arrange_as_kept(self) -> None:
        home = self._arranged_home()
        shares = await aside(_kept, home) if home is not None else {}
        panes = self.query_one(Panes)
        # Whoever was quicker has moved them already.
        if shares and panes.shares is USUAL:
            panes.shares = {**USUAL, **shares}

    @on(Panes.Arranged)
    def _arranged(self, event: Panes.Arranged) -> None:
        event.stop()
        self._keep_arrangement()

    @work(group="panes", exclusive=True, exit_on_error=False)
    async def _keep_arrangement(self) -> None:
        await asyncio.sleep(_PAUSE)
        home = self._arranged_home()
        if home is not None:
            shares = self.query_one(Panes).shares
            await self.attempt(aside(_keep, home, {name: shares[name] for name in USUAL if name in shares}))

    def _arranged_home(self) -> Path | None:
        """The memory whose arrangement is kept: none of a copy of the demo, which goes with the app."""
        app: NuggetsApp = self.app  # type: ignore[assignment]
        home = self.desk.memory.home if self._desk is not None else None
        return None if home is None or app.is_copy(home) else home

    def do_wider(self) -> None:
        """The pane with the cursor, wider."""
        self._grow(columns=_COLUMNS)

    def do_narrower(self) -> None:
        """The pane with the cursor, narrower."""
        self._grow(columns=-_COLUMNS)

    def do_higher(self) -> None:
        """The pane with the cursor, higher."""
        self._grow(rows=_ROWS)

    def do_lower(self) -> None:
        """The pane with the cursor, lower."""
        self._grow(rows=-_ROWS)

    def do_usual_panes(self) -> None:
        """All lines between panes where they were at first."""
        panes = self.query_one(Panes)
        panes.zoomed = False
        panes.shares = USUAL
        self._keep_arrangement()
        self.go_to(panes.active)

    def _grow(self, *, columns: int = 0, rows: int = 0) -> None:
        panes = self.query_one(Panes)
        if panes.zoomed:
            say(self, f"One pane fills the screen; {self.view.keys.key('zoom')} brings the others back.")
        elif panes.single:
            say(self, "Here the panes are tabs, each as large as the screen allows.")
        else:
            panes.grow(columns=columns, rows=rows)

    @on(Panes.ZoomWanted)
    def _zoom_or_not(self, event: Panes.ZoomWanted) -> None:
        event.stop()
        panes = self.query_one(Panes)
        panes.zoomed = not panes.zoomed
        self.go_to(event.pane)


def _kept(home: Path) -> dict[str, float]:
    from core.arrangement import kept_panes

    return {name: share for name, share in kept_panes(home).items() if name in USUAL}


def _keep(home: Path, shares: Shares) -> bool:
    from core.arrangement import keep_panes

    return keep_panes(home, shares)
