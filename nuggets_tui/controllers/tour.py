"""The tour of the demo: four keys, each with what one sees, offered once and left at any other key."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.events import Key

from nuggets_tui.controllers.controller import Controller, background

if TYPE_CHECKING:
    from nuggets_tui.controllers.arrangement import ArrangementController
    from nuggets_tui.controllers.context import Context
    from nuggets_tui.controllers.search import SearchController
    from nuggets_tui.controllers.time_travel import TimeTravelController

# What is kept of it once it was offered.
OFFERED: Final = "tour"
_WORDS: Final = 4


class _Step(NamedTuple):
    """A command to try, and what one sees then; before: what closes the dialog of the step before."""

    command: str
    sees: str
    before: str = ""


STEPS: Final = (
    _Step("overview", "every note as a point, in groups"),
    _Step("time", "the memory as it was, any moment"),
    _Step("why", "a search, and why a note is a hit"),
    _Step("reflect", "a cleanup, each change for review", "esc, then "),
)
# Steps that need the present and the panes.
_FROM_THE_PANES: Final = ("why", "reflect")


class TourController(Controller):
    """Shows one step after the other. The key of a step does what it always does."""

    def __init__(
        self,
        context: Context,
        arrangement: ArrangementController,
        time_travel: TimeTravelController,
        search: SearchController,
    ) -> None:
        super().__init__(context)
        self._arrangement = arrangement
        self._time_travel = time_travel
        self._search = search
        self._place: int | None = None

    @property
    def step(self) -> str:
        """The command of the step that is shown; "" where there is no tour."""
        return STEPS[self._place].command if self._place is not None else ""

    def first_frame_shown(self) -> None:
        """Offers the tour on the demo."""
        if self.context.app.is_demo(self.view.home):
            self._offer()

    def leaving(self) -> None:
        """Another memory has no tour."""
        self.leave()

    @background("tour", exclusive=True)
    async def _offer(self) -> None:
        if await asyncio.to_thread(_first_offered):
            self._show(0)

    def leave(self) -> None:
        """Ends the tour."""
        self._place = None
        self.context.screen.query("TourLine").remove()

    def pressed(self, event: Key) -> None:
        """A key of the main screen: any but those that the step names ends the tour, and does what it always does."""
        if self._place is not None and not (event.key == "escape" and STEPS[self._place].before):
            keys = self.view.keys.by_name[self.step].keys.split(",")
            if event.key not in keys and not set(event.aliases) & set(keys):
                self.leave()

    def takes(self, command: str) -> bool:
        """Goes on with the tour where a command is its step. Whether the command was carried out here."""
        if not self.step or self._place is None:
            return False
        if command != self.step:
            self.leave()
            return False
        place = self._place
        if command in _FROM_THE_PANES:
            self._time_travel.leave()
            self._arrangement.leave_overview()
        if place + 1 < len(STEPS):
            self._show(place + 1)
        else:
            self.leave()
        if command == "why":
            self._explain()
        return command == "why"

    def _show(self, place: int) -> None:
        # Only the demo is ever shown with it.
        from nuggets_tui.widgets.tour_line import TourLine

        self._place = place
        step = STEPS[place]
        found = self.context.screen.query(TourLine)
        line = found.first() if found else TourLine(id="tour")
        line.step = f"{place + 1}/{len(STEPS)}"
        line.key, line.sees = step.before + self.view.keys.key(step.command), step.sees
        if not found:
            self.context.screen.mount(line, before="#keys")

    @background("open")
    async def _explain(self) -> None:
        """A search for words of the note shown, and why that note is a hit."""
        note = self.view.note or next(iter(self.view.snapshot.visible), None)
        if note is None:
            return
        words = " ".join(note.title.split()[:_WORDS])
        self.context.search_box.value = words
        self._search.typed(words)
        # A search that a newer one replaces ends early.
        while under_way := self.context.running("search"):
            await asyncio.gather(*(one.wait() for one in under_way), return_exceptions=True)
        self.context.go_to("notes")
        self._search.why()


def _first_offered() -> bool:
    """Whether the tour was never offered to this user; from now on it was."""
    from core.tried import keep_tried, read_tried

    if OFFERED in read_tried():
        return False
    keep_tried([OFFERED])
    return True
