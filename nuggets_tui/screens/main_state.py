"""What the main screen shows and what every part of it needs: the view, the desk, the note and pane in use."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, TypeVar, cast

from textual import getters, work
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from nuggets_tui.commands import BY_NAME, footer_commands
from nuggets_tui.controllers.context import Context
from nuggets_tui.long_work import LongWork
from nuggets_tui.notices import attempt, say_error
from nuggets_tui.threads import aside
from nuggets_tui.view import View
from nuggets_tui.widgets.fact_rows import fact_key
from nuggets_tui.widgets.facts import FactsPane
from nuggets_tui.widgets.header import HeaderLine
from nuggets_tui.widgets.key_bar import KeyBar
from nuggets_tui.widgets.neighbours import NeighboursPane
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.panes import PaneName, Panes, one_at_a_time
from nuggets_tui.widgets.search_box import SearchBox
from nuggets_tui.widgets.tab_line import TabLine

if TYPE_CHECKING:
    from core.model.note import Note
    from core.unsaved import UnsavedTexts
    from nuggets_tui.controllers.controller import Controller
    from nuggets_tui.desk import Desk
    from nuggets_tui.keeping import Keeping
    from nuggets_tui.origin import Origin
    from nuggets_tui.screens.main import MainScreen

_Result = TypeVar("_Result")
_PAUSE = 0.1


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
        self.trail: list[str] = []
        self.context = Context(cast("MainScreen", self))
        self.controllers: tuple[Controller, ...] = ()
        self.works = self.context.works
        # Where what is typed is kept against a crash; None while there is no such place.
        self.texts: UnsavedTexts | None = None

    def keeping(
        self, kind: str, about: str = "", title: str = "", own_title: str = "title"
    ) -> Keeping | None:
        """Where the text of a dialog is kept against a crash; arguments as in `Keeping`."""
        if self.texts is None:
            return None
        from nuggets_tui.keeping import Keeping

        return Keeping(self.texts.keep(), self.desk.clock, kind, about, title, own_title)

    def resume_hand_in(self, typed: Mapping[str, str], keeping: Keeping) -> None:
        """Goes on with a text that was typed for the pipeline and not handed in."""
        raise NotImplementedError

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
        before = self.view.note_id
        if note_id == before or note_id not in self.view.snapshot.by_id:
            return
        if follow and before:
            self.trail.append(before)
        self.view = self.view.with_(note_id=note_id, suggested=())
        self.look_for_suggestions()
        self.refresh_bindings()

    def reveal(self) -> None:
        """Puts the cursors of the lists on the note shown, and so brings its rows into view."""
        note = self.view.note
        if note is None:
            return
        self.query_one(NotesPane).move_to(note.id)
        if note.is_fact:
            self.query_one(FactsPane).move_to(fact_key(note.nugget_name, note.key))

    def note_under_cursor(self) -> None:
        """Shows the note on which the cursor of Notes came to stand, when none is shown."""
        row = self.query_one(NotesPane).cursor_row
        if not self.view.note_id and row is not None and isinstance(row.data, str):
            self.show_note(row.data)

    @work(group="suggestions", exclusive=True, exit_on_error=False)
    async def look_for_suggestions(self) -> None:
        """Looks for notes that might be linked to the one shown."""
        note_id = self.view.note_id
        # Somebody who holds an arrow key down passes over many notes.
        await asyncio.sleep(_PAUSE)
        if not self.view.loaded or note_id not in self.view.snapshot.by_id:
            return
        from nuggets_tui.origin import origin_of

        note = self.view.snapshot.by_id[note_id]
        found = await self.desk.suggestions(self.view.snapshot, note_id)
        if note_id == self.view.note_id:
            self.view = self.view.with_(suggested=found)
        # The log may be in use for a while; the suggestions do not wait for it.
        origin = await self.traced(await aside(origin_of, self.desk.memory, note), note)
        if note_id == self.view.note_id and origin != self.view.origin:
            self.view = self.view.with_(origin=origin)

    async def traced(self, origin: Origin, note: Note) -> Origin:
        """Where a note comes from, with the text that it was made of where there is one."""
        return origin

    def go_to(self, pane: PaneName) -> None:
        """Gives a pane the cursor, and the space when only one is shown."""
        panes = self.query_one(Panes)
        panes.active = pane
        # At once, not when messages have been handled: the next key may be on its way already.
        self.set_focus(panes.query_one(f"#{pane}"))
        self.show_tabs()

    def show_tabs(self) -> None:
        """Marks the pane in use in the tabs."""
        tabs = self.query_one(TabLine)
        panes = self.query_one(Panes)
        tabs.active, tabs.zoomed = panes.active, panes.zoomed and not one_at_a_time(panes.size)
        tabs.results = self.view.found is not None

    def show_keys(self) -> None:
        """Shows the keys that do something now."""
        bar = self.query_one(KeyBar)
        bar.hint = "⏎ or ↓  to the first hit     esc  leaves, again clears" if self._typing else ""
        footer = (self.view.keys.by_name[command.name] for command in footer_commands())
        bar.commands = tuple(command for command in footer if command.keys and self.can(command.name))

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
