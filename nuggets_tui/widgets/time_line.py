"""The time slider: when things changed as a bar, where one stands in it, and keys and mouse that move there."""

from __future__ import annotations

import threading
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from core.model.names import iso, parse_iso
from core.model.snapshot import Snapshot
from nuggets_tui.pace import run_in_thread
from nuggets_tui.view import Asked, Found, Past, View, prepare
from nuggets_tui.words import plural, time_ago

if TYPE_CHECKING:
    from core.memory import Memory
    from core.search import SearchIndex
    from core.timeline import Timeline

_NOW: Final = " now"
_MARK: Final = "┃"
# A bar shorter than this says nothing.
_LEAST_BAR: Final = 10
# What the frame takes of a line on it.
_CORNERS: Final = 4
_PRESSED_AS: Final = {"esc": "escape"}
_EIGHTHS: Final = "▁▂▃▄▅▆▇█"
_DAY: Final = 86_400.0


class TimeLine(Widget, can_focus=True):
    """One line between the search box and the panes. `looking`: the past it moves in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "slide('change', -1)", "previous change", show=False),
        Binding("right", "slide('change', 1)", "next change", show=False),
        Binding("shift+left,pageup", "slide('day', -1)", "previous day", show=False),
        Binding("shift+right,pagedown", "slide('day', 1)", "next day", show=False),
        Binding("home", "slide('end', -1)", "oldest", show=False),
        Binding("end", "slide('end', 1)", "now", show=False),
        Binding("down,enter", "to_panes", "to the panes", show=False),
    ]

    view: reactive[View] = reactive(View())

    def __init__(self, time_travel: TimeTravel) -> None:
        super().__init__(id="time")
        self.time_travel = time_travel
        self._signs: tuple[int, int, str] = (0, 0, "")

    def watch_view(self, before: View, after: View) -> None:
        if after.past is None:
            return
        self.border_title = Content.assemble("◷ ", _title(after.past, self._now))
        self._show_keys()
        self.refresh()

    def on_resize(self) -> None:
        self._show_keys()

    def _show_keys(self) -> None:
        keys, room = self.view.keys, self.size.width - _CORNERS
        said: list[Content] = []
        for key, label in (
            ("esc", "now"), ("← →", "change"), ("⇧← ⇧→", "day"), (keys.key("conflicts"), "compare, restore one"),
            (keys.key("restore"), "restore all"), (keys.key("time"), "choose a moment"), ("home end", "first, last"),
        ):  # fmt: skip
            hint = Content.assemble((key, "bold"), f" {label}")
            if len(key) == 1 or key in _PRESSED_AS:
                hint = hint.stylize(Style.from_meta({"press": _PRESSED_AS.get(key, key)}))
            room -= hint.cell_length + 2
            if room < 0:
                break
            said.append(hint)
        self.border_subtitle = Content("  ").join(said)

    @property
    def _now(self) -> datetime:
        return self.view.now or self.time_travel.now

    def render(self) -> Content:
        past = self.view.past
        width, begin, bar = self._parts()
        if past is None or width < _LEAST_BAR:
            return Content("")
        counts = (width, len(self.time_travel.timeline))
        if self._signs[:2] != counts:
            self._signs = (*counts, _bar(self.time_travel.density(width)))
        signs, place = self._signs[2], self.time_travel.cell(past.position, width)
        return Content.assemble(
            (begin, "$text-muted"),
            (signs[:place], "$text-secondary"),
            (_MARK, "bold reverse $text-warning"),
            (signs[place + 1 :], "$text-disabled"),
            (bar, "$text-muted"),
        )

    def _parts(self) -> tuple[int, str, str]:
        """Cells of the bar, and what stands at its two ends."""
        moment = parse_iso(self.time_travel.timeline.reach)
        begin = ""
        if moment is not None:
            local = moment.astimezone()
            year = "" if local.year == self._now.astimezone().year else f" {local:%y}"
            begin = f"{local.day} {local:%b}{year} "
        return self.content_size.width - len(begin) - len(_NOW), begin, _NOW

    def on_click(self, event: Click) -> None:
        key = event.style.meta.get("press")
        if key:
            event.stop()
            self.app.simulate_key(key)
            return
        offset = event.get_content_offset(self)
        if offset is None:
            return
        event.stop()
        width, begin, _ = self._parts()
        cell = max(0, min(width - 1, offset.x - len(begin)))
        position = self.time_travel.in_cell(cell, width)
        self.post_message(Asked(lambda main: main.time_travel.slide("to", position)))

    def action_slide(self, by: str, step: int) -> None:
        self.post_message(Asked(lambda main: main.time_travel.slide(by, step)))

    def action_to_panes(self) -> None:
        self.post_message(Asked(lambda main: main.go_to("notes")))


def moment_words(past: Past, now: datetime) -> str:
    """The moment that is shown: "as it was on 14 Nov 09:41, 3 d ago"."""
    if not past.position:
        return "now"
    moment = parse_iso(past.at)
    if moment is None:
        return f"as it was before {'the log began' if past.begins else 'the oldest entry read so far'}"
    local, today = moment.astimezone(), now.astimezone()
    year = f" {local.year}" if local.year != today.year else ""
    day = "today" if local.date() == today.date() else f"on {local.day} {local:%b}{year}"
    clock = f"{local:%H:%M:%S}" if (now - moment).total_seconds() < _DAY else f"{local:%H:%M}"
    return f"as it was {day} {clock}, {time_ago(past.at, now)}"


def _title(past: Past, now: datetime) -> str:
    changes = plural(past.changes_after, "change")
    more = f"read only · {changes} before now" if past.position else "read only during time travel"
    return f"{moment_words(past, now)} · {more}"


def _bar(counts: Sequence[int]) -> str:
    """A bar of eighths, the fullest part as high as the line; a part without changes is a dot."""
    most = max(counts, default=0)
    return "".join(_EIGHTHS[-(-count * 8 // most) - 1] if count else "·" for count in counts)


_RESULTS: Final = 50


class TimeTravel:
    """The past of one memory as it was when somebody began to look. Calls that read run in threads."""

    def __init__(self, memory: Memory, clock: Callable[[], datetime]) -> None:
        """Raises as `History.timeline`."""
        self.memory = memory
        self.timeline: Timeline = memory.history.timeline()
        self.now = clock()
        marks, stops = self.timeline.marks, self.timeline.stops
        places = [place for place in stops if place < len(marks)]
        self._places = [place for place in places if not marks[place].recall]
        # For each change that is no recall, newest first: seconds before the present.
        self._ages, last = array("d"), 0.0
        for place in self._places:
            moment = parse_iso(marks[place].at)
            # A clock that was set back makes no change younger than those after it.
            last = max(last, (self.now - moment).total_seconds()) if moment is not None else last
            self._ages.append(last)

    # Moments

    def moment(self, position: int) -> tuple[Past, Snapshot]:
        """What is shown at a position, made ready for the panes. Raises StorageError."""
        timeline = self.timeline
        snapshot = prepare(timeline.at(position))
        return self.describe(position), snapshot

    def describe(self, position: int) -> Past:
        timeline = self.timeline
        return Past(
            position=position,
            at=timeline.time_at(position),
            seq=timeline.marks[position].seq if position < len(timeline) else 0,
            changes_after=timeline.changes_after(position),
            begins=position >= len(timeline),
        )

    def day(self, position: int, step: int) -> int:
        """The last state of the day before (step -1) or after (1) that of a position on which anything changed."""
        today = self._day_of(position)
        going = self.timeline.later if step > 0 else self.timeline.earlier
        found = position
        while True:
            following = going(found)
            if following == found:
                return found
            found = following
            day = self._day_of(found)
            if day != today and (step < 0 or self._day_of(self.timeline.later(found)) != day or not found):
                return found

    def _day_of(self, position: int) -> int:
        moment = parse_iso(self.timeline.time_at(position))
        return moment.astimezone().toordinal() if moment is not None else 0

    def after_entry(self, seq: int) -> int:
        return bisect_left(self.timeline.marks, -seq, key=lambda mark: -mark.seq)

    def follow(self, position: int, steps: Sequence[tuple[str, int]]) -> tuple[Past, Snapshot]:
        """What is shown after some steps from a position: by "change", by "day" or to the "end", earlier (-1) or later
        (1); or "to" a position.
        """
        for by, step in steps:
            if by == "to":
                position = step
            elif by == "end":
                position = 0 if step > 0 else len(self.timeline)
            elif by == "day":
                position = self.day(position, step)
            else:
                position = self.timeline.later(position) if step > 0 else self.timeline.earlier(position)
        return self.moment(position)

    def position_at(self, moment: datetime) -> int:
        """The position of what was there at a time. Raises NotFoundError."""
        return self.timeline.position_at(iso(moment))

    # The bar

    @property
    def span(self) -> float:
        """Seconds from the oldest change that is known to the present."""
        return max(self._ages[-1] if self._ages else 0.0, 1.0)

    def density(self, width: int) -> list[int]:
        """How many changes were made in each of so many equal parts of the time, oldest first."""
        counts = [0] * max(width, 1)
        for age in self._ages:
            counts[self._cell(age, len(counts))] += 1
        return counts

    def cell(self, position: int, width: int) -> int:
        """The part of the bar in which a position stands."""
        if not position:
            return width - 1
        found = bisect_left(self._places, position)
        return self._cell(self._ages[found], width) if found < len(self._ages) else 0

    def in_cell(self, cell: int, width: int) -> int:
        """The newest position of a part of the bar, or the nearest older one."""
        if cell >= width - 1:
            return 0
        least = self.span * (1.0 - (cell + 1) / width)
        found = bisect_left(self._ages, least)
        return self._places[found] if found < len(self._places) else len(self.timeline)

    def _cell(self, age: float, width: int) -> int:
        return max(0, min(width - 1, int((1.0 - age / self.span) * width)))


class PastSearch:
    """Searches in states of the past, with an index of its own that follows from one state to the next."""

    def __init__(self, memory: Memory, clock: Callable[[], datetime]) -> None:
        self._memory = memory
        self._clock = clock
        self._turn = threading.Lock()
        self._query_number = 0
        self._index: SearchIndex | None = None

    async def find(self, snapshot: Snapshot, typed: str) -> Found | None:
        """Hits among the notes of a state; None when something else was asked for meanwhile."""
        self._query_number += 1
        return await run_in_thread(self._find, snapshot, typed, self._query_number)

    def _find(self, snapshot: Snapshot, typed: str, turn: int) -> Found | None:
        from core.search.conditions import Asked
        from core.search.index import question_filters, search_question
        from core.search.query_syntax import parse_question

        def stale() -> bool:
            return turn != self._query_number

        with self._turn:
            if stale():
                return None
            index = self._following(snapshot)
            begun = time.perf_counter()
            asked = Asked(self._clock().astimezone())
            wanted = question_filters(parse_question(typed, index.excludes), asked)
            found = search_question(index, snapshot, wanted, _RESULTS, self._memory.settings.search, stale)
            seconds = time.perf_counter() - begun
            return None if stale() else Found.of(typed, found, seconds, _RESULTS)

    def _following(self, snapshot: Snapshot) -> SearchIndex:
        if self._index is None:
            # Most notes are the same as now: what was read of them need not be read again.
            self._index = self._memory.search.index().for_another(snapshot)
        self._index.update(snapshot)
        return self._index
