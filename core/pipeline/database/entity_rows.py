"""The rows of entities as they stand, what a change made of them, and how that is taken back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from core.pipeline.intake.names import canonical_name

# Before what is put back later in this order stands what it refers to.
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "entities": ("id",),
    "entity_aliases": ("name",),
    "aspects": ("id",),
    "attributes": ("id",),
    "relations": ("id",),
    "relation_evidence": ("relation_id", "raw_id"),
    "mentions": ("entity_id", "raw_id"),
}
_OF_ENTITIES: Final = "entity_id IN (SELECT value FROM json_each(:ids))"
_ENDS: Final = (
    "source_id IN (SELECT value FROM json_each(:ids)) OR target_id IN (SELECT value FROM json_each(:ids))"
)
_WHERE: Final[Mapping[str, str]] = {
    "entities": "id IN (SELECT value FROM json_each(:ids))",
    "relations": _ENDS,
    "relation_evidence": f"relation_id IN (SELECT id FROM relations WHERE {_ENDS})",
}
# What a column refers to, by table; ids of rows that went may be those of others by now.
REFERS: Final[Mapping[str, Mapping[str, str]]] = {
    "entity_aliases": {"entity_id": "entities"},
    "aspects": {"entity_id": "entities"},
    "attributes": {"entity_id": "entities", "aspect_id": "aspects"},
    "relations": {"source_id": "entities", "target_id": "entities"},
    "relation_evidence": {"relation_id": "relations", "raw_id": "raw_memories"},
    "mentions": {"entity_id": "entities", "raw_id": "raw_memories"},
}
_RENUMBERED: Final = ("entities", "aspects", "relations")
# Made of the name again: masking finds a credential in the name, not in this form of it.
_DERIVED: Final = "canonical_name"
_UNTOLD: Final = (_DERIVED, "updated_at")

Row = dict[str, Any]
# By table, for an id that something had the one that it has now.
Numbers = dict[str, dict[int, int]]
# By table and key.
Rows = dict[tuple[str, str], Row]


class RowChange(NamedTuple):
    """What became of a row. before, after: None where it was not, or is not; else the columns that differ."""

    table: str
    key: Row
    before: Row | None
    after: Row | None


def differences(before: Rows, after: Rows) -> list[RowChange]:
    """What became of rows, in the order in which it can be put back."""
    found = []
    order = list(_KEYS)
    for place in sorted(before.keys() | after.keys(), key=lambda one: (order.index(one[0]), one[1])):
        table, was, now = place[0], before.get(place), after.get(place)
        key = {name: (was or now or {})[name] for name in _KEYS[table]}
        if was is None or now is None:
            found.append(RowChange(table, key, _without_derived(was), _without_derived(now)))
            continue
        changed = [name for name in was if was[name] != now[name] and name not in _UNTOLD]
        if changed:
            found.append(
                RowChange(
                    table, key, {name: was[name] for name in changed}, {name: now[name] for name in changed}
                )
            )
    return found


def _without_derived(row: Row | None) -> Row | None:
    return None if row is None else {name: value for name, value in row.items() if name != _DERIVED}


def entities_of(changes: Iterable[RowChange]) -> frozenset[int]:
    """The ids of all entities that some changes have to do with."""
    return frozenset(
        int(value)
        for change in changes
        for side in (change.key, change.before or {}, change.after or {})
        for name, value in side.items()
        if (change.table == "entities" and name == "id")
        or REFERS.get(change.table, {}).get(name) == "entities"
    )


class EntityRows:
    """The rows that belong to entities."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def of(self, ids: Sequence[int]) -> Rows:
        """All rows that say something of some entities."""
        found: Rows = {}
        for table, key in _KEYS.items():
            where = _WHERE.get(table, _OF_ENTITIES)
            rows = self._connection.execute(
                f"SELECT * FROM {table} WHERE {where}", {"ids": json.dumps(list(ids))}
            )
            found |= {(table, json.dumps([row[name] for name in key])): dict(row) for row in rows}
        return found

    def put_back(self, changes: Sequence[RowChange]) -> Numbers:
        """Takes changes back, column by column, where the row is still as the change left it; what came since stays.

        Returns the new ids of what came back and whose former ids others have by now.
        """
        numbers: Numbers = {name: {} for name in _RENUMBERED}
        for change in changes:
            if change.before is None:
                where = " AND ".join(f"{name} = ?" for name in change.key)
                self._connection.execute(
                    f"DELETE FROM {change.table} WHERE {where}", tuple(change.key.values())
                )
        for change in changes:
            if change.before is not None and change.after is None:
                self._insert(change.table, change.before, numbers)
            elif change.before is not None and change.after is not None:
                self._update(change, numbers)
        return numbers

    def _insert(self, table: str, before: Row, numbers: Numbers) -> None:
        row = _renumbered(table, before, numbers)
        refers = REFERS.get(table, {})
        made = 0
        there = all(row[name] is None or self._exists(to, row[name]) for name, to in refers.items())
        if there and not self._is_gone(row.get("raw_id")):
            if table in numbers and self._exists(table, row["id"]):
                del row["id"]
            if "name" in row:
                row[_DERIVED] = canonical_name(row["name"])
            columns, marks = ", ".join(row), ", ".join("?" * len(row))
            done = self._connection.execute(
                f"INSERT INTO {table} ({columns}) VALUES ({marks})"
                + (" ON CONFLICT DO NOTHING" if table != "entities" else ""),
                tuple(row.values()),
            )
            made = (done.lastrowid or 0) if done.rowcount else 0
        if table in numbers and made != before["id"]:
            # 0 is no row's id: what belongs to one that did not come back goes to no other.
            numbers[table][before["id"]] = made

    def _update(self, change: RowChange, numbers: Numbers) -> None:
        before, after = _renumbered(change.table, change.before or {}, numbers), change.after or {}
        sets = ", ".join(f"{name} = iif({name} IS ?, ?, {name})" for name in after)
        values = [value for name in after for value in (after[name], before[name])]
        where = " AND ".join(f"{name} = ?" for name in change.key)
        self._connection.execute(
            f"UPDATE OR IGNORE {change.table} SET {sets} WHERE {where}", (*values, *change.key.values())
        )

    def _exists(self, table: str, id: Any) -> bool:
        return self._connection.execute(f"SELECT 1 FROM {table} WHERE id = ?", (id,)).fetchone() is not None

    def _is_gone(self, raw_id: Any) -> bool:
        """Whether retention deleted, or is deleting, the text of a row: what it said does not come back."""
        found = self._connection.execute(
            "SELECT 1 FROM tombstones WHERE id = ? AND gone_at IS NOT NULL", (raw_id,)
        )
        return found.fetchone() is not None

    def strayed(self, ids: Sequence[int]) -> Iterator[tuple[int, int, str]]:
        """What is said of some entities under an aspect of another: attribute, its entity, and the aspect's name."""
        rows = self._connection.execute(
            "SELECT said.id, said.entity_id, aspects.name FROM attributes AS said "
            "JOIN aspects ON aspects.id = said.aspect_id AND aspects.entity_id <> said.entity_id "
            f"WHERE said.{_OF_ENTITIES} ORDER BY said.id",
            {"ids": json.dumps(list(ids))},
        )
        yield from ((row[0], row[1], row[2]) for row in rows.fetchall())


def renumbered(change: RowChange, numbers: Numbers) -> RowChange:
    """A change with the ids that things have now."""
    sides = (
        None if side is None else _renumbered(change.table, side, numbers, own=True)
        for side in (change.key, change.before, change.after)
    )
    key, before, after = sides
    return RowChange(change.table, key or {}, before, after)


def _renumbered(table: str, row: Row, numbers: Numbers, *, own: bool = False) -> Row:
    """A row with new ids of what it refers to; own: its own id as well."""
    refers = {**REFERS.get(table, {}), **({"id": table} if own else {})}
    return {name: numbers.get(refers.get(name, ""), {}).get(value, value) for name, value in row.items()}
