"""Keeping a memory in order: cleanup, promotion, checking, and what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work

from core.errors import NotFoundError, NuggetsError
from nuggets_tui.desk import Desk
from nuggets_tui.notices import say, say_error
from nuggets_tui.safe_text import safe_line
from nuggets_tui.screens.main_changes import MainChanges
from nuggets_tui.threads import aside

if TYPE_CHECKING:
    from core.promotion import PromotionResult


class MainUpkeep(MainChanges):
    """The commands that propose something and write what is accepted."""

    # The folder of MEMORY.md that was typed last; asked for where nothing else names it.
    _memory_folder = ""

    # Cleaning up

    @work(group="change", exit_on_error=False)
    async def do_reflect(self) -> None:
        """Proposes a cleanup."""
        from nuggets_tui.screens.reviews import reflection_review

        result = await self.long_work("looking for what to clean up", self.desk.reflection())
        if result is None:
            return
        if not result.changes:
            say(self, f"Nothing to clean up: looked at {result.inspected} notes and found them in order.")
            return
        self.app.push_screen(reflection_review(self.desk, result), self._reviewed)

    @work(group="change", exit_on_error=False)
    async def do_promote(self) -> None:
        """Proposes lines for MEMORY.md."""
        from nuggets_tui.screens.forms import FolderScreen

        result = await self.long_work("looking for what to promote", self._promotion())
        if isinstance(result, NotFoundError):
            self.app.push_screen(FolderScreen(self._memory_folder), self._folder_typed)
        elif result is not None:
            self._review_promotion(result)

    async def _promotion(self) -> PromotionResult | NotFoundError:
        try:
            return await self.desk.promotion()
        except NotFoundError as error:
            return error

    def _folder_typed(self, folder: str | None) -> None:
        if folder:
            self._memory_folder = folder
            self._promote_to(folder)

    @work(group="change", exit_on_error=False)
    async def _promote_to(self, folder: str) -> None:
        asked = aside(self.desk.memory.promote, dry_run=True, memory_dir=folder)
        result = await self.long_work("looking for what to promote", asked)
        if result is not None:
            self._review_promotion(result, as_shown=True)

    def _review_promotion(self, result: PromotionResult, *, as_shown: bool = False) -> None:
        from nuggets_tui.screens.reviews import promotion_review

        if result.change_set.empty:
            say(self, f"Nothing to promote: {result.path} is up to date.")
        else:
            self.app.push_screen(promotion_review(self.desk, result, as_shown=as_shown), self._reviewed)

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

    @work(group="change", exit_on_error=False)
    async def do_verify(self) -> None:
        """Checks the memory, and shows what is not right and what would be repaired."""
        from nuggets_tui.screens.reviews import verify_review

        desk = await self._desk_at_hand()
        if desk is None:
            return
        found = await self.long_work("checking the memory", desk.findings())
        if found:
            self.app.push_screen(verify_review(desk, found), self._reviewed)
        elif found is not None:
            say(self, "Nothing is wrong: facts, notes, links, tags and files agree.")

    @work(group="change", exit_on_error=False)
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
        opens = "; o opens the file" if broken is not None else ""
        say(
            self,
            f"{name} cannot be read just now, and going back to a backup has to wait until it can be. "
            f"V checks and repairs it{opens}.",
        )

    def _backup_chosen(self, name: str | None) -> None:
        if name is not None:
            self._review_restoration(name)

    @work(group="change", exit_on_error=False)
    async def _review_restoration(self, name: str) -> None:
        from nuggets_tui.screens.reviews import restore_review

        proposed = await self.long_work("looking at the backup", self.desk.restoration(name))
        if proposed is not None and proposed.empty:
            say(self, "Nothing to change: all of it is as it was in this backup.")
        elif proposed is not None:
            self.app.push_screen(restore_review(self.desk, proposed), self._reviewed)
