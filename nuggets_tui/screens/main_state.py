"""What the main screen shows and what every part of it needs: the view, the desk, the note and pane in use."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Final, TypeVar, cast

from textual import getters
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from nuggets_tui.commands import BY_NAME, footer_commands
from nuggets_tui.controllers.arrangement import ArrangementController
from nuggets_tui.controllers.audit import AuditController
from nuggets_tui.controllers.context import Context
from nuggets_tui.controllers.history import HistoryController
from nuggets_tui.controllers.pipeline import PipelineController
from nuggets_tui.controllers.reading import ReadingController
from nuggets_tui.controllers.selection import SelectionController
from nuggets_tui.controllers.texts import TextsController
from nuggets_tui.long_work import LongWork
from nuggets_tui.notices import attempt, say_error
from nuggets_tui.view import View
from nuggets_tui.widgets.facts import FactsPane
from nuggets_tui.widgets.header import HeaderLine
from nuggets_tui.widgets.key_bar import KeyBar
from nuggets_tui.widgets.neighbours import NeighboursPane
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.panes import PaneName, Panes
from nuggets_tui.widgets.search_box import SearchBox
from nuggets_tui.widgets.tab_line import TabLine

if TYPE_CHECKING:
    from nuggets_tui.desk import Desk
    from nuggets_tui.screens.main import MainScreen

_Result = TypeVar("_Result")
_PAUSE = 0.1

# Keys that the overview takes for itself.
_OWN_KEYS: Final = ("n",)


class MainState(Screen[None]):
    """The state of the main screen. `trail` holds the notes that backspace goes back to."""

    view: reactive[View] = reactive(View(), repaint=False)
    beside: reactive[View] = reactive(View(), repaint=False)
    """The view as the panes beside the lists show it: they follow when the cursor rests."""

    panes = getters.query_one(Panes)
    notes_pane = getters.query_one(NotesPane)
    facts_pane = getters.query_one(FactsPane)
    neighbours_pane = getters.query_one(NeighboursPane)
    search_box = getters.query_one(SearchBox)
    header = getters.query_one(HeaderLine)
    key_bar = getters.query_one(KeyBar)
    tab_line = getters.query_one(TabLine)

    def __init__(self) -> None:
        super().__init__()
        self.context = Context(cast("MainScreen", self))
        self.works = self.context.works
        self.audit = AuditController(self.context)
        self.texts = TextsController(self.context)
        self.selection = SelectionController(self.context)
        self.pipeline = PipelineController(self.context, self.texts)
        self.reading = ReadingController(self.context, self.pipeline)
        self.history = HistoryController(self.context, self.audit, self.texts, self.selection)
        self.arrangement = ArrangementController(self.context, self.reading)

    @property
    def desk(self) -> Desk:
        """The desk of the open memory. Commands that need it are off until there is one."""
        return self.context.desk

    @property
    def _desk(self) -> Desk | None:
        return self.context.open_desk

    def search_again(self) -> None:
        """Looks for what stands in the search box once more."""

    # The note and the pane in use

    def show_note(self, note_id: str, *, follow: bool = False) -> None:
        """Shows a note. `follow`: backspace comes back to the one before."""
        self.reading.show_note(note_id, follow=follow)

    def go_to(self, pane: PaneName) -> None:
        """Gives a pane the cursor, and the space when only one is shown."""
        self.arrangement.go_to(pane)

    def show_keys(self) -> None:
        """Shows the keys that do something now."""
        bar = self.query_one(KeyBar)
        bar.hint = "⏎ or ↓  to the first hit     esc  leaves, again clears" if self._typing else ""
        footer = (self.view.keys.by_name[command.name] for command in footer_commands())
        bar.commands = tuple(command for command in footer if command.keys and self.can(command.name))
        if getattr(self.focused, "overview", False):
            # A letter of the overview's own is no key of a command there.
            bar.commands = tuple(each for each in bar.commands if each.shown_keys[0] not in _OWN_KEYS)

    @property
    def _typing(self) -> bool:
        return isinstance(self.focused, Input)

    # What can be done

    def can(self, name: str) -> bool:
        """Whether a command makes sense now."""
        command = BY_NAME[name]
        return not (command.at_once and self.context.typing) and command.makes_sense(self.view)

    def answers(self, name: str) -> bool:
        """Whether the key of a command does or says something now."""
        explains = BY_NAME[name].explains
        return self.can(name) or (explains is not None and explains(self.view))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Turns a command off in key, footer and palette alike."""
        if action == "command":
            return self.answers(str(parameters[0]))
        return super().check_action(action, parameters)

    # Errors

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Work that fails in a way nobody thought of is said, not swallowed."""
        if event.state is WorkerState.ERROR and isinstance(event.worker.error, Exception):
            self.log.error(event.worker.error)
            say_error(self, event.worker.error)

    async def attempt(self, asked: Awaitable[_Result]) -> _Result | None:
        """The result of something asked of the desk; None when it failed, which a notice then says."""
        return await attempt(self, asked)

    async def long_work(
        self, words: str, asked: Awaitable[_Result], work: LongWork | None = None
    ) -> _Result | None:
        """As `attempt`, with a sign in the header once it takes long, and how far it is. esc stops a `work` that can be
        stopped.
        """

        return await self.context.long_work(words, asked, work)
