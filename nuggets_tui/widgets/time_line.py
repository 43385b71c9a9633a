"""The time slider: when things changed as a bar, where one stands in it, and keys and mouse that move there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from core.model.names import parse_iso
from nuggets_tui.messages import Asked
from nuggets_tui.view import Past, View
from nuggets_tui.words import plural, time_ago

if TYPE_CHECKING:
    from nuggets_tui.past import TimeTravel

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
