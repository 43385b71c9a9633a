"""Syncs of one folder that go on beside the daemon's looking, where its settings want them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.settings import Settings
    from core.sync import SyncResult

# Changed settings, a suspend and a clock that was set are noticed within this time.
LOOK_SECONDS: Final = 60.0
_SHORTEST: Final = 1.0
# Who ends a daemon does not wait for a remote any longer than this; the next sync goes on from there.
STOP_SECONDS: Final = 10.0


class _StoppedError(Exception):
    """The daemon ends."""


class SyncBeside:
    """Syncs one folder every so often, and at its end. report: takes a line of what happened; a trouble is one line
    until it is over or something else is.
    """

    def __init__(self, home: Path, *, clock: Callable[[], datetime], report: Callable[[str], None]) -> None:
        from core.sync.kept import Rhythm

        self._home = home
        self._clock = clock
        self._out = report
        self._rhythm = Rhythm()
        self._stop = threading.Event()
        self._leaving = False
        self._thread: threading.Thread | None = None
        self._trouble = ""
        self._conflicts = 0

    def start(self) -> None:
        """Begins to look, in a thread of its own."""
        self._stop.clear()
        self._leaving = False
        self._thread = threading.Thread(target=self._run, name="nuggets-sync-beside", daemon=True)
        self._thread.start()

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Ends it, with a last sync where `sync.on_exit` wants one, in so many seconds at most."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(seconds)

    def once(self) -> bool:
        """Syncs where it is due; False when that did not go through."""
        self.look()
        return not self._trouble

    def look(self) -> float:
        """Syncs where it is due; in how many seconds to look again."""
        from core.sync.kept import last_sync

        try:
            settings = self._settings()
            every = _seconds(settings)
            last = last_sync(self._home) if every else None
            if not every or last is None:
                self._tell(_unfit(settings))
                return LOOK_SECONDS
            wait = self._rhythm.wait(every, last, self._clock())
            if wait > 0:
                return min(max(wait, _SHORTEST), LOOK_SECONDS)
        except NuggetsError as error:
            self._tell(error.message)
            return LOOK_SECONDS
        self._sync()
        return min(every, LOOK_SECONDS)

    def leave(self) -> None:
        """The last sync, where it is wanted."""
        from core.sync.kept import last_sync

        try:
            if not self._settings().sync.on_exit or last_sync(self._home) is None:
                return
        except NuggetsError as error:
            self._tell(error.message)
            return
        self._leaving = True
        self._sync()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._stop.wait(self.look())
        self.leave()

    def _settings(self) -> Settings:
        from core.settings import load_settings

        return load_settings(self._home)

    def _sync(self) -> None:
        from core.memory import Memory
        from core.model.change import PROGRAM
        from core.sync import Sync

        trouble = ""
        try:
            memory = Memory.open(self._home, author=PROGRAM, clock=self._clock)
            try:
                result = Sync(memory, step=self._step, look=self._go_on).run()
                notices = memory.take_notices()
            finally:
                memory.close()
            for notice in notices:
                self._report(notice)
            self._report_result(result)
            trouble = f"offline: {result.state.problem}" if result.state.offline else ""
        except _StoppedError:
            return
        except NuggetsError as error:
            trouble = error.message
        except Exception as error:
            # Whatever it was, the next one may go through.
            trouble = f"this is a bug in nuggets-tui: {type(error).__name__}: {error}"
        self._rhythm.ended(self._clock(), well=not trouble)
        self._tell(trouble)

    def _step(self, _: str) -> None:
        self._go_on()

    def _go_on(self) -> None:
        if self._stop.is_set() and not self._leaving:
            raise _StoppedError

    def _report_result(self, result: SyncResult) -> None:
        if result.came_in:
            undo = ", ".join(f"nuggets undo {id}" for id in result.change_sets)
            self._report(f"{plural(result.came_in, 'note')} came in ({undo})")
        if result.sent:
            self._report(f"sent {plural(result.sent, 'note')}")
        conflicts = result.state.conflicts
        if conflicts > self._conflicts:
            waits = plural(conflicts, "conflict waits", "conflicts wait")
            self._report(f"{waits} for you: nuggets resolve")
        self._conflicts = conflicts

    def _tell(self, trouble: str) -> None:
        """Says what is wrong, once until it is over or something else is."""
        if trouble and trouble != self._trouble:
            self._report(trouble)
        elif self._trouble and not trouble:
            self._report("the problem is over")
        self._trouble = trouble

    def _report(self, line: str) -> None:
        self._out(f"sync: {line}")


def _seconds(settings: Settings) -> float:
    """Seconds between two syncs, 0 for none."""
    from core.settings.tree import seconds_of

    return seconds_of(settings.sync.every) or 0.0


def _unfit(settings: Settings) -> str:
    """What is wrong with how often to sync; a file that cannot be read may say it, too."""
    return next((one.message for one in settings.problems if one.name in ("sync", "sync.every")), "")
