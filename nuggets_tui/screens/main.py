"""The main screen: composes the panes, owns one controller a topic, and wires what panes say to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from msgspec.structs import replace
from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import DescendantFocus, Key, ScreenResume
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Input, Label
from textual.worker import Worker, WorkerState

from core.model.snapshot import Snapshot
from nuggets_tui.commands import BY_NAME, OVERVIEW, PALETTE_KEY, Command, bindings, footer_commands, shown_key
from nuggets_tui.controllers.arrangement import ArrangementController, PaceController
from nuggets_tui.controllers.controller import Controller
from nuggets_tui.controllers.grounding import GroundingController
from nuggets_tui.controllers.history import AuditController, HistoryController
from nuggets_tui.controllers.maintenance import MaintenanceController, SettingsController
from nuggets_tui.controllers.memories import AgentsController, ImportsController, MemoriesController
from nuggets_tui.controllers.notes import NotesController, TextsController, UnsavedController
from nuggets_tui.controllers.opening import OpeningController
from nuggets_tui.controllers.pipeline import PipelineController
from nuggets_tui.controllers.promotion import DailyController, PromotionController
from nuggets_tui.controllers.reading import FilesController, ReadingController, SelectionController
from nuggets_tui.controllers.search import SearchController
from nuggets_tui.controllers.team import SyncController, TeamController
from nuggets_tui.controllers.time_travel import TimeTravelController
from nuggets_tui.notices import dismiss_all, notify, notify_error, place_notices
from nuggets_tui.opening import Opening
from nuggets_tui.pace import Works
from nuggets_tui.session import Session
from nuggets_tui.view import Asked, View
from nuggets_tui.widgets.audit import AuditPane
from nuggets_tui.widgets.facts import FactsPane
from nuggets_tui.widgets.header import HeaderLine, KeyBar
from nuggets_tui.widgets.note_view import NeighboursPane, NotePane
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.panes import PANES, GraphPlace, PaneName, Panes, TabLine
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.widgets.search_box import SearchBox, SearchSaid

if TYPE_CHECKING:
    from nuggets_tui.screens.dialog import Here
    from nuggets_tui.widgets.note_view import Neighbour


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
        # The session of the open memory, None before there is one; that of the team's notes beside it, where one works
        # in a project that has such.
        self.open_session: Session | None = None
        self.team_session: Session | None = None
        # Whether the log is up to date since the memory was opened, and whether everything is there that its first
        # frame did without.
        self.reconciled = self.complete = False
        self.works = Works(lambda said: self.show(busy=said))
        # They are told of what happens in this order: whoever looks back is back first, the memory is closed last.
        self.time_travel = TimeTravelController(self)
        self.audit = AuditController(self)
        self.texts = TextsController(self)
        self.selection = SelectionController(self)
        self.pipeline = PipelineController(self)
        self.reading = ReadingController(self)
        self.arrangement = ArrangementController(self)
        self.history = HistoryController(self)
        self.search = SearchController(self)
        self.notes = NotesController(self)
        self.unsaved_texts = UnsavedController(self)
        self.files = FilesController(self)
        self.promotion = PromotionController(self)
        self.daily = DailyController(self)
        self.grounding = GroundingController(self)
        self.sync = SyncController(self)
        self.maintenance = MaintenanceController(self)
        self.agents = AgentsController(self)
        self.imports = ImportsController(self)
        self.memories = MemoriesController(self)
        self.pace = PaceController(self)
        self.settings = SettingsController(self)
        self.team = TeamController(self)
        self.opening = OpeningController(self, opening, notice)
        self.controllers = tuple(one for one in vars(self).values() if isinstance(one, Controller))

    def compose(self) -> ComposeResult:
        state = MainScreen.view
        yield HeaderLine(id="header").data_bind(state)
        said = SearchSaid()
        yield Horizontal(Label("/"), SearchBox(said).data_bind(state), said, id="search-line")
        with Panes(id="panes"):
            yield TabLine(id="tabs").data_bind(state)
            yield NotesPane().data_bind(state)
            yield FactsPane().data_bind(state)
            yield NotePane().data_bind(view=MainScreen.beside)
            yield NeighboursPane().data_bind(view=MainScreen.beside)
            yield AuditPane().data_bind(state)
            yield GraphPlace()
        yield KeyBar(id="keys")

    # The memory

    @property
    def session(self) -> Session:
        """The session of the open memory. Commands that need it are off until there is one."""
        assert self.open_session is not None
        return self.open_session

    def session_of(self, note_id: str) -> Session:
        """The session of the memory that holds a note."""
        team = self.team_session
        return team if team is not None and self.view.of_team(note_id) else self.session

    def show(self, **changes: object) -> None:
        """Shows other values of some fields of the view."""
        self.view = self.view.with_(**changes)

    def show_ahead(self, **changes: object) -> None:
        """As `show`, for what is given to the panes together with the next change."""
        self.set_reactive(MainScreen.view, self.view.with_(**changes))

    def show_team(self) -> None:
        """Shows the team's notes as they are now, where there are such."""
        team, session = self.view.team, self.team_session
        if team is not None and session is not None and team.snapshot is not session.snapshot:
            self.team.show_snapshot()

    def running(self, *groups: str) -> list[Worker[object]]:
        """The work of some groups that is under way."""
        return [one for one in self.workers if one.group in groups and not one.is_finished]

    @property
    def typing(self) -> bool:
        return isinstance(self.focused, Input)

    @property
    def neighbour(self) -> Neighbour | None:
        """The row under the cursor of Neighbours, while that has the cursor."""
        return self.neighbours_pane.neighbour if self.focused is self.neighbours_pane else None

    def on_mount(self) -> None:
        for one in self.controllers:
            one.mounted()

    def on_unmount(self) -> None:
        for one in self.controllers:
            one.closing()

    def show_snapshot(self, snapshot: Snapshot, **changes: object) -> None:
        """Shows the memory as it is now, with other changes of the view; while somebody looks back, says so."""
        # What is gone is not selected any more.
        self.selection.drop_gone(snapshot)
        if self.view.past is not None:
            self.show(**changes)
            self.time_travel.take_down(snapshot, self.view.past)
        else:
            self.opening.show_snapshot(snapshot, **changes)

    def show_note(self, note_id: str, *, follow: bool = False) -> None:
        """Shows a note. `follow`: backspace comes back to the one before."""
        self.reading.show_note(note_id, follow=follow)

    def watch_view(self, before: View, after: View) -> None:
        self.pace.view_changed(before, after)
        if (before.found is None) is not (after.found is None):
            self.panes.searching = after.found is not None
        if before.found is not after.found and after.empty and after.past is None:
            self.call_later(self.opening.show_message_or_panes)
        if self.is_mounted:
            # Once the lists show it: the keys act on what is under their cursors.
            self.call_later(self.show_keys)

    def watch_beside(self) -> None:
        if self.is_mounted:
            self.call_later(self.show_keys)

    # Commands

    def can(self, name: str) -> bool:
        command = BY_NAME[name]
        if (command.at_once and self.typing) or (name in _SELECTING and self.selection.elsewhere):
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
        if action == "command":
            name = str(parameters[0])
            return self.view.keys.is_bound(name, self.view) and self.answers(name)
        return super().check_action(action, parameters)

    async def action_command(self, name: str) -> None:
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
            notify(self, "There is no single note under the cursor.")
            return
        command = self.view.keys.bound_at_times(event.key, self.view)
        if command is not None and event.key not in self.active_bindings:
            event.stop()
            key = shown_key(event.key)
            where = (
                f': "{command.title}" is in {PALETTE_KEY[0]}. To bind it, set {command.name} = "{key}" in '
                "[keys] of settings.toml."
            )
            notify(self, f"{key} is not bound now" + (where if self.can(command.name) else "."))

    def show_keys(self) -> None:
        """Shows the keys that do something now, and what they do."""
        typing = self.typing
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
        elif command.name == "graph" and place == "graph" and self.panes.single:
            label = "back"
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
        from nuggets_tui.screens.help import PLACES

        return PLACES.get(self.focused.id or "") if self.focused is not None else None

    def leave(self) -> None:
        self.app.exit()

    # Going about

    def go_to(self, pane: PaneName) -> None:
        """Gives a pane the cursor, and the space when only one is shown."""
        self.arrangement.go_to(pane)

    def action_next_pane(self, step: int) -> None:
        self.arrangement.next_pane(step)

    def action_pane_beside(self, step: int) -> None:
        if self.view.past is not None:
            self.time_travel.slide("change", step)
        else:
            self.arrangement.pane_beside(step)

    def action_step_back(self) -> None:
        """esc outside a field, one step: the search goes where it is seen, else the selection, else the pane that fills
        the screen, else one is back where one came from.
        """
        works = self.works
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

    @on(Asked)
    def _do_as_asked(self, event: Asked) -> None:
        event.stop()
        event.what(self)

    @on(RowList.RowHighlighted)
    def _follow_cursor(self) -> None:
        # Lists whose rows Note does not follow: the keys act on another row now.
        self.show_keys()

    def pick_note(self, note_id: str, *, follow: bool = False) -> None:
        """Shows a note; none, with the id "", for a fact without a note. follow: as in `show_note`."""
        self.notes_pane.unheard = ""
        if note_id:
            self.show_note(note_id, follow=follow)
        else:
            self.reading.follow_facts()

    def open_fact(self, nugget: str, key: str) -> None:
        """The recall behind a fact. Rows are seen already, or still, while the memory is being opened."""
        if self.open_session is not None and self.view.past is None:
            self.reading.open_fact(nugget, key)
        elif self.open_session is not None:
            self.time_travel.explain_no_recall()

    def open_entry(self, entry_id: str) -> None:
        """An entry of the log whole; while one looks back, the state after it."""
        if self.open_session is not None and self.view.past is None:
            self.history.open_entry(entry_id)
        elif self.open_session is not None:
            self.time_travel.go_to_entry(entry_id)

    # These come from widgets whose modules are loaded later.

    def on_graph_view_node_focused(self) -> None:
        self.show_keys()

    def on_graph_overview_view_changed(self) -> None:
        self.show_keys()

    # Errors

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and isinstance(event.worker.error, Exception):
            self.log.error(event.worker.error)
            notify_error(self, event.worker.error)
