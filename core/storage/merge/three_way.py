"""One note or one fact in three versions: what a base, ours and theirs make together, by one table of rules for fields.

A rebase, a version control system's merge and the joining of conflict copies all ask it. Ours is the version that
stands, theirs the one that is brought in: the order is that of ours, else no side counts for more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from core.errors import ErrorCode
from core.model.compare import alike
from core.model.fact import Fact
from core.model.note import FILE_NAMES, METADATA_FIELDS, HiddenFact, Link, Note, Page, replace
from core.storage.format.json_text import dump
from core.storage.merge.deciding import OF_ITS_FACT, Decide, conflict, same_fact
from core.text.diff3 import merged_lines

T = TypeVar("T", Note, Fact)
_NOTHING: Final = object()
# What moves without the note having been changed in meaning.
_QUIET: Final = frozenset(
    {"hits", "last_hit_session", "last_accessed_at", "last_rewritten_at", "updated_at", "vector"}
    | {"tags", "links", "created_at", "extra", "page"}
)


def same_meaning(one: Note | Fact, other: Note | Fact) -> bool:
    """Whether whoever deletes the one may delete the other: they differ at most by recalls, times, tags and links."""
    return all(
        alike(getattr(one, name), getattr(other, name))
        for name in one.__struct_fields__
        if name not in _QUIET
    )


def merge_notes(base: Note | None, ours: Note, theirs: Note, decide: Decide) -> Note:
    """Both files' versions of a note in one, with the id of ours; `decide` is asked where they do not go together.

    Without a base everything counts as changed by both: tags and links are joined, the most recalls and the latest
    times stay, the surer side gives the metadata, and texts that differ are a conflict. The vector is not set
    right. Raises ConflictError when `decide` does.
    """
    if base is None:
        surer = max(
            ours, theirs, key=lambda note: (note.confidence, note.updated_at, note.source, note.scope)
        )
        given = {name: getattr(surer, name) for name in METADATA_FIELDS}
        ours, theirs = replace(ours, **given), replace(theirs, **given)
    ours, theirs = _one_state_of_the_fact(base, ours, theirs, decide)
    changes: dict[str, Any] = {}
    for name in FILE_NAMES:
        if name not in ("id", "hits", "last_hit_session", "vector", "hidden_fact", "archived_at"):
            former, mine, other = (getattr(side, name, _NOTHING) for side in (base, ours, theirs))
            together = _lines_of_page(base, ours, theirs) if name == "content" else None
            changes[name] = (
                _field(ours.id, name, former, mine, other, decide) if together is None else together
            )
    changes |= _state(base, ours, theirs, changes["hidden"], changes["content"])
    return replace(ours, **changes, **_rest(ours.id, base, ours, theirs, decide))


def _lines_of_page(base: Note | None, ours: Note, theirs: Note) -> str | None:
    """The text of a page in which both sides changed other lines; None for any other note."""
    if base is None or ours.page is None or ours.content == theirs.content:
        return None
    if base.content in (ours.content, theirs.content):
        return None
    return merged_lines(base.content, theirs.content, ours.content)


def merge_facts(where: str, base: Fact | None, ours: Fact, theirs: Fact, decide: Decide) -> Fact:
    """Both versions of a fact in one. where: "nugget: key". Raises ConflictError when `decide` does."""
    values = {
        name: _field(
            where, name, getattr(base, name, _NOTHING), getattr(ours, name), getattr(theirs, name), decide
        )
        for name in ("key", "value")
    }
    return msgspec.structs.replace(ours, **values, **_rest(where, base, ours, theirs, decide))


def _rest(
    where: str, base: Note | Fact | None, ours: Note | Fact, theirs: Note | Fact, decide: Decide
) -> dict[str, Any]:
    """What notes and facts have in common: their recalls, and the fields that this program does not know."""
    former = base.extra if base is not None else {}
    return {
        "hits": merge_hits(base, ours, theirs),
        "last_hit_session": _last_session(base, ours, theirs),
        "extra": merge_mappings(where, former, ours.extra, theirs.extra, decide),
    }


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
            was, here, there = map(_as_text, (former, mine, other))
            found = conflict(ErrorCode.CHANGED_IN_TWO_WAYS, where, was, here, there, name)
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
    if base is None or not base.is_fact:
        return ours, theirs
    hid = [side.hidden != base.hidden for side in (ours, theirs)]
    edited = [side.key != base.key or not alike(side.content, base.content) for side in (theirs, ours)]
    if hid[0] == hid[1] or not any(one and other for one, other in zip(hid, edited, strict=True)):
        return ours, theirs
    here, there = (f"{side.content} (hidden)" if side.hidden else side.content for side in (ours, theirs))
    found = conflict(ErrorCode.CHANGED_IN_TWO_WAYS, ours.id, base.content, here, there, "hidden")
    taken = ours if decide(found, ours.hidden, theirs.hidden) == ours.hidden else theirs
    state = {name: getattr(taken, name) for name in OF_ITS_FACT}
    return replace(ours, **state), replace(theirs, **state)


def _field(where: str, name: str, base: Any, ours: Any, theirs: Any, decide: Decide) -> Any:
    if theirs in (base, ours):
        return ours
    if base is not _NOTHING and alike(ours, base):
        return theirs
    if alike(ours, theirs):
        # Programs squeeze white space, none adds any.
        return max(ours, theirs, key=len)
    if name in RULES:
        return RULES[name](base, ours, theirs)
    told = "" if base is _NOTHING or base is None else base
    return decide(conflict(ErrorCode.CHANGED_IN_TWO_WAYS, where, told, ours, theirs, name), ours, theirs)


def _joined(base: Any, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tags or links, which are sets that stand in order: what one side took away goes, what one side added stays."""

    def named(items: tuple[Any, ...]) -> dict[Any, Any]:
        return {(one.to, one.reason) if isinstance(one, Link) else one: one for one in reversed(items)}

    known, mine, other = named(() if base is _NOTHING else base), named(ours), named(theirs)
    kept = {name: item for name, item in reversed(mine.items()) if name not in known or name in other}
    added = (item for name, item in reversed(other.items()) if name not in known and name not in mine)
    return (*kept.values(), *added)


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
    if theirs in (ours, base):
        return ours
    return theirs if ours == base else max(ours or "", theirs or "") or None


def _earliest(_base: Any, ours: str, theirs: str) -> str:
    return min(ours, theirs) if ours and theirs else ours or theirs


def merge_hits(base: Note | Fact | None, ours: Note | Fact, theirs: Note | Fact) -> int:
    """Recalls of both sides added up; what both counted for one session, or what has no base, counts once."""
    one_session = ours.last_hit_session == theirs.last_hit_session
    moved = base is not None and theirs.last_hit_session != base.last_hit_session
    if base is None or (one_session and (moved or ours.hits == theirs.hits)):
        return max(ours.hits, theirs.hits)
    return max(0, ours.hits + theirs.hits - base.hits)


def _last_session(base: Note | Fact | None, ours: Note | Fact, theirs: Note | Fact) -> str:
    """Of two sessions that of the later recall; taking a recall back leaves the session of a later one."""
    for side, other in ((ours, theirs), (theirs, ours)):
        if base is not None and (
            side.last_hit_session == base.last_hit_session or side.hits < base.hits != other.hits
        ):
            return other.last_hit_session

    def recalled(item: Note | Fact) -> tuple[bool, str, int, str]:
        when = item.last_accessed_at if isinstance(item, Note) else ""
        return item.last_hit_session != "", when, item.hits, item.last_hit_session

    return max(ours, theirs, key=recalled).last_hit_session


def _page(base: Any, ours: Any, theirs: Any) -> Any:
    """What a change says is written into the page as it is now; what is taken back brings its own to one as it was."""
    same = (
        isinstance(base, Page) and isinstance(ours, Page) and (base.file, base.text) == (ours.file, ours.text)
    )
    return theirs if same else ours


# What is made of two values of a field that both sides changed, where it is no conflict. Recalls, and what goes with
# being hidden, are told by several fields together: see `_rest` and `_state`.
RULES: Final[Mapping[str, Callable[[Any, Any, Any], Any]]] = {
    "tags": _joined,
    "links": _joined,
    "created_at": _earliest,
    "updated_at": _latest,
    "last_accessed_at": _latest,
    "last_rewritten_at": _latest,
    "page": _page,
}
