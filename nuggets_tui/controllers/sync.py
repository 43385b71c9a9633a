"""Sync in the app: how the memory stands to its remote, a sync by key, every so often, and when the app is closed."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from textual.timer import Timer

from core.errors import NuggetsError
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.long_work import LongWork, StoppedError
from nuggets_tui.view import prepare
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.model.snapshot import Snapshot
    from core.sync import SyncResult, SyncState
    from core.sync.kept import Rhythm
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.session import Session

# Another program may set a sync up, or sync; changed settings are noticed within this time, too.
_EVERY: Final = 60.0
# What changes is counted once it has been quiet for so long.
_REST: Final = 1.0
_SHORTEST: Final = 1.0


class SyncController(Controller):
    """Nothing of it happens before the first frame; of a memory in no repository only its folders are looked at."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._looked_at: Snapshot | None = None
        self._next: Timer | None = None
        self._work: LongWork | None = None
        self._rhythm: Rhythm | None = None
        # What kept the app from syncing unasked, said once.
        self._trouble: tuple[object, ...] = ()

    def snapshot_shown(self) -> None:
        """What changed waits to be sent; the first time of a memory looks whether a sync is set up."""
        session = self.main.open_session
        if session is not None and session.snapshot is not self._looked_at:
            self._look_in(_REST)

    def leaving(self) -> None:
        """A sync of the memory that is left ends where it is; the next one goes on from there."""
        if self._work is not None:
            self._work.stop()
        if self._next is not None:
            self._next.stop()
        self._next, self._looked_at, self._rhythm, self._trouble = None, None, None, ()

    def closing(self) -> None:
        """Has a process that nobody waits for sync once more, where that is wanted."""
        synced = self.view.sync is not None and self.main.open_session is not None
        self.leaving()
        if synced and self.session.memory.settings.sync.on_exit and sys.executable:
            from nuggets_tui.detached import start

            home = str(self.session.memory.home)
            # Where it cannot be started, the next sync sends what waits.
            with contextlib.suppress(OSError, ValueError):
                start([sys.executable, "-P", "-m", "nuggets_tui", "--home", home, "sync"])

    def _look_in(self, seconds: float) -> None:
        if self._next is not None:
            self._next.stop()
        self._next = self.main.set_timer(seconds, self.refresh)

    @background("sync-state", exclusive=True)
    async def refresh(self) -> None:
        """Shows how the memory stands; syncs where that is due."""
        session = self.main.open_session
        if session is None or self.view.trouble:
            # What can be read again is shown, and looked at then.
            return
        if not (self.main.complete and self.main.reconciled):
            self._look_in(_REST)
            return
        seconds = _EVERY
        try:
            self._looked_at = session.snapshot
            state, arrived = await session.read(_looked, session)
            if session is not self.main.open_session or not self.main.is_mounted:
                return
            self._show(state)
            if arrived != self.view.arrived:
                self.main.show(arrived=arrived)
            if state is not None and self._work is None:
                seconds = self._due_in(session, state)
        except NuggetsError as error:
            self._tell(error)
        if seconds <= 0:
            self._sync_unasked()
        self._look_in(min(max(seconds, _SHORTEST), _EVERY))

    def _show(self, state: SyncState | None) -> None:
        session = self.main.open_session
        last = session.last_visit if session is not None else None
        if state is not None and state.came_in and last is not None and state.at <= last:
            # Who was here since has seen what came in.
            state = replace(state, came_in=0)
        if state != self.view.sync:
            self.main.show(sync=state)

    def _due_in(self, session: Session, state: SyncState) -> float:
        """In how many seconds the settings want a sync; 0 for now."""
        from core.settings.tree import seconds_of
        from core.sync.kept import Rhythm

        every = seconds_of(session.memory.settings.sync.every)
        if not every or self.view.snapshot.read_only:
            return _EVERY
        self._rhythm = self._rhythm or Rhythm()
        return self._rhythm.wait(every, state.at, session.clock())

    # Syncing

    @background("sync")
    async def sync_now(self) -> None:
        """Syncs, and says what came of it."""
        if self._work is not None:
            self.notify("A sync is running already.")
            return
        session = self.session
        try:
            result = await self._sync(session, LongWork("syncing"))
        except StoppedError:
            self.notify("The sync was stopped. What it did by then stays, and the next sync goes on.")
            return
        except NuggetsError as error:
            self.notify_error(error)
            return
        if session is self.main.open_session:
            (self.warn if result.state.offline else self.notify)(self._said(result))

    @background("sync")
    async def _sync_unasked(self) -> None:
        session = self.session
        if self._work is not None:
            return
        well = False
        try:
            result = await self._sync(session, LongWork("syncing", asked_for=False))
            well, self._trouble = not result.state.offline, ()
            if result.came_in and session is self.main.open_session:
                self.notify(self._said(result))
        except StoppedError:
            pass
        except NuggetsError as error:
            self._tell(error)
        finally:
            if self._rhythm is not None and session is self.main.open_session:
                self._rhythm.ended(session.clock(), well=well)

    async def _sync(self, session: Session, work: LongWork) -> SyncResult:
        """One sync. Raises StoppedError, and what `Sync.run` raises."""
        self._work, before = work, session.snapshot
        try:
            return await self.main.works.run(work, session.read(_run, session, work))
        finally:
            self._work = None
            if session is self.main.open_session and self.main.is_mounted:
                # What came in by then stands on the screen, also where the rest did not go through.
                if session.snapshot is not before:
                    self.main.show_snapshot(session.snapshot)
                self.refresh()

    def _said(self, result: SyncResult) -> str:
        from nuggets_tui.sync_words import result_said

        said = result_said(result)
        if result.came_in:
            keys = self.view.keys
            said += f" {keys.key('came_in')} opens what came in, as the audit log has it, with undo."
        return said

    def show_arrivals(self) -> None:
        """The entry of the log that brought what last came in; says where more are."""
        assert self.view.sync is not None
        entries = self.view.sync.entries
        if len(entries) > 1:
            more = plural(len(entries) - 1, "more entry", "more entries")
            self.notify(f"It came in parts: {more} in the audit log.")
        self.main.history.open_entry(entries[-1])

    def _tell(self, error: NuggetsError) -> None:
        """Says what is wrong, once until it is something else."""
        if error.identity != self._trouble:
            self._trouble = error.identity
            self.notify_error(error)


def _looked(session: Session) -> tuple[SyncState | None, frozenset[str]]:
    """How the memory stands, and what a sync brought since the last visit."""
    state, last = _state(session), session.last_visit
    if state is None or last is None:
        return state, frozenset()
    return state, frozenset(session.memory.elsewhere(last).arrived)


def _state(session: Session) -> SyncState | None:
    home = session.memory.home
    # For most people there is no more to it than this.
    if session.memory.pages is not None or not any((one / ".git").exists() for one in (home, *home.parents)):
        return None
    from core.sync import Sync

    state = Sync(session.memory).state(refresh=False)
    return state if state.set_up else None


def _run(session: Session, work: LongWork) -> SyncResult:
    from core.sync import Sync

    def go_on() -> None:
        if work.stopped():
            raise StoppedError

    def step(words: str) -> None:
        work.words = f"sync: {words}"
        go_on()

    result = Sync(session.memory, step=step, look=go_on).run()
    prepare(session.memory.snapshot)
    return result
