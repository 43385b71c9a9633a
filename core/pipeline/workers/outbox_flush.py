"""Decides when accepted facts go into the notes: many at once, since each write rewrites the whole graph."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final, NamedTuple

from core.pipeline.database.connection import Database
from core.pipeline.queue import poll_delay_ms

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet

MANY: Final = 200
LONGEST_WAIT_MS: Final = 2_000
# Each time the whole graph is written, and no more than a tenth of the time may go there.
_REST_SHARE: Final = 10
_LONGEST_REST_MS: Final = 30_000
_MOST_AT_ONCE: Final = 2_000
_FOLLOW_EVERY_MS: Final = 60_000
# A person who accepted something waits for another process no longer.
_PATIENCE_SECONDS: Final = 15.0


class Flushed(NamedTuple):
    """How many notes were written, and what kept others from it."""

    flushed: int = 0
    warnings: tuple[str, ...] = ()


class FlushedProposals(NamedTuple):
    """What became of accepted proposals. refused: ids with why. waiting: ids whose note is still to come."""

    change_set: ChangeSet | None = None
    refused: tuple[tuple[str, str], ...] = ()
    waiting: tuple[str, ...] = ()


class OutboxFlusher:
    """Brings the outbox over. memory: opens the memory when it is first asked for. now: epoch ms."""

    def __init__(self, database: Database, memory: Callable[[], Memory], now: Callable[[], int]) -> None:
        self._database = database
        self._memory = memory
        self._now = now
        self._failures = 0
        self._rests_until = 0
        self._trouble: tuple[str, ...] = ()
        self._brought_at = 0
        self._took_ms = 0
        self._followed_at: int | None = None

    def when_due(self, *, everything: bool, idle: bool) -> Flushed:
        """Brings over what waits when nothing else is to be done, or much waits, or for long.

        everything: false for what a person accepted alone. After trouble it rests before it tries again.
        """
        now = self._now()
        oldest = self._database.reading.outbox.oldest_pending()
        if oldest is None:
            if idle:
                self._follow(now)
            return Flushed()
        resting = now < self._rests_until <= now + poll_delay_ms(self._failures, poll_ms=0, chance=1.0)
        # A clock that was set back must not keep it waiting.
        long_ago = not 0 <= now - oldest <= LONGEST_WAIT_MS
        soon = 0 <= now - self._brought_at < min(_REST_SHARE * self._took_ms, _LONGEST_REST_MS)
        if resting:
            # Still so, and no news: whoever tells of it does so once.
            return Flushed(warnings=self._trouble)
        if not (idle or self._much_waits(long_ago, soon)):
            return Flushed()
        return self.flush(everything=everything)

    def _much_waits(self, long_ago: bool, soon: bool) -> bool:
        if long_ago and not soon:
            return True
        return self._database.reading.outbox.count_waiting() >= (_MOST_AT_ONCE if soon else MANY)

    def flush(self, *, everything: bool = True) -> Flushed:
        """Brings over all that waits, batch by batch."""
        from core.pipeline.writes.outbox import flush_outbox

        only = None if everything else self._database.reading.proposals.accepted_waiting()
        if only is not None and not only:
            return Flushed()
        flushed, before = 0, -1
        while True:
            began = self._now()
            brought = flush_outbox(
                self._database, self._memory(), now=began, proposals=only, most=_MOST_AT_ONCE
            )
            self._brought_at = self._now()
            self._took_ms = max(0, self._brought_at - began)
            flushed += len(brought.written)
            if brought.problem is not None:
                self._failures += 1
                self._rests_until = self._now() + poll_delay_ms(self._failures, poll_ms=0)
                self._trouble = (f"notes are not written yet: {brought.problem.message}",)
                return Flushed(flushed, self._trouble)
            # Rows that nothing came of this time would come again at once.
            if brought.busy or not brought.waiting or brought.waiting == before:
                self._failures, self._trouble = 0, ()
                return Flushed(flushed)
            before = brought.waiting

    def flush_accepted(self, proposals: Collection[str]) -> FlushedProposals:
        """Brings over at once what a person accepted, as one change set that they can take back."""
        from core.pipeline.writes.outbox import flush_outbox

        brought = flush_outbox(
            self._database,
            self._memory(),
            now=self._now(),
            proposals=proposals,
            asked=True,
            # A change is two rows.
            most=max(1, 2 * len(proposals)),
            seconds=_PATIENCE_SECONDS,
        )
        refused = tuple((each, told) for each, _, told in (*brought.conflicts, *brought.failed))
        if brought.problem is None and not brought.waiting:
            return FlushedProposals(brought.change_set, refused)
        settled = {*brought.written, *brought.unchanged, *(each for each, _ in refused)}
        return FlushedProposals(
            brought.change_set, refused, tuple(each for each in proposals if each not in settled)
        )

    def _follow(self, now: int) -> None:
        """Takes over what people did to the notes meanwhile, once a minute."""
        last = self._followed_at
        if last is not None and 0 <= now - last < _FOLLOW_EVERY_MS:
            return
        self._followed_at = now
        if self._database.reading.decisions.any_kept():
            from core.pipeline.writes.decisions import note_decisions

            note_decisions(self._database, self._memory())
        elif not self._database.reading.facts.any():
            return
        from core.pipeline.removal import follow_shown
        from core.pipeline.writes.note_sync import sync_from_notes
        from core.pipeline.writes.undone import follow_undo

        follow_shown(self._database, self._memory(), now=now)
        follow_undo(self._database, self._memory(), now=now)
        if self._database.reading.facts.any():
            sync_from_notes(self._database, self._memory(), now=now)
