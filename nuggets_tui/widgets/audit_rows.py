"""The rows of the audit log: a line for each entry under the heading of its day, in columns that fit what they hold."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Final

from textual.content import Content

from core.model.names import parse_iso
from nuggets_tui.log import Log, LogLine
from nuggets_tui.safe_text import content, cut
from nuggets_tui.view import View
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED, sides

_AUTHOR_STYLES: Final = {"person": "$text-accent", "reflection": "bold $text-secondary"}
_AUTHOR_WIDTH: Final = 15
_VERB_WIDTH: Final = 12
# So many of the newest lines say how wide the column of authors has to be.
_LOOKED_AT: Final = 400
# In a narrower pane names are cut sooner.
_ROOM_FOR_NAMES: Final = 72
_NARROW_AUTHOR: Final = 11
_ANOTHER: Final = "another "
TAKEN_BACK: Final = "↶"
WAITS: Final = "!"
RUN: Final = "◈"


class AuditRows:
    """Lines of the log with headings between days, as a list asks for them. `count`: of both together."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._lines = view.log.lines
        self._places = _places(self._lines, view.now)
        self.count = len(self._places)
        names = {str(line.author) for line in islice(self._lines, _LOOKED_AT)}
        self._author = _widest(names, _AUTHOR_WIDTH)
        self._narrow_author = _widest({name.removeprefix(_ANOTHER) for name in names}, _NARROW_AUTHOR)

    def key(self, index: int) -> str:
        """The id of the entry in a row, or the key of a heading."""
        place = self._places[index]
        return self._lines[place].id if place >= 0 else f"day {self._lines[-place - 1].day}"

    def row(self, index: int) -> Row:
        """A row."""
        place = self._places[index]
        if place < 0:
            heading = _day_name(self._lines[-place - 1].day, self._view.now)
            return Row(self.key(index), (Content.styled(heading, f"bold {MUTED}"),), selectable=False)
        return _row(self._lines[place], self._view, (self._author, self._narrow_author))

    def entry_at_or_before(self, seq: int) -> str:
        """The id of the newest entry listed whose number is no larger; "" for none."""
        found = bisect_left(self._lines, -seq, key=lambda line: -line.seq)
        return self._lines[found].id if found < len(self._lines) else ""


def _widest(names: Collection[str], limit: int) -> int:
    return min(limit, max((content(name).cell_length for name in names), default=0))


def _places(lines: Sequence[LogLine], now: datetime | None) -> array[int]:
    """For each row the place of its line; for a heading -1 less the place of the first line under it.

    The present day, with which a list begins, needs none.
    """
    day = now.astimezone().toordinal() if now is not None else 0
    found = array("q")
    for place, line in enumerate(lines):
        if line.day != day and line.day:
            day = line.day
            found.append(-place - 1)
        found.append(place)
    return found


def _day_name(day: int, now: datetime | None) -> str:
    """ "Yesterday, Tue 17 Nov", "Mon 16 Nov", "Mon 16 Nov 2025"."""
    try:
        that = date.fromordinal(day)
    except (ValueError, OverflowError):
        return ""
    today = now.astimezone().date() if now is not None else that
    said = f"{that:%a} {that.day} {that:%b}" + (f" {that.year}" if that.year != today.year else "")
    return f"Yesterday, {said}" if today.toordinal() - day == 1 else said


def _row(line: LogLine, view: View, authors: tuple[int, int]) -> Row:
    past = view.past
    sign = sign_of(line, view.log)
    dull = line.undone or line.state == "settled" or line.kind == "hit"
    if past is not None:
        dull = dull or line.seq > past.seq
        if line.seq == past.seq:
            sign = Content.styled("◀ here", "bold $text-warning")

    def shown(width: int) -> Content:
        said = _said(line, view, authors, width)
        return sides(Content.styled(said.plain, "dim") if dull else said, sign)(width)

    return Row(line.id, (shown,), data=line.told.note_id)


def _said(line: LogLine, view: View, authors: tuple[int, int], width: int) -> Content:
    told = line.told
    wide = width >= _ROOM_FOR_NAMES
    author, name = authors[0] if wide else authors[1], str(line.author)
    if not wide:
        name = name.removeprefix(_ANOTHER)
    who = Content.styled(cut(name, author), _AUTHOR_STYLES.get(line.author.kind, ""))
    done: Content
    if line.counts:
        done = Content.assemble((f"{RUN} ", "$text-secondary"), content(line.counts, "bold"))
    else:
        done = Content.assemble((f"{told.verb:<{_VERB_WIDTH}} ", MUTED), content(told.what))
    when = _when(line, view.now)
    return Content.assemble((when, MUTED), who.truncate(author, pad=True), " ", done)


def _when(line: LogLine, now: datetime | None) -> str:
    """The hour; the day stands in the heading."""
    moment = parse_iso(line.at)
    if moment is None or now is None:
        return " " * 7
    return f"{moment.astimezone():%H:%M}  "


def sign_of(line: LogLine, log: Log) -> Content:
    """What became of an entry, with a sign: taken back, waiting, settled; nothing for what simply stands."""
    if line.state == "conflict":
        return Content.styled(f"{WAITS} waits", "bold $text-warning")
    if line.state == "settled":
        return Content.styled("settled", MUTED)
    if line.undone:
        return Content.styled(f"{TAKEN_BACK} taken back", MUTED)
    some = log.parts_taken_back(line)
    return Content.styled(f"{TAKEN_BACK} {some} taken back", MUTED) if some else Content("")
