"""The audit log as it is shown, and what was done: undo, redo, entries, and conflicts that wait."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from msgspec.structs import replace

from core.errors import ConflictError, InvalidInputError, NotFoundError, NuggetsError
from core.model.change import ChangeSet
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.log import AUTHORS, DEEDS, Log, LogLine, Scope, newest_entries, older_entries, read_filter
from nuggets_tui.pace import run_in_thread
from nuggets_tui.safe_text import safe_line
from nuggets_tui.session import PendingConflict
from nuggets_tui.widgets.audit import AuditPane
from nuggets_tui.words import deed

if TYPE_CHECKING:
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.session import Session
    from nuggets_tui.widgets.fields import Offer

_NOTHING: Final = {
    "undo": "You have no change to undo. To undo a change of others, go to it in the audit log: {pane_audit}, "
    "then {undo}.",
    "redo": "There is nothing to redo. To redo an older change, open it in the audit log: {pane_audit}, then enter.",
}
# Characters of what was changed; the audit log has it whole.
_LONGEST: Final = 200


class HistoryController(Controller):
    """Goes back and forth in the log, and says what a change of the person's did."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._last_was_teams = False

    def changed(self, done: ChangeSet, said: str = "", key: str = "") -> None:
        """Shows the memory after a change of mine, and says what was done and which `key` turns it back."""
        self._last_was_teams = self._is_teams(done)
        mine = {(each.id, each.after.updated_at) for each in done.notes if each.after is not None}
        self.main.show_snapshot(self.session.snapshot, own=self.view.own | mine)
        self.main.show_team()
        if done.empty and done.kind not in ("undo", "redo", "decision"):
            self.notify(f"{said or 'Nothing to change'}.")
        else:
            told, keys = deed(done, quoted=True), self.view.keys
            again = f"{keys.key('verify' if done.mends else 'redo')} redoes it"
            key = key or (again if done.kind == "undo" else f"{keys.key('undo')} undoes it")
            where = " in the team's notes" if self._last_was_teams else ""
            said = said or f"{told.verb.capitalize()} {safe_line(told.what, _LONGEST)}"
            self.notify(f"{said}{where}. {key}.")
            if done.kind in ("edit", "import"):
                self._warn_of_credentials(done)
        self.main.selection.release(done)

    @background("care")
    async def _warn_of_credentials(self, done: ChangeSet) -> None:
        """Says at once when a text that was just written looks like it holds a credential."""
        if kinds := await run_in_thread(_new_credentials, done):
            key = self.view.keys.key("secrets")
            text = "The text" if done.kind == "edit" else "Imported text"
            self.warn(f"{text} may hold a credential ({', '.join(kinds)}). {key} masks or allows it.")

    def _is_teams(self, done: ChangeSet) -> bool:
        """Whether a change is one of the team's notes."""
        team = self.main.team_session
        if team is None or done.empty:
            return False
        own, others = self.session.snapshot.by_id, team.snapshot.by_id
        return any(
            change.id not in own and (change.id in others or self.view.of_team(change.id))
            for change in done.notes
        )

    def reviewed(self, done: tuple[ChangeSet, str] | PendingConflict | None) -> None:
        """Says what a review wrote, or opens the conflict in which it ended; None where it was left."""
        if isinstance(done, PendingConflict):
            self.open_conflict(done.entry_id)
        elif done is not None and self.main.open_session is None:
            # The memory could not be opened before; it is opened again by itself.
            self.notify(f"{done[1]}.")
        elif done is not None:
            self.changed(*done)

    # Back and forth

    def undo(self) -> None:
        """Takes back my last change; in the log, the entry under the cursor, once it was looked at."""
        pane = self.main.focused
        if not isinstance(pane, AuditPane):
            self._turn_last("undo")
        elif pane.can_be_undone:
            self.open_entry(pane.entry_under_cursor, undoing=True)
        elif pane.entry_under_cursor:
            said = (
                "An undo or a redo can't be undone from its own row. To redo a change, open the one marked "
                "↶ undone and press {redo}."
            )
            self.notify(self.view.keys.filled(said))

    def redo(self) -> None:
        """Does again what I took back last."""
        self._turn_last("redo")

    @background("change")
    async def _turn_last(self, kind: Literal["undo", "redo"]) -> None:
        """In the memory in which the person changed something last, own or of the team."""
        session, team = self.session, self.main.team_session
        if team is not None:
            times = await self.attempt(
                run_in_thread(lambda: [one.memory.history.next_turn(kind) for one in (session, team)])
            )
            if times is None:
                return
            own, others = times
            # Within one millisecond that counts where they changed something last.
            if others > own or (others == own and self._last_was_teams):
                session = team
        await self._turn(session, kind)

    async def _turn(self, session: Session, kind: Literal["undo", "redo"], entry_id: str = "") -> None:
        history = session.memory.history
        turn = history.undo if kind == "undo" else history.redo
        try:
            done = await session.write(turn, *([entry_id] if entry_id else []))
        except NotFoundError:
            self.notify(self.view.keys.filled(_NOTHING[kind]))
        except ConflictError as error:
            from nuggets_tui.screens.conflict import in_the_way

            self.warn(f"This cannot be done now. {in_the_way(error, session.snapshot, self.view.keys)}")
        except InvalidInputError as error:
            if error.remedy is None or error.remedy.name != "undo":
                self.notify_error(error)
            else:
                self._ask_to_undo_before(error.remedy.about, session)
        except NuggetsError as error:
            self.notify_error(error)
        else:
            self.changed(done)

    @background("open")
    async def _ask_to_undo_before(self, entry_id: str, session: Session) -> None:
        """Asks whether the change before one that masked a credential is meant."""
        from nuggets_tui.screens.dialog import ConfirmScreen

        found = await self.attempt(session.entry_now(entry_id))
        if found is None:
            return
        told = await run_in_thread(deed, found[0].change_set, quoted=True)
        what = safe_line(f"{told.verb} {told.what}", _LONGEST)
        question = ConfirmScreen(
            "Masking cannot be undone",
            "Your last change masked a credential: its value is stored nowhere any more.\n\n"
            f"The change before it: {what}.",
            yes="undo the change before it",
        )
        if await self.ask(question):
            await self._turn(session, "undo", entry_id)

    @background("open")
    async def open_entry(self, entry_id: str, *, undoing: bool = False) -> None:
        """An entry of the audit log, whole; one that waits for a person is opened to be settled. undoing: it was asked
        to be undone, and closes once it is.
        """
        from nuggets_tui.screens.entry import EntryScreen

        found = await self.attempt(self.session.entry_now(entry_id))
        if found is None:
            return
        entry, taken_back = found
        if entry.state == "conflict":
            self.open_conflict(entry_id)
            return
        parts = await self.attempt(self.session.parts(entry.change_set)) or ()
        # Of an entry of ten thousand things even this takes a while.
        told = await run_in_thread(deed, entry.change_set)
        changed = lambda done, key: self.changed(done, key=key)  # noqa: E731
        self.app.push_screen(
            EntryScreen(self.session, entry, parts, taken_back, changed, told, undoing=undoing)
        )

    # Conflicts

    @background("open")
    async def resolve_newest(self) -> None:
        """The newest conflict that waits; says so when there is none."""
        waiting = await self._waiting_in(self.session)
        if not waiting:
            await self.main.team.opened()
            waiting = await self._waiting_in(self.main.team_session)
        if waiting:
            self.open_conflict(waiting[0])
        else:
            self.notify("No conflicts: no text was changed in two ways.")

    async def _waiting_in(self, session: Session | None) -> tuple[str, ...]:
        """Ids of the conflicts that wait in a memory by now, newest first: what is shown may lag behind."""
        asked = session.read(session.memory.history.conflicts) if session is not None else None
        found = await self.attempt(asked) if asked is not None else None
        return tuple(entry.id for entry in found or ())

    @background("open")
    async def open_conflict(self, entry_id: str) -> None:
        """The three versions of what was changed in two ways, to be settled."""
        from nuggets_tui.screens.conflict import ConflictScreen, clash_of

        self.main.audit.read_log()
        session = await self.session_of_entry(entry_id)
        clash = await self.attempt(clash_of(session, entry_id))
        if clash is not None:
            text_store = self.main.texts.text_store("conflict", entry_id, clash.title)
            waiting = max(1, len(self.view.waiting))
            done = await self.ask(ConflictScreen(session, clash, text_store=text_store, waiting=waiting))
            self.resolved(done)

    async def session_of_entry(self, entry_id: str) -> Session:
        """The session of the memory in whose log an entry stands: the team's where only that has it."""
        team = self.main.team_session
        if team is None:
            return self.session

        def stands_in_teams() -> bool:
            for one in (self.session, team):
                with contextlib.suppress(NotFoundError):
                    one.memory.history.entry(entry_id)
                    return one is team
            return False

        return team if await run_in_thread(stands_in_teams) else self.session

    def resolved(self, resolved: tuple[ChangeSet, str] | None) -> None:
        """A conflict was settled; None when its dialog was left."""
        if resolved is None:
            again = f"{self.view.keys.key('conflicts')} opens it again."
            self.notify(f"The conflict waits in the audit log, with what you typed. {again}")
        else:
            self.changed(*resolved)


def _new_credentials(done: ChangeSet) -> tuple[str, ...]:
    """The kinds of what looks like a credential in the notes of a change, and was not in them before."""
    kinds: dict[str, None] = {}
    for each in done.notes:
        before, after = each.before, each.after
        if after is None or (before and (before.title, before.content) == (after.title, after.content)):
            continue
        from core.model.secrets import secrets_of

        known = secrets_of(before) if before is not None else ()
        kinds |= dict.fromkeys(held.kind for held in secrets_of(after) if held not in known)
    return tuple(kinds)


# Lines that fill a pane.
_ENOUGH = 60


class AuditController(Controller):
    """The log as it is shown: `view.log` in step with the memory. Readings never overlap, and bursts become one."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._scope = Scope()
        self._log_is_old = False
        self._more_log_wanted = False
        self._reading_log = False

    def show_log_of(self, scope: Scope) -> None:
        self._scope = scope
        self.read_log()

    def read_log(self) -> None:
        self._log_is_old = True
        self._begin_reading()

    def read_further(self) -> None:
        self._more_log_wanted = True
        self._begin_reading()

    def _begin_reading(self) -> None:
        if not self._reading_log and self.main.open_session is not None:
            self._reading_log = True
            self._read()

    @background("log")
    async def _read(self) -> None:
        session = self.session
        try:
            while session is self.main.open_session and (self._log_is_old or self._more_log_wanted):
                former = self.view.log
                if self._log_is_old:
                    self._log_is_old = False
                    read = await self.attempt(
                        session.read(newest_entries, session.memory, former, self._scope)
                    )
                else:
                    self._more_log_wanted = False
                    read = await self.attempt(session.read(older_entries, session.memory, former))
                if read is None:
                    return
                if session is self.main.open_session and read is not former:
                    self._show_log(read)
                    # What filters let through may lie far back: read on until the pane has something to show.
                    scarce = len(read.lines) < _ENOUGH and not read.complete
                    self._more_log_wanted |= scarce and read.scope.filtered
        finally:
            self._reading_log = False
        if session is not self.main.open_session:
            self._begin_reading()

    def _show_log(self, log: Log) -> None:
        former = self.view.log
        self.main.show(log=log)
        self.main.refresh_bindings()
        if former.loaded:
            self._notify_conflicts([id for id in log.waiting if id not in former.waiting])
        for one in self.main.controllers:
            one.log_shown()

    def _notify_conflicts(self, ids: Sequence[str]) -> None:
        """Says what was changed in two ways meanwhile; what was typed here opens its own screen."""
        lines = {line.id: line for line in self.view.log.lines}
        found = [line for id in ids if (line := lines.get(id)) is not None and not _was_typed(line)]
        if not found:
            return
        what = found[0].deed.what if len(found) == 1 else f"{len(found):,} things"
        key = self.view.keys.key("conflicts")
        self.warn(f"Changed in two ways: {what}. The other version stays for now; {key} shows both.")

    @background("new-in-log", exclusive=True)
    async def refresh(self) -> None:
        """Reads the log again where something is new in it: what could not be written changes no file."""
        session, seen = self.main.open_session, self.view.log
        if session is None or not seen.loaded:
            return
        with contextlib.suppress(NuggetsError):
            # A log that cannot be read is told of where it is shown.
            newest = await session.read(session.memory.history.newest)
            if session is self.main.open_session and newest != seen.seen_to:
                self.read_log()

    def show_notices(self) -> None:
        """Says what the memory has to tell."""
        if self.main.open_session is not None:
            for notice in self.main.open_session.memory.take_notices():
                self.warn(notice)

    # Commands

    def go(self) -> None:
        """The cursor goes to the audit log."""
        self.main.go_to("audit")

    def show_note_alone(self) -> None:
        """The log of the note under the cursor alone, or all of it again."""
        scope, note = self._scope, self.main.selection.target()
        self.show_log_of(replace(scope, note_id=note.id if note is not None and not scope.note_id else ""))
        self.main.go_to("audit")

    def show_recalls(self) -> None:
        """Recalls come into the log, or go."""
        scope = self._scope
        self.show_log_of(replace(scope, recalls=not scope.recalls))
        self.notify(f"Audit log: recalls are {'left out' if scope.recalls else 'shown too'}.")

    @background("open", exclusive=True)
    async def filter(self) -> None:
        """Asks what of the log is wanted; all of it again where something was asked for before."""
        from nuggets_tui.screens.dialog import AskScreen

        if self.clear_filters():
            self.notify(self.view.keys.filled("Audit log: the filter is off. {log_filter} sets one."))
            return
        counts = await self.attempt(run_in_thread(self.session.memory.history.counts))
        if counts is None:
            return
        now = self.session.clock()

        async def read(text: str) -> Scope:
            return read_filter(text, self._scope, now)

        scope = await self.ask(
            AskScreen(
                "Filter the audit log",
                "by:claude, by:you, by:agents · did:edited, did:hid, did:reflection · since:yesterday, since:7d · "
                "run:ID · words of titles and reasons",
                "Filter",
                read,
                hint="such as: by:agents since:7d token",
                does="filter",
                offers_for=partial(_filter_offers, counts),
            )
        )
        if scope is not None:
            self.show_log_of(scope)
            self.main.go_to("audit")

    def clear_filters(self) -> bool:
        """Shows the whole log again; False when it is shown already."""
        if not self._scope.filtered:
            return False
        self.show_log_of(self._scope.cleared())
        self.main.go_to("audit")
        return True


def _was_typed(line: LogLine) -> bool:
    """Whether a person made a change by hand: where it is typed, it is shown at once."""
    return line.author.kind == "person" and line.kind != "import"


def _filter_offers(counts: Sequence[tuple[str, str, str, int]], typed: str) -> list[Offer]:
    """What may follow a filter that is being typed. counts: of `History.counts`."""
    from nuggets_tui.widgets.fields import Offer

    found: dict[str, int] = {}
    for kind, name, change, count in counts:
        for who in filter(None, (AUTHORS.get(kind, "").removeprefix("the "), name)):
            said = f'by:"{who}"' if " " in who else f"by:{who}"
            found[said] = found.get(said, 0) + (count if change != "hit" else 0)
    known = [(said, f"{count:,}") for said, count in found.items() if count]
    known += [(f"did:{one.name}", one.label) for one in DEEDS]
    known += [(f"since:{day}", "") for day in ("today", "yesterday", "7d", "30d")]
    last = typed.rpartition(" ")[2]
    if not last:
        return []
    return [
        Offer(said[len(last) :], said, about)
        for said, about in known
        if said.startswith(last) and said != last
    ]
