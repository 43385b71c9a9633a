"""One note or one fact in three versions: what a base, the version that stands and the one that is brought in make
together, by one table of rules for fields; and who decides where they cannot be merged. No side counts for more; the
order is that of what stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn, Protocol

import msgspec

from core.errors import ConflictError, ErrorCode
from core.model.compare import alike
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import FILE_NAMES, METADATA_FIELDS, HiddenFact, Link, Note, Page, replace
from core.storage.format.json_text import dump
from core.text.diff3 import merged_lines

# What makes a fact note stand for its fact; whether it is hidden decides what becomes of all of them.
OF_ITS_FACT: Final = ("title", "content", "source_key", "hidden", "hidden_fact", "archived_at")
_KEPT: Final = "nothing was written; both versions are safe"
_NOTHING: Final = object()
# What moves without the note having been changed in meaning.
_QUIET: Final = frozenset(
    {"hits", "last_hit_session", "last_accessed_at", "last_rewritten_at", "updated_at", "vector"}
    | {"tags", "links", "created_at", "extra", "page"}
)
# Told by several fields together.
_TOGETHER: Final = frozenset({"id", "hits", "last_hit_session", "vector", "hidden_fact", "archived_at"})


# Deciding


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


# Merging


def same_meaning(one: Note | Fact, other: Note | Fact) -> bool:
    """Whether whoever deletes the one may delete the other: they differ at most by recalls, times, tags and links."""
    names = (name for name in one.__struct_fields__ if name not in _QUIET)
    return all(alike(getattr(one, name), getattr(other, name)) for name in names)


def merge_notes(base: Note | None, stands: Note, brought: Note, decide: Decide) -> Note:
    """Both versions of a note in one, with the id of the one that stands; `decide` is asked where they do not go
    together.

    Without a base everything counts as changed by both: tags and links are joined, the most recalls and the latest
    times stay, the surer side gives the metadata, and texts that differ are a conflict. The vector is not set
    right. Raises ConflictError when `decide` does.
    """
    if base is None:
        surer = max(stands, brought, key=lambda one: (one.confidence, one.updated_at, one.source, one.scope))
        given = {name: getattr(surer, name) for name in METADATA_FIELDS}
        stands, brought = replace(stands, **given), replace(brought, **given)
    stands, brought = _one_state_of_the_fact(base, stands, brought, decide)
    changes: dict[str, Any] = {}
    for name in (name for name in FILE_NAMES if name not in _TOGETHER):
        versions: list[Any] = [getattr(side, name, _NOTHING) for side in (base, stands, brought)]
        former, here, there = versions
        lines = None
        if name == "content" and stands.page is not None and former not in (_NOTHING, here, there):
            # Two programs may have changed other lines of a page.
            lines = merged_lines(former, there, here) if here != there else None
        changes[name] = _field(stands.id, name, former, here, there, decide) if lines is None else lines
    changes |= _state(base, stands, brought, changes["hidden"])
    return replace(stands, **changes, **_rest(stands.id, base, stands, brought, decide))


def merge_facts(where: str, base: Fact | None, stands: Fact, brought: Fact, decide: Decide) -> Fact:
    """Both versions of a fact in one. where: "nugget: key". Raises ConflictError when `decide` does."""
    values = {
        name: _field(where, name, getattr(base, name, _NOTHING), getattr(stands, name), getattr(brought, name), decide)
        for name in ("key", "value")
    }  # fmt: skip
    return msgspec.structs.replace(stands, **values, **_rest(where, base, stands, brought, decide))


def _rest(
    where: str, base: Note | Fact | None, stands: Note | Fact, brought: Note | Fact, decide: Decide
) -> dict[str, Any]:
    """What notes and facts have in common: their recalls, and the fields that this program does not know."""
    former = base.extra if base is not None else {}
    return {
        "hits": merge_hits(base, stands, brought),
        "last_hit_session": _last_session(base, stands, brought),
        "extra": merge_mappings(where, former, stands.extra, brought.extra, decide),
    }


def merge_mappings(
    where: str,
    base: Mapping[str, Any],
    stands: Mapping[str, Any],
    brought: Mapping[str, Any],
    decide: Decide,
) -> dict[str, Any]:
    """Fields that this program does not know, each by itself, in the order of what stands.

    Raises ConflictError when `decide` does.
    """
    merged: dict[str, Any] = {}
    for name in dict.fromkeys([*stands, *brought]):
        former, here, there = (side.get(name, _NOTHING) for side in (base, stands, brought))
        taken = here
        if here == former:
            taken = there
        elif there not in (here, former):
            was, said, stood = map(_as_text, (former, there, here))
            found = conflict(ErrorCode.CHANGED_IN_TWO_WAYS, where, was, said, stood, name)
            taken = decide(found, there, here)
        if taken is not _NOTHING:
            merged[name] = taken
    return merged


def _as_text(value: Any) -> str:
    if value is _NOTHING:
        return ""
    return (value if isinstance(value, bytes) else dump(value)).decode(errors="replace")


def _one_state_of_the_fact(
    base: Note | None, stands: Note, brought: Note, decide: Decide
) -> tuple[Note, Note]:
    """When one side hid a fact, or brought it back, and the other gave it another key or value, one of both stands."""
    if base is None or not base.is_fact:
        return stands, brought
    hid = [side.hidden != base.hidden for side in (stands, brought)]
    edited = [side.key != base.key or not alike(side.content, base.content) for side in (brought, stands)]
    if hid[0] == hid[1] or not any(one and other for one, other in zip(hid, edited, strict=True)):
        return stands, brought
    said, stood = (f"{side.content} (hidden)" if side.hidden else side.content for side in (brought, stands))
    found = conflict(ErrorCode.CHANGED_IN_TWO_WAYS, stands.id, base.content, said, stood, "hidden")
    taken = stands if decide(found, brought.hidden, stands.hidden) == stands.hidden else brought
    state = {name: getattr(taken, name) for name in OF_ITS_FACT}
    return replace(stands, **state), replace(brought, **state)


def _field(where: str, name: str, base: Any, stands: Any, brought: Any, decide: Decide) -> Any:
    if brought in (base, stands):
        return stands
    if base is not _NOTHING and alike(stands, base):
        return brought
    if alike(stands, brought):
        # Programs squeeze white space, none adds any.
        return max(stands, brought, key=len)
    if name in RULES:
        return RULES[name](base, stands, brought)
    told = "" if base is _NOTHING or base is None else base
    return decide(
        conflict(ErrorCode.CHANGED_IN_TWO_WAYS, where, told, brought, stands, name), brought, stands
    )


def _joined(base: Any, stands: tuple[Any, ...], brought: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tags or links, which are sets that stand in order: what one side took away goes, what one side added stays."""

    def named(items: tuple[Any, ...]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for one in items:
            found.setdefault((one.to, one.reason) if isinstance(one, Link) else one, one)
        return found

    known, mine, other = named(() if base is _NOTHING else base), named(stands), named(brought)
    kept = (item for name, item in mine.items() if name not in known or name in other)
    return (*kept, *(item for name, item in other.items() if name not in known and name not in mine))


def _state(base: Note | None, stands: Note, brought: Note, hidden: bool) -> dict[str, Any]:
    """What goes with being hidden: the waiting fact and the time."""
    if stands.hidden != brought.hidden:
        side = stands if stands.hidden == hidden else brought
        return {"hidden_fact": side.hidden_fact, "archived_at": side.archived_at}
    former = (base.hidden_fact, base.archived_at) if base is not None else (_NOTHING, _NOTHING)
    return {
        "hidden_fact": _waiting(former[0], stands.hidden_fact, brought.hidden_fact),
        "archived_at": _latest(former[1], stands.archived_at, brought.archived_at),
    }


def _waiting(base: Any, stands: HiddenFact | None, brought: HiddenFact | None) -> HiddenFact | None:
    """The fact that waits in a hidden note; of two that differ the one that stands."""
    return stands if brought == base or stands not in (base, None) else brought


def _latest(base: Any, stands: str | None, brought: str | None) -> str | None:
    if brought in (stands, base):
        return stands
    return brought if stands == base else max(stands or "", brought or "") or None


def _earliest(_base: Any, stands: str, brought: str) -> str:
    return min(stands, brought) if stands and brought else stands or brought


def merge_hits(base: Note | Fact | None, stands: Note | Fact, brought: Note | Fact) -> int:
    """Recalls of both sides added up; what both counted for one session, or what has no base, counts once."""
    one_session = stands.last_hit_session == brought.last_hit_session
    moved = base is not None and brought.last_hit_session != base.last_hit_session
    if base is None or (one_session and (moved or stands.hits == brought.hits)):
        return max(stands.hits, brought.hits)
    return max(0, stands.hits + brought.hits - base.hits)


def _last_session(base: Note | Fact | None, stands: Note | Fact, brought: Note | Fact) -> str:
    """Of two sessions that of the later recall; taking a recall back leaves the session of a later one."""
    for side, other in ((stands, brought), (brought, stands)):
        if base is not None and (
            side.last_hit_session == base.last_hit_session or side.hits < base.hits != other.hits
        ):
            return other.last_hit_session

    def recalled(item: Note | Fact) -> tuple[bool, str, int, str]:
        when = item.last_accessed_at if isinstance(item, Note) else ""
        return item.last_hit_session != "", when, item.hits, item.last_hit_session

    return max(stands, brought, key=recalled).last_hit_session


def _page(base: Any, stands: Any, brought: Any) -> Any:
    """What a change says is written into the page as it is now; what is taken back brings its own to one as it was."""
    pages = isinstance(base, Page) and isinstance(stands, Page)
    return brought if pages and (base.file, base.text) == (stands.file, stands.text) else stands


# What is made of two values of a field that both sides changed, where it is no conflict.
RULES: Final[Mapping[str, Callable[[Any, Any, Any], Any]]] = {
    "tags": _joined,
    "links": _joined,
    "created_at": _earliest,
    "updated_at": _latest,
    "last_accessed_at": _latest,
    "last_rewritten_at": _latest,
    "page": _page,
}
