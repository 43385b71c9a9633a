"""What is worth trying next, named in the header of a young memory until it was tried."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from core.model.names import parse_iso
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.threads import run_in_thread

if TYPE_CHECKING:
    from nuggets_tui.controllers.context import Context
    from nuggets_tui.view import View

# A memory that is older than this, or holds more, is of somebody who knows the app or does not look at its header.
_YOUNG: Final = timedelta(days=14)
_MOST_NOTES: Final = 500
_MOST_ENTRIES: Final = 500


def _mine(view: View) -> bool:
    """Whether the newest of the person's own changes can be undone."""
    mine = (line for line in view.log.lines if line.author.kind == "person" and line.state == "done")
    return any(line.kind == "edit" and not line.undone for line in mine)


# Commands worth trying, the most useful first, and when each makes sense.
TIPS: Final[Mapping[str, Callable[[View], bool]]] = {
    "undo": _mine,
    "why": lambda view: view.found is not None and view.note is not None,
    "search": lambda view: len(view.snapshot.visible) > 1,
    "overview": lambda view: len(view.snapshot.visible) > 2,
    "time": lambda view: len(view.log.lines) > 1,
    "reflect": lambda view: len(view.snapshot.visible) > 2,
    "help": lambda view: True,
}


class TipsController(Controller):
    """Chooses what is named, and keeps what was tried."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        # None while it is not known what was tried.
        self._tried: frozenset[str] | None = None

    def first_frame_shown(self) -> None:
        """Reads what was tried, once the memory stands on the screen."""
        self._begin()

    def snapshot_shown(self) -> None:
        """Another memory may be worth another try."""
        self.choose()

    def log_shown(self) -> None:
        """A change that can be undone may have come."""
        self.choose()

    def leaving(self) -> None:
        """The next memory is looked at anew."""
        self._tried = None

    @background("tips", exclusive=True)
    async def _begin(self) -> None:
        from core.tried import read_tried

        self._tried = await run_in_thread(read_tried)
        self.choose()

    def tried(self, command: str) -> None:
        """A command was used: it is not named again."""
        if command in TIPS and self._tried is not None and command not in self._tried:
            self._tried |= {command}
            self._keep(command)
        self.choose()

    @background("tips")
    async def _keep(self, command: str) -> None:
        from core.tried import keep_tried

        await asyncio.to_thread(keep_tried, [command])

    def choose(self) -> None:
        """Names what is worth trying now."""
        tip = self._next()
        if tip != self.view.tip:
            self.context.show(tip=tip)

    def _next(self) -> str:
        view = self.view
        if self._tried is None or not self.context.app.gives_tips or view.past is not None or _is_old(view):
            return ""
        return next((name for name, fits in TIPS.items() if name not in self._tried and fits(view)), "")


def _is_old(view: View) -> bool:
    """Whether a memory has been used for long, or is empty, which says itself how to begin."""
    notes, lines = view.snapshot.notes, view.log.lines
    if view.empty or view.now is None or len(notes) > _MOST_NOTES:
        return True
    if lines and lines[0].seq > _MOST_ENTRIES:
        return True
    made = (parse_iso(note.created_at) for note in notes if note.created_at)
    return any(view.now - at > _YOUNG for at in made if at is not None)
