"""Changes of facts brought onto the newest fact files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from core.errors import ErrorCode
from core.model.change import ChangeSet, FactChange
from core.model.compare import alike
from core.model.fact import Fact
from core.model.snapshot import Snapshot
from core.storage.merge.deciding import Deciding, conflict, other_way_round
from core.storage.merge.three_way import merge_facts
from core.text.normalise import squeeze


class _Found(NamedTuple):
    """A fact as it stands in its file now, and its place there."""

    place: int
    fact: Fact


def rebase_facts(
    change_set: ChangeSet, snapshot: Snapshot, quiet: bool, deciding: Deciding
) -> list[FactChange]:
    """The changes of facts on top of the facts as they are now, each with its place now. Raises ConflictError.

    quiet: a recall, which never conflicts.
    """
    places: dict[str, dict[str, list[int]]] = {}
    for name in {change.nugget for change in change_set.facts}:
        found = places.setdefault(name, {})
        nugget = snapshot.by_name.get(name)
        for number, fact in enumerate(nugget.facts if nugget else ()):
            found.setdefault(fact.key, []).append(number)
    later = {name: _Namesakes(snapshot, name, keys) for name, keys in places.items()}
    freed, arriving = _freed_keys(change_set), _arriving_values(change_set)
    rebased: list[FactChange] = []
    # New facts last: by then it is known which keys the others have given up.
    for change in sorted(change_set.facts, key=lambda change: change.before is None):
        facts = snapshot.by_name[change.nugget].facts if change.nugget in snapshot.by_name else ()
        of_key = places[change.nugget].get(change.key, [])
        if change.namesake:
            rebased += _rebase_namesake(change, later[change.nugget], facts, deciding)
            continue
        current = _Found(of_key[0], facts[of_key[0]]) if of_key else None
        target = change.after.key if change.after is not None else change.key
        bearers = places[change.nugget].get(target, []) if target != change.key else []
        bearer = _Found(bearers[0], facts[bearers[0]]) if bearers else None
        if _was_renamed(change, current, bearer, arriving.get((change.nugget, change.key))):
            continue
        if change.before is not None and of_key:
            # A file may hold a key twice; each change is for one of them, the first for the first.
            of_key.pop(0)
        other = None if (change.nugget, target) in freed else bearer
        rebased += _rebase_fact(change, current, other, quiet, deciding)
    return rebased


class _Namesakes:
    """The facts of a nugget whose key an earlier one has too, that no change claimed yet; found by what they say."""

    def __init__(self, snapshot: Snapshot, nugget: str, places: Mapping[str, Sequence[int]]) -> None:
        self._facts = snapshot.by_name[nugget].facts if nugget in snapshot.by_name else ()
        # For each text the places in rising order.
        self._places: dict[tuple[str, str], dict[int, None]] = {}
        for key, of_key in places.items():
            for place in of_key[1:]:
                self._places.setdefault((key, squeeze(self._facts[place].value)), {})[place] = None

    def places_of_text(self, key: str, value: str) -> Mapping[int, None]:
        """Places of those with a key that say this, white space aside."""
        return self._places.get((key, squeeze(value)), {})

    def take(self, key: str, wanted: Fact, index: int | None) -> int | None:
        """The place of the one that is meant: the very same fact counts most, then the one at `index`."""
        found = self._places.get((key, squeeze(wanted.value)), {})
        if not found:
            return None
        if index in found and self._facts[index] == wanted:
            place = index
        else:
            # Most often it is the first, also where all say the same.
            same = next((place for place in found if self._facts[place] == wanted), None)
            place = same if same is not None else index if index in found else next(iter(found))
        del found[place]
        return place


def _rebase_namesake(
    change: FactChange, later: _Namesakes, facts: tuple[Fact, ...], deciding: Deciding
) -> list[FactChange]:
    """A change of a fact whose key an earlier one has too."""
    if change.before is None:
        there = change.after is not None and later.places_of_text(change.key, change.after.value)
        return [] if there else [change]
    place = later.take(change.key, change.before, change.index)
    if place is None:
        return []
    return _rebase_fact(change, _Found(place, facts[place]), None, False, deciding)


def _freed_keys(change_set: ChangeSet) -> set[tuple[str, str]]:
    """Keys that facts give up in this change set."""
    leaving = (
        c
        for c in change_set.facts
        if c.before is not None and not c.namesake and (c.after is None or c.after.key != c.key)
    )
    return {(change.nugget, change.key) for change in leaving}


def _arriving_values(change_set: ChangeSet) -> dict[tuple[str, str], str]:
    """Values of the facts that come to bear a key in this change set."""
    return {
        (change.nugget, change.after.key): change.after.value
        for change in change_set.facts
        if change.after is not None and (change.before is None or change.after.key != change.key)
    }


def _was_renamed(
    change: FactChange, current: _Found | None, bearer: _Found | None, newcomer: str | None
) -> bool:
    """Whether a fact already bears its new key, its old one being free or taken by a newcomer of the same set."""
    if change.before is None or change.after is None or bearer is None:
        return False
    free = current is None or (newcomer is not None and alike(current.fact.value, newcomer))
    return free and alike(bearer.fact.value, change.after.value)


def _rebase_fact(
    change: FactChange, current: _Found | None, other: _Found | None, quiet: bool, deciding: Deciding
) -> list[FactChange]:
    """current: the fact as it is now. other: another fact with the key after the change."""
    where = f"{change.nugget}: {change.key}"
    item = ("fact", change.nugget, change.key)
    before, after = change.before, change.after
    if before is None:
        if after is None or (current is not None and alike(current.fact.value, after.value)):
            return []
        if current is None:
            return [change]
        stored = conflict(
            ErrorCode.STORED_MEANWHILE,
            "this key has been stored since",
            where,
            "",
            after.value,
            current.fact.value,
        )
        stands = deciding.ours_stand(stored, after, current.fact, *item)
        return [_moved(change, current, after)] if stands else []
    if after is None:
        if current is None:
            return []
        changed = conflict(
            ErrorCode.FACT_CHANGED_MEANWHILE,
            "the fact has changed since",
            where,
            before.value,
            "",
            current.fact.value,
        )
        if not alike(current.fact.value, before.value) and not deciding.ours_stand(
            changed, None, current.fact, *item
        ):
            return []
        return [_moved(change, current, None)]
    if current is None:
        forgotten = conflict(
            ErrorCode.FORGOTTEN_MEANWHILE,
            "the fact has been forgotten since",
            where,
            before.value,
            after.value,
            "",
        )
        if quiet or not deciding.ours_stand(forgotten, after, None, *item):
            return []
        if other is not None:
            return [_moved(change, other, after)]
        return [FactChange(nugget=change.nugget, key=after.key, before=None, after=after, index=None)]
    replaced: list[FactChange] = []
    if other is not None:
        taken = conflict(
            ErrorCode.STORED_MEANWHILE,
            "this key has been stored since",
            where,
            before.key,
            after.key,
            after.key,
        )
        if not deciding.ours_stand(taken, after, current.fact, *item):
            return []
        replaced = [_moved(change, other, None)]
    merged = _merge_fact(where, before, after, current.fact, deciding)
    return replaced if merged == current.fact else [*replaced, _moved(change, current, merged)]


def _moved(change: FactChange, found: _Found, after: Fact | None) -> FactChange:
    return FactChange(
        nugget=change.nugget,
        key=found.fact.key,
        before=found.fact,
        after=after,
        index=found.place,
        namesake=change.namesake,
    )


def _merge_fact(where: str, before: Fact, after: Fact, current: Fact, deciding: Deciding) -> Fact:
    merged = merge_facts(where, before, current, after, other_way_round(deciding.value))
    if after.last_hit_session == before.last_hit_session or after.hits < before.hits:
        return merged
    # A fact bears no time of its recalls; the one that is brought in is the latest.
    return msgspec.structs.replace(merged, last_hit_session=after.last_hit_session)
