"""A listener reads one file beside the notes again when it changes."""

from __future__ import annotations

from typing import Protocol


class FileListener(Protocol):
    """A part that reads one file of the folder.

    path: the file, from the memory's folder. state: what it holds of it, compared by value: whoever watches the memory
    is told when it is another.
    """

    @property
    def path(self) -> str: ...

    @property
    def state(self) -> object: ...

    def reload(self) -> None:
        """Reads the file again: it is another one than before."""

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call."""
