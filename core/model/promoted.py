"""What promotion remembers of a MEMORY.md: which of its bullets promotion wrote."""

from __future__ import annotations

import msgspec


class WrittenText(msgspec.Struct, frozen=True):
    """One bullet as we wrote it, or were about to: for which note, where, and what it said.

    section: the one we put it into. lines: how many it takes. digest: of its lines without the bullet's sign; loose:
    of the lines without indentation, as the original leaves them when it writes the file.
    """

    note_id: str
    section: str
    title: str
    lines: int
    digest: str
    loose: str


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A MEMORY.md and what is remembered of it.

    cwd: the project that it belongs to, "" for none. at: ISO 8601 time of the last writing, "" for never. count: how
    many bullets were ours then. texts: oldest first, also of bullets that were taken out: an undo brings them back.
    refused: marks of what a person refused and no note can bear, since it is deleted.
    """

    path: str
    cwd: str = ""
    at: str = ""
    count: int = 0
    texts: tuple[WrittenText, ...] = ()
    refused: tuple[str, ...] = ()
