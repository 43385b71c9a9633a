"""The audit log: everything that ever changed, newest first, with what was taken back and what waits for a person."""

from __future__ import annotations

from typing import Final

from textual import on
from textual.content import Content
from textual.reactive import reactive

from nuggets_tui.messages import EntryOpened, MoreLogWanted
from nuggets_tui.safe_text import content
from nuggets_tui.view import View, changed_between
from nuggets_tui.widgets.audit_rows import TAKEN_BACK as TAKEN_BACK
from nuggets_tui.widgets.audit_rows import WAITS, AuditRows
from nuggets_tui.widgets.borders import say_in_border
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.widgets.row_text import MUTED

_EMPTY: Final = Content(
    "Nothing is in the log yet.\n\n"
    "What you change and what agents write is listed here from now on, newest first, and any of it can be taken back."
)
_EMPTY_NOTE: Final = Content("Nothing is in the log about this note.")
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
        """Shows new entries on top; the cursor stays on its entry while somebody is here, else on the newest."""
        if changed_between(before, after, "log", "now", "past"):
            self._show(after, after.log.scope == before.log.scope)
            if before.log.loaded and before.log.scope == after.log.scope:
                self.glow({line.id for line in after.log.lines if line.seq > before.log.newest})
        if changed_between(before, after, "log", "snapshot"):
            self._say_what_is_shown(after)

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
            self.action_last()

    def _say_what_is_shown(self, view: View) -> None:
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
                "Nothing in the log fits these filters.\n\n", (key, "bold $text-accent"), "  shows all again"
            )
            self.empty_text = nothing if log.complete else _READING
        else:
            self.empty_text = _EMPTY_NOTE if scope.note_id else _EMPTY
        note = view.snapshot.by_id.get(scope.note_id)
        about = [content(f"of {note.title if note else scope.note_id}")] if scope.note_id else []
        about += [Content("with recalls")] if scope.recalls else []
        about += [content(scope.told(), "$text-warning")] if scope.filtered else []
        title = Content(" · ").join([Content("6 Audit log"), *about])
        say_in_border(self, title, Content("   ").join(_asides(view)))

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


def _asides(view: View) -> list[Content]:
    """What stands at the lower edge: what waits, how to let filters go, and that older entries are looked through."""
    log = view.log
    said = [Content(f"{WAITS} {len(log.waiting)} waiting")] if log.waiting else []
    if log.problem:
        said.append(Content.styled("cannot be read", "$text-warning"))
    if log.scope.filtered:
        looked = "" if log.complete or not log.scope.slow else " · older ones as you scroll"
        said.append(Content.styled(f"{view.keys.key('log_filter')} shows all again{looked}", MUTED))
    return said
