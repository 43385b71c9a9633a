"""The time slider on the main screen: the whole memory as it was at any moment, read only, and the way back to now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace
from textual.css.query import NoMatches
from textual.widget import Widget

from core.model.snapshot import Snapshot
from nuggets_tui.commands import BY_NAME, PIPELINE, SETTINGS, VIEW, Command
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.pace import run_in_thread
from nuggets_tui.view import Found, Past
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.words import local_time

if TYPE_CHECKING:
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.view import View
    from nuggets_tui.widgets.time_line import PastSearch, TimeTravel

# What looks at what is shown, whatever the time: these groups, and of the others these commands.
_GROUPS: Final = (VIEW, PIPELINE, SETTINGS)
_ALSO: Final = (
    "search", "keep_search", "open", "back", "copy", "copy_reference", "pane_facts", "audit", "log_of_note",
    "log_recalls", "log_filter", "time",
)  # fmt: skip
_LISTS: Final = ("facts", "notes", "neighbours", "audit")


class _Place(msgspec.Struct, frozen=True):
    """Where somebody was when they began to look back, so that they find themselves there again."""

    note_id: str
    trail: tuple[str, ...]
    focused: str
    rows: dict[str, str]
    scrolled: dict[str, float]


class TimeTravelController(Controller):
    """Looks back: the slider, the state at each moment, comparing it with now and bringing it back."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._time_travel: TimeTravel | None = None
        self._search: PastSearch | None = None
        self._place: _Place | None = None
        # Keys that were pressed on the slider and not followed yet.
        self._steps: list[tuple[str, int]] = []
        self._sliding = False

    # In and out

    @background("open")
    async def start_time_travel(self) -> None:
        """Looks back; once looking back, asks for a moment to be typed."""
        if self.view.past is None:
            self._start_time_travel(self.main.focused)
            return
        from nuggets_tui.screens.forms import moment_screen

        moment = await self.ask(moment_screen(self.session.clock()))
        looking = self._time_travel
        if moment is not None and looking is not None:
            position = await self.attempt(run_in_thread(looking.position_at, moment))
            if position is not None and looking is self._time_travel:
                self.slide("to", position)

    @background("past", exclusive=True)
    async def _start_time_travel(self, asked_in: Widget | None) -> None:
        from nuggets_tui.widgets.time_line import PastSearch, TimeTravel

        session = self.session
        looking = await self.long_work(
            "reading the log", run_in_thread(TimeTravel, session.memory, session.clock)
        )
        if looking is None or session is not self.main.open_session:
            return
        if not looking.timeline.marks:
            self.notify(
                "There is no past to show yet. It begins with your first change.",
            )
            return
        # Data is bound to the slider from the screen's own turn alone.
        self.main.call_later(self._begin, looking, PastSearch(session.memory, session.clock), asked_in)

    async def _begin(self, looking: TimeTravel, search: PastSearch, asked_in: Widget | None) -> None:
        from nuggets_tui.widgets.time_line import TimeLine

        if self.view.past is not None or looking.memory is not self.session.memory:
            return
        self._time_travel, self._search = looking, search
        self._place = self._present_place()
        self.main.add_class("-past")
        line = TimeLine(looking).data_bind(type(self.main).view)
        await self.main.mount(line, before="#panes")
        past, snapshot = looking.describe(0), looking.timeline.at(0)
        self.main.show(past=past, snapshot=snapshot, fresh=frozenset())
        # Who went elsewhere meanwhile, to the search maybe, goes on there.
        if self.main.focused in (asked_in, None):
            line.focus()
        self.main.refresh_bindings()

    def leave(self) -> None:
        """Back to now, with everything where it was."""
        if self.view.past is None:
            return
        place, news = self._place, self.view.past.news
        self._time_travel = self._search = self._place = None
        self._steps = []
        self.main.remove_class("-past")
        self.main.query("#time").remove()
        self.main.show(
            past=None, snapshot=self.session.snapshot, note_id=place.note_id if place else "", suggested=()
        )  # fmt: skip
        if place is not None:
            self.main.reading.trail = list(place.trail)
            # The lists hold other rows only once the view has reached them.
            self.main.call_after_refresh(self._go_back_to_place, place)
        if news:
            self.main.show_snapshot(self.session.snapshot)
        else:
            self._notify_shown()
        self.main.refresh_bindings()

    def _present_place(self) -> _Place:
        lists = {name: self.main.query_one(f"#{name}", RowList) for name in _LISTS}
        rows = {name: each.cursor_row.key for name, each in lists.items() if each.cursor_row is not None}
        scrolled = {name: self.main.query_one(f"#{name}").scroll_y for name in (*_LISTS, "note")}
        focused = self.main.focused.id if self.main.focused is not None else None
        return _Place(self.view.note_id, tuple(self.main.reading.trail), focused or "notes", rows, scrolled)

    def _go_back_to_place(self, place: _Place) -> None:
        for name in _LISTS:
            if name in place.rows:
                self.main.query_one(f"#{name}", RowList).move_to(place.rows[name])
        for name, line in place.scrolled.items():
            self.main.query_one(f"#{name}", Widget).scroll_to(y=line, animate=False, force=True)
        self.main.reading.show_note(place.note_id)
        try:
            self.main.set_focus(self.main.query_one(f"#{place.focused}"))
        except NoMatches:
            self.main.go_to("notes")
        # Results that were shown are not found again, so what was under the cursor may be in no list.
        self.main.reading.follow_notes()

    def leaving(self) -> None:
        self.leave()

    def closing(self) -> None:
        """The app ends where it is."""

    def take_down(self, snapshot: Snapshot, past: Past) -> None:
        """What changes while somebody looks back is said, and shown once they are back."""
        news = past.news or (
            self._time_travel is not None and snapshot is not self._time_travel.timeline.at(0)
        )
        self.main.show(past=replace(past, news=news), trouble="", now=self.session.clock())
        self.main.audit.read_log()
        self.main.audit.show_notices()

    # Sliding

    def slide(self, by: str, step: int) -> None:
        """Another moment: by "change", "day" or to the "end", earlier (-1) or later (1); or "to" a position."""
        self._steps.append((by, step))
        if not self._sliding and self._time_travel is not None:
            self._sliding = True
            self._slide()

    @background("past")
    async def _slide(self) -> None:
        """Goes where the keys pressed so far lead; those pressed meanwhile lead on from there, all at once."""
        try:
            while self._steps and self._time_travel is not None and self.view.past is not None:
                looking, steps, self._steps = self._time_travel, self._steps, []
                found = await self.attempt(run_in_thread(looking.follow, self.view.past.position, steps))
                if looking is not self._time_travel or self.view.past is None:
                    return
                if found is not None:
                    self._show_moment(*found)
        finally:
            self._steps, self._sliding = [], False

    def _show_moment(self, past: Past, snapshot: Snapshot) -> None:
        assert self.view.past is not None
        self.main.show(
            past=replace(past, news=self.view.past.news), snapshot=snapshot, suggested=(), fresh=frozenset()
        )  # fmt: skip
        self._bring_log_to(past.seq)
        self._notify_shown()
        self.main.refresh_bindings()

    def _notify_shown(self) -> None:
        for one in self.main.controllers:
            one.snapshot_shown()

    def _bring_log_to(self, seq: int) -> None:
        """Reads on in the log until the entry that is marked there is among its lines."""
        log = self.view.log
        if not log.complete and log.read_to > seq:
            self.main.audit.read_further()

    def log_shown(self) -> None:
        """More of the log was read: the mark in it may have to be read up to."""
        if self.view.past is not None:
            self._bring_log_to(self.view.past.seq)

    def go_to_entry(self, entry_id: str) -> None:
        """The moment right after an entry of the log."""
        line = next((line for line in self.view.log.lines if line.id == entry_id), None)
        if line is not None and self._time_travel is not None:
            self.slide("to", self._time_travel.after_entry(line.seq))

    def explain_no_recall(self) -> None:
        """The recall behind a fact is one of the present."""
        self.notify("Recall answers exist only for the present. esc returns to now.")

    # What can be done while looking back

    def works_now(self, name: str) -> bool:
        """Whether a command looks at what is shown, whatever the time."""
        command = BY_NAME[name]
        return name in _ALSO or command.group in _GROUPS

    def can(self, name: str, view: View) -> bool:
        """Whether a command makes sense while somebody looks back. view: with what it acts on."""
        if not self.works_now(name):
            return name in _INSTEAD
        # A time before the first note is no memory that holds nothing.
        command = BY_NAME[name]
        return command.makes_sense(view) or (self.view.empty and command.needs == "memory")

    def carry_out_instead(self, name: str) -> None:
        """What a command of the present does while somebody looks back; those that change say why they do not."""
        if name in _INSTEAD:
            _INSTEAD[name](self)
            return
        keys = self.view.keys
        self.notify(
            f'"{BY_NAME[name].label}" is off: the past is read only. esc returns to now; '
            f"{keys.key('conflicts')} compares with now and restores a note, {keys.key('restore')} "
            "restores everything."
        )

    def labelled(self, command: Command) -> Command:
        """A command of the footer with what its key does while somebody looks back."""
        label = _LABELS.get(command.name)
        return replace(command, label=label, footer=2) if label is not None else command

    async def find(self, text: str) -> Found | None:
        """Hits for what is typed, among the notes that are shown; None when something else is asked for by now."""
        search = self._search
        return await search.find(self.view.snapshot, text) if search is not None else None

    # Comparing and going back

    @background("past-compare", exclusive=True)
    async def compare_with_now(self) -> None:
        """What differs between the moment shown and now."""
        from nuggets_tui.screens.entry import ALL, CompareScreen, compared

        past = self.view.past
        if past is None:
            return
        then, now = self.view.snapshot, self.session.snapshot
        found = await self.look(
            "comparing with now", lambda work: run_in_thread(compared, then, now, work.report_progress)
        )
        if found is not None and found.rows and self.view.past is not None:
            screen = CompareScreen(found, self._moment_words(self.view.past), self.view.note_id)
            chosen = await self.ask(screen)
            if chosen is not None:
                await self._review_going_back(None if chosen == ALL else chosen)
        elif found is not None:
            self.notify("No differences: all notes and facts are as they are now.")

    @background("change")
    async def go_back_to_it(self) -> None:
        """Proposes to make the whole memory as it was at the moment shown."""
        await self._review_going_back(None)

    async def _review_going_back(self, note: str | None) -> None:
        """Proposes to bring back the whole memory, or one note; shown before anything is written."""
        from nuggets_tui.screens.review import restore_review

        past, session = self.view.past, self.session
        if past is None:
            return
        wanted, words = self.view.snapshot, past.at or "the time before the log"
        going_back = session.memory.maintenance.going_back
        proposed = await self.look(
            "computing the changes",
            lambda work: run_in_thread(going_back, wanted, words, note, work.report_progress),
        )
        if proposed is not None and proposed.empty:
            self.notify("Nothing to restore: the memory is as it was then.")
        elif proposed is not None:
            moment = local_time(words) if past.at else words
            done = await self.ask(restore_review(session, proposed, moment, one_note=note is not None))
            if done is not None:
                self.leave()
                self.main.history.reviewed(done)
                if note:
                    # After everything is where it was before looking back.
                    self.main.call_after_refresh(self._show_restored, note)

    def _show_restored(self, note_id: str) -> None:
        self.main.reading.show_note(note_id, follow=True)
        self.main.reading.reveal()

    def _moment_words(self, past: Past) -> str:
        from nuggets_tui.widgets.time_line import moment_words

        return moment_words(past, self.session.clock())


# What these keys do while somebody looks back.
_INSTEAD: Final[dict[str, Callable[[TimeTravelController], object]]] = {
    "conflicts": lambda past: past.compare_with_now(),
    "restore": lambda past: past.go_back_to_it(),
}
_LABELS: Final = {"conflicts": "compare", "restore": "restore all", "time": "choose a moment"}
