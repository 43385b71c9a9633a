"""What the main screen shows and what every part of it needs: the view, the desk, the note and pane in use."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from textual import work
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from nuggets_tui.commands import BY_NAME, footer_commands
from nuggets_tui.desk import Desk
from nuggets_tui.file_opening import names_a_file
from nuggets_tui.long_work import LongWork, StoppedError, Works
from nuggets_tui.notices import attempt, say, say_error
from nuggets_tui.threads import aside
from nuggets_tui.view import View
from nuggets_tui.widgets.fact_rows import fact_key
from nuggets_tui.widgets.facts import FactsPane
from nuggets_tui.widgets.key_bar import KeyBar
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.panes import PaneName, Panes, one_at_a_time
from nuggets_tui.widgets.tab_line import TabLine

if TYPE_CHECKING:
    from core.model.note import Note
    from core.unsaved import UnsavedTexts
    from nuggets_tui.keeping import Keeping
    from nuggets_tui.origin import Origin

_Result = TypeVar("_Result")
_PAUSE = 0.1
# Commands that make sense only when there is something for them to do.
_WHEN: Final[dict[str, Callable[[View], bool]]] = {
    "demo": lambda view: view.empty,
    "conflicts": lambda view: bool(view.log.waiting),
    "problems": lambda view: bool(view.snapshot.problems or view.trouble),
    "open_broken": lambda view: bool(view.trouble),
    "open_file": lambda view: (
        view.loaded and view.note is not None and not view.trouble and names_a_file(view.note.content)
    ),
    "let_go": lambda view: bool(view.selected),
    "why": lambda view: view.found is not None and view.note is not None,
    "why_not": lambda view: view.found is not None,
    "keep_search": lambda view: view.found is not None,
}
# A memory that holds nothing any more may still get something back.
_FROM_THE_LOG: Final = ("undo", "redo", "restore")
# Keys that say why when they can do nothing: somebody who presses them is in need of help.
_NEVER_SILENT: Final = ("problems", "verify", "restore", "why", "why_not", "keep_search", "open_file")
_FOR_THE_FIRST: Final = ("new_note", "new_fact", "pipeline")


class MainState(Screen[None]):
    """The state of the main screen. `trail` holds the notes that backspace goes back to."""

    view: reactive[View] = reactive(View(), repaint=False)
    beside: reactive[View] = reactive(View(), repaint=False)
    """The view as the panes beside the lists show it: they follow when the cursor rests."""

    def __init__(self) -> None:
        super().__init__()
        self.trail: list[str] = []
        self._desk: Desk | None = None
        self.works = Works(self._tell_work)
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
        assert self._desk is not None
        return self._desk

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
        command, view = BY_NAME[name], self.view
        if command.at_once and isinstance(self.focused, Input):
            return False
        if name in _WHEN:
            return _WHEN[name](view)
        if name == "verify" and view.trouble:
            return True
        if name in _FROM_THE_LOG and view.empty:
            return bool(view.log.lines)
        if command.needs and not view.loaded:
            return False
        if command.needs == "note":
            return view.note is not None
        if command.needs == "suggestion":
            return bool(view.suggested)
        return not (view.empty and command.needs == "memory" and name not in _FOR_THE_FIRST)

    def answers(self, name: str) -> bool:
        """Whether the key of a command does or says something now."""
        if name == "open_file" and self.view.trouble:
            # Its key is that of the broken file then.
            return False
        return self.can(name) or name in _NEVER_SILENT

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

        async def unless_stopped() -> _Result | None:
            work_or_words = work or LongWork(words, stops=False)
            try:
                return await self.works.run(work_or_words, asked)
            except StoppedError:
                if work_or_words.asked_for:
                    say(self, "Stopped. Nothing was changed.")
                return None

        return await self.attempt(unless_stopped())

    def _tell_work(self, said: str) -> None:
        self.view = self.view.with_(busy=said)
