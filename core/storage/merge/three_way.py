"""One note or one fact in three versions: what a base, ours and theirs make together, whichever side is which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from core.errors import ErrorCode
from core.model.compare import alike
from core.model.fact import Fact
from core.model.note import FILE_NAMES, METADATA_FIELDS, HiddenFact, Note, replace
from core.storage.format.json_text import dump
from core.storage.merge.deciding import OF_ITS_FACT, Decide, conflict, same_fact

_NOTHING: Final = object()
_LATEST: Final = ("updated_at", "last_accessed_at", "last_rewritten_at")
# What moves without the note having been changed in meaning.
_QUIET: Final = frozenset(
    {"hits", "last_hit_session", "last_accessed_at", "last_rewritten_at", "updated_at", "vector"}
    | {"tags", "links", "created_at", "extra"}
)


def unchanged(one: Note | Fact, other: Note | Fact) -> bool:
    """Whether two versions differ at most by white space in their texts, which the original squeezes at its saves."""
    return one == other or all(
        alike(getattr(one, name), getattr(other, name)) for name in one.__struct_fields__ if name != "vector"
    )


def same_meaning(one: Note | Fact, other: Note | Fact) -> bool:
    """Whether whoever deletes the one may delete the other: they differ at most by recalls, times, tags and links."""
    return all(
        alike(getattr(one, name), getattr(other, name))
        for name in one.__struct_fields__
        if name not in _QUIET
    )


def merge_notes(base: Note | None, ours: Note, theirs: Note, decide: Decide) -> Note:
    """Both sides' changes of a note in one, with the id of ours; `decide` is asked where they do not go together.

    Without a base everything counts as changed by both: tags and links are joined, the most recalls and the latest
    times stay, the surer side gives the metadata, and texts that differ are a conflict. The vector is not set
    right. Raises ConflictError when `decide` does.
    """
    if base is None:
        ours, theirs = _one_metadata(ours, theirs)
    ours, theirs = _one_state_of_the_fact(base, ours, theirs, decide)
    changes: dict[str, Any] = {}
    for name in FILE_NAMES:
        if name not in ("id", "hits", "last_hit_session", "vector", "hidden_fact", "archived_at"):
            former = getattr(base, name) if base is not None else _NOTHING
            changes[name] = _field(ours.id, name, former, getattr(ours, name), getattr(theirs, name), decide)
    changes |= _state(base, ours, theirs, changes["hidden"], changes["content"])
    changes["hits"] = merge_hits(base, ours, theirs)
    changes["last_hit_session"] = _last_session(base, ours, theirs)
    changes["extra"] = merge_mappings(ours.id, base.extra if base else {}, ours.extra, theirs.extra, decide)
    return replace(ours, **changes)


def merge_facts(where: str, base: Fact | None, ours: Fact, theirs: Fact, decide: Decide) -> Fact:
    """Both sides' changes of a fact in one. where: "nugget: key". Raises ConflictError when `decide` does."""
    values = {
        name: _field(
            where,
            name,
            getattr(base, name) if base is not None else _NOTHING,
            getattr(ours, name),
            getattr(theirs, name),
            decide,
        )
        for name in ("key", "value")
    }
    return msgspec.structs.replace(
        ours,
        **values,
        hits=merge_hits(base, ours, theirs),
        last_hit_session=_last_session(base, ours, theirs),
        extra=merge_mappings(where, base.extra if base else {}, ours.extra, theirs.extra, decide),
    )


def merge_mappings(
    where: str, base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any], decide: Decide
) -> dict[str, Any]:
    """Fields that this program does not know, each by itself, in the order of ours.

    Raises ConflictError when `decide` does.
    """
    merged: dict[str, Any] = {}
    for name in dict.fromkeys([*ours, *theirs]):
        former, mine, other = (side.get(name, _NOTHING) for side in (base, ours, theirs))
        taken = mine
        if mine == former:
            taken = other
        elif other not in (mine, former):
            what = f"its field {name} was changed in two ways"
            found = conflict(
                ErrorCode.CHANGED_IN_TWO_WAYS,
                what,
                where,
                _as_text(former),
                _as_text(mine),
                _as_text(other),
                name,
            )
            taken = decide(found, mine, other)
        if taken is not _NOTHING:
            merged[name] = taken
    return merged


def _as_text(value: Any) -> str:
    if value is _NOTHING:
        return ""
    return (value if isinstance(value, bytes) else dump(value)).decode(errors="replace")


def _one_state_of_the_fact(base: Note | None, ours: Note, theirs: Note, decide: Decide) -> tuple[Note, Note]:
    """When one side hid a fact, or brought it back, and the other gave it another key or value, one of both stands."""
    if base is None or not base.is_fact or not _hid_and_edited(base, ours, theirs):
        return ours, theirs
    what = "its fact was changed by one side and hidden or brought back by the other"
    found = conflict(
        ErrorCode.CHANGED_AND_HIDDEN, what, ours.id, base.content, _said(ours), _said(theirs), "hidden"
    )
    taken = ours if decide(found, ours.hidden, theirs.hidden) == ours.hidden else theirs
    state = {name: getattr(taken, name) for name in OF_ITS_FACT}
    return replace(ours, **state), replace(theirs, **state)


def _one_metadata(ours: Note, theirs: Note) -> tuple[Note, Note]:
    surer = max(ours, theirs, key=lambda note: (note.confidence, note.updated_at, note.source, note.scope))
    given = {name: getattr(surer, name) for name in METADATA_FIELDS}
    return replace(ours, **given), replace(theirs, **given)


def _hid_and_edited(base: Note, ours: Note, theirs: Note) -> bool:
    return any(
        one.hidden != base.hidden
        and other.hidden == base.hidden
        and not (alike(other.content, base.content) and other.key == base.key)
        for one, other in ((ours, theirs), (theirs, ours))
    )


def _said(note: Note) -> str:
    return f"{note.content} (hidden)" if note.hidden else note.content


def _field(where: str, name: str, base: Any, ours: Any, theirs: Any, decide: Decide) -> Any:
    if alike(ours, theirs):
        return ours
    if base is not _NOTHING and alike(theirs, base):
        return ours
    if base is not _NOTHING and alike(ours, base):
        return theirs
    if name == "tags":
        return _joined(base, ours, theirs, lambda tag: tag)
    if name == "links":
        return _joined(base, ours, theirs, lambda link: (link.to, link.reason))
    if name in _LATEST:
        return _latest(base, ours, theirs)
    if name == "created_at":
        return min(ours, theirs) if ours and theirs else ours or theirs
    what = f"its {name.replace('_', ' ')} was changed in two ways"
    told = "" if base is _NOTHING or base is None else base
    return decide(
        conflict(ErrorCode.CHANGED_IN_TWO_WAYS, what, where, told, ours, theirs, name), ours, theirs
    )


def _joined(base: Any, ours: tuple[Any, ...], theirs: tuple[Any, ...], identity: Any) -> tuple[Any, ...]:
    """Two sets that stand in order: what one side took away goes, what one side added stays."""
    known = set() if base is _NOTHING else {identity(item) for item in base}
    mine, other = {identity(item) for item in ours}, {identity(item) for item in theirs}
    kept = [item for item in ours if identity(item) not in known or identity(item) in other]
    found = {identity(item): item for item in reversed(kept)}
    added = [item for item in theirs if identity(item) not in known and identity(item) not in mine]
    return (*reversed(found.values()), *added)


def _state(base: Note | None, ours: Note, theirs: Note, hidden: bool, content: str) -> dict[str, Any]:
    """What goes with being hidden: the waiting fact and the time."""
    if ours.hidden != theirs.hidden:
        side = ours if ours.hidden == hidden else theirs
        return {"hidden_fact": side.hidden_fact, "archived_at": side.archived_at}
    former = (base.hidden_fact, base.archived_at) if base is not None else (_NOTHING, _NOTHING)
    return {
        "hidden_fact": _waiting(former[0], ours.hidden_fact, theirs.hidden_fact, content),
        "archived_at": _latest(former[1], ours.archived_at, theirs.archived_at),
    }


def _waiting(
    base: Any, ours: HiddenFact | None, theirs: HiddenFact | None, content: str
) -> HiddenFact | None:
    """The fact that waits in a hidden note; of two that differ the one that says what the note says."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    if ours is None or theirs is None:
        return ours or theirs
    if same_fact(ours, theirs):
        return max(ours, theirs, key=lambda fact: (fact.hits, -fact.index))
    return theirs if alike(theirs.value, content) and not alike(ours.value, content) else ours


def _latest(base: Any, ours: str | None, theirs: str | None) -> str | None:
    if ours == theirs or theirs == base:
        return ours
    return theirs if ours == base else max(ours or "", theirs or "") or None


def merge_hits(base: Note | Fact | None, ours: Note | Fact, theirs: Note | Fact) -> int:
    """Recalls of both sides added up; what both counted for one session, or what has no base, counts once."""
    if base is None or ours.hits == theirs.hits == base.hits:
        return max(ours.hits, theirs.hits)
    moved = ours.last_hit_session != base.last_hit_session
    if moved and ours.last_hit_session == theirs.last_hit_session:
        return max(ours.hits, theirs.hits)
    return max(0, ours.hits + theirs.hits - base.hits)


def _last_session(base: Note | Fact | None, ours: Note | Fact, theirs: Note | Fact) -> str:
    former = base.last_hit_session if base is not None else None
    if ours.last_hit_session == former:
        return theirs.last_hit_session
    if theirs.last_hit_session == former:
        return ours.last_hit_session
    return max(ours, theirs, key=_recalled).last_hit_session


def _recalled(item: Note | Fact) -> tuple[bool, str, int, str]:
    when = item.last_accessed_at if isinstance(item, Note) else ""
    return item.last_hit_session != "", when, item.hits, item.last_hit_session
