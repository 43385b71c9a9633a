"""A memory that can be watched: its snapshots as they follow one another, whoever writes them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from core.errors import NuggetsError
from core.logged import LoggedMemory
from core.model.snapshot import Snapshot

if TYPE_CHECKING:
    import asyncio


class WatchedMemory(LoggedMemory):
    """A memory that tells of every change of its files."""

    def watch(self, stop: asyncio.Event | None = None) -> AsyncIterator[Snapshot]:
        """Yields each snapshot that is newer than the present one, whoever wrote it, until `stop` is set; the same one
        again when the settings or the searches that are kept are others.

        A state that cannot be read is passed over; `watch_events` tells of it.
        """
        return self._snapshots(self.watch_events(stop))

    def _beside(self) -> object:
        """What else of the folder is told of when it is another: compared by value."""
        return [listener.state for listener in self._listeners]

    async def _snapshots(self, events: AsyncIterator[Snapshot | NuggetsError]) -> AsyncIterator[Snapshot]:
        async for event in events:
            if isinstance(event, Snapshot):
                yield event

    def watch_events(
        self, stop: asyncio.Event | None = None, woken: Callable[[], None] = lambda: None
    ) -> AsyncIterator[Snapshot | NuggetsError]:
        """As `watch`, and yields the error, once, when the files become unreadable. woken: called before the files are
        looked at.
        """
        # What is newer is counted from this call, not from when the first event is waited for.
        return self._events(self._snapshot, stop, woken)

    async def _events(
        self, seen: Snapshot, stop: asyncio.Event | None, woken: Callable[[], None]
    ) -> AsyncIterator[Snapshot | NuggetsError]:
        import asyncio

        from core.storage.watch import watch_folder

        failed, beside = "", self._beside()
        async for _ in watch_folder(self.home, stop or asyncio.Event()):
            woken()
            try:
                await asyncio.to_thread(self.refresh, patient=False)
            except NuggetsError as error:
                if error.message != failed:
                    failed = error.message
                    yield error
                continue
            if self._snapshot is not seen or failed or self._beside() != beside:
                seen, failed, beside = self._snapshot, "", self._beside()
                yield seen
            if not self._store.settled:
                # What was taken back shows at once, and a moment later it is restored.
                with contextlib.suppress(NuggetsError):
                    await asyncio.to_thread(self.refresh)
                if self._snapshot is not seen:
                    seen = self._snapshot
                    yield seen
