"""Verify and repair of all that a memory's folder holds: its files, and the pipeline's database where there is one."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.progress import Progress
    from core.verify import Finding


def verify(memory: Memory, progress: Progress | None = None) -> tuple[Finding, ...]:
    """Everything that is not as it should be, the memory's own first. Errors as `Memory.verify`."""
    from core.pipeline.writes.verify import drift

    return (*memory.verify(progress), *drift(memory, now=_now()))


def repair(memory: Memory) -> ChangeSet:
    """Mends what can be mended without asking; what changed in the notes by that, the last part of it where there are
    several. Errors as `Memory.repair`.
    """
    from core.errors import partly_done
    from core.pipeline.writes.verify import mend_drift

    done = memory.repair()
    with nullcontext() if done.empty else partly_done("what was repaired in notes and facts is in the log"):
        brought = mend_drift(memory, now=_now())
    return brought[-1] if brought and done.empty else done


def _now() -> int:
    return time.time_ns() // 1_000_000
