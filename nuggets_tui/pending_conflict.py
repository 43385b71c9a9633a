"""A change that met another one of the same thing: it is kept in the log and waits there for a person."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

import msgspec

from core.errors import ConflictError

_Result = TypeVar("_Result")


class PendingConflict(msgspec.Struct, frozen=True):
    """Takes the place of a result: nothing was written, and the change waits in the log under this id."""

    entry_id: str


async def or_pending_conflict(asked: Awaitable[_Result]) -> _Result | PendingConflict:
    """What was asked for, or where it waits. Errors as there; a conflict that is not kept in the log is one too."""
    try:
        return await asked
    except ConflictError as error:
        if not error.entry:
            raise
        return PendingConflict(error.entry)
