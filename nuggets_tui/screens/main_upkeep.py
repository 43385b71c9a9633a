"""Keeping a memory in order: cleanup, promotion, secrets, checking, and what could not be read."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual import work

from core.errors import NuggetsError
from core.model.change import ChangeSet
from nuggets_tui.desk import Desk
from nuggets_tui.long_work import LongWork
from nuggets_tui.notices import say, say_error
from nuggets_tui.safe_text import safe_line
from nuggets_tui.screens.main_changes import MainChanges
from nuggets_tui.waiting import Waiting
from nuggets_tui.words import left_for_later, plural

if TYPE_CHECKING:
    from core.reflection import ReflectionResult


class MainUpkeep(MainChanges):
    """The commands that propose something and write what is accepted."""

    # The folder of MEMORY.md that was typed last; asked for where nothing else names it.
    _memory_folder = ""

    # Cleaning up

    @work(group="open", exit_on_error=False)
    async def do_reflect(self) -> None:
        """Proposes a cleanup."""
        from nuggets_tui.screens.reflection_review import ReflectionReview

        looking = LongWork("looking for what to clean up")
        result = await self.long_work(looking.words, self.desk.reflection(looking.told), looking)
        if result is None:
            return
        if not result.changes:
            looked = f"looked at {plural(result.inspected, 'note')}"
            left = left_for_later(result)
            say(self, f"Nothing to clean up: {looked} and found them in order. {left}".rstrip())
            self.looked_through(result, None)
            return
        reviewed = partial(self._reflection_reviewed, result)
        self.app.push_screen(ReflectionReview(self.desk, result), reviewed)

    def _reflection_reviewed(
        self, result: ReflectionResult, done: tuple[ChangeSet, str] | Waiting | None
    ) -> None:
        self._reviewed(done)
        self.looked_through(result, done[0] if isinstance(done, tuple) else None)

    @work(group="open", exit_on_error=False)
    async def do_promote(self) -> None:
        """Proposes lines for MEMORY.md; asks which one where several are known, or none."""
        from nuggets_tui.screens.promotion_targets import TargetsScreen

        targets = await self.attempt(self.desk.promotion_targets())
        if targets is None:
            return
        there = [target for target in targets if target.there]
        if not there:
            self._ask_folder()
        elif len(targets) == 1 and there[0].current:
            self._promote_to(None)
        else:
            self.app.push_screen(TargetsScreen(targets, self.desk.clock()), self._target_chosen)

    def _target_chosen(self, folder: str | None) -> None:
        from nuggets_tui.screens.promotion_targets import ANOTHER

        if folder == ANOTHER:
            self._ask_folder()
        elif folder is not None:
            self._promote_to(folder)

    def _ask_folder(self) -> None:
        from nuggets_tui.screens.forms import FolderScreen

        self.app.push_screen(FolderScreen(self._memory_folder), self._folder_typed)

    def _folder_typed(self, folder: str | None) -> None:
        if folder:
            self._memory_folder = folder
            self._promote_to(folder)

    def promote_to(self, folder: str | None) -> None:
        """Reviews what is promoted to the MEMORY.md of a folder, or of the present project."""
        self._promote_to(folder)

    @work(group="open", exit_on_error=False)
    async def _promote_to(self, folder: str | None) -> None:
        from nuggets_tui.screens.promotion_review import PromotionReview, worth_showing

        looking = LongWork("looking for what to promote")
        result = await self.long_work(looking.words, self.desk.promotion(folder, looking.told), looking)
        if result is None:
            return
        if worth_showing(result):
            self.app.push_screen(PromotionReview(self.desk, result), self._reviewed)
        else:
            say(self, f"Nothing to promote: {result.path} is up to date.")

    # Secrets

    @work(group="open", exit_on_error=False)
    async def do_secrets(self) -> None:
        """Looks for what seems to be a credential."""
        looking = LongWork("looking for secrets")
        found = await self.long_work(looking.words, self.desk.secrets(looking.told), looking)
        if found:
            from nuggets_tui.screens.secrets_review import SecretsReview

            self.app.push_screen(SecretsReview(self.desk, found), self._reviewed)
        elif found is not None:
            say(
                self,
                "No note or fact looks as if it held a secret, nor a text that was handed in; former texts in the log "
                "are not looked through.",
            )

    # Putting right

    @work(group="open", exit_on_error=False)
    async def do_problems(self) -> None:
        """What could not be read."""
        from nuggets_tui.screens.problems import ProblemsScreen

        desk = await self._desk_at_hand()
        found = await self.attempt(desk.unreadable()) if desk is not None else None
        if desk is not None and found:
            self.app.push_screen(ProblemsScreen(desk, found), self._go_on)
        elif found is not None:
            say(self, "Everything can be read: there is nothing to list here.")

    async def _desk_at_hand(self) -> Desk | None:
        """The desk, in trouble one that does without what cannot be read; None, with a notice, when there is none."""
        if self.view.trouble:
            return await self.attempt(Desk.in_trouble(self._opening.home, self._opening.clock))
        if self._desk is None:
            say(self, "The memory is still being opened.")
        return self._desk

    def do_open_broken(self) -> None:
        """The file that cannot be read, in the person's own editor; the app opens it again by itself."""
        from nuggets_tui.screens.outside import open_outside

        if self.broken_file is None:
            return
        try:
            open_outside(self.app, self.broken_file)
        except NuggetsError as error:
            say_error(self, error)

    def _go_on(self, command: str | None) -> None:
        # In trouble the last good state stays until the files can be read again, which is seen without this.
        if self._desk is not None and not self.view.trouble:
            self.show_snapshot(self.desk.snapshot)
        if command == "verify":
            self.do_verify()
        elif command == "restore":
            self.do_restore()

    @work(group="open", exit_on_error=False)
    async def do_verify(self) -> None:
        """Checks the memory, and shows what is not right and what would be repaired."""
        from nuggets_tui.screens.reviews import verify_review

        desk = await self._desk_at_hand()
        if desk is None:
            return
        looking = LongWork("checking the memory")
        found = await self.long_work(looking.words, desk.findings(looking.told), looking)
        if found:
            self.app.push_screen(verify_review(desk, found, self.view.keys), self._reviewed)
        elif found is not None:
            say(self, "Nothing is wrong: facts, notes, links, tags and files agree.")

    @work(group="open", exit_on_error=False)
    async def do_restore(self) -> None:
        """Chooses a backup to go back to."""
        from nuggets_tui.screens.backups import BackupsScreen

        if self.view.trouble:
            self._say_why_not_to_a_backup()
            return
        desk = await self._desk_at_hand()
        if desk is None:
            return
        backups = await self.attempt(desk.backups())
        if backups:
            self.app.push_screen(BackupsScreen(backups, desk.clock()), self._backup_chosen)
        elif backups is not None:
            say(self, "There is no backup yet: the first change of each day makes one.")

    def _say_why_not_to_a_backup(self) -> None:
        broken = self.broken_file
        name = safe_line(broken.name, 100) if broken is not None else "The memory"
        keys = self.view.keys
        opens = f"; {keys.key('open_broken')} opens the file" if broken is not None else ""
        say(
            self,
            f"{name} cannot be read just now, and going back to a backup has to wait until it can be. "
            f"{keys.key('verify')} checks and repairs it{opens}.",
        )

    def _backup_chosen(self, name: str | None) -> None:
        if name is not None:
            self._review_restoration(name)

    @work(group="open", exit_on_error=False)
    async def _review_restoration(self, name: str) -> None:
        from nuggets_tui.screens.reviews import restore_review

        looking = LongWork("looking at the backup")
        proposed = await self.long_work(looking.words, self.desk.restoration(name, looking.told), looking)
        if proposed is not None and proposed.empty:
            say(self, "Nothing to change: all of it is as it was in this backup.")
        elif proposed is not None:
            self.app.push_screen(restore_review(self.desk, proposed), self._reviewed)
