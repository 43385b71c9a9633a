"""Follows the snapshots of a memory, whoever writes them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from core.errors import NuggetsError
from core.model.snapshot import Snapshot
from core.storage.files.watch import watch_folder

if TYPE_CHECKING:
    from core.memory import Memory

# Stands for no error; an error that repeats is reported once.
_NOTHING: tuple[object, ...] = ()


async def events(
    memory: Memory, seen: Snapshot, stop: asyncio.Event | None, woken: Callable[[], None]
) -> AsyncIterator[Snapshot | NuggetsError]:
    """See `Memory.watch_events`. seen: the snapshot that whoever asks has already."""
    failed, beside = _NOTHING, memory.files_beside
    async for told in watch_folder(memory.home, stop or asyncio.Event(), memory.pages):
        woken()
        if memory.polling is told:
            memory.polling = not told
            yield seen
        try:
            await asyncio.to_thread(memory.refresh, patient=False, restoring=False)
        except NuggetsError as error:
            if error.identity != failed:
                failed = error.identity
                yield error
            continue
        if memory.snapshot is not seen or failed or memory.files_beside != beside:
            seen, failed, beside = memory.snapshot, _NOTHING, memory.files_beside
            yield seen
        if not memory.store.reconciled:
            # An overwritten change shows at once; a moment later it is restored.
            with contextlib.suppress(NuggetsError):
                await asyncio.to_thread(memory.refresh)
            if memory.snapshot is not seen:
                seen = memory.snapshot
                yield seen
