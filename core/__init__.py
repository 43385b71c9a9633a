"""The engine: a coding agent's memory as one object, `Memory`, with nothing of any user interface in it."""

from __future__ import annotations

import os

# Whoever recalls one fact waits for no more than this: `typing` takes longer to load than the answer to find.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from core.memory import Memory

# Before numpy is first imported anywhere: a second thread costs more than it brings on the small products here,
# and stalls them when the machine is busy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__all__ = ["Memory"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: `import core.errors` must not pull in all that a memory needs.
    if name == "Memory":
        from core.memory import Memory

        return Memory
    raise AttributeError(f"module 'core' has no attribute {name!r}")
