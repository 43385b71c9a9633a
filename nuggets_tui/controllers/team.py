"""The team's notes beside a person's own, and sync with other machines: found, followed, and taken in."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.timer import Timer

from core.errors import ErrorCode, NuggetsError
from core.model.snapshot import Snapshot
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.pace import LongWork, StoppedError, run_in_thread
from nuggets_tui.safe_text import cut, safe_line
from nuggets_tui.view import TeamNotes, prepare
from nuggets_tui.widgets.header import short_path
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.note import Note
    from core.sync import SyncResult, SyncState
    from core.sync.kept import Rhythm
    from core.team import FolderStep
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.session import Session

# Seconds between two looks whether the memory itself is all there.
_LOOK: Final = 0.05
_FAREWELL: Final = 0.5
# Characters of a title in a notice.
_TITLE: Final = 60
_PATH: Final = 200


class TeamController(Controller):
    """Keeps `view.team`, and goes from the person's own memory to the team's and back."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._stop = asyncio.Event()
        self._known = asyncio.Event()
        # The memory that was open before the team's took its place.
        self._before: Path | None = None
        # The project's notes that wait until a person says whether they may be used.
        self._untrusted: Path | None = None

    def first_frame_shown(self) -> None:
        """Looks for the team's notes once all of the memory itself is there."""
        self._follow()

    def leaving(self) -> None:
        """The team's notes go with the memory that they stand beside."""
        self._stop.set()
        self._stop, self._known = asyncio.Event(), asyncio.Event()
        session, self.main.team_session = self.main.team_session, None
        self._untrusted = None
        if session is not None:
            session.close(_FAREWELL)

    async def opened(self) -> None:
        """Comes back once it is known whether there are notes of a team, and they are open."""
        await self._known.wait()

    @background("team", exclusive=True)
    async def _follow(self) -> None:
        session, known, stop = self.session, self._known, self._stop
        try:
            while not (self.main.complete and self.main.reconciled):
                await asyncio.sleep(_LOOK)
            folder = await self.attempt(run_in_thread(self._folder, session))
            if folder is None or not await self._may_use(folder, session):
                return
            team = await self.attempt(run_in_thread(_opened, folder, session.clock))
            if team is None or session is not self.main.open_session:
                return
            await self.attempt(team.reconcile())
            self.main.team_session = team
            session.memory.search.use_team(team.memory)
            self.show_snapshot()
        finally:
            known.set()
            if known is self._known:
                self.main.show(team_known=True)
                self.main.refresh_bindings()
        async for event in team.events(stop):
            if stop.is_set() or not self.main.is_mounted:
                return
            if isinstance(event, Snapshot):
                self.show_snapshot()
            else:
                self.notify_error(event)

    def _folder(self, session: Session) -> Path | None:
        """Where the team's notes lie, for a thread; None for a copy of the demo, which is nobody's own memory. Raises
        InvalidInputError as `folder_in_reach`.
        """
        memory = session.memory
        if memory.pages is not None or self.app.is_copy(memory.home):
            return None
        from core.folder import folder_in_reach

        try:
            return folder_in_reach(Path.cwd(), memory.settings.team.folder, os.environ)
        except OSError:
            return None

    async def _may_use(self, folder: Path, session: Session) -> bool:
        """Whether a person lets the project's notes be used; where they were not asked yet, says how many wait."""
        from core.team import count_pages, must_be_trusted

        try:
            return await run_in_thread(must_be_trusted, folder, session.memory.settings)
        except NuggetsError as error:
            if error.code != ErrorCode.NOT_TRUSTED:
                self.notify_error(error)
                return False
        self._untrusted = folder
        count = await run_in_thread(count_pages, folder)
        if count and session is self.main.open_session and self.main.is_mounted:
            self.main.show(untrusted=count)
            self.main.refresh_bindings()
            asks = f"This project has {plural(count, 'note')}, not used until you allow it"
            self.notify(f"{asks}: {self.view.keys.key('trust')}.")
        return False

    def show_snapshot(self) -> None:
        """Shows the team's notes as they are now."""
        session, before = self.main.team_session, self.view.team
        if session is None:
            return
        memory = session.memory
        self.main.show(team=TeamNotes(str(memory.folder), session.snapshot, before.waiting if before else ()))
        for notice in memory.take_notices():
            self.warn(notice)
        if self.view.note is None and self.view.note_id:
            self.main.show(note_id="", suggested=())
        self.main.refresh_bindings()
        if before is None and self.view.empty:
            # How to begin names it, and a search finds it.
            self.main.opening.show_message_or_panes()
        # Another state has other hits.
        self.main.search.again()
        self.main.search.prepare_later()
        self._find_waiting()

    @background("team-log", exclusive=True)
    async def _find_waiting(self) -> None:
        """Which changes of the team's notes met a conflict."""
        session = self.main.team_session
        if session is None:
            return
        found = await self.attempt(session.read(session.memory.history.conflicts))
        team = self.view.team
        if found is None or team is None or session is not self.main.team_session:
            return
        waiting = tuple(entry.id for entry in found)
        if waiting != team.waiting:
            self.main.show(team=TeamNotes(team.folder, team.snapshot, waiting))
            self.main.refresh_bindings()

    # Commands

    def list_alone(self) -> None:
        """Lists the team's notes alone, or what was listed before."""
        box = self.main.search_box
        box.value = "" if box.value.strip() == _ALONE else _ALONE
        self.main.go_to("notes")

    @background("open")
    async def trust(self) -> None:
        """Asks whether the notes of the project may be used, and keeps the answer."""
        await self._trust()

    async def _trust(self) -> None:
        from core.team import entry_for, remember
        from nuggets_tui.screens.dialog import ConfirmScreen

        folder = self._untrusted
        project = await self.attempt(run_in_thread(entry_for, folder)) if folder is not None else None
        if folder is None or project is None:
            return
        came = f"\nIt was cloned from {safe_line(project.remote, _PATH)}." if project.remote else ""
        where = safe_line(short_path(str(folder)), _PATH)
        question = ConfirmScreen(
            "Use this project's notes?",
            f"{plural(self.view.untrusted, 'note')} in {where}.{came}\n\nSearches and agents read them, marked as the "
            "team's. Whoever can push to the repository can change them.",
            yes="use them",
        )

        def keep() -> bool:
            remember(project, trusted=True)
            return True

        if await self.ask(question) and await self.attempt(run_in_thread(keep)):
            self.main.show(untrusted=0)
            self.main.refresh_bindings()
            self._follow()

    @background("open")
    async def share(self) -> None:
        """What sharing the note under the cursor, or those selected, would write into the project; offers to make the
        folder where there is none.
        """
        notes = [note for note in self.main.selection.targets() if not self.view.of_team(note.id)]
        if not notes:
            self.notify("It is one of the team's notes already.")
        elif self.view.untrusted:
            await self._trust()
        elif self.main.team_session is not None or await self._make_folder():
            await self._review_share(notes)

    async def _review_share(self, notes: Sequence[Note]) -> None:
        from core.team import plan_share
        from nuggets_tui.screens.share_review import ShareReview

        team, own = self.main.team_session, self.session.memory
        plan = await self.attempt(run_in_thread(plan_share, own, team.memory, notes)) if team else None
        if team is None or plan is None:
            return
        if not (plan.files or plan.refused):
            what = f'"{cut(notes[0].title, _TITLE)}"' if len(notes) == 1 else plural(len(notes), "note")
            self.notify(f"Nothing to share: the team's notes have {what} already.")
            return

        async def shared(accepted: Collection[str]) -> tuple[ChangeSet, str]:
            wanted = [note for note in notes if note.id in accepted]
            done, count = await team.write(_share, own, team.memory, wanted)
            return done, f"Wrote {plural(count, 'file')}"

        done = await self.ask(ShareReview(plan, short_path(str(team.memory.folder)), shared))
        self.main.history.reviewed(done)
        if isinstance(done, tuple):
            self.main.selection.clear()

    async def _make_folder(self) -> bool:
        """Asks whether the folder of a team's notes shall be made in the project; whether it was, and is open."""
        from core.team import make_team_folder, trust_folder
        from nuggets_tui.screens.dialog import ConfirmScreen

        steps = await self.attempt(run_in_thread(_in_project, make_team_folder))
        if steps is None:
            return False
        folder = next(step.what for step in steps if step.step == "folder")
        question = ConfirmScreen(
            "Share with a team?",
            "Notes that you share lie in the project's repository, one Markdown file each, for everybody who works on "
            f"it. This project has no folder for them yet.\n\n{safe_line(short_path(folder), _PATH)}",
            yes="make the folder",
        )
        if not await self.ask(question):
            return False
        made = await self.attempt(asyncio.to_thread(_in_project, make_team_folder, really=True))
        if made is None:
            return False
        # A person made it just now.
        place = Path(next(step.what for step in made if step.step == "folder"))
        await self.attempt(run_in_thread(trust_folder, place))
        known = self._known = asyncio.Event()
        self._follow()
        await known.wait()
        return True

    @background("open")
    async def switch(self) -> None:
        """Opens the team's memory in place of the person's own; from there goes back."""
        if not self.view.team_home:
            await self.opened()
        if self.view.team_home:
            from core.folder import default_home

            back = self._before or default_home().expanduser()
            self.main.opening.open_another(back, "This is your own memory again.")
        elif self.view.team is not None:
            self._before = self.session.memory.folder
            self.main.opening.open_another(Path(self.view.team.folder), self.view.keys.filled(_OPENED))


_ALONE: Final = "is:team"
_OPENED: Final = "These are the team's notes. {team} goes back to your own memory."


def _share(own: Memory, team: Memory, notes: Sequence[Note]) -> tuple[ChangeSet, int]:
    """Plans anew, by the files as they are by now, and writes it."""
    from core.team import plan_share, share

    plan = plan_share(own, team, notes)
    done = share(team, plan)
    if done is None:
        done = team.draft().change_set("", author=team.author)
    return done, len(plan.files)


def _in_project(make: Callable[..., list[FolderStep]], *, really: bool = False) -> list[FolderStep]:
    return make(Path.cwd(), dry_run=not really)


def _opened(folder: Path, clock: Callable[[], datetime]) -> Session | None:
    """Opens the team's memory, for a thread. None where it would have files of ours in the repository."""
    from core.memory import Memory
    from nuggets_tui.session import Session

    memory = Memory.open(folder, clock=clock, reconcile=None, tolerant=True)
    if memory.pages is None:
        memory.close()
        return None
    prepare(memory.snapshot)
    return Session(memory, clock)


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
            from nuggets_tui.process import start

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
        from nuggets_tui.words import result_said

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
