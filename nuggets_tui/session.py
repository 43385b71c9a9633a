"""The session between screens and memory: every call that reads files, searches or writes runs off the event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import msgspec

from core.errors import ConflictError, NuggetsError
from core.model.change import ChangeKind, ChangeSet
from core.model.entry import Entry
from core.model.snapshot import Snapshot
from core.workspace import Workspace
from nuggets_tui import process
from nuggets_tui.pace import PACE, Turns, run_in_thread
from nuggets_tui.safe_text import cut
from nuggets_tui.view import Found, answering, prepare

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.graph.neighbours import Suggestion
    from core.memory import Memory
    from core.model.draft import Draft
    from core.search.index import Progress
    from core.search.query_syntax import Question
    from nuggets_tui.why import Why

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
RESULTS = 50
# Conditions alone filter the list: every note that they admit is in it.
_EVERY = 10_000_000
# So many of them are in sight at once, or nearly.
_SEEN = 10
# Columns of a title within a sentence.
_TITLE = 60
# Entries of more things are taken back whole: their parts would be slow to tell apart.
_MOST_PARTS = 20_000


class Session:
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
        self._query_number = 0
        self._suggesting = Turns()

    @classmethod
    async def in_trouble(cls, home: Path | None, clock: Callable[[], datetime]) -> Session:
        """A session over a memory whose note graph cannot be read: only its facts are there, and it can be repaired."""
        from core.memory import Memory

        return cls(await asyncio.to_thread(Memory.open, home, clock=clock, tolerant=True), clock)

    @property
    def snapshot(self) -> Snapshot:
        """The memory as it was last loaded."""
        return self.memory.snapshot

    def close(self, seconds: float) -> None:
        """Closes the log's file, so that it lies there whole; gives work under way in a thread so long to end."""

        def close() -> None:
            self.memory.visited()
            self.memory.close()

        closing = threading.Thread(target=close, name="closing", daemon=True)
        closing.start()
        closing.join(seconds)

    async def reconcile(self) -> Snapshot:
        """Finishes what a crash cut off, restores what a stale save took back, and puts into the log what other
        programs changed; the newest snapshot. Errors as `Memory.refresh`."""

        def work() -> Snapshot:
            self.memory.refresh()
            self.last_visit = self.last_visit or self.memory.visited()
            return prepare(self.memory.snapshot)

        return await asyncio.to_thread(work)

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.memory)

    async def read(
        self, ask: Callable[_Arguments, _Result], *arguments: _Arguments.args, **named: _Arguments.kwargs
    ) -> _Result:
        """What a call that only reads returns, such as one of `memory`; the app does not wait for it at its end."""
        return await run_in_thread(ask, *arguments, **named)

    async def write(
        self, call: Callable[_Arguments, _Result], *arguments: _Arguments.args, **named: _Arguments.kwargs
    ) -> _Result:
        """What a call that writes returns; what it leaves is made ready for the panes in the same thread."""

        def work() -> _Result:
            done = call(*arguments, **named)
            prepare(self.memory.snapshot)
            _ = self.memory.projects
            return done

        return await asyncio.to_thread(work)

    # Changing

    async def change(
        self, reason: str, edit: Callable[[Draft], _Result], *, kind: ChangeKind = "edit"
    ) -> tuple[_Result, ChangeSet]:
        """Edits the newest state; what the edit returned and the change set. Errors as `Memory.change`."""
        return await self.write(self.memory.change, reason, edit, kind=kind)

    async def change_from(
        self, base: Snapshot, reason: str, edit: Callable[[Draft], _Result]
    ) -> tuple[_Result, ChangeSet]:
        """Edits what somebody saw when they began (`base`), so that a change made meanwhile is a conflict."""

        def work() -> tuple[_Result, ChangeSet]:
            draft = self.draft(base)
            result = edit(draft)
            return result, self.memory.apply(draft.change_set(reason, author=self.memory.author))

        return await self.write(work)

    async def preview(self, reason: str, edit: Callable[[Draft], object]) -> ChangeSet:
        """What an edit would do to the newest state, written nowhere."""

        def work() -> ChangeSet:
            draft = self.draft()
            edit(draft)
            return draft.change_set(reason, author=self.memory.author)

        return await run_in_thread(work)

    def draft(self, base: Snapshot | None = None) -> Draft:
        """A draft over what somebody saw when they began; None: over the newest state."""
        present = self.memory.draft()
        if base is None:
            return present
        from core.model.draft import Draft

        return Draft(base, now=present.now, ids=present.ids, rules=present.rules, author=present.author)

    # The log

    async def entry_now(self, id: str) -> tuple[Entry, frozenset[str]]:
        """An entry as it is now, and what of the log is taken back at present. Raises NotFoundError."""
        return await run_in_thread(lambda: (self.memory.history.entry(id), self.memory.history.taken_back()))

    async def parts(self, change_set: ChangeSet) -> tuple[ChangeSet, ...]:
        """What of a change set can be taken back alone; nothing for one that goes whole or not at all."""
        if change_set.kind in ("undo", "redo") or change_set.size > _MOST_PARTS:
            return ()
        from core.model.change_parts import change_parts

        found = await run_in_thread(change_parts, change_set)
        return found if len(found) > 1 else ()

    # Asking

    async def find(self, typed: str) -> Found | None:
        """Hits for what is typed. None when something else was asked for meanwhile."""
        self._query_number += 1
        turn = self._query_number
        return await run_in_thread(self._find, typed, turn)

    async def find_more(self, typed: str) -> Found | None:
        """The hits once models were asked that settings name; nobody waits for this. None when something else was asked
        for meanwhile.
        """
        return await run_in_thread(self._find_more, typed, self._query_number)

    def _find_more(self, typed: str, turn: int) -> Found | None:
        from core.search.signals import waiting

        # Without the turn of those who type: they do not wait for a model.
        with waiting(True):
            return self._searched(typed, lambda: turn != self._query_number)

    def forget_question(self) -> None:
        """Nobody waits for a running search any more."""
        self._query_number += 1

    def _find(self, typed: str, turn: int) -> Found | None:
        def stale() -> bool:
            return turn != self._query_number

        with self._search_turn:
            # Those who typed on meanwhile do not wait for answers to what they typed before.
            if stale():
                return None
            return self._searched(typed, stale)

    def _searched(self, typed: str, stale: Callable[[], bool]) -> Found | None:
        from core.search.query_syntax import parse_question

        started = self.timer()
        limit = RESULTS if parse_question(typed).words else _EVERY
        found = self.memory.search.result(typed, limit, new_since=self.last_visit, stopped=stale)
        seconds = self.timer() - started
        for hit in found.hits[:_SEEN]:
            if stale():
                return None
            # What the rows show is made here, not while they are drawn.
            _ = hit.breakdown.reasons, hit.breakdown.matched
        return None if stale() else Found.of(typed, found, seconds, limit)

    async def why(self, found: Found, note_id: str) -> Why | None:
        """Why a note stands where it does in a search, or why it does not. None for a note that is gone."""
        return await run_in_thread(self._why, found, note_id)

    def _why(self, found: Found, note_id: str) -> Why | None:
        from core.search.query_syntax import parse_question
        from nuggets_tui.why import SearchRequest, why

        explained = self.memory.search.explain(found.query, note_id, new_since=self.last_visit, shown=RESULTS)
        if explained is None:
            return None
        beside = self.memory.search.beside()
        snapshot = self.snapshot if beside is None else beside.snapshot
        notes = snapshot.by_id
        # Dates are meant as the person's own clock shows them.
        asked = SearchRequest(
            parse_question(found.query), self.clock().astimezone(), self.last_visit, shown=found.hits,
            snapshot=snapshot, whose=(lambda id: "yours") if beside is None else beside.joined.whose,
            elsewhere=self.memory.elsewhere(self.last_visit),
        )  # fmt: skip
        return why(explained, asked, lambda id: cut(notes[id].title, _TITLE) if id in notes else id)

    async def recall(self, typed: str) -> Recall | None:
        """What an agent's recall would answer, counted nowhere. None for no words or a newer question."""
        turn = self._query_number
        return await run_in_thread(self._recall, typed, turn)

    def _recall(self, typed: str, turn: int) -> Recall | None:
        from core.search.query_syntax import parse_question

        question = parse_question(typed)
        with self._recall_turn:
            if turn != self._query_number or not question.words:
                return None
            try:
                found = self.memory.recall(question.words, question.nugget, record=False)
            except NuggetsError:
                # A condition that names no nugget: the search says so by finding nothing.
                return None
            return found if not question.narrow or self._admitted(found, question) else None

    def _admitted(self, found: Recall, question: Question) -> bool:
        """Whether the note of an answer is one that is asked for: an agent is answered without regard to that."""
        beside = self.memory.search.beside()
        note = answering(found, self.snapshot if beside is None else beside.snapshot)
        if note is None:
            return False
        from core.search.conditions import Asked

        elsewhere = self.memory.elsewhere(self.last_visit)
        asked = Asked(self.clock().astimezone(), self.last_visit, elsewhere=elsewhere)
        return question.admits(note, asked)

    async def suggestions(self, snapshot: Snapshot, note_id: str) -> tuple[Suggestion, ...]:
        """Notes that might be linked to a note."""
        from core.graph.neighbours import suggestions

        return await run_in_thread(suggestions, snapshot, note_id, stopped=self._suggesting.next())

    async def warm_up(self, progress: Progress) -> None:
        """Builds the index, so that the first search does not wait. progress: told how many notes are read; what it
        raises ends that."""

        def work() -> None:
            with self._search_turn:
                self.memory.search.index(progress)
            process.give_memory_back()

        await run_in_thread(work)

    async def keep_index(self) -> None:
        """Brings the search index up to date and keeps it for the next start."""

        def work() -> None:
            with self._search_turn:
                self.memory.search.index()
            self.memory.search.keep()
            process.give_memory_back()

        await run_in_thread(work)

    # Watching

    async def events(self, stop: asyncio.Event) -> AsyncIterator[Snapshot | NuggetsError]:
        """New snapshots as the files change, and the error, once, when they cannot be read."""
        async for event in self.memory.watch_events(stop, PACE.hurry):
            yield await run_in_thread(prepare, event) if isinstance(event, Snapshot) else event


class PendingConflict(msgspec.Struct, frozen=True):
    """Takes the place of a result: nothing was written, and the change waits in the log under this id."""

    entry_id: str


async def or_pending_conflict(asked: Awaitable[_Result]) -> _Result | PendingConflict:
    """What was asked for, or where it waits. Errors as there; a conflict that is not kept in the log is one too."""
    try:
        return await asked
    except ConflictError as error:
        if not error.entry:
            raise
        return PendingConflict(error.entry)
