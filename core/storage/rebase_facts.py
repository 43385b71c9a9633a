"""Changes of facts brought onto the newest fact files."""

from __future__ import annotations

import msgspec

from core.model.change import ChangeSet, FactChange
from core.model.fact import Fact
from core.model.snapshot import Snapshot
from core.storage.merging import alike, conflict, merge_extra, merge_hits


def rebase_facts(change_set: ChangeSet, snapshot: Snapshot, quiet: bool) -> list[FactChange]:
    """The changes of facts on top of the facts as they are now, each with its place now. Raises ConflictError.

    quiet: a recall, which never conflicts.
    """
    places: dict[str, dict[str, list[int]]] = {}
    for name in {change.nugget for change in change_set.facts}:
        found = places.setdefault(name, {})
        nugget = snapshot.by_name.get(name)
        for number, fact in enumerate(nugget.facts if nugget else ()):
            found.setdefault(fact.key, []).append(number)
    freed, arriving = _freed_keys(change_set), _arriving_values(change_set)
    rebased: list[FactChange | None] = []
    # New facts last: by then it is known which keys the others have given up.
    for change in sorted(change_set.facts, key=lambda change: change.before is None):
        facts = snapshot.by_name[change.nugget].facts if change.nugget in snapshot.by_name else ()
        of_key = places[change.nugget].get(change.key, [])
        place = of_key[0] if of_key else None
        current = facts[place] if place is not None else None
        target = change.after.key if change.after is not None else change.key
        bearers = places[change.nugget].get(target, []) if target != change.key else []
        bearer = facts[bearers[0]] if bearers else None
        if _was_renamed(change, current, bearer, arriving.get((change.nugget, change.key))):
            continue
        if change.before is not None and of_key:
            # A file may hold a key twice; each change is for one of them, the first for the first.
            of_key.pop(0)
        other = None if (change.nugget, target) in freed else bearer
        rebased.append(_rebase_fact(change, current, place, other, quiet))
    return [change for change in rebased if change is not None]


def _freed_keys(change_set: ChangeSet) -> set[tuple[str, str]]:
    """Keys that facts give up in this change set."""
    leaving = (
        c for c in change_set.facts if c.before is not None and (c.after is None or c.after.key != c.key)
    )
    return {(change.nugget, change.key) for change in leaving}


def _arriving_values(change_set: ChangeSet) -> dict[tuple[str, str], str]:
    """Values of the facts that come to bear a key in this change set."""
    return {
        (change.nugget, change.after.key): change.after.value
        for change in change_set.facts
        if change.after is not None and (change.before is None or change.after.key != change.key)
    }


def _was_renamed(change: FactChange, current: Fact | None, bearer: Fact | None, newcomer: str | None) -> bool:
    """Whether a fact already bears its new key, its old one being free or taken by a newcomer of the same set."""
    if change.before is None or change.after is None or bearer is None:
        return False
    free = current is None or (newcomer is not None and alike(current.value, newcomer))
    return free and alike(bearer.value, change.after.value)


def _rebase_fact(
    change: FactChange, current: Fact | None, place: int | None, other: Fact | None, quiet: bool
) -> FactChange | None:
    """current, place: the fact as it is now, and where. other: another fact with the key after the change."""
    where = f"{change.nugget}: {change.key}"
    before, after = change.before, change.after
    if before is None:
        if after is None or (current is not None and alike(current.value, after.value)):
            return None
        if current is not None:
            raise conflict("this key was stored meanwhile", where, "", after.value, current.value)
        return change
    if current is None:
        if after is None or quiet:
            return None
        raise conflict("the fact was forgotten meanwhile", where, before.value, after.value, "")
    if after is None:
        if not alike(current.value, before.value):
            raise conflict("the fact was changed meanwhile", where, before.value, "", current.value)
        return msgspec.structs.replace(change, before=current, index=place)
    if other is not None:
        raise conflict("this key was stored meanwhile", where, before.key, after.key, after.key)
    merged = _merge_fact(where, before, after, current)
    return (
        None
        if merged == current
        else msgspec.structs.replace(change, before=current, after=merged, index=place)
    )


def _merge_fact(where: str, before: Fact, after: Fact, current: Fact) -> Fact:
    if after.value == before.value:
        value = current.value
    elif alike(current.value, before.value) or alike(current.value, after.value):
        value = after.value
    else:
        raise conflict("the fact was changed in two ways", where, before.value, after.value, current.value)
    return msgspec.structs.replace(
        current,
        key=after.key,
        value=value,
        hits=merge_hits(before, after, current),
        last_hit_session=(
            current.last_hit_session
            if after.last_hit_session == before.last_hit_session or after.hits < before.hits != current.hits
            else after.last_hit_session
        ),
        extra=merge_extra(before.extra, after.extra, current.extra),
    )
