"""The audit log: everything that changed since the app was opened, newest first."""

from __future__ import annotations

from typing import Final

from textual import on
from textual.content import Content
from textual.reactive import reactive

from core.model.change import ChangeSet
from nuggets_tui.messages import EntryOpened
from nuggets_tui.safe_text import content
from nuggets_tui.view import View, changed_between
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import clock_time, deed

_EMPTY: Final = Content(
    "Nothing has changed since you opened this memory.\n\n"
    "What you change and what agents write meanwhile is listed here, newest first."
)
_AUTHOR_STYLES: Final = {"person": "$text-accent", "reflection": "$text-secondary"}
_AUTHOR_WIDTH: Final = 15
_VERB_WIDTH: Final = 12


class AuditPane(RowList):
    """Change sets: when, who, what."""

    view: reactive[View] = reactive(View())

    def __init__(self) -> None:
        super().__init__(id="audit", classes="pane", empty_text=_EMPTY)
        self.border_title = Content("6 Audit log")

    def watch_view(self, before: View, after: View) -> None:
        """Shows new entries on top; the cursor stays on its entry while somebody is here, else on the newest."""
        if not changed_between(before, after, "history", "now"):
            return
        entries = after.history
        self.set_source(
            len(entries),
            lambda index: _row(entries[-1 - index], after),
            key_at=lambda index: entries[-1 - index].id,
            keep_cursor=self._in_use,
        )
        known = {entry.id for entry in before.history}
        self.glow({entry.id for entry in entries if entry.id not in known})

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

    @on(RowList.RowHighlighted)
    def stay(self, event: RowList.RowHighlighted) -> None:
        """Moving here shows nothing else; enter opens."""
        event.stop()

    @on(RowList.RowSelected)
    def open(self, event: RowList.RowSelected) -> None:
        """Shows the entry whole."""
        event.stop()
        self.post_message(EntryOpened(event.row.key))


def _row(entry: ChangeSet, view: View) -> Row:
    told = deed(entry)
    when = clock_time(entry.at, view.now) if view.now else ""
    who = content(str(entry.author), _AUTHOR_STYLES.get(entry.author.kind, "")).truncate(
        _AUTHOR_WIDTH, ellipsis=True, pad=True
    )
    line = Content.assemble(
        (f"{when:<7}", MUTED),
        who,
        " ",
        (f"{told.verb:<{_VERB_WIDTH}} ", MUTED),
        content(told.what),
    )
    return Row(entry.id, (sides(line, Content("")),), data=told.note_id)
