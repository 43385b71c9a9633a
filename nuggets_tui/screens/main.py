"""The main screen: composes the panes, owns one controller a topic, and wires what panes say to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, cast

from msgspec.structs import replace
from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import DescendantFocus, Key, ScreenResume
from textual.reactive import reactive
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from core.model.snapshot import Snapshot
from nuggets_tui.commands import BY_NAME, OVERVIEW, PALETTE_KEY, Command, bindings, footer_commands
from nuggets_tui.controllers.agents import AgentsController
from nuggets_tui.controllers.arrangement import ArrangementController
from nuggets_tui.controllers.audit import AuditController
from nuggets_tui.controllers.context import Context
from nuggets_tui.controllers.daily import DailyController
from nuggets_tui.controllers.files import FilesController
from nuggets_tui.controllers.grounding import GroundingController
from nuggets_tui.controllers.history import HistoryController
from nuggets_tui.controllers.imports import ImportsController
from nuggets_tui.controllers.maintenance import MaintenanceController
from nuggets_tui.controllers.memories import MemoriesController
from nuggets_tui.controllers.notes import NotesController
from nuggets_tui.controllers.opening import OpeningController
from nuggets_tui.controllers.pace import PaceController
from nuggets_tui.controllers.pipeline import PipelineController
from nuggets_tui.controllers.promotion import PromotionController
from nuggets_tui.controllers.reading import ReadingController
from nuggets_tui.controllers.search import SearchController
from nuggets_tui.controllers.searches import SearchesController
from nuggets_tui.controllers.selection import SelectionController
from nuggets_tui.controllers.settings import SettingsController
from nuggets_tui.controllers.sync import SyncController
from nuggets_tui.controllers.team import TeamController
from nuggets_tui.controllers.theme import ThemeController
from nuggets_tui.controllers.time_travel import TimeTravelController
from nuggets_tui.controllers.unsaved import TextsController, UnsavedController
from nuggets_tui.keys import shown_key
from nuggets_tui.messages import (
    EntryOpened,
    FactOpened,
    FileWanted,
    MoreLogWanted,
    NotePicked,
    NotesSelected,
    PaneWanted,
    PassageWanted,
    SearchLeft,
    SearchTyped,
    TagWanted,
)
from nuggets_tui.notices import dismiss_all, notify_error, place_notices
from nuggets_tui.opening import Opening
from nuggets_tui.session import Session
from nuggets_tui.view import View
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

if TYPE_CHECKING:
    from nuggets_tui.pane_help import Here
    from nuggets_tui.widgets.time_line import TimeLine


_SELECTING: Final = ("select", "select_all")


class MainScreen(Screen[None]):
    """Everything at a glance."""

    AUTO_FOCUS = "#notes"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(),
        Binding("ctrl+q", "app.quit", "Quit", show=False),
        Binding("escape", "step_back", "Back", show=False),
        Binding("tab", "next_pane(1)", "Next pane", show=False),
        Binding("shift+tab", "next_pane(-1)", "Previous pane", show=False),
        # Lists and texts have no use for them; the graph and the search box do.
        Binding("right", "pane_beside(1)", "Next pane", show=False),
        Binding("left", "pane_beside(-1)", "Previous pane", show=False),
    ]

    view: reactive[View] = reactive(View(), repaint=False)
    beside: reactive[View] = reactive(View(), repaint=False)
    """The view as the panes beside the lists show it: they follow when the cursor rests."""

    header = getters.query_one(HeaderLine)
    search_box = getters.query_one(SearchBox)
    panes = getters.query_one(Panes)
    tab_line = getters.query_one(TabLine)
    facts_pane = getters.query_one(FactsPane)
    notes_pane = getters.query_one(NotesPane)
    neighbours_pane = getters.query_one(NeighboursPane)
    key_bar = getters.query_one(KeyBar)

    def __init__(self, opening: Opening, *, notice: str = "") -> None:
        super().__init__()
        self._resumed = False
        context = self.context = Context(self)
        self.audit = AuditController(context)
        self.texts = TextsController(context)
        self.selection = SelectionController(context)
        self.pipeline = PipelineController(context, self.texts)
        self.reading = ReadingController(context, self.pipeline)
        self.arrangement = ArrangementController(context, self.reading)
        self.history = HistoryController(context, self.audit, self.texts, self.selection)
        self.time_travel = TimeTravelController(context, self.audit, self.reading, self.history)
        self.search = SearchController(context, self.arrangement, self.time_travel)
        self.searches = SearchesController(context, self.history)
        self.notes = NotesController(context, self.reading, self.selection, self.texts, self.history)
        self.files = FilesController(context, self.selection)
        self.promotion = PromotionController(context, self.history)
        self.daily = DailyController(context, self.history, self.promotion)
        self.sync = SyncController(context, self.history)
        self.opening = OpeningController(context, opening, notice, self.audit, self.reading, self.search)
        self.team = TeamController(context, self.opening, self.search, self.selection, self.history)
        self.unsaved_texts = UnsavedController(
            context, self.texts, self.reading, self.notes, self.history, self.pipeline, self.team
        )
        self.maintenance = MaintenanceController(context, self.opening, self.history, self.daily)
        self.agents = AgentsController(context)
        self.imports = ImportsController(context, self.history)
        self.memories = MemoriesController(context, self.opening, self.agents, self.imports)
        self.pace = PaceController(context)
        self.theme = ThemeController(context)
        self.settings = SettingsController(context, self.history, self.theme)
        # Whoever looks back is back first, and the memory is closed last.
        context.controllers = (
            self.time_travel, self.audit, self.texts, self.selection, self.pipeline, self.reading, self.arrangement,
            self.history, self.search, self.searches, self.notes, self.unsaved_texts, self.files, self.promotion,
            self.daily, self.sync, self.maintenance, self.agents, self.imports, self.memories, self.pace, self.theme,
            self.settings, self.team, GroundingController(context), self.opening,
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

    # The memory

    @property
    def session(self) -> Session:
        """The session of the open memory."""
        return self.context.session

    @property
    def reconciled(self) -> bool:
        """Whether the log is up to date since the memory was opened."""
        return self.context.reconciled

    @property
    def complete(self) -> bool:
        """Whether everything is there that the first frame did without."""
        return self.context.complete

    def on_mount(self) -> None:
        """Shows the memory if it is there already, else as soon as it is."""
        for one in self.context.controllers:
            one.mounted()

    def on_unmount(self) -> None:
        """Lets everything go that was opened."""
        for one in self.context.controllers:
            one.closing()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Shows the memory as it is now; while somebody looks back, says that it changed."""
        # What is gone is not selected any more.
        self.selection.drop_gone(snapshot)
        if self.view.past is not None:
            self.time_travel.take_down(snapshot, self.view.past)
        else:
            self.opening.show_snapshot(snapshot)

    def show_note(self, note_id: str, *, follow: bool = False) -> None:
        """Shows a note. `follow`: backspace comes back to the one before."""
        self.reading.show_note(note_id, follow=follow)

    def watch_view(self, before: View, after: View) -> None:
        """Commands come and go with what is shown."""
        self.pace.view_changed(before, after)
        if before.found is not after.found and after.empty and after.past is None:
            self.context.call_later(self.opening.show_message_or_panes)
        if self.is_mounted:
            # Once the lists show it: the keys act on what is under their cursors.
            self.call_later(self.show_keys)

    def watch_beside(self) -> None:
        """The panes that follow show other rows."""
        if self.is_mounted:
            self.call_later(self.show_keys)

    # Commands

    def can(self, name: str) -> bool:
        """Whether a command makes sense now."""
        command = BY_NAME[name]
        if (command.at_once and self.context.typing) or (name in _SELECTING and self.selection.elsewhere):
            return False
        view = self.selection.acted_on
        return self.time_travel.can(name, view) if view.past is not None else command.makes_sense(view)

    @property
    def usable(self) -> dict[str, bool]:
        """The commands that make sense now, each with whether its key counts."""
        return {name: self.view.keys.is_bound(name, self.view) for name in BY_NAME if self.can(name)}

    def answers(self, name: str) -> bool:
        """Whether the key of a command does or says something now: what is off while somebody looks back says why."""
        explains = BY_NAME[name].explains
        return self._is_off(name) or self.can(name) or (explains is not None and explains(self.view))

    def _is_off(self, name: str) -> bool:
        """Whether a command is one of the present, while somebody looks back."""
        return self.view.past is not None and not self.time_travel.works_now(name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Turns a command off in key, footer and palette alike."""
        if action == "command":
            name = str(parameters[0])
            return self.view.keys.is_bound(name, self.view) and self.answers(name)
        return super().check_action(action, parameters)

    async def action_command(self, name: str) -> None:
        """Carries out a command of the catalogue, on the note that the cursor has come to by now."""
        if self._is_off(name):
            self.time_travel.carry_out_instead(name)
            return
        notes = self.notes_pane
        if notes.unheard and self.focused is notes:
            self.show_note(notes.unheard)
        self.reading.follow_facts()
        notes.unheard = ""
        rows = self.focused
        if self._acts_on_row(name) and isinstance(rows, RowList) and not rows.bring_cursor_in_sight():
            # Nothing is done to a row that nobody sees: the key brings it back.
            return
        if self.answers(name):
            BY_NAME[name].run(self)

    def _acts_on_row(self, name: str) -> bool:
        """Whether a command acts on the row under the cursor."""
        of_note = BY_NAME[name].needs in ("note", "suggestion") and not self.selection.selected
        return of_note or (name == "undo" and isinstance(self.focused, AuditPane))

    def on_key(self, event: Key) -> None:
        """Takes up an offer of the greeting, or says where the command is whose key is bound at times; keys that mean
        something have their own way.
        """
        if event.key not in self.active_bindings and self.memories.takes(event.key):
            event.stop()
            return
        bound = (one for one in self.view.keys.commands if event.key in one.keys.split(","))
        if (
            any(one.needs == "note" for one in bound)
            and self.view.snapshot.notes
            and self.selection.target() is None
        ):
            event.stop()
            self.context.notify("There is no single note under the cursor.")
            return
        command = self.view.keys.bound_at_times(event.key, self.view)
        if command is not None and event.key not in self.active_bindings:
            event.stop()
            key = shown_key(event.key)
            where = (
                f': "{command.title}" is in {PALETTE_KEY[0]}. To bind it, set {command.name} = "{key}" in '
                "[keys] of settings.toml."
            )
            self.context.notify(f"{key} is not bound now" + (where if self.can(command.name) else "."))

    def show_keys(self) -> None:
        """Shows the keys that do something now, and what they do."""
        typing = self.context.typing
        self.key_bar.hint = "⏎ or ↓  first hit     esc  leave, again to clear" if typing else ""
        place = self.focused.id if self.focused is not None else None
        if getattr(self.focused, "overview", False):
            place = OVERVIEW
        selected = len(self.selection.selected)
        commands = [
            self._with_its_key(command, place or "")
            for command in footer_commands(place or "", selected=selected > 0)
            if command.name not in BY_NAME
            or (
                self.can(command.name)
                and (command.name == "let_go" or self.view.keys.is_bound(command.name, self.view))
            )
        ]
        if isinstance(self.focused, AuditPane) and not self.focused.can_be_undone:
            commands = [command for command in commands if command.name != "undo"]
        if place == OVERVIEW and not self.selection.under_cursor:
            commands = [command for command in commands if command.name != "open_point"]
        commands = [command for command in commands if command.keys]
        if self.view.past is not None:
            commands = [self.time_travel.labelled(command) for command in commands]
        note = self.selection.target() if len(self.selection.selected) < 2 else None
        self.key_bar.object = note.title if note is not None else ""
        self.key_bar.commands = tuple(commands)
        place_notices(self)

    def _with_its_key(self, command: Command, place: str) -> Command:
        """A command of the footer with the key that it has now, and what it acts on in a place."""
        if command.name not in BY_NAME:
            return command
        # What esc does is no key of the map.
        keys = command.keys if command.name == "let_go" else self.view.keys.by_name[command.name].keys
        label = command.label
        if command.name == "hide":
            label = self._what_is_hidden()
        elif command.name == "undo" and place == "audit":
            label = "undo entry"
        elif command.name == "graph" and self.panes.zoomed:
            label = "all panes"
        return replace(command, keys=keys, label=label)

    def _what_is_hidden(self) -> str:
        """What the key that hides does; the footer names the object behind it."""
        note, selected = self.selection.target(), len(self.selection.selected)
        if selected > 1 or note is None:
            return f"hide {selected:,}"
        return "bring back" if note.hidden else "hide"

    def open_under_cursor(self) -> None:
        """Opens what the cursor is on; lists see to the key themselves, so this is for palette and mouse."""
        if isinstance(self.focused, RowList):
            self.focused.action_open()

    def open_note(self, note_id: str) -> None:
        """Shows a note that was asked for by name, and goes to it; backspace comes back."""
        self.show_note(note_id, follow=True)
        self.go_to("note")

    def here(self) -> Here | None:
        """What the help says first: of the pane in use."""
        from nuggets_tui.pane_help import PLACES

        return PLACES.get(self.focused.id or "") if self.focused is not None else None

    def leave(self) -> None:
        """Ends the app."""
        self.app.exit()

    # Going about

    def go_to(self, pane: PaneName) -> None:
        """Gives a pane the cursor, and the space when only one is shown."""
        self.arrangement.go_to(pane)

    def action_next_pane(self, step: int) -> None:
        """The tab key: to the next pane, also when only one is shown."""
        self.arrangement.next_pane(step)

    def action_pane_beside(self, step: int) -> None:
        """An arrow to the side: to the next pane; while one looks back, to the change before or after."""
        if self.view.past is not None:
            self.time_travel.slide("change", step)
        else:
            self.arrangement.pane_beside(step)

    def action_step_back(self) -> None:
        """esc outside a field, one step: the search goes where it is seen, else the selection, else the pane that fills
        the screen, else one is back where one came from.
        """
        works = self.context.works
        place = self.focused.id if self.focused is not None else None
        away = place in PANES and self.arrangement.is_away
        if works.stop(asked_for=True):
            return
        if self.search_box.value and not away:
            self.search_box.value = ""
        elif self.selection.selected:
            self.selection.clear()
        elif self.panes.zoomed:
            self.arrangement.leave_zoom()
        elif place == "audit" and self.audit.clear_filters():
            pass
        elif away:
            self.arrangement.step_back()
        elif self.view.past is not None:
            self.time_travel.leave()
        elif not works.stop(asked_for=False):
            dismiss_all(self)

    @on(DescendantFocus)
    def _follow_focus(self, event: DescendantFocus) -> None:
        self.pace.catch_up()
        focused = event.widget.id
        if focused in PANES:
            self.arrangement.came_to(focused)
            if not self.panes.single:
                self.panes.active = focused
        self.show_keys()

    def on_resize(self) -> None:
        """Keeps the cursor on a pane that is on screen."""
        self.call_after_refresh(self._keep_focus)

    def _keep_focus(self) -> None:
        if self.focused is None and self.panes.display:
            self.go_to(self.panes.active)
        self.arrangement.show_tabs()

    @on(ScreenResume)
    def _resume(self, event: ScreenResume) -> None:
        if not self._resumed:
            # Every style was made just now: making them all once more would only hold the first frame up.
            self._resumed = True
            event.refresh_styles = False
        self.unsaved_texts.resumed()

    # What the panes say

    @on(NotePicked)
    def _pick_note(self, event: NotePicked) -> None:
        event.stop()
        self.notes_pane.unheard = ""
        if event.note_id:
            self.show_note(event.note_id, follow=event.follow)
        else:
            self.reading.follow_facts()

    @on(RowList.RowHighlighted)
    def _follow_cursor(self) -> None:
        # Lists whose rows Note does not follow: the keys act on another row now.
        self.show_keys()

    @on(NotesSelected)
    def _select(self, event: NotesSelected) -> None:
        event.stop()
        self.selection.select(self.query_one(f"#{event.pane}", RowList).selected)

    @on(SearchTyped)
    def _search_typed(self, event: SearchTyped) -> None:
        event.stop()
        self.search.typed(event.text)

    @on(PassageWanted)
    def _open_passage(self, event: PassageWanted) -> None:
        self.search.open_passage(event.passage)

    @on(TagWanted)
    def _list_tagged(self, event: TagWanted) -> None:
        event.stop()
        self.search.find_tagged(event.tag)

    @on(SearchLeft)
    def _leave_search(self, event: SearchLeft) -> None:
        event.stop()
        self.search.leave(to_results=event.to_results)

    @on(FactOpened)
    def _open_fact(self, event: FactOpened) -> None:
        event.stop()
        if self.context.open_session is None:
            # Seen already, or still, while the memory is being opened.
            return
        if self.view.past is None:
            self.reading.open_fact(event.nugget, event.key)
        else:
            self.time_travel.explain_no_recall()

    @on(FileWanted)
    def _open_file(self, event: FileWanted) -> None:
        event.stop()
        self.files.find_and_open(event.reference)

    @on(MoreLogWanted)
    def _read_on(self, event: MoreLogWanted) -> None:
        event.stop()
        self.audit.read_further()

    @on(EntryOpened)
    def _open_entry(self, event: EntryOpened) -> None:
        event.stop()
        if self.context.open_session is None:
            return
        if self.view.past is None:
            self.history.open_entry(event.entry_id)
        else:
            self.time_travel.go_to_entry(event.entry_id)

    @on(PaneWanted)
    def _go_to_wanted(self, event: PaneWanted) -> None:
        event.stop()
        self.go_to(cast("PaneName", event.pane))

    @on(Panes.ZoomWanted)
    def _zoom(self, event: Panes.ZoomWanted) -> None:
        event.stop()
        self.arrangement.zoom(event.pane)

    # These come from widgets whose modules are loaded later.

    def on_graph_view_node_focused(self) -> None:
        """The keys act on another note of the picture."""
        self.show_keys()

    def on_graph_overview_view_changed(self) -> None:
        """The keys act on another point."""
        self.show_keys()

    def on_graph_pane_overview_left(self) -> None:
        """Back to the surroundings of a note."""
        self.arrangement.leave_overview()

    def on_time_line_slide(self, event: TimeLine.Slide) -> None:
        """The slider asks for another moment."""
        event.stop()
        self.time_travel.slide(event.by, event.step)

    def on_time_line_jump(self, event: TimeLine.Jump) -> None:
        """A part of the bar was clicked."""
        event.stop()
        self.time_travel.slide("to", event.position)

    def on_time_line_left(self, event: TimeLine.Left) -> None:
        """The cursor goes on to the notes."""
        event.stop()
        self.go_to("notes")

    # Errors

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Work that fails in a way nobody thought of is said, not swallowed."""
        if event.state is WorkerState.ERROR and isinstance(event.worker.error, Exception):
            self.log.error(event.worker.error)
            notify_error(self, event.worker.error)
