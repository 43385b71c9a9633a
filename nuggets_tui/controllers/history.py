"""What was done and how it is taken back: undo, redo, entries of the audit log, and conflicts that wait."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Final

from core.errors import ConflictError, InvalidInputError, NotFoundError, Undo
from core.model.change import ChangeSet
from nuggets_tui.controllers.context import Context
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.pending_conflict import PendingConflict
from nuggets_tui.safe_text import safe_line
from nuggets_tui.threads import run_in_thread
from nuggets_tui.words import deed

if TYPE_CHECKING:
    from core.model.note import Note
    from nuggets_tui.controllers.audit import AuditController
    from nuggets_tui.controllers.selection import SelectionController
    from nuggets_tui.controllers.unsaved import TextsController

_NOTHING_TO_UNDO = (
    "You have no change to undo. To undo a change of others, open it in the audit log: {pane_audit}, "
    "then enter."
)
_NOTHING_TO_REDO = (
    "There is nothing to redo. To redo an older change, open it in the audit log: {pane_audit}, then enter."
)

Turned = ChangeSet | NotFoundError | ConflictError | InvalidInputError
# Characters of what was changed; the audit log has it whole.
_LONGEST: Final = 200


class HistoryController(Controller):
    """Goes back and forth in the log, and says what a change of the person's did."""

    def __init__(
        self, context: Context, audit: AuditController, texts: TextsController, selection: SelectionController
    ) -> None:
        super().__init__(context)
        self._audit = audit
        self._texts = texts
        self._selection = selection

    def changed(self, done: ChangeSet, said: str = "", key: str = "") -> None:
        """Shows the memory after a change of mine, and says what was done and which `key` turns it back."""
        mine = {(each.id, each.after.updated_at) for each in done.notes if each.after is not None}
        self.context.show(own=self.view.own | mine)
        self.context.show_snapshot(self.session.snapshot)
        if done.empty:
            self.context.notify(f"{said or 'Nothing to change'}.")
        else:
            self._notify_done(done, said, key)
            if done.kind in ("edit", "import"):
                self._warn_of_credentials(done)
        self._selection.release(done)

    @background("care")
    async def _warn_of_credentials(self, done: ChangeSet) -> None:
        """Says at once when a text that was just written looks like it holds a credential."""
        kinds, plain = await run_in_thread(_new_credentials, done)
        if plain and not kinds and done.kind == "edit":
            key = self.view.keys.key("edit")
            self.context.warn(f"The text may hold a password of plain words. {key} edits it.")
        if kinds:
            key = self.view.keys.key("secrets")
            text = "The text" if done.kind == "edit" else "Imported text"
            self.context.warn(f"{text} may hold a credential ({', '.join(kinds)}). {key} masks or allows it.")

    def _notify_done(self, done: ChangeSet, said: str, key: str) -> None:
        told = deed(done, quoted=True)
        keys = self.view.keys
        again = f"{keys.key('verify' if done.mends else 'redo')} redoes it"
        key = key or (again if done.kind == "undo" else f"{keys.key('undo')} undoes it")
        self.context.notify(f"{said or f'{told.verb.capitalize()} {safe_line(told.what, _LONGEST)}'}. {key}.")

    def reviewed(self, done: tuple[ChangeSet, str] | PendingConflict | None) -> None:
        """Says what a review wrote, or opens the conflict in which it ended; None where it was left."""
        if isinstance(done, PendingConflict):
            self.open_conflict(done.entry_id)
        elif done is not None and self.context.open_session is None:
            # The memory could not be opened before; it is opened again by itself.
            self.context.notify(f"{done[1]}.")
        elif done is not None:
            self.changed(*done)

    # Back and forth

    @background("change")
    async def undo(self) -> None:
        """Takes back my last change."""
        self._turned(
            await self.context.attempt(_turn(self.session.write(self.session.memory.undo))), _NOTHING_TO_UNDO
        )

    @background("change")
    async def redo(self) -> None:
        """Does again what I took back last."""
        self._turned(
            await self.context.attempt(_turn(self.session.write(self.session.memory.redo))), _NOTHING_TO_REDO
        )

    @background("open")
    async def _ask_to_undo_before(self, entry_id: str) -> None:
        """Asks whether the change before one that masked a credential is meant."""
        from nuggets_tui.screens.confirm import ConfirmScreen

        found = await self.context.attempt(self.session.entry_now(entry_id))
        if found is None:
            return
        entry = found[0]
        told = await run_in_thread(lambda: deed(entry.change_set, quoted=True))
        what = safe_line(f"{told.verb} {told.what}", _LONGEST)
        question = ConfirmScreen(
            "Masking cannot be undone",
            "Your last change masked a credential: its value is stored nowhere any more.\n\n"
            f"The change before it: {what}.",
            yes="undo the change before it",
        )

        def answered(sure: bool | None) -> None:
            if sure:
                self._undo_entry(entry_id)

        self.context.open_dialog(question, answered)

    @background("change")
    async def _undo_entry(self, entry_id: str) -> None:
        asked = self.session.write(self.session.memory.undo, entry_id)
        self._turned(await self.context.attempt(_turn(asked)), _NOTHING_TO_UNDO)

    def _turned(self, done: Turned | None, nothing: str) -> None:
        if isinstance(done, InvalidInputError):
            if isinstance(done.remedy, Undo):
                self._ask_to_undo_before(done.remedy.entry)
            else:
                self.context.notify_error(done)
        elif isinstance(done, NotFoundError):
            self.context.notify(self.view.keys.filled(nothing))
        elif isinstance(done, ConflictError):
            from nuggets_tui.clash import in_the_way

            self.context.warn(
                f"This cannot be done now. {in_the_way(done, self.session.snapshot, self.view.keys)}"
            )
        elif done is not None:
            self.changed(done)

    @background("open")
    async def open_entry(self, entry_id: str) -> None:
        """An entry of the audit log, whole; one that waits for a person is opened to be settled."""
        from nuggets_tui.screens.entry import EntryScreen

        found = await self.context.attempt(self.session.entry_now(entry_id))
        if found is None:
            return
        entry, taken_back = found
        if entry.state == "conflict":
            self.open_conflict(entry_id)
            return
        parts = await self.context.attempt(self.session.parts(entry.change_set)) or ()
        # Of an entry of ten thousand things even this takes a while.
        told = await run_in_thread(deed, entry.change_set)
        self.context.open_dialog(
            EntryScreen(self.session, entry, parts, taken_back, self._changed_in_entry, told)
        )

    def _changed_in_entry(self, done: ChangeSet, key: str) -> None:
        self.changed(done, key=key)

    # Conflicts

    def resolve_newest(self) -> None:
        """The newest conflict that waits; says so when there is none."""
        if self.view.log.waiting:
            self.open_conflict(self.view.log.waiting[0])
        else:
            self.context.notify("No conflicts: no text was changed in two ways.")

    @background("open")
    async def open_conflict(self, entry_id: str) -> None:
        """The three versions of what was changed in two ways, to be settled."""
        from nuggets_tui.screens.conflict import ConflictScreen

        self._audit.read_log()
        clash = await self.context.attempt(self.session.clash(entry_id))
        if clash is not None:
            text_store = self._texts.text_store("conflict", entry_id, clash.title)
            waiting = max(1, len(self.view.log.waiting))
            self.context.open_dialog(
                ConflictScreen(self.session, clash, text_store=text_store, waiting=waiting), self.resolved
            )

    def resolved(self, resolved: tuple[ChangeSet, str] | None) -> None:
        """A conflict was settled; None when its dialog was left."""
        if resolved is None:
            again = f"{self.view.keys.key('conflicts')} opens it again."
            self.context.notify(f"The conflict waits in the audit log, with what you typed. {again}")
            return
        self.changed(*resolved)


def _new_credentials(done: ChangeSet) -> tuple[tuple[str, ...], bool]:
    """The kinds of what looks like a credential in the notes of a change, and was not in them before; and whether
    one seems to hold a password of plain words.
    """
    written = [
        (each.before, each.after)
        for each in done.notes
        if each.after is not None and (each.before is None or _text(each.before) != _text(each.after))
    ]
    if not written:
        return (), False
    from core.model.secrets import secrets_of
    from core.text.plain_passwords import plain_password

    kinds: dict[str, None] = {}
    for before, after in written:
        known = secrets_of(before) if before is not None else ()
        kinds |= dict.fromkeys(held.kind for held in secrets_of(after) if held not in known)
    plain = any(plain_password(": ".join(_text(after))) for _, after in written)
    return tuple(kinds), plain


def _text(note: Note) -> tuple[str, ...]:
    return note.title, note.content


async def _turn(asked: Awaitable[ChangeSet]) -> Turned:
    try:
        return await asked
    except (NotFoundError, ConflictError, InvalidInputError) as error:
        return error
