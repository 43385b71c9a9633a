"""Keeping a memory in order: cleanup, secrets, checking, backups, and what could not be read."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from core.errors import NuggetsError
from core.model.change import ChangeSet
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.pace import LongWork
from nuggets_tui.safe_text import safe_line
from nuggets_tui.session import PendingConflict, Session
from nuggets_tui.words import left_for_later, plural

if TYPE_CHECKING:
    from core.reflection import ReflectionResult
    from nuggets_tui.screens.review import ReflectionReview


class MaintenanceController(Controller):
    """Proposes what would put a memory in order, and writes what is accepted."""

    # Cleaning up

    @background("open")
    async def reflect(self) -> None:
        from nuggets_tui.screens.review import ReflectionReview

        looking = LongWork("looking for notes to clean up")
        result = await self.long_work(
            looking.words,
            self.session.read(self.session.memory.reflect, dry_run=True, progress=looking.report_progress),
            looking,
        )
        if result is None:
            return
        if not result.changes:
            looked = f"checked {plural(result.inspected, 'note')}"
            left = left_for_later(result)
            self.notify(f"Nothing to clean up: {looked}. {left}".rstrip())
            self.main.daily.reflection_reviewed(result, None)
            return
        screen = ReflectionReview(self.session, result)
        self.app.push_screen(screen, partial(self._reflection_reviewed, result, screen))

    def _reflection_reviewed(
        self,
        result: ReflectionResult,
        screen: ReflectionReview,
        done: tuple[ChangeSet, str] | PendingConflict | None,
    ) -> None:
        self.main.history.reviewed(done)
        if not screen.answered:
            self.main.daily.reflection_left()
            return
        self.main.daily.reflection_reviewed(result, done[0] if isinstance(done, tuple) else None)

    # Secrets

    @background("open")
    async def find_secrets(self) -> None:
        """Looks for what seems to be a credential."""
        looking = LongWork("looking for credentials")
        workspace = self.session.workspace
        found = await self.long_work(
            looking.words, self.session.read(workspace.secrets, looking.report_progress), looking
        )
        if found:
            from nuggets_tui.screens.review import SecretsReview

            self.app.push_screen(SecretsReview(self.session, found), self.main.history.reviewed)
        elif found is not None:
            self.notify(
                "No note, fact or submitted text seems to hold a credential. Earlier versions in the "
                "history are not searched.",
            )

    # Putting right

    @background("open")
    async def show_problems(self) -> None:
        from nuggets_tui.screens.problems import ProblemsScreen

        session = await self._session_at_hand()
        from nuggets_tui.screens.problems import unreadable

        found = await self.attempt(session.read(unreadable, session.memory)) if session is not None else None
        if session is not None and found:
            self.app.push_screen(ProblemsScreen(session, found), self._go_on)
        elif found is not None:
            self.notify("Everything is readable. There is nothing to list.")

    async def _session_at_hand(self) -> Session | None:
        """The session, in trouble one without what cannot be read; None, with a notice, when there is none."""
        if self.view.trouble:
            return await self.attempt(Session.in_trouble(self.main.opening.home, self.main.opening.clock))
        if self.main.open_session is None:
            self.notify("The memory is still being opened.")
        return self.main.open_session

    def open_broken(self) -> None:
        """The file that cannot be read, in the person's own editor; the app opens it again by itself."""
        from nuggets_tui.file_opening import open_outside

        if self.main.opening.broken_file is None:
            return
        try:
            open_outside(self.app, self.main.opening.broken_file)
        except NuggetsError as error:
            self.notify_error(error)

    def _go_on(self, command: str | None) -> None:
        # In trouble the last good state stays until the files can be read again, which is seen without this.
        if self.main.open_session is not None and not self.view.trouble:
            self.main.show_snapshot(self.session.snapshot)
        if command == "verify":
            self.verify()
        elif command == "restore":
            self.restore()

    @background("open")
    async def verify(self) -> None:
        """Checks the memory, and shows what is not right and what would be repaired."""
        from nuggets_tui.screens.review import verify_review

        session = await self._session_at_hand()
        if session is None:
            return
        looking = LongWork("checking the memory")
        found = await self.long_work(
            looking.words, session.write(session.workspace.verify, looking.report_progress), looking
        )
        if found:
            self.app.push_screen(verify_review(session, found, self.view.keys), self.main.history.reviewed)
        elif found is not None:
            self.notify("No problems: facts, notes, links, tags and files agree.")

    @background("open")
    async def restore(self) -> None:
        """Chooses a backup to go back to."""
        from nuggets_tui.screens.choice import backup_choice

        if self.view.trouble:
            self._notify_no_restore()
            return
        session = await self._session_at_hand()
        if session is None:
            return
        backups = await self.attempt(session.read(session.memory.maintenance.backups))
        if backups:
            self.app.push_screen(backup_choice(backups, session.clock()), self._backup_chosen)
        elif backups is not None:
            self.notify("There is no backup yet: the first change of each day makes one.")

    def _notify_no_restore(self) -> None:
        broken = self.main.opening.broken_file
        name = safe_line(broken.name, 100) if broken is not None else "The memory"
        keys = self.view.keys
        opens = f"; {keys.key('open_broken')} opens the file" if broken is not None else ""
        self.notify(
            f"{name} cannot be read now. Repair it first, then restore a backup: {keys.key('verify')} "
            f"checks and repairs it{opens}.",
        )

    def _backup_chosen(self, name: str | None) -> None:
        if name is not None:
            self._review_restoration(name)

    @background("open")
    async def _review_restoration(self, name: str) -> None:
        from nuggets_tui.screens.review import restore_review

        looking = LongWork("reading the backup")
        proposed = await self.long_work(
            looking.words,
            self.session.read(
                self.session.memory.maintenance.restoration, name, progress=looking.report_progress
            ),
            looking,
        )
        if proposed is not None and proposed.empty:
            self.notify("Nothing to restore: the memory is as it was in this backup.")
        elif proposed is not None:
            self.app.push_screen(
                restore_review(self.session, proposed, f"the backup {name}"), self.main.history.reviewed
            )
