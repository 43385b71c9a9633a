"""The desk between screens and memory: every call that reads files, searches or writes runs off the event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from core.errors import NuggetsError
from core.model.change import ChangeKind, ChangeSet
from core.model.snapshot import Snapshot
from nuggets_tui.query import Query, parse_query
from nuggets_tui.threads import aside
from nuggets_tui.view import Found, prepare

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.graph.neighbours import Suggestion
    from core.memory import Memory
    from core.model.draft import Draft
    from core.promotion import PromotionResult
    from core.reflection import ReflectionResult
    from core.search import Filters, Hit

_Result = TypeVar("_Result")
RESULTS = 50


class Desk:
    """Carries questions and changes to a memory, in threads, and remembers which changes were made here.

    `mine` holds the change sets of this run that `undo` takes back, oldest first.
    """

    def __init__(self, memory: Memory, clock: Callable[[], datetime]) -> None:
        self.memory = memory
        self.clock = clock
        # Seconds that only ever grow; says how long a search took.
        self.timer: Callable[[], float] = time.perf_counter
        self.mine: list[ChangeSet] = []
        self._search_turn = threading.Lock()
        self._asked = 0

    @property
    def snapshot(self) -> Snapshot:
        """The memory as it was last loaded."""
        return self.memory.snapshot

    # Changing

    async def change(
        self, reason: str, edit: Callable[[Draft], _Result], *, kind: ChangeKind = "edit"
    ) -> tuple[_Result, ChangeSet]:
        """Edits the newest state; what the edit returned and the change set. Errors as `Memory.change`."""

        def work() -> tuple[_Result, ChangeSet]:
            changed = self.memory.change(reason, edit, kind=kind)
            prepare(self.memory.snapshot)
            return changed

        result, done = await asyncio.to_thread(work)
        self._keep(done)
        return result, done

    async def change_from(
        self, base: Snapshot, reason: str, edit: Callable[[Draft], _Result]
    ) -> tuple[_Result, ChangeSet]:
        """Edits what somebody saw when they began (`base`), so that a change made meanwhile is a conflict."""

        from core.model.draft import Draft

        def work() -> tuple[_Result, ChangeSet]:
            present = self.memory.draft()
            draft = Draft(base, now=present.now, ids=present.ids, rules=present.rules)
            result = edit(draft)
            return result, self.memory.apply(draft.change_set(reason, author=self.memory.author))

        result, done = await asyncio.to_thread(work)
        self._keep(done)
        return result, done

    async def preview(self, reason: str, edit: Callable[[Draft], object]) -> ChangeSet:
        """What an edit would do, written nowhere."""

        def work() -> ChangeSet:
            draft = self.memory.draft()
            edit(draft)
            return draft.change_set(reason, author=self.memory.author)

        return await aside(work)

    async def apply(self, change_set: ChangeSet) -> ChangeSet:
        """Writes a change set that was previewed."""
        done = await asyncio.to_thread(self.memory.apply, change_set)
        self._keep(done)
        return done

    async def undo(self) -> ChangeSet | None:
        """Takes back the last change made here; the change that was taken back, or None when there is none."""
        if not self.mine:
            return None
        last = self.mine[-1]
        await asyncio.to_thread(self.memory.undo, last)
        if self.mine and self.mine[-1] is last:
            self.mine.pop()
        return last

    def _keep(self, done: ChangeSet) -> None:
        if not done.empty:
            self.mine.append(done)

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
        with self._search_turn:
            # Those who typed on meanwhile do not wait for answers to what they typed before.
            if turn != self._asked:
                return None
            query = parse_query(typed)
            started = self.timer()
            hits = self._hits(query)
            seconds = self.timer() - started
            return Found(typed, hits, None, seconds) if turn == self._asked else None

    def _hits(self, query: Query) -> tuple[Hit, ...]:
        from nuggets_tui.wanted import wanted_by

        filters = wanted_by(query)
        if query.text:
            return self.memory.search(query.text, RESULTS, filters)
        return _only_filtered(self.snapshot, filters)

    async def recall(self, typed: str) -> Recall | None:
        """What an agent's recall would answer, counted nowhere. None for no words or a newer question."""
        turn = self._asked
        return await aside(self._recall, typed, turn)

    def _recall(self, typed: str, turn: int) -> Recall | None:
        query = parse_query(typed)
        with self._search_turn:
            # An agent is answered without regard to what a note is, so nothing is shown beside such a filter.
            if turn != self._asked or not query.text or query.kinds:
                return None
            try:
                return self.memory.recall(query.text, query.filters.get("nugget"), record=False)
            except NuggetsError:
                # A filter that names no nugget: the search says so by finding nothing.
                return None

    async def recall_key(self, nugget: str, key: str) -> Recall:
        """The recall of one fact, counted nowhere."""
        return await aside(self.memory.recall, key, nugget, record=False)

    async def suggestions(self, snapshot: Snapshot, note_id: str) -> tuple[Suggestion, ...]:
        """Notes that might be linked to a note."""
        from core.graph.neighbours import suggestions

        return await aside(suggestions, snapshot, note_id)

    async def warm_up(self) -> None:
        """Builds the index and decodes the facts, so that the first search does not wait."""

        def work() -> None:
            with self._search_turn:
                self.memory.index()

        await aside(work)

    # Reflection and promotion

    async def reflection(self) -> ReflectionResult:
        """What a cleanup pass would change."""
        return await aside(self.memory.reflect, dry_run=True)

    async def reflect(self, accepted: Collection[str]) -> ReflectionResult:
        """Applies the accepted changes of a cleanup pass."""
        result = await asyncio.to_thread(self.memory.reflect, accept=accepted)
        self._keep(result.change_set)
        return result

    async def promotion(self) -> PromotionResult:
        """What promotion would write, and where."""
        return await aside(self.memory.promote, dry_run=True)

    async def promote(self) -> PromotionResult:
        """Writes the promoted notes to MEMORY.md."""
        result = await asyncio.to_thread(self.memory.promote)
        self._keep(result.change_set)
        return result

    # Watching

    async def events(self, stop: asyncio.Event) -> AsyncIterator[Snapshot | NuggetsError]:
        """New snapshots as the files change, and the error, once, when they cannot be read."""
        async for event in self.memory.watch_events(stop):
            yield await aside(prepare, event) if isinstance(event, Snapshot) else event


def _only_filtered(snapshot: Snapshot, filters: Filters) -> tuple[Hit, ...]:
    """Notes that filters alone admit, newest first, in the shape of hits."""
    from core.search import Breakdown, Hit

    nothing = Breakdown(
        vector=0.0, text=0.0, boost=0.0, vector_score=0.0, text_score=0.0, raw_vector=0.0, raw_text=0.0,
        blend=0.0, score=0.0, matched=(),
    )  # fmt: skip
    admitted = [note for note in snapshot.notes if filters.admits(note)]
    admitted.sort(key=lambda note: max(note.updated_at, note.created_at), reverse=True)
    ranked = enumerate(admitted[:RESULTS], 1)
    return tuple(Hit(note=note, score=0.0, rank=rank, breakdown=nothing) for rank, note in ranked)
