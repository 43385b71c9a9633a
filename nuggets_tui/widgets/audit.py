"""The audit log: everything that ever changed, newest first, with what was taken back and what waits for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual import on
from textual.content import Content
from textual.reactive import reactive

from nuggets_tui.log import Log, LogLine
from nuggets_tui.messages import EntryOpened, MoreLogWanted
from nuggets_tui.safe_text import content
from nuggets_tui.view import View, changed_between
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import clock_time

_EMPTY: Final = Content(
    "Nothing is in the log yet.\n\n"
    "What you change and what agents write is listed here from now on, newest first, and any of it can be taken back."
)
_EMPTY_NOTE: Final = Content("Nothing is in the log about this note.")
_READING: Final = Content("Reading the log …")
_AUTHOR_STYLES: Final = {"person": "$text-accent", "reflection": "$text-secondary"}
_AUTHOR_WIDTH: Final = 15
_VERB_WIDTH: Final = 12
# Rows before the end at which older entries are read.
_NEAR_END: Final = 50
TAKEN_BACK: Final = "↶"
WAITS: Final = "!"


class AuditPane(RowList):
    """Entries of the log: when, who, what, and what became of it."""

    view: reactive[View] = reactive(View())

    def __init__(self) -> None:
        super().__init__(id="audit", classes="pane", empty_text=_READING)
        self.border_title = Content("6 Audit log")

    def watch_view(self, before: View, after: View) -> None:
        """Shows new entries on top; the cursor stays on its entry while somebody is here, else on the newest."""
        if changed_between(before, after, "log", "now"):
            self._show(after.log.lines, after, after.log.scope == before.log.scope)
            if before.log.loaded and before.log.scope == after.log.scope:
                self.glow({line.id for line in after.log.lines if line.seq > before.log.newest})
        if changed_between(before, after, "log", "snapshot"):
            self._say_what_is_shown(after)

    def _show(self, lines: Sequence[LogLine], view: View, same_scope: bool) -> None:
        self.set_source(
            len(lines),
            lambda index: _row(lines[index], view),
            key_at=lambda index: lines[index].id,
            keep_cursor=self._in_use and same_scope,
        )

    def _say_what_is_shown(self, view: View) -> None:
        log = view.log
        if not log.loaded:
            self.empty_text = _READING
        else:
            self.empty_text = _EMPTY_NOTE if log.scope.note_id else _EMPTY
        note = view.snapshot.by_id.get(log.scope.note_id)
        about = [content(f"of {note.title if note else log.scope.note_id}")] if log.scope.note_id else []
        about += [Content("with recalls")] if log.scope.recalls else []
        self.border_title = Content(" · ").join([Content("6 Audit log"), *about])
        self.border_subtitle = Content(f"{WAITS} {len(log.waiting)} waiting") if log.waiting else Content("")

    @property
    def _in_use(self) -> bool:
        """Whether somebody reads here, also while a dialog is open above or the terminal is not in front."""
        return self.has_focus or self.screen.focused is self or not self.app.app_focus

    def on_blur(self) -> None:
        """Nobody reads here any more: back to the newest."""
        self.call_after_refresh(self._show_newest)

    def _show_newest(self) -> None:
        if not self._in_use:
            self.action_first()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Older entries are read before the end comes into view."""
        super().watch_scroll_y(old_value, new_value)
        if not self.view.log.complete and new_value + self.size.height > self.count - _NEAR_END:
            self.post_message(MoreLogWanted())

    @on(RowList.RowHighlighted)
    def stay(self, event: RowList.RowHighlighted) -> None:
        """Moving here shows nothing else; enter opens."""
        event.stop()

    @on(RowList.RowSelected)
    def open(self, event: RowList.RowSelected) -> None:
        """Shows the entry whole."""
        event.stop()
        self.post_message(EntryOpened(event.row.key))


def _row(line: LogLine, view: View) -> Row:
    told = line.told
    when = clock_time(line.at, view.now) if view.now else ""
    who = content(str(line.author), _AUTHOR_STYLES.get(line.author.kind, ""))
    said = Content.assemble(
        (f"{when:<7}", MUTED),
        who.truncate(_AUTHOR_WIDTH, ellipsis=True, pad=True),
        " ",
        (f"{told.verb:<{_VERB_WIDTH}} ", MUTED),
        content(told.what),
    )
    if line.undone or line.state == "settled" or line.kind == "hit":
        said = Content.styled(said.plain, "dim")
    return Row(line.id, (sides(said, sign_of(line, view.log)),), data=told.note_id)


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
