"""The panes: from one to the next, one alone, and when those beside the lists follow the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from textual.timer import Timer

from nuggets_tui import pace
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.listing import ORDER_NAMES, ORDERS
from nuggets_tui.pace import run_in_thread
from nuggets_tui.view import View, same_but
from nuggets_tui.widgets.panes import PANES, READING_ORDER, TABS, PaneName, one_at_a_time

if TYPE_CHECKING:
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.widgets.graph import GraphPane

_MOST_HOPS = 3
# The file that says whether Notes lists the notes of facts, and what it holds then.
_FACT_NOTES: Final = "fact-notes"
_SHOWN: Final = b"shown"


class ArrangementController(Controller):
    """Which pane has the cursor, and which fills the screen."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._before_graph: PaneName | None = None
        # Whether somebody said in this run whether Notes lists the notes of facts.
        self._facts_chosen = False
        self._before_overview: tuple[PaneName, bool] = ("notes", False)
        # The pane in use, and those that esc goes back to, with how many notes the trail had there.
        self._pane: PaneName = "notes"
        self._came_from: list[tuple[PaneName, int]] = []

    def first_frame_shown(self) -> None:
        """Notes lists what somebody chose for this memory."""
        self._list_as_saved()

    def leaving(self) -> None:
        """Another memory may list other notes, and has another trail."""
        self._came_from = [(pane, 0) for pane, _ in self._came_from]
        self._facts_chosen = False

    @background("panes", exclusive=True)
    async def _list_as_saved(self) -> None:

        from core.app_state import read_state

        home = self._own_home()
        shown = home is not None and await run_in_thread(read_state, home, _FACT_NOTES) == _SHOWN
        if shown and not self._facts_chosen:
            self.main.show(show_facts=True)

    @background("panes", exclusive=True)
    async def save(self) -> None:
        """Keeps whether Notes lists the notes of facts."""

        from core.app_state import write_state

        home = self._own_home()
        if home is not None:
            kept = _SHOWN if self.view.show_facts else b""
            await self.attempt(run_in_thread(write_state, home, _FACT_NOTES, kept))

    def _own_home(self) -> Path | None:
        """The memory whose choice is kept: none of a copy of the demo, which goes with the app."""
        home = self.session.memory.home if self.main.open_session is not None else None
        return None if home is None or self.app.is_copy(home) else home

    # From pane to pane

    def go_to(self, pane: PaneName) -> None:
        """Gives a pane the cursor, and the space when only one is shown."""
        self.came_to(pane)
        panes = self.main.panes
        if pane == "graph" != panes.active:
            self._before_graph = panes.active
        panes.active = pane
        # At once, not when messages have been handled: the next key may be on its way already.
        shown = panes.query_one(f"#{pane}") if panes.display else self.main.query_one("#message")
        self.main.set_focus(shown)
        self.show_tabs()

    def came_to(self, pane: PaneName) -> None:
        """Remembers the pane that was left. Notes is where everybody begins: from there esc goes no further back."""
        if pane == self._pane:
            return
        passed = [one for one, _ in self._came_from]
        if pane == "notes" or pane in passed:
            del self._came_from[0 if pane == "notes" else passed.index(pane) :]
        else:
            self._came_from.append((self._pane, len(self.main.reading.trail)))
        self._pane = pane

    @property
    def is_away(self) -> bool:
        return bool(self._came_from)

    def step_back(self) -> None:
        """To the note, else the pane, that one came from."""
        pane, notes = self._came_from[-1]
        if len(self.main.reading.trail) <= notes or not self.main.reading.back():
            self._come_back(pane)

    def _come_back(self, pane: PaneName) -> None:
        """To a pane; the cursor of Notes may have lost the note shown while one was away, or never have had it."""
        self.go_to(pane)
        if pane == "notes":
            self.main.reading.follow_notes()
            self.main.reading.reveal()

    def show_tabs(self) -> None:
        """Marks the pane in use in the tabs."""
        tabs = self.main.tab_line
        panes = self.main.panes
        tabs.active, tabs.zoomed = panes.active, panes.single and not one_at_a_time(panes.size)
        tabs.results = self.view.found is not None

    def next_pane(self, step: int) -> None:
        """The tab key: to the next pane, also when only one is shown."""
        panes = self.main.panes
        if not panes.single or not panes.display:
            screen = self.main
            screen.focus_next() if step > 0 else screen.focus_previous()
            return
        order: list[str] = ["search", *PANES]
        focused = self.main.focused.id if self.main.focused is not None else None
        now = focused if focused in order else panes.active
        wanted = order[(order.index(now) + step) % len(order)]
        if wanted == "search":
            self.main.set_focus(self.main.search_box)
        else:
            self.go_to(cast("PaneName", wanted))

    def pane_beside(self, step: int) -> None:
        """To the pane before (-1) or after (1) that with the cursor: of the tabs, or of those on screen."""
        focused = self.main.focused.id if self.main.focused is not None else None
        shown = self.main.panes.regions(self.main.panes.size)
        order = PANES if TABS in shown else tuple(pane for pane in READING_ORDER if pane in shown)
        if focused in order:
            self.go_to(order[(order.index(focused) + step) % len(order)])

    # Views

    def show_hidden(self) -> None:
        self.main.show(show_hidden=not self.view.show_hidden)

    def show_facts(self) -> None:
        """The notes of facts come into Notes and go; that is kept for the next start."""
        self._facts_chosen = True
        self.main.show(show_facts=not self.view.show_facts)
        self.save()

    def sort(self) -> None:
        order = ORDERS[(ORDERS.index(self.view.order) + 1) % len(ORDERS)]
        self.main.show(order=order)
        self.notify(f"Notes sorted: {ORDER_NAMES[order]}.")

    def graph(self) -> None:
        panes = self.main.panes
        if panes.single and panes.active == "graph":
            self.leave_zoom()
        else:
            panes.zoomed = True
            self.go_to("graph")
            self.main.show_keys()

    def leave_zoom(self) -> None:
        """The pane that fills the screen gives way; from the graph, to the pane one came from."""
        panes = self.main.panes
        panes.zoomed = False
        former, self._before_graph = self._before_graph, None
        self._come_back(former if former and panes.active == "graph" else panes.active)
        self.main.show_keys()

    def zoom(self, pane: PaneName | None = None) -> None:
        """A pane alone, that with the cursor if none is named; and back."""
        panes = self.main.panes
        if panes.single and not one_at_a_time(panes.size):
            self.leave_zoom()
            return
        panes.zoomed = not panes.zoomed
        self.go_to(pane or panes.active)
        self.main.show_keys()

    def fewer_hops(self) -> None:
        self.main.show(hops=max(1, self.view.hops - 1))

    def more_hops(self) -> None:
        self.main.show(hops=min(_MOST_HOPS, self.view.hops + 1))

    def overview(self) -> None:
        """All notes as points, over the whole screen; and back."""
        pane = self._graph_pane
        if pane is None:
            return
        panes = self.main.panes
        if pane.overview and panes.zoomed and panes.active == "graph":
            self._leave_overview(pane)
            return
        if not pane.overview:
            self._before_overview = (panes.active, panes.zoomed)
        pane.overview = True
        panes.zoomed = True
        self.go_to("graph")
        self.main.show_keys()

    @property
    def _graph_pane(self) -> GraphPane | None:
        """The Graph pane; None before it takes its place, right after the first frame."""
        from nuggets_tui.widgets.graph import GraphPane

        return next(iter(self.main.query(GraphPane)), None)

    def leave_overview(self) -> None:
        """Back to the surroundings of a note."""
        pane = self._graph_pane
        if pane is not None and pane.overview:
            self._leave_overview(pane)

    def _leave_overview(self, pane: GraphPane) -> None:
        panes = self.main.panes
        former, panes.zoomed = self._before_overview
        pane.overview = False
        # A list that gets the cursor shows the note that its own stands on.
        self.main.reading.reveal()
        self.go_to("graph" if panes.zoomed else self.main.reading.list_with_note(former))
        self.main.show_keys()


# What changes while somebody goes down a list and programs write.
_PASSING: Final = ("note_id", "suggested", "origin", "busy", "snapshot", "fresh", "log", "now", "found")


class PaceController(Controller):
    """Keeps `beside`, what the panes beside the lists show, in step with `view`."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._resting: Timer | None = None

    def view_changed(self, before: View, after: View) -> None:
        """Follows at once, or once the cursor rests where that is all that moved."""
        can_wait = before.note is not None and after.note is not None and same_but(before, after, *_PASSING)
        if pace.REST > 0 and can_wait:
            self._follow_later(anew=before.note_id != after.note_id)
        else:
            self.follow_now()

    def catch_up(self) -> None:
        """Whoever goes over to another pane finds what is shown now."""
        if self._resting is not None:
            self.follow_now()

    def follow_now(self) -> None:
        """The panes beside the lists show what is shown now."""
        if self._resting is not None:
            self._resting.stop()
            self._resting = None
        self.main.beside = self.view

    def _follow_later(self, *, anew: bool) -> None:
        """Once the cursor rests. anew: it was moved just now; programs that write again and again put nothing off."""
        if self._resting is None:
            self._resting = self.main.set_timer(pace.REST, self.follow_now)
        elif anew:
            self._resting.reset()
