"""What two versions of a value make together, and the error for those that make nothing."""

from __future__ import annotations

from typing import Any, Final

from core.errors import ConflictError
from core.model.fact import Fact
from core.model.note import HiddenFact, Note
from core.text.normalise import squeeze

_KEPT: Final = "nothing was written, both versions are safe"


def alike(one: Any, other: Any) -> bool:
    """Whether two values are equal, texts also when they differ by white space alone."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other or squeeze(one) == squeeze(other)
    return bool(one == other)


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


def conflict(what: str, where: str, base: Any, ours: Any, theirs: Any) -> ConflictError:
    """The error for one thing changed in two ways, with its three values."""
    return ConflictError(
        what,
        where=where,
        kept=_KEPT,
        todo="look at the newest version and make the change again",
        base=str(base),
        ours=str(ours),
        theirs=str(theirs),
    )
