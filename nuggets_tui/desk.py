"""The desk between screens and memory: every call that reads files, searches or writes runs off the event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from core.errors import InvalidInputError, NuggetsError
from core.model.change import ChangeKind, ChangeSet
from core.model.entry import Entry
from core.model.snapshot import Snapshot
from core.workspace import Workspace
from nuggets_tui.log import Log, Scope, newest_entries, older_entries
from nuggets_tui.pace import PACE, Turns
from nuggets_tui.safe_text import cut
from nuggets_tui.threads import aside
from nuggets_tui.view import Found, answering, prepare

if TYPE_CHECKING:
    from core.daily import DailyResult, DailyState
    from core.facts.recall import Recall
    from core.graph.neighbours import Suggestion
    from core.memory import Backup, Finding, Holder, Left, Masking, Memory, PromotionTarget
    from core.model.draft import Draft
    from core.promotion import PromotionResult
    from core.reflection import ReflectionResult
    from core.search.index import Progress
    from core.search.language import Question
    from nuggets_tui.clash import Clash, Side
    from nuggets_tui.unreadable import Unreadable
    from nuggets_tui.why import Why

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
RESULTS = 50
# Conditions alone filter the list: every note that they admit is in it.
_EVERY = 10_000_000
# Seconds between two pieces of work in the background, so that a key does not wait for it.
_BREATH = 0.001
# So many of them are in sight at once, or nearly.
_SEEN = 10
# Columns of a title within a sentence.
_TITLE = 60
# Entries of more things are taken back whole: their parts would be slow to tell apart.
_MOST_PARTS = 20_000


class Desk:
    """Carries questions and changes to a memory, in threads."""

    def __init__(self, memory: Memory, clock: Callable[[], datetime]) -> None:
        self.memory = memory
        self.clock = clock
        # Seconds that only ever grow; says how long a search took.
        self.timer: Callable[[], float] = time.perf_counter
        # When the person was here before, as the files hold times; what is:new asks for.
        self.last_visit: str | None = None
        self._search_turn = threading.Lock()
        self._recall_turn = threading.Lock()
        self._asked = 0
        self._preparing = Turns(_BREATH)
        self._suggesting = Turns()

    @classmethod
    async def in_trouble(cls, home: Path | None, clock: Callable[[], datetime]) -> Desk:
        """A desk over a memory whose note graph cannot be read: its facts alone are there, and it can be repaired."""
        from core.memory import Memory

        return cls(await asyncio.to_thread(Memory.open, home, clock=clock, tolerant=True), clock)

    @property
    def snapshot(self) -> Snapshot:
        """The memory as it was last loaded."""
        return self.memory.snapshot

    def let_go(self, seconds: float) -> None:
        """Lets the log's file go, so that it lies there whole; gives work under way in a thread so long to end."""
        self._preparing.next()

        def close() -> None:
            self.memory.visited()
            self.memory.close()

        closing = threading.Thread(target=close, name="closing", daemon=True)
        closing.start()
        closing.join(seconds)

    async def settle(self) -> Snapshot:
        """Finishes what a crash cut off, restores what a stale save took back, and puts into the log what other
        programs changed; the newest snapshot. Errors as `Memory.refresh`."""

        def work() -> Snapshot:
            self.memory.refresh()
            self.last_visit = self.last_visit or self.memory.visited()
            return prepare(self.memory.snapshot)

        return await asyncio.to_thread(work)

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call."""
        return self.memory.take_notices()

    # Changing

    async def change(
        self, reason: str, edit: Callable[[Draft], _Result], *, kind: ChangeKind = "edit"
    ) -> tuple[_Result, ChangeSet]:
        """Edits the newest state; what the edit returned and the change set. Errors as `Memory.change`."""
        return await self._written(self.memory.change, reason, edit, kind=kind)

    async def change_from(
        self, base: Snapshot, reason: str, edit: Callable[[Draft], _Result]
    ) -> tuple[_Result, ChangeSet]:
        """Edits what somebody saw when they began (`base`), so that a change made meanwhile is a conflict."""

        from core.model.draft import Draft

        def work() -> tuple[_Result, ChangeSet]:
            present = self.memory.draft()
            draft = Draft(base, now=present.now, ids=present.ids, rules=present.rules, author=present.author)
            result = edit(draft)
            return result, self.memory.apply(draft.change_set(reason, author=self.memory.author))

        return await self._written(work)

    async def preview(self, reason: str, edit: Callable[[Draft], object]) -> ChangeSet:
        """What an edit would do, written nowhere."""

        def work() -> ChangeSet:
            draft = self.memory.draft()
            edit(draft)
            return draft.change_set(reason, author=self.memory.author)

        return await aside(work)

    async def apply(self, change_set: ChangeSet) -> ChangeSet:
        """Writes a change set that was previewed."""
        return await self._written(self.memory.apply, change_set)

    async def _written(
        self, write: Callable[_Arguments, _Result], *arguments: _Arguments.args, **named: _Arguments.kwargs
    ) -> _Result:
        """What a call that writes returns; what it leaves is made ready for the panes in the same thread."""

        def work() -> _Result:
            done = write(*arguments, **named)
            prepare(self.memory.snapshot)
            return done

        return await asyncio.to_thread(work)

    # The log

    async def log(self, former: Log, scope: Scope) -> Log:
        """The log as it is now, as far down as it was read before."""
        return await aside(newest_entries, self.memory, former, scope)

    async def newest_in_log(self) -> int:
        """The number of the newest entry, 0 for none."""
        return await aside(self.memory.newest_in_log)

    async def more_log(self, former: Log) -> Log:
        """The log with older entries at its end."""
        return await aside(older_entries, self.memory, former)

    async def entry_now(self, id: str) -> tuple[Entry, frozenset[str]]:
        """An entry as it is now, and what of the log is taken back at present. Raises NotFoundError."""
        return await aside(lambda: (self.memory.entry(id), self.memory.taken_back()))

    async def parts(self, change_set: ChangeSet) -> tuple[ChangeSet, ...]:
        """What of a change set can be taken back alone; nothing for one that goes whole or not at all."""
        if change_set.kind in ("undo", "redo") or change_set.size > _MOST_PARTS:
            return ()
        from core.model.parts import parts

        found = await aside(parts, change_set)
        return found if len(found) > 1 else ()

    async def undo(self, what: str | None = None) -> ChangeSet:
        """Takes back an entry or a part ("<id>.<number>"), or the last change of the person here.

        Raises NotFoundError for nothing to take back, ConflictError that says what stands in the way.
        """
        return await self._written(self.memory.undo, what)

    async def redo(self, what: str | None = None) -> ChangeSet:
        """Does again what was taken back: an entry or part, or what the person here took back last."""
        return await self._written(self.memory.redo, what)

    async def clash(self, id: str) -> Clash:
        """A conflict that waits, against the memory as it is now. Raises NotFoundError."""

        from nuggets_tui.clash import clash, concerned

        def work() -> Clash:
            entry, snapshot = self.memory.entry(id), self.snapshot
            note_id = concerned(entry, snapshot)
            about_it = self.memory.log(limit=20, note=note_id) if note_id else ()
            return clash(entry, snapshot, about_it)

        return await aside(work)

    async def settle_conflict(self, id: str, take: Side, text: str | None = None) -> ChangeSet:
        """Settles a conflict of the log, with a text in place of both where the conflict is about one."""
        return await self._written(self.memory.settle_conflict, id, take, text)

    async def settle_all_conflicts(self, take: Side) -> tuple[ChangeSet, ...]:
        """Settles every conflict that waits in the same way; errors as the memory's."""
        return await self._written(self.memory.settle_all_conflicts, take)

    # Asking

    async def find(self, typed: str) -> Found | None:
        """Hits for what is typed. None when something else was asked for meanwhile."""
        self._asked += 1
        turn = self._asked
        return await aside(self._find, typed, turn)

    def forget_question(self) -> None:
        """Nobody waits for a running search any more."""
        self._asked += 1

    def _find(self, typed: str, turn: int) -> Found | None:
        from core.search.language import read

        def stale() -> bool:
            return turn != self._asked

        with self._search_turn:
            # Those who typed on meanwhile do not wait for answers to what they typed before.
            if stale():
                return None
            started = self.timer()
            limit = RESULTS if read(typed).words else _EVERY
            found = self.memory.search_result(typed, limit, new_since=self.last_visit, stopped=stale)
            seconds = self.timer() - started
            for hit in found.hits[:_SEEN]:
                if stale():
                    return None
                # What the rows show is made here, not while they are drawn.
                _ = hit.breakdown.reasons, hit.breakdown.matched
            return None if stale() else Found.of(typed, found, seconds, limit)

    async def why(self, found: Found, note_id: str) -> Why | None:
        """Why a note stands where it does in a search, or why it does not. None for a note that is gone."""
        return await aside(self._why, found, note_id)

    def _why(self, found: Found, note_id: str) -> Why | None:
        from core.search.language import read
        from nuggets_tui.why import Asked, why

        explained = self.memory.explain(found.query, note_id, new_since=self.last_visit, shown=RESULTS)
        if explained is None:
            return None
        notes = self.snapshot.by_id
        # Dates are meant as the person's own clock shows them.
        asked = Asked(read(found.query), self.clock().astimezone(), self.last_visit, shown=found.hits)
        return why(explained, asked, lambda id: cut(notes[id].title, _TITLE) if id in notes else id)

    async def recall(self, typed: str) -> Recall | None:
        """What an agent's recall would answer, counted nowhere. None for no words or a newer question."""
        turn = self._asked
        return await aside(self._recall, typed, turn)

    def _recall(self, typed: str, turn: int) -> Recall | None:
        from core.search.language import read

        question = read(typed)
        with self._recall_turn:
            if turn != self._asked or not question.words:
                return None
            try:
                found = self.memory.recall(question.words, question.nugget, record=False)
            except InvalidInputError as error:
                from core.facts.recall import Recall, Skipped

                return Recall(skipped=(Skipped(question.nugget or "", "undecodable", error.what),))
            except NuggetsError:
                # A condition that names no nugget: the search says so by finding nothing.
                return None
            return found if not question.narrow or self._admitted(found, question) else None

    def _admitted(self, found: Recall, question: Question) -> bool:
        """Whether the note of an answer is one that is asked for: an agent is answered without regard to that."""
        note = answering(found, self.snapshot)
        if note is None:
            return False
        from core.search.asked import asked

        return asked(question, now=self.clock().astimezone(), new_since=self.last_visit).admits(note)

    async def recall_key(self, nugget: str, key: str) -> Recall:
        """The recall of one fact, counted nowhere."""
        return await aside(self.memory.recall, key, nugget, record=False)

    async def suggestions(self, snapshot: Snapshot, note_id: str) -> tuple[Suggestion, ...]:
        """Notes that might be linked to a note."""
        from core.graph.neighbours import suggestions

        return await aside(suggestions, snapshot, note_id, stopped=self._suggesting.next())

    async def warm_up(self, progress: Progress) -> None:
        """Builds the index, so that the first search does not wait. progress: told how many notes are read; what it
        raises ends that."""

        def work() -> None:
            with self._search_turn:
                self.memory.index(progress)

        await aside(work)

    async def prepare_search(self) -> None:
        """Makes what searches can do without at first: the phase vectors, and what the next start reads. Begun anew
        while it is under way, it starts over."""
        await aside(self.memory.prepare_search, self._preparing.next())

    # Reflection and promotion

    async def reflection(self, progress: Progress | None = None) -> ReflectionResult:
        """What a cleanup pass would change."""
        return await aside(self.memory.reflect, dry_run=True, progress=progress)

    async def reflect(self, accepted: Collection[str], refused: Collection[str] = ()) -> ReflectionResult:
        """Applies the accepted changes of a cleanup pass and remembers the refused ones."""
        return await self._written(self.memory.reflect, accept=accepted, refuse=refused)

    async def daily_state(self) -> DailyState:
        """How it stands with the daily pass. Errors as `core.daily.daily_state`."""
        from core.daily import daily_state

        return await aside(daily_state, self.memory.home, self.clock())

    async def daily_pass(self) -> DailyResult:
        """Runs the daily pass, if it is still due."""
        return await self._written(self.memory.daily_pass)

    async def waiting_promotion(self) -> PromotionResult | None:
        """What the daily pass would write into MEMORY.md once a person said that it may."""
        from core.daily import waiting_promotion

        return await aside(waiting_promotion, self.memory)

    async def answer_promotion(self, answer: str, path: str) -> ChangeSet:
        """Remembers what a person said of that, as `core.daily.answer_promotion`."""
        from core.daily import answer_promotion

        return await self._written(answer_promotion, self.memory, answer, path)

    async def count_as_daily(self, counts: Mapping[str, int]) -> None:
        """Keeps that a person looked through a reflection: that is the pass of today."""
        from core.daily import count_as_daily

        await asyncio.to_thread(count_as_daily, self.memory, self.clock(), counts)

    async def promotion(self, folder: str | None, progress: Progress | None = None) -> PromotionResult:
        """What promotion would write, and where: to the MEMORY.md of a folder, else to that of the present project."""
        return await aside(self.memory.promote, dry_run=True, memory_dir=folder, progress=progress)

    async def promote(
        self, accepted: Collection[str], refused: Collection[str] = (), folder: str | None = None
    ) -> PromotionResult:
        """Writes the accepted entries to MEMORY.md and remembers the refused ones."""
        return await self._written(self.memory.promote, memory_dir=folder, accept=accepted, refuse=refused)

    async def promotion_targets(self) -> tuple[PromotionTarget, ...]:
        """Every MEMORY.md that can be meant, that of the present project first."""
        return await aside(self.memory.promotion_targets)

    # Putting right

    async def unreadable(self) -> tuple[Unreadable, ...]:
        """What cannot be read at present, each with its bytes."""
        from nuggets_tui.unreadable import unreadable

        return await aside(unreadable, self.memory)

    async def findings(self, progress: Progress | None = None) -> tuple[Finding, ...]:
        """What is not as it should be."""
        return await asyncio.to_thread(Workspace(self.memory).verify, progress)

    async def repair(self) -> ChangeSet:
        """Mends what can be mended without asking."""
        return await self._written(Workspace(self.memory).repair)

    async def backups(self) -> tuple[Backup, ...]:
        """The backups, newest first."""
        return await aside(self.memory.backups)

    async def restoration(self, when: str, progress: Progress | None = None) -> ChangeSet:
        """What going back to a backup would change. Raises NotFoundError, BrokenFileError."""
        return await asyncio.to_thread(self.memory.restoration, when, progress=progress)

    # Secrets

    async def secrets(self, progress: Progress | None = None) -> tuple[Holder, ...]:
        """Notes, facts and texts that look as if they held a credential."""
        return await aside(Workspace(self.memory).secrets, progress)

    async def masking(self, ids: Collection[str]) -> Masking:
        """Where what these hold would be masked."""
        return await aside(Workspace(self.memory).masking, ids)

    async def mask(self, plan: Masking) -> ChangeSet:
        """Masks for good."""
        return await self._written(Workspace(self.memory).mask_secrets, plan)

    async def masking_left(self, plan: Masking) -> tuple[Left, ...]:
        """The files that hold what was masked after all, or that cannot be looked into."""
        return await aside(Workspace(self.memory).masking_left, plan)

    async def say_not_secret(self, ids: Collection[str]) -> ChangeSet:
        """Remembers that what these hold now is no secret."""
        return await self._written(Workspace(self.memory).say_not_secret, ids)

    # Watching

    async def events(self, stop: asyncio.Event) -> AsyncIterator[Snapshot | NuggetsError]:
        """New snapshots as the files change, and the error, once, when they cannot be read."""
        async for event in self.memory.watch_events(stop, PACE.hurry):
            yield await aside(prepare, event) if isinstance(event, Snapshot) else event
