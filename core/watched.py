"""A memory that can be watched: its snapshots as they follow one another, whoever writes them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from core.errors import NuggetsError
from core.logged import LoggedMemory
from core.model.snapshot import Snapshot

if TYPE_CHECKING:
    import asyncio


class WatchedMemory(LoggedMemory):
    """A memory that tells of every change of its files."""

    def watch(self, stop: asyncio.Event | None = None) -> AsyncIterator[Snapshot]:
        """Yields each snapshot that is newer than the present one, whoever wrote it, until `stop` is set.

        A state that cannot be read is passed over; `watch_events` tells of it.
        """
        return self._snapshots(self.watch_events(stop))

    async def _snapshots(self, events: AsyncIterator[Snapshot | NuggetsError]) -> AsyncIterator[Snapshot]:
        async for event in events:
            if isinstance(event, Snapshot):
                yield event

    def watch_events(self, stop: asyncio.Event | None = None) -> AsyncIterator[Snapshot | NuggetsError]:
        """As `watch`, and yields the error, once, when the files become unreadable."""
        # What is newer is counted from this call, not from when the first event is waited for.
        return self._events(self._snapshot, stop)

    async def _events(
        self, seen: Snapshot, stop: asyncio.Event | None
    ) -> AsyncIterator[Snapshot | NuggetsError]:
        import asyncio

        from core.storage.watch import watch_folder

        failed = ""
        async for _ in watch_folder(self.home, stop or asyncio.Event()):
            try:
                await asyncio.to_thread(self.refresh, patient=False)
            except NuggetsError as error:
                if error.message != failed:
                    failed = error.message
                    yield error
                continue
            if self._snapshot is not seen or failed:
                seen, failed = self._snapshot, ""
                yield seen
            if not self._store.settled:
                # What was taken back shows at once, and a moment later it is restored.
                with contextlib.suppress(NuggetsError):
                    await asyncio.to_thread(self.refresh)
                if self._snapshot is not seen:
                    seen = self._snapshot
                    yield seen
