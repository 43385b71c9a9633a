"""How a memory comes onto the main screen, and how the screen lives with the files from then on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path

from textual import on, work
from textual.events import ScreenResume
from textual.timer import Timer

from core.errors import NuggetsError
from core.glance import Glance
from core.model.snapshot import Snapshot
from core.settings import Settings
from nuggets_tui import garbage
from nuggets_tui.app import Opening
from nuggets_tui.controllers.elsewhere import ElsewhereController
from nuggets_tui.desk import Desk
from nuggets_tui.key_map import keys_of
from nuggets_tui.long_work import LongWork
from nuggets_tui.notices import let_all_go, say, say_error, tell_wrong_settings
from nuggets_tui.pace import PACE
from nuggets_tui.screens.main_state import MainState
from nuggets_tui.secret_signs import load as load_signs
from nuggets_tui.threads import aside
from nuggets_tui.view import View, changed_notes
from nuggets_tui.widgets.header import HeaderLine
from nuggets_tui.widgets.line_view import LineView, MakeLines
from nuggets_tui.widgets.markdown_lines import load_parser
from nuggets_tui.widgets.note_view import NotePane
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.panes import GraphPlace, Panes
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.widgets.search_box import SearchBox

_GRAPH_MODULE = "nuggets_tui.widgets.graph"
_TICK = 5.0
_AGES = 30.0
_RETRY = 1.0
_STEP = timedelta(seconds=2)
# Seconds without a key after which nobody notices a short pause.
_AWAY = 10.0
_FAREWELL = 1.0
# Seconds without a change after which work that nobody waits for begins.
_QUIET_SECONDS = 3.0
# A frame without notes that is drawn anew at once costs more than waiting this long for them.
_FRAME_PATIENCE = 0.1
# Panes whose scroll bar stays: one that came and went while somebody types would have the screen laid out anew.
_LASTING_BARS = "#notes, #note, #neighbours"


class MainOpening(MainState):
    """The main screen's life with the files: opening, first frame, changes from elsewhere, trouble."""

    def __init__(self, opening: Opening, *, notice: str = "") -> None:
        super().__init__()
        self._opening = opening
        self.elsewhere = ElsewhereController(self.context)
        self._notice = notice
        self._stop = asyncio.Event()
        self._resumed = False
        # Whether somebody stopped the making of the index.
        self.index_put_off = False
        self._preparing: Timer | None = None
        self._wrong_told: tuple[str, ...] = ()
        # The file that cannot be read while there is trouble.
        self.broken_file: Path | None = None

    @property
    def settled(self) -> bool:
        """Whether the log is up to date since the memory was opened."""
        return self.context.settled

    @property
    def complete(self) -> bool:
        """Whether everything is there that the first frame did without."""
        return self.context.complete

    @property
    def home(self) -> Path | None:
        """The folder of the memory that is opened."""
        return self._opening.home

    def clock(self) -> datetime:
        """The time it is now."""
        return self._opening.clock()

    def open_another(self, home: Path, notice: str) -> None:
        """Shows another memory in place of this one; keys that are pressed until it is there are meant for it."""
        hold: Callable[[], None] | None = getattr(self.app, "hold_keys", None)
        if hold is not None:
            hold()
        for one in self.context.controllers:
            one.leaving()
        self._stop.set()
        self._stop = asyncio.Event()
        self.workers.cancel_node(self)
        if self._desk is not None:
            self._desk.let_go(0.0)
        self.context.open_desk, self._notice = None, notice
        self.context.complete = self.context.settled = False
        if self._preparing is not None:
            self._preparing.stop()
            self._preparing = None
        self._opening = Opening(home, self._opening.clock).start()
        self.query_one(SearchBox).value = ""
        self.view = View(home=str(home), keys=self.view.keys)
        self._wait_for_memory()

    @on(ScreenResume)
    def _keep_styles(self, event: ScreenResume) -> None:
        """Every style was made just now: making them all once more would only hold the first frame up."""
        if not self._resumed:
            self._resumed = True
            event.refresh_styles = False

    def on_mount(self) -> None:
        """Shows the memory if it is there already, else as soon as it is."""
        home = self._opening.home
        named = self.view.with_(home=str(home) if home is not None else "", keys=keys_of(self))
        look = self._opening.at_hand(_FRAME_PATIENCE)
        if look is not None or self._opening.future.done():
            # What follows at once is given to the panes together with this.
            self.set_reactive(MainOpening.view, named)
        else:
            self.view = named
        if self._opening.future.done():
            self._try_to_show()
        else:
            if look is not None:
                self._show_first_look(look)
            self._wait_for_memory()
        for one in self.context.controllers:
            one.mounted()
        self.set_interval(_TICK, self._tick)
        self.set_interval(_AGES, self._age)

    @work(group="opening", exclusive=True, exit_on_error=False)
    async def _wait_for_memory(self) -> None:
        look = await asyncio.wrap_future(self._opening.first_look)
        if look is not None and self.view.glanced is None:
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
        self.context.open_desk = Desk(memory, self._opening.clock)
        self.view = self.view.with_(
            home=str(memory.home), snapshot=memory.snapshot, now=self._opening.clock(), loaded=True,
            trouble="", glanced=None,
        )  # fmt: skip
        self.query_one(HeaderLine).now = self.view.now
        self._show_message_or_panes()
        self.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        self._tell_first_frame()
        if self._notice:
            say(self, self._notice)
        self._follow_settings()
        self._bring_the_rest()
        self._live_with_files()
        for one in self.context.controllers:
            one.first_frame_shown()

    @work(group="rest", exclusive=True, exit_on_error=False)
    async def _bring_the_rest(self) -> None:
        """What the first frame does without: Markdown, the picture of the graph, the index of the search."""
        await aside(load_parser)
        await aside(load_signs)
        self.query_one(NotePane).plainly = False
        for pane in self.query(RowList):
            pane.make_rows_anew()
        for scrolling in self.query(_LASTING_BARS):
            scrolling.styles.overflow_y = "scroll"
        await aside(import_module, _GRAPH_MODULE)
        # Data is bound to the pane from the screen's own turn alone.
        self.call_later(self._draw_graph)
        if self.view.snapshot.notes:
            await self._make_index()
        self.context.complete = True
        self._prepare_search_later()

    async def _make_index(self) -> None:
        """The index of the search; esc puts it off until somebody searches."""
        self.index_put_off = False
        indexing = LongWork("indexing", asked_for=False)
        await self.long_work("", self.desk.warm_up(indexing.told), indexing)
        self.index_put_off = indexing.was_stopped
        garbage.settle()

    @work(group="rest", exit_on_error=False)
    async def make_index_after_all(self) -> None:
        """The index that was put off."""
        if self.index_put_off:
            await self._make_index()
            self._prepare_search_later()

    def _prepare_search_later(self) -> None:
        """Once nothing has changed for a moment, what searches need is made ahead."""
        if self.index_put_off:
            return
        if self._preparing is None:
            self._preparing = self.set_timer(_QUIET_SECONDS, self._prepare_search)
        else:
            self._preparing.reset()

    def _prepare_search(self) -> None:
        self._preparing = None
        if self._desk is None:
            return
        self.run_worker(self._prepare_and_search(), group="vectors", exclusive=True, exit_on_error=False)

    async def _prepare_and_search(self) -> None:
        """Scores were estimated so far: what stands in the box is weighed again, so that list and `w` agree."""
        await self.desk.prepare_search()
        if self.view.past is None:
            self.search_again()

    async def _draw_graph(self) -> None:
        place = self.query_one("#graph")
        if isinstance(place, GraphPlace):
            graph = import_module(_GRAPH_MODULE).GraphPane().data_bind(view=MainState.beside)
            with self.app.batch_update():
                await place.remove()
                await self.query_one(Panes).mount(graph, after="#neighbours")

    def _tell_first_frame(self) -> None:
        shown = getattr(self.app, "first_frame_shown", None)
        if shown is not None:
            shown()

    def _show_trouble(self, error: Exception) -> None:
        """The memory cannot be opened: says so over the whole screen and tries again until it can."""
        from nuggets_tui.screens.first_minutes import trouble_lines

        self.broken_file = _file_of(error)
        if self.view.trouble != str(error):
            self.view = self.view.with_(trouble=str(error))
            self.show_message(trouble_lines(error, self.view.keys), trouble=True)
            self.call_after_refresh(self._tell_first_frame)
        self.set_timer(_RETRY, self._open_again)

    @work(group="opening", exclusive=True, exit_on_error=False)
    async def _open_again(self) -> None:
        if not self.view.trouble:
            # Another memory was opened meanwhile.
            return
        self._opening = Opening(self._opening.home, self._opening.clock)
        await aside(self._opening.open)
        self._try_to_show()

    def _show_message_or_panes(self) -> None:
        """A memory that holds nothing shows how to begin; any other its panes."""
        from_message = bool(self.query("#message"))
        if self.view.empty:
            self.welcome()
        elif from_message:
            self.query("#message").remove()
            self.query_one(Panes).display = True
            self.set_focus(self.query_one(NotesPane))
        self.refresh_bindings()

    def welcome(self) -> None:
        """How to begin, over the whole screen."""
        from nuggets_tui.screens.first_minutes import welcome_lines

        self.show_message(welcome_lines(self.view), trouble=False)
        for one in self.context.controllers:
            one.welcomed()

    def show_message(self, lines: MakeLines, *, trouble: bool) -> None:
        """Lines over the whole screen, in place of the panes."""
        self.query_one(Panes).display = False
        found = self.query("#message").results(LineView)
        message = next(iter(found), None)
        if message is None:
            message = LineView(id="message")
            self.mount(message, after="#panes")
            message.focus()
        message.set_class(trouble, "-trouble")
        message.show_lines(lines)
        self.show_keys()

    # Living with the files

    @work(group="watch", exclusive=True, exit_on_error=False)
    async def _live_with_files(self) -> None:
        """Settles what waits from before, now that the first frame stands, then follows the files."""
        desk = self.desk
        try:
            snapshot = await desk.settle()
            self.view = self.view.with_(new_since=desk.last_visit or "")
            self.show_snapshot(snapshot)
        except NuggetsError as error:
            self._files_broke(error)
        except Exception as error:
            # Whatever it was: the files are followed all the same.
            self.log.error(error)
            say_error(self, error)
        self.context.settled = True
        async for event in self.desk.events(self._stop):
            if not self.is_mounted:
                return
            if isinstance(event, Snapshot):
                before = self.view.note
                self.show_snapshot(event)
                self.elsewhere.tell_of_open_note(before, event)
            else:
                self._files_broke(event)

    def _files_broke(self, error: NuggetsError) -> None:
        self.broken_file = _file_of(error)
        self.view = self.view.with_(trouble=error.message)
        say_error(self, error)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Shows the memory as it is now; what changed glows."""
        before = self.view
        fresh = changed_notes(before.snapshot, snapshot) if before.snapshot is not snapshot else before.fresh
        if before.trouble:
            # What was said of the trouble is true no more.
            let_all_go(self)
            say(self, "The files can be read again.")
        note_id = before.note_id if before.note_id in snapshot.by_id else ""
        self.view = before.with_(
            snapshot=snapshot,
            now=self._time_shown(before),
            fresh=fresh,
            trouble="",
            note_id=note_id,
        )
        self._follow_settings()
        self.audit.read_log()
        self.audit.tell_notices()
        if self.context.complete and snapshot is not before.snapshot:
            self._prepare_search_later()
        self.query_one(HeaderLine).now = self.view.now
        if before.note_id and not note_id:
            self.reading.note_under_cursor()
        self._show_message_or_panes()
        self.search_again()
        for one in self.context.controllers:
            one.snapshot_shown()

    def _follow_settings(self) -> None:
        """Keys and theme are those of the settings as they are now; what cannot be followed is said."""
        take: Callable[[Settings], tuple[str, ...]] | None = getattr(self.app, "take_settings", None)
        wrong = take(self.desk.memory.settings) if take is not None else ()
        if keys_of(self) is not self.view.keys:
            self.view = self.view.with_(keys=keys_of(self))
        if wrong != self._wrong_told:
            self._wrong_told = wrong
            tell_wrong_settings(self, wrong)

    def _time_shown(self, before: View) -> datetime:
        """The time that ages are told by. It moves on in steps: each step draws every age anew."""
        now = self.desk.clock()
        still = before.now is not None and timedelta() <= now - before.now < _STEP
        return before.now if still and before.now is not None else now

    def on_unmount(self) -> None:
        """Lets the watcher end, and the log's file go."""
        for one in self.context.controllers:
            one.leaving()
        self._stop.set()
        if self._desk is not None:
            self._desk.let_go(_FAREWELL)

    def _tick(self) -> None:
        self.query_one(HeaderLine).now = self._opening.clock()
        self.audit.tell_notices()
        self.audit.look()

    def _age(self) -> None:
        if PACE.rests(_AWAY):
            garbage.collect()
        if self.view.loaded:
            self.view = self.view.with_(now=self._opening.clock())
            # What another program could not write waits in the log without any file having changed.
            self.audit.read_log()


def _file_of(error: Exception) -> Path | None:
    """The file that an error speaks of, when it is there."""
    named = Path(error.where) if isinstance(error, NuggetsError) and error.where else None
    return named if named is not None and named.is_file() else None
