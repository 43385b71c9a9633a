"""What every controller of the main screen may use: what is shown, the open memory, panes, notices, dialogs, work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker

from nuggets_tui import notices
from nuggets_tui.long_work import LongWork, StoppedError, Works

if TYPE_CHECKING:
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from nuggets_tui.application import NuggetsApp
    from nuggets_tui.controllers.controller import Controller
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.session import Session
    from nuggets_tui.view import View
    from nuggets_tui.widgets.facts import FactsPane
    from nuggets_tui.widgets.header import HeaderLine
    from nuggets_tui.widgets.neighbours import Neighbour
    from nuggets_tui.widgets.notes import NotesPane
    from nuggets_tui.widgets.panes import PaneName, Panes
    from nuggets_tui.widgets.search_box import SearchBox
    from nuggets_tui.widgets.tab_line import TabLine

_Result = TypeVar("_Result")
_Widget = TypeVar("_Widget", bound=Widget)


class Context:
    """The main screen as its controllers see it.

    open_session: the session of the open memory, None before there is one. reconciled: whether its log is up to date
    since it was opened. complete: whether everything is there that its first frame did without.
    """

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.open_session: Session | None = None
        # Of the team's notes beside it, where one works in a project that has such.
        self.team_session: Session | None = None
        # Those that the screen owns, in the order in which they are told of what happens.
        self.controllers: tuple[Controller, ...] = ()
        self.reconciled = False
        self.complete = False
        self.works = Works(lambda said: self.show(busy=said))

    # What is shown

    @property
    def view(self) -> View:
        """What the main screen shows."""
        return self._screen.view

    def show(self, **changes: object) -> None:
        """Shows other values of some fields of the view."""
        self._screen.view = self._screen.view.with_(**changes)

    def show_anew(self, view: View) -> None:
        """Shows another memory, of which nothing is known yet."""
        self._screen.view = view

    def show_beside(self) -> None:
        """Shows the view beside the lists, too."""
        self._screen.beside = self._screen.view

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Shows the memory as it is now."""
        self._screen.show_snapshot(snapshot)

    def show_team(self) -> None:
        """Shows the team's notes as they are now, where there are such."""
        team, session = self.view.team, self.team_session
        if team is not None and session is not None and team.snapshot is not session.snapshot:
            self._screen.team.show_snapshot()

    def show_ahead(self, **changes: object) -> None:
        """As `show`, for what is given to the panes together with the next change."""
        self._screen.set_reactive(type(self._screen).view, self._screen.view.with_(**changes))

    def bind(self, widget: _Widget) -> _Widget:
        """A widget that is to be mounted, with its view bound to what is shown. In the screen's own turn alone."""
        return widget.data_bind(type(self._screen).view)

    def bind_beside(self, widget: _Widget) -> _Widget:
        """The same for a widget beside the lists."""
        return widget.data_bind(view=type(self._screen).beside)

    @property
    def session(self) -> Session:
        """The session of the open memory. Commands that need it are off until there is one."""
        assert self.open_session is not None
        return self.open_session

    def session_of(self, note_id: str) -> Session:
        """The session of the memory that holds a note."""
        team = self.team_session
        return team if team is not None and self.view.of_team(note_id) else self.session

    @property
    def target(self) -> Note | None:
        """The one note that a command acts on; `selection` decides."""
        return self._screen.selection.target()

    @property
    def neighbour(self) -> Neighbour | None:
        """The row under the cursor of Neighbours, while that has the cursor."""
        pane = self._screen.neighbours_pane
        return pane.neighbour if self.focused is pane else None

    async def team_opened(self) -> None:
        """Comes back once it is known whether there are notes of a team, and they are open."""
        await self._screen.team.opened()

    # The app and its widgets

    @property
    def app(self) -> NuggetsApp:
        """The app."""
        return self._screen.app  # type: ignore[return-value]

    @property
    def screen(self) -> Screen[None]:
        """The screen as a place for widgets; everything else goes through the context."""
        return self._screen

    @property
    def on_top(self) -> bool:
        """Whether no dialog is open."""
        return self.app.screen is self._screen

    @property
    def typing(self) -> bool:
        """Whether letters go into a field."""
        return isinstance(self._screen.focused, Input)

    @property
    def focused(self) -> Widget | None:
        """The widget with the cursor."""
        return self._screen.focused

    @property
    def panes(self) -> Panes:
        """The six panes."""
        return self._screen.panes

    @property
    def notes_pane(self) -> NotesPane:
        """Notes, or Results."""
        return self._screen.notes_pane

    @property
    def facts_pane(self) -> FactsPane:
        """Facts."""
        return self._screen.facts_pane

    @property
    def search_box(self) -> SearchBox:
        """The search box."""
        return self._screen.search_box

    @property
    def header(self) -> HeaderLine:
        """The line at the top."""
        return self._screen.header

    @property
    def tab_line(self) -> TabLine:
        """The tabs over a single pane."""
        return self._screen.tab_line

    def go_to(self, pane: PaneName) -> None:
        """Gives a pane the cursor, and the space when only one is shown."""
        self._screen.go_to(pane)

    def show_keys(self) -> None:
        """Shows the keys that do something now."""
        self._screen.show_keys()

    def refresh_bindings(self) -> None:
        """Commands may have come or gone."""
        self._screen.refresh_bindings()

    def open_dialog(
        self, dialog: Screen[_Result], then: Callable[[_Result | None], None] | None = None
    ) -> None:
        """Opens a dialog; `then` is given what it brings, None when it was left."""
        self.app.push_screen(dialog, then)

    # Notices

    def notify(self, text: str) -> None:
        """A short notice of something done."""
        notices.notify(self._screen, text)

    def warn(self, text: str) -> None:
        """A notice of something to know about."""
        notices.warn(self._screen, text)

    def notify_error(self, error: Exception) -> None:
        """A notice of an error: what happened and where, what was kept safe, what to do."""
        notices.notify_error(self._screen, error)

    def dismiss_notices(self) -> None:
        """Takes all notices off the screen."""
        notices.dismiss_all(self._screen)

    # Work and time

    async def attempt(self, asked: Awaitable[_Result]) -> _Result | None:
        """The result of something asked of the session; None when it failed, which a notice then says."""
        return await notices.attempt(self._screen, asked)

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
                    self.notify("Stopped. Nothing changed.")
                return None

        return await self.attempt(unless_stopped())

    def run(
        self, work: Callable[[], Coroutine[Any, Any, _Result]], name: str, group: str, *, exclusive: bool
    ) -> Worker[_Result]:
        """Begins work that the screen ends with; what it fails of is said."""
        return self._screen.run_worker(work, name=name, group=group, exclusive=exclusive, exit_on_error=False)

    def running(self, *groups: str) -> list[Worker[Any]]:
        """The work of some groups that is under way."""
        return [one for one in self._screen.workers if one.group in groups and not one.is_finished]

    def cancel(self, group: str) -> None:
        """Ends the work of a group."""
        self._screen.workers.cancel_group(self._screen, group)

    def cancel_all(self) -> None:
        """Ends all work under way."""
        self._screen.workers.cancel_node(self._screen)

    def after(self, seconds: float, then: Callable[[], object]) -> Timer:
        """Calls `then` once, after some seconds."""
        return self._screen.set_timer(seconds, then)

    def every(self, seconds: float, then: Callable[[], object]) -> Timer:
        """Calls `then` again and again."""
        return self._screen.set_interval(seconds, then)

    def after_refresh(self, then: Callable[..., object], *arguments: object) -> None:
        """Calls `then` once what is shown now stands on the screen."""
        self._screen.call_after_refresh(then, *arguments)

    def call_later(self, then: Callable[..., object], *arguments: object) -> None:
        """Calls `then` in the screen's own turn."""
        self._screen.call_later(then, *arguments)

    @property
    def is_mounted(self) -> bool:
        """Whether the screen is there still."""
        return self._screen.is_mounted
