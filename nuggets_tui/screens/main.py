"""The main screen: owns what is shown, hands it down to the panes, and changes it as they and the files speak."""

from __future__ import annotations

import asyncio
from typing import ClassVar, cast

from msgspec.structs import replace
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import DescendantFocus, ScreenResume

from core.model.snapshot import Snapshot
from nuggets_tui.app import Opening
from nuggets_tui.commands import bindings
from nuggets_tui.controllers.daily import DailyController
from nuggets_tui.controllers.files import FilesController
from nuggets_tui.controllers.maintenance import MaintenanceController
from nuggets_tui.controllers.memories import MemoriesController
from nuggets_tui.controllers.notes import NotesController
from nuggets_tui.controllers.pace import PaceController
from nuggets_tui.controllers.promotion import PromotionController
from nuggets_tui.controllers.searches import SearchesController
from nuggets_tui.controllers.theme import ThemeController
from nuggets_tui.controllers.unsaved import UnsavedController
from nuggets_tui.messages import (
    EntryOpened,
    FactOpened,
    FileWanted,
    MoreLogWanted,
    NotePicked,
    NotesSelected,
    PaneWanted,
    SearchLeft,
    SearchTyped,
)
from nuggets_tui.notices import keep_off, let_all_go
from nuggets_tui.screens.main_past import MainPast
from nuggets_tui.view import Found, View
from nuggets_tui.widgets.audit import AuditPane
from nuggets_tui.widgets.facts import FactsPane
from nuggets_tui.widgets.header import HeaderLine
from nuggets_tui.widgets.key_bar import KeyBar
from nuggets_tui.widgets.neighbours import NeighboursPane
from nuggets_tui.widgets.note_view import NotePane
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.panes import PANES, GraphPlace, PaneName, Panes
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.widgets.search_box import SearchBox
from nuggets_tui.widgets.tab_line import TabLine

_RECALL_PATIENCE = 0.008


class MainScreen(MainPast):
    """Everything at a glance."""

    AUTO_FOCUS = "#notes"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(),
        Binding("ctrl+q", "app.quit", "Leave", show=False),
        Binding("escape", "step_back", "Back", show=False),
        Binding("tab", "next_pane(1)", "Next pane", show=False),
        Binding("shift+tab", "next_pane(-1)", "Pane before", show=False),
        # Lists and texts have no use for them; the graph and the search box do.
        Binding("right", "pane_beside(1)", "Next pane", show=False),
        Binding("left", "pane_beside(-1)", "Pane before", show=False),
    ]

    def __init__(self, opening: Opening, *, notice: str = "") -> None:
        super().__init__(opening, notice=notice)
        self.notes = NotesController(self.context, self.reading, self.selection, self.texts, self.history)
        self.unsaved = UnsavedController(
            self.context, self.texts, self.reading, self.notes, self.history, self.pipeline
        )
        self.files = FilesController(self.context, self.selection)
        self.searches = SearchesController(self.context, self.history)
        self.promotion = PromotionController(self.context, self.history)
        self.daily = DailyController(self.context, self.history, self.promotion)
        self.maintenance = MaintenanceController(self.context, self, self.history, self.daily)
        self.memories = MemoriesController(self.context, self)
        self.pace = PaceController(self.context)
        self.theme = ThemeController(self.context)
        self.context.controllers = (
            self.audit, self.texts, self.selection, self.pipeline, self.reading, self.history, self.arrangement,
            self.notes, self.unsaved, self.files, self.searches, self.promotion, self.daily, self.maintenance,
            self.memories, self.pace, self.theme,
        )  # fmt: skip

    def compose(self) -> ComposeResult:
        """The header, the search box, six panes, and the keys."""
        state = MainScreen.view
        yield HeaderLine(id="header").data_bind(state)
        yield SearchBox(id="search").data_bind(state)
        with Panes(id="panes"):
            yield TabLine(id="tabs").data_bind(state)
            yield FactsPane().data_bind(state)
            yield NotesPane().data_bind(state)
            yield NotePane().data_bind(view=MainScreen.beside)
            yield NeighboursPane().data_bind(view=MainScreen.beside)
            yield GraphPlace()
            yield AuditPane().data_bind(state)
        yield KeyBar(id="keys")

    # What the panes say

    @on(NotePicked)
    def _pick_note(self, event: NotePicked) -> None:
        event.stop()
        self.query_one(NotesPane).unheard = ""
        self.show_note(event.note_id, follow=event.follow)

    @on(PaneWanted)
    def _go_to_wanted(self, event: PaneWanted) -> None:
        event.stop()
        self.go_to(cast("PaneName", event.pane))

    @on(Panes.Arranged)
    def _keep_arrangement(self, event: Panes.Arranged) -> None:
        event.stop()
        self.arrangement.keep()

    @on(Panes.ZoomWanted)
    def _zoom(self, event: Panes.ZoomWanted) -> None:
        event.stop()
        self.arrangement.zoom(event.pane)

    def on_graph_pane_overview_left(self) -> None:
        """Back to the surroundings of a note."""
        self.arrangement.leave_overview()

    @on(DescendantFocus)
    def _follow_focus(self, event: DescendantFocus) -> None:
        self.pace.catch_up()
        focused = event.widget.id
        panes = self.query_one(Panes)
        if focused in PANES and not panes.single:
            panes.active = focused
        self.show_keys()
        keep_off(self)

    def action_next_pane(self, step: int) -> None:
        """The tab key: to the next pane, also when only one is shown."""
        self.arrangement.next_pane(step)

    def action_pane_beside(self, step: int) -> None:
        """An arrow to the side: to the next pane; while one looks back, to the change before or after."""
        if self.view.past is not None:
            self.slide("change", step)
            return
        self.arrangement.pane_beside(step)

    def action_step_back(self) -> None:
        """esc outside a field: the search goes, else the selection, else the pane that fills the screen gives way."""
        search, panes = self.query_one(SearchBox), self.query_one(Panes)
        if self.works.stop(asked_for=True):
            return
        if search.value:
            search.value = ""
        elif self.view.selected:
            self.selection.clear()
        elif panes.zoomed:
            self.arrangement.leave_zoom()
        elif self.focused is not None and self.focused.id == "audit" and self.audit.let_filters_go():
            pass
        elif self.view.past is not None:
            self.leave_past()
        elif not self.works.stop(asked_for=False):
            let_all_go(self)

    def on_resize(self) -> None:
        """Keeps the cursor on a pane that is on screen."""
        self.call_after_refresh(self._keep_focus)

    def _keep_focus(self) -> None:
        if self.focused is None and self.query_one(Panes).display:
            self.go_to(self.query_one(Panes).active)
        self.arrangement.show_tabs()

    def watch_view(self, before: View, after: View) -> None:
        """Commands come and go with what is shown."""
        self.pace.view_changed(before, after)
        self.searches.view_changed(after)
        if before.log is not after.log:
            self.log_shown_in_past()
        if self.is_mounted:
            self.show_keys()

    # Searching

    @on(SearchTyped)
    def _look(self, event: SearchTyped) -> None:
        # The language of queries is loaded by the first of them, not before the first frame.
        from core.search.language import read

        event.stop()
        if read(event.text).empty:
            if self._desk is not None:
                self.desk.forget_question()
            self.workers.cancel_group(self, "search")
            self.view = self.view.with_(found=None)
            self.arrangement.show_tabs()
        elif self._desk is not None:
            # Where one pane has the screen, it is the one with the hits.
            self.query_one(Panes).active = "notes"
            self.arrangement.show_tabs()
            if self.index_put_off:
                self.make_index_after_all()
            self._search(event.text)

    def search_again(self) -> None:
        """Looks for what stands in the search box once more."""
        if self.view.found is not None:
            self._search(self.query_one(SearchBox).value)

    @work(group="search", exclusive=True, exit_on_error=False)
    async def _search(self, text: str) -> None:
        if self.view.past is not None:
            found = await self.attempt(self.find_in_past(text))
            if found is not None:
                self._show_found(found)
            return
        found = await self.attempt(self.desk.find(text))
        if found is None:
            return
        asked = asyncio.ensure_future(self.attempt(self.desk.recall(text)))
        # The answer mostly comes along at once; hits do not wait for facts that are decoded for the first time.
        await asyncio.wait([asked], timeout=_RECALL_PATIENCE)
        if not asked.done():
            self._show_found(found)
        self._show_found(replace(found, recall=await asked))

    def _show_found(self, found: Found) -> None:
        self.view = self.view.with_(found=found)
        self.arrangement.show_tabs()

    @on(SearchLeft)
    def _leave_search(self, event: SearchLeft) -> None:
        event.stop()
        notes = self.query_one(NotesPane)
        if event.to_results:
            notes.action_first()
        self.go_to("notes")

    @on(FactOpened)
    def _open_fact(self, event: FactOpened) -> None:
        event.stop()
        self.open_fact(event.nugget, event.key)

    @on(FileWanted)
    def _open_file(self, event: FileWanted) -> None:
        event.stop()
        self.files.find_and_open(event.reference)

    @on(NotesSelected)
    def _select(self, event: NotesSelected) -> None:
        event.stop()
        self.selection.select(self.query_one(f"#{event.pane}", RowList).selected)

    @on(ScreenResume)
    def _resume(self) -> None:
        self.unsaved.resumed()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Shows the memory as it is now; what is gone is not selected any more."""
        self.selection.drop_gone(snapshot)
        super().show_snapshot(snapshot)

    @on(MoreLogWanted)
    def _read_on(self, event: MoreLogWanted) -> None:
        event.stop()
        self.audit.read_further()

    @on(EntryOpened)
    def _open_entry(self, event: EntryOpened) -> None:
        event.stop()
        self.open_entry(event.entry_id)
