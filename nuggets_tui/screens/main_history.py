"""What was done and how it is taken back: undo, redo, entries of the audit log, and conflicts that wait."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from textual import work

from core.errors import ConflictError, NotFoundError
from core.model.change import ChangeSet
from nuggets_tui.notices import say, warn
from nuggets_tui.safe_text import safe_line
from nuggets_tui.screens.main_opening import MainOpening
from nuggets_tui.threads import aside
from nuggets_tui.words import deed

_NOTHING_TO_UNDO = (
    "There is no change of yours to take back. What others did is taken back from the audit log: "
    "a, then enter."
)
_NOTHING_TO_REDO = (
    "There is nothing to do again. What was taken back before your last new change is done again from the audit "
    "log: a, then enter."
)

# Characters of what was changed; the audit log has it whole.
_LONGEST: Final = 120


class MainHistory(MainOpening):
    """The part of the main screen that goes back and forth in the log."""

    def changed(self, done: ChangeSet, said: str = "", key: str = "") -> None:
        """Shows the memory after a change of mine, and says what was done and which `key` turns it back."""
        mine = {(each.id, each.after.updated_at) for each in done.notes if each.after is not None}
        self.view = self.view.with_(own=self.view.own | mine)
        self.show_snapshot(self.desk.snapshot)
        if done.empty:
            say(self, f"{said or 'Nothing to change'}.")
            return
        told = deed(done)
        keys = self.view.keys
        again = f"{keys.key('redo')} does it again"
        key = key or (again if done.kind == "undo" else f"{keys.key('undo')} takes it back")
        say(self, f"{said or f'{told.verb.capitalize()} {safe_line(told.what, _LONGEST)}'}. {key}.")

    # Back and forth

    @work(group="change", exit_on_error=False)
    async def do_undo(self) -> None:
        """Takes back my last change."""
        self._turned(await self.attempt(_turn(self.desk.undo())), _NOTHING_TO_UNDO)

    @work(group="change", exit_on_error=False)
    async def do_redo(self) -> None:
        """Does again what I took back last."""
        self._turned(await self.attempt(_turn(self.desk.redo())), _NOTHING_TO_REDO)

    def _turned(self, done: ChangeSet | NotFoundError | ConflictError | None, nothing: str) -> None:
        if isinstance(done, NotFoundError):
            say(self, nothing)
        elif isinstance(done, ConflictError):
            from nuggets_tui.clash import in_the_way

            warn(self, f"This cannot be done as it is. {in_the_way(done, self.desk.snapshot)}")
        elif done is not None:
            self.changed(done)

    @work(group="open", exit_on_error=False)
    async def open_entry(self, entry_id: str) -> None:
        """An entry of the audit log, whole; one that waits for a person is opened to be settled."""
        from nuggets_tui.screens.entry import EntryScreen

        found = await self.attempt(self.desk.entry_now(entry_id))
        if found is None:
            return
        entry, taken_back = found
        if entry.state == "conflict":
            self.open_conflict(entry_id)
            return
        parts = await self.attempt(self.desk.parts(entry.change_set)) or ()
        # Of an entry of ten thousand things even this takes a while.
        told = await aside(deed, entry.change_set)
        self.app.push_screen(EntryScreen(self.desk, entry, parts, taken_back, self._changed_in_entry, told))

    def _changed_in_entry(self, done: ChangeSet, key: str) -> None:
        self.changed(done, key=key)

    # Conflicts

    def do_conflicts(self) -> None:
        """The newest conflict that waits."""
        self.open_conflict(self.view.log.waiting[0])

    @work(group="open", exit_on_error=False)
    async def open_conflict(self, entry_id: str) -> None:
        """The three versions of what was changed in two ways, to be settled."""
        from nuggets_tui.screens.conflict import ConflictScreen

        self.audit.read_log()
        clash = await self.attempt(self.desk.clash(entry_id))
        if clash is not None:
            keeping = self.keeping("conflict", entry_id, clash.title)
            waiting = max(1, len(self.view.log.waiting))
            self.app.push_screen(
                ConflictScreen(self.desk, clash, keeping=keeping, waiting=waiting), self._settled
            )

    def _settled(self, settled: tuple[ChangeSet, str] | None) -> None:
        if settled is None:
            again = f"{self.view.keys.key('conflicts')} opens it again."
            say(self, f"The conflict waits in the audit log, with what you typed. {again}")
            return
        self.changed(*settled)


async def _turn(asked: Awaitable[ChangeSet]) -> ChangeSet | NotFoundError | ConflictError:
    try:
        return await asked
    except (NotFoundError, ConflictError) as error:
        return error
