"""The team's notes beside a person's own: found from the working directory upwards, followed, opened in place."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import ErrorCode, NuggetsError
from core.model.snapshot import Snapshot
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.safe_text import cut, safe_line
from nuggets_tui.threads import run_in_thread
from nuggets_tui.view import TeamNotes
from nuggets_tui.widgets.header import short_path
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.note import Note
    from core.team import FolderStep
    from nuggets_tui.pending_conflict import PendingConflict
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
            session.memory.use_team(team.memory)
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
        from core.team import entry_for, remember
        from nuggets_tui.screens.confirm import ConfirmScreen

        folder = self._untrusted
        if folder is None:
            return
        project = await self.attempt(run_in_thread(entry_for, folder))
        if project is None:
            return
        came = f"\nIt was cloned from {safe_line(project.remote, _PATH)}." if project.remote else ""
        where = safe_line(short_path(str(folder)), _PATH)
        question = ConfirmScreen(
            "Use this project's notes?",
            f"{plural(self.view.untrusted, 'note')} in {where}.{came}\n\nSearches and agents read them, marked as the "
            "team's. Whoever can push to the repository can change them.",
            yes="use them",
        )

        def answered(sure: bool | None) -> None:
            if sure:
                self._trusted(partial(remember, project, trusted=True))

        self.app.push_screen(question, answered)

    @background("change")
    async def _trusted(self, keep: Callable[[], None]) -> None:
        if await self.attempt(run_in_thread(_true, keep)):
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
            self.trust()
        elif self.main.team_session is None:
            await self._offer_folder(notes)
        else:
            await self._review_share(notes)

    async def _review_share(self, notes: Sequence[Note]) -> None:
        from core.team import plan_share
        from nuggets_tui.screens.share_review import ShareReview

        team = self.main.team_session
        if team is None:
            return
        asked = run_in_thread(plan_share, self.session.memory, team.memory, notes)
        plan = await self.attempt(asked)
        if plan is None:
            return
        if not (plan.files or plan.refused):
            what = f'"{cut(notes[0].title, _TITLE)}"' if len(notes) == 1 else plural(len(notes), "note")
            self.notify(f"Nothing to share: the team's notes have {what} already.")
            return
        review = ShareReview(plan, short_path(str(team.memory.folder)), partial(self._shared, team, notes))
        self.app.push_screen(review, self._share_reviewed)

    async def _shared(
        self, team: Session, notes: Sequence[Note], accepted: Collection[str]
    ) -> tuple[ChangeSet, str]:
        """Writes the files of the notes that were accepted. Errors as `core.team.share`."""
        wanted = [note for note in notes if note.id in accepted]
        done, count = await team.write(_share, self.session.memory, team.memory, wanted)
        return done, f"Wrote {plural(count, 'file')}"

    def _share_reviewed(self, done: tuple[ChangeSet, str] | PendingConflict | None) -> None:
        self.main.history.reviewed(done)
        if isinstance(done, tuple):
            self.main.selection.clear()

    async def _offer_folder(self, notes: Sequence[Note]) -> None:
        """Asks whether the folder of a team's notes shall be made in the project."""
        from core.team import make_team_folder
        from nuggets_tui.screens.confirm import ConfirmScreen

        steps = await self.attempt(run_in_thread(_in_project, make_team_folder))
        if steps is None:
            return
        folder = next(step.what for step in steps if step.step == "folder")
        question = ConfirmScreen(
            "Share with a team?",
            "Notes that you share lie in the project's repository, one Markdown file each, for everybody who works on "
            f"it. This project has no folder for them yet.\n\n{safe_line(short_path(folder), _PATH)}",
            yes="make the folder",
        )

        def answered(sure: bool | None) -> None:
            if sure:
                self._make_folder(notes)

        self.app.push_screen(question, answered)

    @background("open")
    async def _make_folder(self, notes: Sequence[Note]) -> None:
        from core.team import make_team_folder, trust_folder

        made = await self.attempt(asyncio.to_thread(_in_project, make_team_folder, really=True))
        if made is None:
            return
        # A person made it just now.
        folder = Path(next(step.what for step in made if step.step == "folder"))
        await self.attempt(run_in_thread(trust_folder, folder))
        known = self._known = asyncio.Event()
        self._follow()
        await known.wait()
        await self._review_share(notes)

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


def _true(keep: Callable[[], None]) -> bool:
    keep()
    return True


def _opened(folder: Path, clock: Callable[[], datetime]) -> Session | None:
    """Opens the team's memory, for a thread. None where it would have files of ours in the repository."""
    from core.memory import Memory
    from nuggets_tui.session import Session
    from nuggets_tui.view import prepare

    memory = Memory.open(folder, clock=clock, reconcile=None, tolerant=True)
    if memory.pages is None:
        memory.close()
        return None
    prepare(memory.snapshot)
    return Session(memory, clock)
