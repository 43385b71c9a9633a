"""Merges two versions of a value, and says who decides where they cannot be merged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn, Protocol

from core.errors import ConflictError, ErrorCode
from core.model.entry import Conflict
from core.model.note import HiddenFact

# What makes a fact note stand for its fact; whether it is hidden decides what becomes of all of them.
OF_ITS_FACT: Final = ("title", "content", "source_key", "hidden", "hidden_fact", "archived_at")
_KEPT: Final = "nothing was written; both versions are safe"


def same_fact(one: HiddenFact | None, other: HiddenFact | None) -> bool:
    """Whether two notes hide the same fact."""
    return one is not None and other is not None and (one.key, one.value) == (other.key, other.value)


# What is said of a conflict, by its code or its field.
_SAID: Final[Mapping[str, str]] = {
    ErrorCode.STORED_MEANWHILE: "this key has been stored since",
    ErrorCode.FACT_CHANGED_MEANWHILE: "the fact has changed since",
    ErrorCode.MADE_MEANWHILE: "a note with this id has been created since",
    ErrorCode.DELETED_MEANWHILE: "it has been deleted since",
    ErrorCode.CHANGED_MEANWHILE: "the note has changed since",
    ErrorCode.RENAMED_MEANWHILE: "its fact has been renamed or hidden since",
    ErrorCode.UNREADABLE_SIDE: "it cannot be read on one side",
    "hidden": "one side changed its fact and the other hid or restored it",
}


def conflict(
    code: ErrorCode, where: str, base: Any, ours: Any, theirs: Any, field: str = ""
) -> ConflictError:
    """The error for one thing changed in two ways, with its three values."""
    return ConflictError(
        _SAID.get(code) or _SAID.get(field) or f"its {field.replace('_', ' ')} was changed in two ways",
        code=code,
        where=where,
        kept=_KEPT,
        todo="look at the newest version and make the change again",
        base=str(base),
        ours=str(ours),
        theirs=str(theirs),
        field=field,
    )


class Decide(Protocol):
    """Decides a conflict: gives the value that is to stand, or raises `found`.

    ours: the value after the change that is brought in; theirs: the one that stands in the files. When
    `found.field` is "", both are whole notes or facts (None: it goes, or is gone) and one of the two is given back.
    """

    def __call__(self, found: ConflictError, ours: Any, theirs: Any, /) -> Any: ...


def refuse(found: ConflictError, _ours: Any, _theirs: Any) -> NoReturn:
    """Leaves the conflict to a person: raises it."""
    raise found


def take_ours(_found: ConflictError, ours: Any, _theirs: Any) -> Any:
    """The change that is brought in wins."""
    return ours


def take_theirs(_found: ConflictError, _ours: Any, theirs: Any) -> Any:
    """What stands in the files wins."""
    return theirs


class Collect:
    """Notes down every conflict and lets another decide it, so that all are told at once."""

    def __init__(self, decide: Decide = take_theirs) -> None:
        self.conflicts: list[Conflict] = []
        self._decide = decide

    def __call__(self, found: ConflictError, ours: Any, theirs: Any, /) -> Any:
        self.conflicts.append(conflict_of(found))
        return self._decide(found, ours, theirs)


def conflict_of(found: ConflictError) -> Conflict:
    """A raised conflict as it is kept and shown."""
    return Conflict(
        code=found.code,
        what=found.what,
        where=found.where,
        field=found.field,
        base=found.base,
        ours=found.ours,
        theirs=found.theirs,
    )
