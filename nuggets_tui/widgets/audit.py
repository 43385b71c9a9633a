"""The audit log: everything that ever changed, newest first, with what was taken back and what waits for a person."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Final

from textual import on
from textual.content import Content
from textual.reactive import reactive

from core.model.names import parse_iso
from nuggets_tui.log import Log, LogLine
from nuggets_tui.safe_text import content, cut
from nuggets_tui.view import Asked, View, changed_between
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, set_border_text, sides

_EMPTY: Final = Content(
    "The log is empty.\n\nEvery change by you or an agent is listed here, newest first. You can undo "
    "any of them."
)
_EMPTY_NOTE: Final = Content("The log has nothing about this note.")
_READING: Final = Content("Reading the log …")
# Rows before the end at which older entries are read.
_NEAR_END: Final = 50


class AuditPane(RowList):
    """Entries of the log: when, who, what, and what became of it."""

    view: reactive[View] = reactive(View(), repaint=False)

    def __init__(self) -> None:
        super().__init__(id="audit", classes="pane", empty_text=_READING)
        self.border_title = Content("6 Audit log")

    def watch_view(self, before: View, after: View) -> None:
        if changed_between(before, after, "log", "now", "past"):
            self._show(after, after.log.scope == before.log.scope)
            if before.log.loaded and before.log.scope == after.log.scope:
                self.glow({line.id for line in after.log.lines if line.seq > before.log.newest})
        if changed_between(before, after, "log", "snapshot"):
            self._update_title(after)

    def _show(self, view: View, same_scope: bool) -> None:
        rows = AuditRows(view)
        past = view.past
        self.set_source(
            rows.count,
            rows.row,
            key_at=rows.key,
            keep_cursor=(self._in_use or past is not None) and same_scope,
        )
        if past is not None and not self.move_to(rows.entry_at_or_before(past.seq)):
            self.action_move("end")

    def _update_title(self, view: View) -> None:
        log = view.log
        scope = log.scope
        if not log.loaded:
            self.empty_text = _READING
        elif log.problem:
            self.empty_text = Content.assemble(
                ("The log cannot be read.\n\n", "bold $text-warning"), content(log.problem)
            )
        elif scope.filtered:
            key = view.keys.key("log_filter")
            nothing = Content.assemble(
                "No entry matches these filters.\n\n", (key, "bold $text-accent"), "  clears them"
            )
            self.empty_text = nothing if log.complete else _READING
        else:
            self.empty_text = _nothing_listed(view)
        note = view.snapshot.by_id.get(scope.note_id)
        about = [content(f'of "{note.title if note else scope.note_id}"')] if scope.note_id else []
        about += [Content("with recalls")] if scope.recalls else []
        about += [content(scope.describe(), "$text-warning")] if scope.filtered else []
        title = Content(" · ").join([Content("6 Audit log"), *about])
        set_border_text(self, title, Content("   ").join(_title_details(view)))

    @property
    def _in_use(self) -> bool:
        """Whether somebody reads here, also while a dialog is open above or the terminal is not in front."""
        return self.has_focus or self.screen.focused is self or not self.app.app_focus

    def on_blur(self) -> None:
        self.call_after_refresh(self._show_newest)

    def _show_newest(self) -> None:
        if not self._in_use:
            self.action_first()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self.view.log.complete and new_value + self.size.height > self.count - _NEAR_END:
            self.post_message(Asked(lambda main: main.audit.read_further()))

    @property
    def entry_under_cursor(self) -> str:
        """The id of an entry; "" where there is none."""
        return self.cursor_row.key if self.cursor_row is not None else ""

    @property
    def _line(self) -> LogLine | None:
        row = self.cursor_row
        return row.data if row is not None and isinstance(row.data, LogLine) else None

    @property
    def can_be_undone(self) -> bool:
        """Whether the entry under the cursor stands: it is neither undone already nor a conflict, and itself no undo or
        redo: those are turned back at the entry that they are about.
        """
        line = self._line
        return line is not None and not line.undone and line.state == "done" and line.kind not in TURNS

    @property
    def note_under_cursor(self) -> str:
        """The id of the note that the entry is about; "" for an entry about several or none."""
        return self._line.deed.note_id if self._line is not None else ""

    @on(RowList.RowSelected)
    def open(self, event: RowList.RowSelected) -> None:
        event.stop()
        self.post_message(Asked(lambda main: main.open_entry(event.row.key)))


def _nothing_listed(view: View) -> Content:
    """Why nothing stands here where no filter is set: no change is in the log, and recalls may be."""
    scope = view.log.scope
    if scope.lists_recalls or not view.log.seen_to:
        return _EMPTY_NOTE if scope.note_id else _EMPTY
    of = "of this note " if scope.note_id else ""
    key = (view.keys.key("log_recalls"), "bold $text-accent")
    return Content.assemble(f"The log has no changes {of}yet.\n\n", key, "  shows recalls too")


def _title_details(view: View) -> list[Content]:
    """What stands at the lower edge: what waits, how to let filters go, and that older entries are looked through."""
    log = view.log
    said = [Content(f"{WAITS} {len(log.waiting)} waiting")] if log.waiting else []
    if log.problem:
        said.append(Content.styled("cannot be read", "$text-warning"))
    if log.scope.filtered:
        looked = "" if log.complete or not log.scope.slow else " · scroll for older entries"
        said.append(Content.styled(f"{view.keys.key('log_filter')} clears the filters{looked}", MUTED))
    return said


_AUTHOR_STYLES: Final = {"person": "$text-accent", "reflection": "bold $text-secondary"}
_AUTHOR_WIDTH: Final = 15
_VERB_WIDTH: Final = 12
# So many of the newest lines say how wide the column of authors has to be.
_SAMPLED: Final = 400
# In a narrower pane names are cut sooner.
_ROOM_FOR_NAMES: Final = 72
_NARROW_AUTHOR: Final = 11
_ANOTHER: Final = "another "
TAKEN_BACK: Final = "↶"
TURNS: Final = ("undo", "redo")
WAITS: Final = "!"
RUN: Final = "◈"


class AuditRows:
    """Lines of the log with headings between days, as a list asks for them. `count`: of both together."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._lines = view.log.lines
        self._places = _places(self._lines, view.now)
        self.count = len(self._places)
        names = {str(line.author) for line in islice(self._lines, _SAMPLED)}
        self._author = _widest(names, _AUTHOR_WIDTH)
        self._narrow_author = _widest({name.removeprefix(_ANOTHER) for name in names}, _NARROW_AUTHOR)

    def key(self, index: int) -> str:
        """The id of the entry in a row, or the key of a heading."""
        place = self._places[index]
        return self._lines[place].id if place >= 0 else f"day {self._lines[-place - 1].day}"

    def row(self, index: int) -> Row:
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
    sign = status_icon(line, view.log)
    dull = line.undone or line.state == "settled" or line.kind == "hit"
    if past is not None:
        dull = dull or line.seq > past.seq
        if line.seq == past.seq:
            sign = Content.styled("◀ here", "bold $text-warning")

    def shown(width: int) -> Content:
        said = _entry_line(line, view, authors, width)
        return sides(Content.styled(said.plain, MUTED) if dull else said, sign)(width)

    return Row(line.id, (shown,), data=line)


def _entry_line(line: LogLine, view: View, authors: tuple[int, int], width: int) -> Content:
    told = line.deed
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


def status_icon(line: LogLine, log: Log) -> Content:
    """What became of an entry, with a sign: taken back, waiting, settled; nothing for what simply stands."""
    if line.state == "conflict":
        return Content.styled(f"{WAITS} waits", "bold $text-warning")
    if line.state == "settled":
        return Content.styled("resolved", MUTED)
    if line.undone:
        return Content.styled(f"{TAKEN_BACK} undone", MUTED)
    some = log.parts_taken_back(line)
    return Content.styled(f"{TAKEN_BACK} {some} undone", MUTED) if some else Content("")
