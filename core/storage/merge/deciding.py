"""What two versions of a value make together, and who decides where they make nothing."""

from __future__ import annotations

from typing import Any, Final, NoReturn, Protocol

from core.errors import ConflictError, ErrorCode
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import HiddenFact, Note

# What makes a fact note stand for its fact; whether it is hidden decides what becomes of all of them.
OF_ITS_FACT: Final = ("title", "content", "source_key", "hidden", "hidden_fact", "archived_at")
_KEPT: Final = "nothing was written, both versions are safe"


def same_fact(one: HiddenFact | None, other: HiddenFact | None) -> bool:
    """Whether two notes hide the same fact."""
    return one is not None and other is not None and (one.key, one.value) == (other.key, other.value)


def merge_hits(before: Note | Fact, after: Note | Fact, current: Note | Fact) -> int:
    """Recalls that both sides counted add up; one that both counted for the same session counts once."""
    moved = after.last_hit_session != before.last_hit_session
    if after.last_hit_session == current.last_hit_session and (moved or after.hits == current.hits):
        return current.hits
    return max(0, current.hits + after.hits - before.hits)


def merge_extra(base: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """Unknown fields: what we changed, added or dropped, on top of what the file has now."""
    dropped = base.keys() - ours.keys()
    changed = {name: value for name, value in ours.items() if name not in base or base[name] != value}
    return {name: value for name, value in theirs.items() if name not in dropped} | changed


def conflict(
    code: ErrorCode, what: str, where: str, base: Any, ours: Any, theirs: Any, field: str = ""
) -> ConflictError:
    """The error for one thing changed in two ways, with its three values."""
    return ConflictError(
        what,
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


class Deciding:
    """One rebase's decisions: each conflict is asked about once, and what gave way as a whole is remembered.

    lost: notes, as ("note", id), and facts, as ("fact", nugget, key), whose change is to be dropped.
    """

    def __init__(self, decide: Decide) -> None:
        self.lost: set[tuple[str, ...]] = set()
        self._decide = decide
        self._known: dict[tuple[ErrorCode, str, str], Any] = {}

    def value(self, found: ConflictError, ours: Any, theirs: Any) -> Any:
        """The value that is to stand. Raises ConflictError."""
        place = (found.code, found.where, found.field)
        if place not in self._known:
            self._known[place] = self._decide(found, ours, theirs)
        return self._known[place]

    def ours_stand(self, found: ConflictError, ours: Any, theirs: Any, *item: str) -> bool:
        """Whether the change of a whole thing is made; `item` is lost otherwise. Raises ConflictError."""
        stand = self.value(found, ours, theirs) is not theirs
        if not stand:
            self.lost.add(item)
        return stand
