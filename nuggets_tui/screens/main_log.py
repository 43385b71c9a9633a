"""How the audit log and the notices of the memory come onto the main screen."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from textual import on, work

from core.errors import NuggetsError
from nuggets_tui.log import Log, LogLine, Scope
from nuggets_tui.messages import MoreLogWanted
from nuggets_tui.notices import warn
from nuggets_tui.screens.main_state import MainState

# Lines that fill a pane.
_ENOUGH = 60


class MainLog(MainState):
    """Keeps `view.log` in step with the memory. Readings never overlap, and bursts become one."""

    def __init__(self) -> None:
        super().__init__()
        self._scope = Scope()
        self._log_is_old = False
        self._more_log_wanted = False
        self._reading_log = False

    @property
    def log_scope(self) -> Scope:
        """What of the log is wanted."""
        return self._scope

    def show_log_of(self, scope: Scope) -> None:
        """Shows another part of the log."""
        self._scope = scope
        self.read_log()

    def read_log(self) -> None:
        """Brings the log up to date."""
        self._log_is_old = True
        self._begin_reading()

    @on(MoreLogWanted)
    def read_on(self, event: MoreLogWanted) -> None:
        """Reads older entries, when somebody comes near the end."""
        event.stop()
        self.read_further()

    def read_further(self) -> None:
        """Reads a page of older entries."""
        self._more_log_wanted = True
        self._begin_reading()

    def _begin_reading(self) -> None:
        if not self._reading_log and self._desk is not None:
            self._reading_log = True
            self._read()

    @work(group="log", exit_on_error=False)
    async def _read(self) -> None:
        desk = self.desk
        try:
            while desk is self._desk and (self._log_is_old or self._more_log_wanted):
                former = self.view.log
                if self._log_is_old:
                    self._log_is_old = False
                    read = await self.attempt(desk.log(former, self._scope))
                else:
                    self._more_log_wanted = False
                    read = await self.attempt(desk.more_log(former))
                if read is None:
                    return
                if desk is self._desk and read is not former:
                    self._show_log(read)
                    # What filters let through may lie far back: read on until the pane has something to show.
                    scarce = len(read.lines) < _ENOUGH and not read.complete
                    self._more_log_wanted |= scarce and read.scope.filtered
        finally:
            self._reading_log = False
        if desk is not self._desk:
            self._begin_reading()

    def _show_log(self, log: Log) -> None:
        former = self.view.log
        self.view = self.view.with_(log=log)
        self.refresh_bindings()
        if former.loaded:
            self._tell_conflicts([id for id in log.waiting if id not in former.waiting])

    def _tell_conflicts(self, ids: Sequence[str]) -> None:
        """Says what was changed in two ways meanwhile; what was typed here opens its own screen."""
        lines = {line.id: line for line in self.view.log.lines}
        found = [line for id in ids if (line := lines.get(id)) is not None and not _was_typed(line)]
        if not found:
            return
        what = found[0].told.what if len(found) == 1 else f"{len(found):,} things"
        key = self.view.keys.key("conflicts")
        warn(
            self, f"Changed in two ways: {what}. What the memory had stands; {key} shows both and settles it."
        )

    @work(group="new-in-log", exclusive=True, exit_on_error=False)
    async def look_at_log(self) -> None:
        """Reads the log again where something is new in it: what could not be written changes no file."""
        desk, seen = self._desk, self.view.log
        if desk is None or not seen.loaded:
            return
        with suppress(NuggetsError):
            # A log that cannot be read is told of where it is shown.
            newest = await desk.newest_in_log()
            if desk is self._desk and newest != seen.seen_to:
                self.read_log()

    def tell_notices(self) -> None:
        """Says what the memory has to tell."""
        if self._desk is not None:
            for notice in self._desk.take_notices():
                warn(self, notice)


def _was_typed(line: LogLine) -> bool:
    """Whether a person made a change by hand: where it is typed, it is shown at once."""
    return line.author.kind == "person" and line.kind != "import"
