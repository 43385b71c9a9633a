"""Workspace: one folder of a coding agent's memory, with its memory and its pipeline.

What concerns both is asked for here: a credential, or a note that is not as it should be, may stand in either.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import partly_done
from core.folder import PIPELINE_FILE

if TYPE_CHECKING:
    from core.memory import Finding, Holder, Left, Masking, Memory
    from core.model.change import ChangeSet
    from core.model.masks import Masks
    from core.model.progress import Progress
    from core.search.signals import Ranked, Signals, SignalSource
    from core.storage.masking.mask import Place


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000


class _Signals:
    """What the pipeline of a folder knows of notes, for searches; it is loaded once there is one."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._path = os.path.join(home, PIPELINE_FILE)
        self._source: SignalSource | None = None

    def signals(self, text: str, ranked: Sequence[Ranked]) -> Signals:
        """See `SignalSource`."""
        source = self._source
        if source is None or not os.path.isfile(self._path):
            from core.search.signals import NO_SIGNALS

            if not os.path.isfile(self._path):
                return NO_SIGNALS
            from core.pipeline.recall.source import PipelineSignals

            source = self._source = PipelineSignals(self._home)
        return source.signals(text, ranked)


def open_memory(path: str | Path | None = None, **named: Any) -> Memory:
    """Opens a memory whose searches know what its pipeline knows. Arguments and errors as of `Memory.open`."""
    from core.memory import Memory

    memory = Memory.open(path, **named)
    memory.use_signals(_Signals(memory.home))
    return memory


class _OfMemory:
    """The memory as one store among others."""

    def __init__(self, memory: Memory, masking: Masking) -> None:
        self._memory = memory
        self._masking = masking

    def places(self, masks: Masks) -> tuple[Place, ...]:
        """What the preview told."""
        return self._masking.places

    def scrub(self, masks: Masks) -> None:
        """Masks what was previewed; the entry of the log is `done` then."""
        self.done = self._memory.mask_secrets(self._masking)


class Workspace:
    """A memory and the pipeline of its folder, where it has one. Safe to use from several threads.

    now: milliseconds since 1970, as the pipeline's database holds times.
    """

    def __init__(self, memory: Memory, now: Callable[[], int] = _milliseconds) -> None:
        self.memory = memory
        self._now = now

    # Putting right

    def verify(self, progress: Progress | None = None) -> tuple[Finding, ...]:
        """Every problem, the memory's own first. Errors as `Memory.verify`."""
        from core.pipeline.writes.verify import drift

        return (*self.memory.verify(progress), *drift(self.memory, now=self._now()))

    def repair(self) -> ChangeSet:
        """Repairs what can be repaired without asking. Returns what changed in the notes; of several change sets, the
        last. Errors as `Memory.repair`.
        """
        from core.pipeline.writes.verify import repair_drift

        done = self.memory.repair()
        with (
            nullcontext() if done.empty else partly_done("the repairs of notes and facts are in the history")
        ):
            brought = repair_drift(self.memory, now=self._now())
        return brought[-1] if brought and done.empty else done

    # Secrets

    def secrets(self, progress: Progress | None = None) -> tuple[Holder, ...]:
        """Everything that seems to hold a credential. Errors as `Memory.secrets`, and of the database."""
        from core.pipeline.writes.secrets import secrets

        return secrets(self.memory, progress)

    def masking(self, ids: Collection[str] | None = None) -> Masking:
        """What `mask_secrets` would do, everywhere; writes nothing. Errors as `Memory.masking`."""
        from core.pipeline.writes.secrets import masking

        return masking(self.memory, ids)

    def mask_secrets(self, masking: Masking) -> ChangeSet:
        """Masks what was previewed. You cannot undo it. An empty change set is in no log: only the pipeline's database
        held the credential then.

        Errors as `Memory.mask_secrets`, and LockTimeoutError while the pipeline writes notes.
        """
        from core.pipeline.writes.secrets import opened_stores

        if not masking.masks:
            return self.memory.mask_secrets(masking)
        of_memory = _OfMemory(self.memory, masking)
        with opened_stores(self.memory, now=self._now()) as (before, after):
            # What was only derived from other texts first: whoever is stopped in between finds these again.
            for store in (*before, of_memory, *after):
                store.scrub(masking.masks)
        return of_memory.done

    def masking_left(self, masking: Masking) -> tuple[Left, ...]:
        """Files that still hold a masked value, or that cannot be read; see `Memory.masking_left`."""
        return self.memory.masking_left(masking)

    def mark_not_secret(self, ids: Collection[str]) -> ChangeSet:
        """Marks what these hold now as no credential. Errors as `Memory.mark_not_secret`."""
        from core.pipeline.writes.secrets import mark_not_secret

        return mark_not_secret(self.memory, ids)
