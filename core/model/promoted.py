"""What promotion remembers of a MEMORY.md: which of its bullets promotion wrote."""

from __future__ import annotations

import msgspec


class WrittenText(msgspec.Struct, frozen=True):
    """A bullet as we last wrote it: for which note, in which section, and what it said, as `digest_of` gives it."""

    note_id: str
    section: str
    title: str
    digest: str


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A MEMORY.md and what is remembered of it.

    cwd: the project that it belongs to, "" for none. at: ISO 8601 time of the last writing, "" for never. texts: of
    each note the bullet that was last written for it. refused: marks of what a person refused and no note can bear,
    since it is deleted.
    """

    path: str
    cwd: str = ""
    at: str = ""
    texts: tuple[WrittenText, ...] = ()
    refused: tuple[str, ...] = ()
