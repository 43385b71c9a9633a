"""The audit log as it is shown: in step with the memory, narrowed by filters; and the notices of the memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from core.errors import NuggetsError
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.log import Log, LogLine, Scope, newest_entries, older_entries
from nuggets_tui.threads import run_in_thread

if TYPE_CHECKING:
    from nuggets_tui.screens.main import MainScreen

# Lines that fill a pane.
_ENOUGH = 60


class AuditController(Controller):
    """The log as it is shown: `view.log` in step with the memory. Readings never overlap, and bursts become one."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._scope = Scope()
        self._log_is_old = False
        self._more_log_wanted = False
        self._reading_log = False

    def show_log_of(self, scope: Scope) -> None:
        self._scope = scope
        self.read_log()

    def read_log(self) -> None:
        self._log_is_old = True
        self._begin_reading()

    def read_further(self) -> None:
        self._more_log_wanted = True
        self._begin_reading()

    def _begin_reading(self) -> None:
        if not self._reading_log and self.main.open_session is not None:
            self._reading_log = True
            self._read()

    @background("log")
    async def _read(self) -> None:
        session = self.session
        try:
            while session is self.main.open_session and (self._log_is_old or self._more_log_wanted):
                former = self.view.log
                if self._log_is_old:
                    self._log_is_old = False
                    read = await self.attempt(
                        session.read(newest_entries, session.memory, former, self._scope)
                    )
                else:
                    self._more_log_wanted = False
                    read = await self.attempt(session.read(older_entries, session.memory, former))
                if read is None:
                    return
                if session is self.main.open_session and read is not former:
                    self._show_log(read)
                    # What filters let through may lie far back: read on until the pane has something to show.
                    scarce = len(read.lines) < _ENOUGH and not read.complete
                    self._more_log_wanted |= scarce and read.scope.filtered
        finally:
            self._reading_log = False
        if session is not self.main.open_session:
            self._begin_reading()

    def _show_log(self, log: Log) -> None:
        former = self.view.log
        self.main.show(log=log)
        self.main.refresh_bindings()
        if former.loaded:
            self._notify_conflicts([id for id in log.waiting if id not in former.waiting])
        for one in self.main.controllers:
            one.log_shown()

    def _notify_conflicts(self, ids: Sequence[str]) -> None:
        """Says what was changed in two ways meanwhile; what was typed here opens its own screen."""
        lines = {line.id: line for line in self.view.log.lines}
        found = [line for id in ids if (line := lines.get(id)) is not None and not _was_typed(line)]
        if not found:
            return
        what = found[0].deed.what if len(found) == 1 else f"{len(found):,} things"
        key = self.view.keys.key("conflicts")
        self.warn(f"Changed in two ways: {what}. The other version stays for now; {key} shows both.")

    @background("new-in-log", exclusive=True)
    async def refresh(self) -> None:
        """Reads the log again where something is new in it: what could not be written changes no file."""
        session, seen = self.main.open_session, self.view.log
        if session is None or not seen.loaded:
            return
        with suppress(NuggetsError):
            # A log that cannot be read is told of where it is shown.
            newest = await session.read(session.memory.history.newest)
            if session is self.main.open_session and newest != seen.seen_to:
                self.read_log()

    def show_notices(self) -> None:
        """Says what the memory has to tell."""
        if self.main.open_session is not None:
            for notice in self.main.open_session.memory.take_notices():
                self.warn(notice)

    # Commands

    def go(self) -> None:
        """The cursor goes to the audit log."""
        self.main.go_to("audit")

    def show_note_alone(self) -> None:
        """The log of the note under the cursor alone, or all of it again."""
        scope, note = self._scope, self.main.selection.target()
        self.show_log_of(replace(scope, note_id=note.id if note is not None and not scope.note_id else ""))
        self.main.go_to("audit")

    def show_recalls(self) -> None:
        """Recalls come into the log, or go."""
        scope = self._scope
        self.show_log_of(replace(scope, recalls=not scope.recalls))
        self.notify(f"Audit log: recalls are {'left out' if scope.recalls else 'shown too'}.")

    @background("open", exclusive=True)
    async def filter(self) -> None:
        """Chooses what of the log is shown; all of it again where something was chosen before."""
        from nuggets_tui.screens.log_filter import LogFilterScreen, offered

        if self.clear_filters():
            self.notify(self.view.keys.filled("Audit log: the filter is off. {log_filter} sets one."))
            return
        found = await self.attempt(run_in_thread(offered, self.session.memory))
        if found is not None:
            screen = LogFilterScreen(self._scope, found, self.main.selection.target(), self.session.clock())
            self.app.push_screen(screen, self._filtered)

    def clear_filters(self) -> bool:
        """Shows the whole log again; False when it is shown already."""
        if not self._scope.filtered:
            return False
        self.show_log_of(self._scope.cleared())
        self.main.go_to("audit")
        return True

    def _filtered(self, scope: Scope | None) -> None:
        if scope is not None:
            self.show_log_of(scope)
            self.main.go_to("audit")


def _was_typed(line: LogLine) -> bool:
    """Whether a person made a change by hand: where it is typed, it is shown at once."""
    return line.author.kind == "person" and line.kind != "import"
