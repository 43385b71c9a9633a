"""The main screen: owns what is shown, hands it down to the panes, and changes it as they and the files speak."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import ClassVar, TypeVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import DescendantFocus
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from core.errors import NuggetsError
from core.glance import Glance
from core.model.snapshot import Snapshot
from nuggets_tui.app import Opening
from nuggets_tui.commands import bindings, footer_commands
from nuggets_tui.desk import Desk
from nuggets_tui.messages import EntryOpened, FactOpened, NotePicked, PaneWanted, SearchLeft, SearchTyped
from nuggets_tui.notices import say, say_error, warn
from nuggets_tui.query import parse_query
from nuggets_tui.screens.main_commands import MainCommands
from nuggets_tui.view import Found, View, changed_notes
from nuggets_tui.widgets.audit import AuditPane
from nuggets_tui.widgets.facts import FactsPane
from nuggets_tui.widgets.header import HeaderLine
from nuggets_tui.widgets.key_bar import KeyBar
from nuggets_tui.widgets.line_view import LineView, MakeLines
from nuggets_tui.widgets.markdown_lines import load_parser
from nuggets_tui.widgets.neighbours import NeighboursPane
from nuggets_tui.widgets.note_view import NotePane
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.panes import PANES, GraphPlace, PaneName, Panes
from nuggets_tui.widgets.search_box import SearchBox
from nuggets_tui.widgets.tab_line import TabLine

_Result = TypeVar("_Result")
_GRAPH_MODULE = "nuggets_tui.widgets.graph"
_TICK = 5.0
_AGES = 30.0
_RETRY = 1.0
_RECALL_PATIENCE = 0.06


class MainScreen(MainCommands):
    """Everything at a glance."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(),
        Binding("ctrl+q", "app.quit", "Leave", show=False),
        Binding("tab", "next_pane(1)", "Next pane", show=False),
        Binding("shift+tab", "next_pane(-1)", "Pane before", show=False),
    ]

    def __init__(self, opening: Opening, *, notice: str = "") -> None:
        super().__init__()
        self._opening = opening
        self._notice = notice
        self._stop = asyncio.Event()
        self._trail: list[str] = []
        self._desk: Desk | None = None

    @property
    def desk(self) -> Desk:
        """The desk of the open memory. Commands that need it are off until there is one."""
        assert self._desk is not None
        return self._desk

    def compose(self) -> ComposeResult:
        """The header, the search box, six panes, and the keys."""
        state = MainScreen.view
        yield HeaderLine(id="header").data_bind(state)
        yield SearchBox(id="search").data_bind(state)
        with Panes(id="panes"):
            yield TabLine(id="tabs")
            yield FactsPane().data_bind(state)
            yield NotesPane().data_bind(state)
            yield NotePane().data_bind(state)
            yield NeighboursPane().data_bind(state)
            yield GraphPlace()
            yield AuditPane().data_bind(state)
        yield KeyBar(id="keys")

    # Opening

    def open_another(self, home: Path, notice: str) -> None:
        """Shows another memory in place of this one."""
        self._stop.set()
        self._stop = asyncio.Event()
        self.workers.cancel_node(self)
        self._desk, self._trail, self._notice = None, [], notice
        self._opening = Opening(home, self._opening.clock).start()
        self.query_one(SearchBox).value = ""
        self.view = View(home=str(home))
        self._wait_for_memory()

    def on_mount(self) -> None:
        """Shows the memory if it is there already, else as soon as it is."""
        home = self._opening.home
        self.view = self.view.with_(home=str(home) if home is not None else "")
        self.set_focus(self.query_one(NotesPane))
        if self._opening.future.done():
            self._try_to_show()
        else:
            self._wait_for_memory()
        self.set_interval(_TICK, self._tick)
        self.set_interval(_AGES, self._age)

    @work(group="opening", exclusive=True, exit_on_error=False)
    async def _wait_for_memory(self) -> None:
        look = await asyncio.wrap_future(self._opening.first_look)
        if look is not None:
            self._show_first_look(look)
        await asyncio.wait([asyncio.wrap_future(self._opening.future)])
        self._try_to_show()

    def _show_first_look(self, look: Glance) -> None:
        self.view = self.view.with_(
            snapshot=Snapshot(notes=look.newest, nuggets=look.nuggets), glanced=(look.visible, look.hidden),
            now=self._opening.clock(),
        )  # fmt: skip
        self.call_after_refresh(self._opening.frame_shown.set)

    def _try_to_show(self) -> None:
        error = self._opening.future.exception()
        if error is None:
            self._show_memory()
        elif isinstance(error, Exception):
            self._show_trouble(error)
        else:
            raise error

    def _show_memory(self) -> None:
        memory = self._opening.future.result()
        self._desk = Desk(memory, self._opening.clock)
        self.view = self.view.with_(
            home=str(memory.home), snapshot=memory.snapshot, history=memory.history, now=self._opening.clock(),
            loaded=True, trouble="", glanced=None,
        )  # fmt: skip
        self.query_one(HeaderLine).now = self.view.now
        self._show_message_or_panes()
        self.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        shown = getattr(self.app, "first_frame_shown", None)
        if shown is not None:
            shown()
        if self._notice:
            say(self, self._notice)
        for problem in self.view.snapshot.problems[:3]:
            warn(self, f"{problem.where}: {problem.what}")
        self._look_for_suggestions()
        self._bring_the_rest()
        self._watch_files()

    @work(group="rest", exclusive=True, exit_on_error=False)
    async def _bring_the_rest(self) -> None:
        """What the first frame does without: Markdown, the picture of the graph, the index of the search."""
        await asyncio.to_thread(load_parser)
        self.query_one(NotePane).plainly = False
        await asyncio.to_thread(import_module, _GRAPH_MODULE)
        # Data is bound to the pane from the screen's own turn alone.
        self.call_later(self._draw_graph)
        if self.view.snapshot.notes:
            await self.desk.warm_up()

    async def _draw_graph(self) -> None:
        place = self.query_one("#graph")
        if isinstance(place, GraphPlace):
            graph = import_module(_GRAPH_MODULE).GraphPane().data_bind(MainCommands.view)
            with self.app.batch_update():
                await place.remove()
                await self.query_one(Panes).mount(graph, after="#neighbours")

    def _show_trouble(self, error: Exception) -> None:
        """The memory cannot be opened: says so over the whole screen and tries again until it can."""
        from nuggets_tui.screens.first_minutes import trouble_lines

        self.view = self.view.with_(trouble=str(error))
        self._show_message(trouble_lines(error), trouble=True)
        self.set_timer(_RETRY, self._open_again)

    @work(group="opening", exclusive=True, exit_on_error=False)
    async def _open_again(self) -> None:
        self._opening = Opening(self._opening.home, self._opening.clock)
        await asyncio.to_thread(self._opening.open)
        self._try_to_show()

    def _show_message_or_panes(self) -> None:
        """A memory that holds nothing shows how to begin; any other its panes."""
        from_message = bool(self.query("#message"))
        if self.view.empty:
            from nuggets_tui.screens.first_minutes import welcome_lines

            self._show_message(welcome_lines(self.view.home), trouble=False)
        elif from_message:
            self.query("#message").remove()
            self.query_one(Panes).display = True
            self.set_focus(self.query_one(NotesPane))
        self.refresh_bindings()

    def _show_message(self, lines: MakeLines, *, trouble: bool) -> None:
        self.query_one(Panes).display = False
        found = self.query("#message").results(LineView)
        message = next(iter(found), None)
        if message is None:
            message = LineView(id="message")
            self.mount(message, after="#panes")
            message.focus()
        message.set_class(trouble, "-trouble")
        message.show_lines(lines)
        self._show_keys()

    # Living with the files

    @work(group="watch", exclusive=True, exit_on_error=False)
    async def _watch_files(self) -> None:
        async for event in self.desk.events(self._stop):
            if not self.is_mounted:
                return
            if isinstance(event, Snapshot):
                self.show_snapshot(event)
            else:
                self._files_broke(event)

    def _files_broke(self, error: NuggetsError) -> None:
        self.view = self.view.with_(trouble=error.message)
        say_error(self, error)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Shows the memory as it is now; what changed glows."""
        before = self.view
        fresh = changed_notes(before.snapshot, snapshot) if before.snapshot is not snapshot else before.fresh
        if before.trouble:
            say(self, "The files can be read again.")
        note_id = before.note_id if before.note_id in snapshot.by_id else ""
        self.view = before.with_(
            snapshot=snapshot, history=self.desk.memory.history, now=self.desk.clock(), fresh=fresh,
            trouble="", note_id=note_id,
        )  # fmt: skip
        self.query_one(HeaderLine).now = self.view.now
        self._show_message_or_panes()
        self._look_for_suggestions()
        if self.view.found is not None:
            self._search(self.query_one(SearchBox).value)

    def on_unmount(self) -> None:
        """Lets the watcher end."""
        self._stop.set()

    def _tick(self) -> None:
        self.query_one(HeaderLine).now = self._opening.clock()

    def _age(self) -> None:
        if self.view.loaded:
            self.view = self.view.with_(now=self._opening.clock())

    # What the panes say

    @on(NotePicked)
    def _pick_note(self, event: NotePicked) -> None:
        event.stop()
        self.show_note(event.note_id, follow=event.follow)

    def show_note(self, note_id: str, *, follow: bool = False) -> None:
        """Shows a note. `follow`: backspace comes back to the one before."""
        before = self.view.note_id
        if note_id == before or note_id not in self.view.snapshot.by_id:
            return
        if follow and before:
            self._trail.append(before)
        self.view = self.view.with_(note_id=note_id, suggested=())
        self._look_for_suggestions()
        self.refresh_bindings()

    @work(group="suggestions", exclusive=True, exit_on_error=False)
    async def _look_for_suggestions(self) -> None:
        note_id = self.view.note_id
        # Somebody who holds an arrow key down passes over many notes.
        await asyncio.sleep(0.1)
        if not note_id or note_id not in self.view.snapshot.by_id:
            return
        if not self.view.loaded:
            return
        found = await self.desk.suggestions(self.view.snapshot, note_id)
        if note_id == self.view.note_id:
            self.view = self.view.with_(suggested=found)

    @on(PaneWanted)
    def _go_to_wanted(self, event: PaneWanted) -> None:
        event.stop()
        self.go_to(cast("PaneName", event.pane))

    def go_to(self, pane: PaneName) -> None:
        """Gives a pane the cursor, and the space when only one is shown."""
        panes = self.query_one(Panes)
        panes.active = pane
        # At once, not when messages have been handled: the next key may be on its way already.
        self.set_focus(panes.query_one(f"#{pane}"))
        self._show_tabs()

    @on(DescendantFocus)
    def _follow_focus(self, event: DescendantFocus) -> None:
        focused = event.widget.id
        panes = self.query_one(Panes)
        if focused in PANES and not panes.single:
            panes.active = focused
        self._show_keys()

    def action_next_pane(self, step: int) -> None:
        """The tab key: to the next pane, also when only one is shown."""
        panes = self.query_one(Panes)
        if not panes.single or not panes.display:
            self.focus_next() if step > 0 else self.focus_previous()
            return
        order: list[str] = ["search", *PANES]
        focused = self.focused.id if self.focused is not None else None
        now = focused if focused in order else panes.active
        wanted = order[(order.index(now) + step) % len(order)]
        if wanted == "search":
            self.set_focus(self.query_one(SearchBox))
        else:
            self.go_to(cast("PaneName", wanted))

    def on_resize(self) -> None:
        """Keeps the cursor on a pane that is on screen."""
        self.call_after_refresh(self._keep_focus)

    def _keep_focus(self) -> None:
        if self.focused is None and self.query_one(Panes).display:
            self.go_to(self.query_one(Panes).active)
        self._show_tabs()

    def _show_tabs(self) -> None:
        tabs = self.query_one(TabLine)
        tabs.active = self.query_one(Panes).active
        tabs.results = self.view.found is not None

    def _show_keys(self) -> None:
        bar = self.query_one(KeyBar)
        bar.hint = "⏎ or ↓  to the first hit     esc  clears, then leaves" if self._typing else ""
        bar.commands = tuple(command for command in footer_commands() if self.can(command.name))

    @property
    def _typing(self) -> bool:
        return isinstance(self.focused, Input)

    def watch_view(self) -> None:
        """Commands come and go with what is shown."""
        if self.is_mounted:
            self._show_keys()

    # Searching

    @on(SearchTyped)
    def _look(self, event: SearchTyped) -> None:
        event.stop()
        if parse_query(event.text).empty:
            if self._desk is not None:
                self.desk.forget_question()
            self.workers.cancel_group(self, "search")
            self.view = self.view.with_(found=None)
            self._show_tabs()
        elif self._desk is not None:
            self._search(event.text)

    @work(group="search", exclusive=True, exit_on_error=False)
    async def _search(self, text: str) -> None:
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
        self._show_tabs()

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

    @on(EntryOpened)
    def _open_entry(self, event: EntryOpened) -> None:
        event.stop()
        self.open_entry(event.change_id)

    # Errors

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Work that fails in a way nobody thought of is said, not swallowed."""
        if event.state is WorkerState.ERROR and isinstance(event.worker.error, Exception):
            self.log.error(event.worker.error)
            say_error(self, event.worker.error)

    async def attempt(self, asked: Awaitable[_Result]) -> _Result | None:
        """The result of something asked of the desk; None when it failed, which a notice then says."""
        try:
            return await asked
        except Exception as error:
            # Nothing that goes wrong behind the desk may end the app; the notice says what it was.
            self.log.error(error)
            if self.is_mounted:
                say_error(self, error)
            return None
