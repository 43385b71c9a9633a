"""Follows the snapshots of a memory, whoever writes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from core.errors import NuggetsError
from core.model.snapshot import Snapshot
from core.storage.files.watch import watch_folder

if TYPE_CHECKING:
    from core.services.repository import Repository

# Stands for no error; an error that repeats is reported once.
_NOTHING: tuple[object, ...] = ()


async def events(
    repository: Repository, seen: Snapshot, stop: asyncio.Event | None, woken: Callable[[], None]
) -> AsyncIterator[Snapshot | NuggetsError]:
    """See `Memory.watch_events`. seen: the snapshot that whoever asks has already."""
    failed, beside = _NOTHING, repository.listener_states()
    async for told in watch_folder(repository.home, stop or asyncio.Event(), repository.pages):
        woken()
        if repository.polling is told:
            repository.polling = not told
            yield seen
        try:
            await asyncio.to_thread(repository.refresh, patient=False)
        except NuggetsError as error:
            if error.identity != failed:
                failed = error.identity
                yield error
            continue
        if repository.snapshot is not seen or failed or repository.listener_states() != beside:
            seen, failed, beside = repository.snapshot, _NOTHING, repository.listener_states()
            yield seen


async def snapshots(found: AsyncIterator[Snapshot | NuggetsError]) -> AsyncIterator[Snapshot]:
    """The snapshots alone."""
    async for event in found:
        if isinstance(event, Snapshot):
            yield event
