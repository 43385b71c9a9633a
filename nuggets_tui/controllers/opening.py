"""How a memory comes onto the main screen, and how the screen lives with the files from then on."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import NuggetsError
from core.model.snapshot import Snapshot
from core.places import folder_of
from nuggets_tui import notices, process
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.notices import notify_wrong_settings
from nuggets_tui.opening import Opening, QuickScan
from nuggets_tui.pace import PACE, run_in_thread
from nuggets_tui.session import Session
from nuggets_tui.view import View, changed_notes
from nuggets_tui.widgets.line_view import LineView, MakeLines, load_parser
from nuggets_tui.widgets.note_view import NotePane
from nuggets_tui.widgets.panes import GraphPlace
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.words import load as load_signs

if TYPE_CHECKING:
    from nuggets_tui.screens.main import MainScreen

_GRAPH_MODULE = "nuggets_tui.widgets.graph"
_TICK = 5.0
_AGES = 30.0
_RETRY = 1.0
_STEP = timedelta(seconds=2)
# Seconds without a key after which nobody notices a short pause.
_AWAY = 10.0
_FAREWELL = 1.0
# A frame without notes that is drawn anew at once costs more than waiting this long for them.
_FRAME_PATIENCE = 0.1
# Panes whose scroll bar stays: one that came and went while somebody types would have the screen laid out anew.
_LASTING_BARS = "#notes, #note, #neighbours"


class OpeningController(Controller):
    """The main screen's life with the files: opening, first frame, changes from elsewhere, trouble."""

    def __init__(self, main: MainScreen, opening: Opening, notice: str) -> None:
        super().__init__(main)
        self._opening = opening
        self._notice = notice
        self._stop = asyncio.Event()
        self._settings_notified: tuple[str, ...] = ()
        # The file that cannot be read while there is trouble.
        self.broken_file: Path | None = None
        # What is said of why it cannot be opened.
        self._trouble: tuple[object, ...] = ()

    @property
    def home(self) -> Path | None:
        """The folder of the memory that is opened."""
        return self._opening.home

    def clock(self) -> datetime:
        return self._opening.clock()

    def open_another(self, home: Path, notice: str) -> None:
        """Shows another memory in place of this one; keys that are pressed until it is there are meant for it."""
        self.app.key_queue.hold()
        for one in self.main.controllers:
            one.leaving()
        self._stop.set()
        self._stop = asyncio.Event()
        self.main.workers.cancel_node(self.main)
        if self.main.open_session is not None:
            self.main.open_session.close(0.0)
        self.main.open_session, self._notice = None, notice
        self.main.complete = self.main.reconciled = False
        self._opening = Opening(home, self._opening.clock).start()
        self.main.search_box.value = ""
        self.main.view = View(home=str(home), keys=self.view.keys)
        self._wait_for_memory()

    def mounted(self) -> None:
        """Shows the memory if it is there already, else as soon as it is."""
        home = self._opening.home
        named = {"home": str(folder_of(home)) if home is not None else "", "keys": self.app.key_map}
        scan = self._opening.at_hand(_FRAME_PATIENCE)
        if scan is not None or self._opening.future.done():
            # What follows at once is given to the panes together with this.
            self.main.show_ahead(**named)
        else:
            self.main.show(**named)
        if self._opening.future.done():
            self._try_to_show()
        else:
            if scan is not None:
                self._show_quick_scan(scan)
            self._wait_for_memory()
        self.main.set_interval(_TICK, self._tick)
        self.main.set_interval(_AGES, self._age)

    @background("opening", exclusive=True)
    async def _wait_for_memory(self) -> None:
        scan = await asyncio.wrap_future(self._opening.quick_scan)
        if scan is not None and self.view.quick_counts is None:
            self._show_quick_scan(scan)
        await asyncio.wait([asyncio.wrap_future(self._opening.future)])
        self._try_to_show()

    def _show_quick_scan(self, scan: QuickScan) -> None:
        self.main.show(
            snapshot=Snapshot(notes=scan.newest, nuggets=scan.nuggets),
            quick_counts=(scan.visible, scan.hidden, scan.nugget_count),
            now=self._opening.clock(),
        )  # fmt: skip
        self.main.call_after_refresh(self._opening.frame_shown.set)

    @background("change")
    async def open_demo(self) -> None:
        home = await self.long_work("writing the demo memory", self.app.make_demo())
        if home is not None:
            notice = (
                f"This is a copy of the demo memory, in {home}. Change what you like; it is "
                "deleted when you quit."
            )
            self.open_another(home, notice)

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
        pages = memory.pages is not None
        self.main.open_session = Session(memory, self._opening.clock)
        self.main.show(
            home=str(memory.folder), pages=pages, team_home=pages and memory.is_team, snapshot=memory.snapshot,
            projects=memory.projects, now=self._opening.clock(), loaded=True, trouble="", quick_counts=None,
        )  # fmt: skip
        self.main.header.now = self.view.now
        self.main.reading.note_under_cursor()
        self.show_message_or_panes()
        self.main.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        self._notify_first_frame()
        if self._notice:
            self.notify(self._notice)
        self._follow_settings()
        self._bring_the_rest()
        self._live_with_files()
        for one in self.main.controllers:
            one.first_frame_shown()

    @background("rest", exclusive=True)
    async def _bring_the_rest(self) -> None:
        """What the first frame does without: Markdown, the picture of the graph, the index of the search."""
        await run_in_thread(load_parser)
        await run_in_thread(load_signs)
        self.main.query_one(NotePane).plainly = False
        for pane in self.main.query(RowList):
            pane.make_rows_anew()
        for scrolling in self.main.query(_LASTING_BARS):
            scrolling.styles.overflow_y = "scroll"
        await run_in_thread(import_module, _GRAPH_MODULE)
        # Data is bound to the pane from the screen's own turn alone.
        self.main.call_later(self._draw_graph)
        if self.view.snapshot.notes:
            await self.main.search.make_index()
        self.main.complete = True
        self.main.search.prepare_later()

    async def _draw_graph(self) -> None:
        place = self.main.query_one("#graph")
        if isinstance(place, GraphPlace):
            graph = import_module(_GRAPH_MODULE).GraphPane().data_bind(view=type(self.main).beside)
            with self.app.batch_update():
                await place.remove()
                await self.main.panes.mount(graph, after="#audit")

    def _notify_first_frame(self) -> None:
        self.app.first_frame_shown()

    def _show_trouble(self, error: Exception) -> None:
        """The memory cannot be opened: says so over the whole screen and tries again until it can."""
        from nuggets_tui.screens.first_minutes import trouble_lines

        self.broken_file = _file_of(error)
        told = error.identity if isinstance(error, NuggetsError) else (type(error), str(error))
        if not self.view.trouble or told != self._trouble:
            self._trouble = told
            self.main.show(trouble=str(error))
            self.show_message(trouble_lines(error, self.view.keys), trouble=True)
            self.main.call_after_refresh(self._notify_first_frame)
        self.main.set_timer(_RETRY, self._open_again)

    @background("opening", exclusive=True)
    async def _open_again(self) -> None:
        if not self.view.trouble:
            # Another memory was opened meanwhile.
            return
        self._opening = Opening(self._opening.home, self._opening.clock)
        await run_in_thread(self._opening.open)
        self._try_to_show()

    def show_message_or_panes(self) -> None:
        """A memory that holds nothing shows how to begin; the panes show any other, and what a search finds."""
        message = self.main.query("#message")
        if self.view.begins:
            self.welcome()
        elif message:
            # The cursor leaves what goes off the screen, for the search box where nobody says otherwise.
            typing = self.main.typing
            self.main.panes.display = True
            if not typing:
                self.main.set_focus(self.main.notes_pane)
            if self.view.empty:
                # It is back as soon as the search is over.
                message.set(display=False)
            else:
                message.remove()
        self.main.refresh_bindings()

    def welcome(self) -> None:
        """How to begin, over the whole screen."""
        from nuggets_tui.screens.first_minutes import welcome_lines

        if self.view.note_id:
            # Keys change nothing that nobody sees.
            self.main.show(note_id="", suggested=())
        self.show_message(welcome_lines(self.view), trouble=False)
        for one in self.main.controllers:
            one.welcomed()

    def show_message(self, lines: MakeLines, *, trouble: bool) -> None:
        """Lines over the whole screen, in place of the panes."""
        typing = self.main.typing
        self.main.panes.display = False
        found = self.main.query("#message").results(LineView)
        message = next(iter(found), None)
        if message is None:
            message = LineView(id="message")
            self.main.mount(message, after="#panes")
        message.display = True
        if not typing:
            message.focus()
        message.set_class(trouble, "-trouble")
        message.show_lines(lines)
        self.main.show_keys()

    # Living with the files

    @background("watch", exclusive=True)
    async def _live_with_files(self) -> None:
        """Settles what waits from before, now that the first frame stands, then follows the files."""
        session = self.session
        try:
            snapshot = await session.reconcile()
            self.main.show(new_since=session.last_visit or "")
            self.main.show_snapshot(snapshot)
        except NuggetsError as error:
            self._files_broke(error)
        except Exception as error:
            # Whatever it was: the files are followed all the same.
            self.main.log.error(error)
            self.notify_error(error)
        self.main.reconciled = True
        async for event in self.session.events(self._stop):
            if not self.main.is_mounted:
                return
            if isinstance(event, Snapshot):
                self._say_how_it_watches()
                before = self.view.note
                self.main.show_snapshot(event)
                self.main.reading.notify_change(before, event)
            else:
                self._files_broke(event)

    def _say_how_it_watches(self) -> None:
        polling = self.session.memory.polling
        if polling and not self.view.polling:
            self.warn(
                "The system has no free file watches: what others change shows within a second or two. "
                "On Linux, raise fs.inotify.max_user_instances."
            )
        self.main.show(polling=polling)

    def _files_broke(self, error: NuggetsError) -> None:
        self.broken_file = _file_of(error)
        self.main.show(trouble=error.message)
        self.notify_error(error)

    def show_snapshot(self, snapshot: Snapshot, **changes: object) -> None:
        """Shows the memory as it is now, with other changes of the view; what changed glows."""
        before = self.view
        fresh = changed_notes(before.snapshot, snapshot) if before.snapshot is not snapshot else before.fresh
        if before.trouble:
            # What was said of the trouble is true no more.
            notices.dismiss_all(self.main)
            self.notify("The files are readable again.")
        there = before.note_id in snapshot.by_id or before.of_team(before.note_id)
        note_id = before.note_id if there else ""
        self.main.show(
            snapshot=snapshot,
            projects=self.main.session.memory.projects,
            now=self._time_shown(before),
            fresh=fresh,
            trouble="",
            note_id=note_id,
            **changes,
        )
        self._follow_settings()
        self.main.audit.read_log()
        self.main.audit.show_notices()
        self.main.header.now = self.view.now
        if before.note_id and not note_id:
            self.main.reading.note_under_cursor()
        self.show_message_or_panes()
        for one in self.main.controllers:
            one.snapshot_shown()

    def _follow_settings(self) -> None:
        """Keys and theme are those of the settings as they are now; what cannot be followed is said."""
        wrong = self.app.take_settings(self.session.memory.settings)
        if self.app.key_map is not self.view.keys:
            self.main.show(keys=self.app.key_map)
        if wrong != self._settings_notified:
            self._settings_notified = wrong
            notify_wrong_settings(self.main, wrong)

    def _time_shown(self, before: View) -> datetime:
        """The time that ages are told by. It moves on in steps: each step draws every age anew."""
        now = self.session.clock()
        still = before.now is not None and timedelta() <= now - before.now < _STEP
        return before.now if still and before.now is not None else now

    def closing(self) -> None:
        """Lets the watcher end, and the log's file go."""
        self._stop.set()
        if self.main.open_session is not None:
            self.main.open_session.close(_FAREWELL)

    def _tick(self) -> None:
        self.main.header.now = self._opening.clock()
        self.main.audit.show_notices()
        self.main.audit.refresh()

    def _age(self) -> None:
        if PACE.rests(_AWAY):
            process.collect_garbage()
        if self.view.loaded:
            self.main.show(now=self._opening.clock())
            # What another program could not write waits in the log without any file having changed.
            self.main.audit.read_log()


def _file_of(error: Exception) -> Path | None:
    """The file that an error speaks of, when it is there."""
    named = Path(error.where) if isinstance(error, NuggetsError) and error.where else None
    return named if named is not None and named.is_file() else None
