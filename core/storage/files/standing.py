"""What stood in a memory's folder when work began that nobody asked for: once any of it is gone, nothing is written.

A script may remove a memory right after it asked something. Whoever counts that in the background would bring files
back, or have the removal of the folder fail.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from core.errors import ErrorCode, NotFoundError
from core.folder import GRAPH_FILE
from core.storage.files.atomic import HELD_SUFFIX, NEXT_SUFFIX, identity

# Files that come and go while programs work.
_PASSING: Final = (".tmp", "-wal", "-shm", "-journal", HELD_SUFFIX, NEXT_SUFFIX)


class Standing:
    """A memory's folder as it is now. also: names in it that stood a moment ago."""

    def __init__(self, home: Path, also: Iterable[str] = ()) -> None:
        self._home = home
        self._identity = identity(home)
        self._names = frozenset((*_names(home), *also))

    @property
    def stands(self) -> bool:
        """Whether it is the same folder, and all that stood in it is there."""
        return (
            self._identity is not None
            and identity(self._home) == self._identity
            and self._names <= frozenset(_names(self._home))
        )

    def check(self) -> None:
        """Raises NotFoundError once something is gone."""
        if not self.stands:
            raise NotFoundError(
                "is being removed",
                code=ErrorCode.NO_SUCH_FILE,
                where=str(self._home),
                kept="nothing was written",
            )


def _names(home: Path) -> list[str]:
    graph = GRAPH_FILE.parent
    found = []
    for folder, prefix in ((home, ""), (home / graph, f"{graph}{os.sep}")):
        try:
            found += [f"{prefix}{name}" for name in os.listdir(folder) if not name.endswith(_PASSING)]
        except OSError:
            continue
    return found
