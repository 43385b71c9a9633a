"""Entity edits by a person: merging two entities and giving one another name, each audited, and taken back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Final, Literal

from core.errors import ConflictError, ErrorCode, InvalidInputError, NotFoundError
from core.pipeline.database.connection import Database
from core.pipeline.database.entities import Kind
from core.pipeline.database.entity_rows import Numbers, RowChange, differences, entities_of, renumbered
from core.pipeline.database.tables import Tables
from core.pipeline.intake.names import canonical_name
from core.pipeline.intake.normalisation import collapse_white_space, compose
from core.pipeline.knowledge.relations import SHORTEST_NAME
from core.pipeline.records import Entity, EntityChange, HistoryRow
from core.text.normalise import encodable

LONGEST_NAME: Final = 200
_KEPT: Final = "nothing was changed"
_KINDS: Final[dict[str, Literal["merged", "alias"]]] = {"entities_merged": "merged", "alias_added": "alias"}
_UNDONE: Final = "entity_change_undone"
# So many of the newest changes are known.
_MOST: Final = 10_000


def merge_entities(
    database: Database, keep_id: int, other_id: int, *, by: str, now: int, max_attempts: int = 3
) -> Entity:
    """Makes two entities one; what is known of the other goes over, and its names become aliases of the kept one.

    now: epoch ms. max_attempts: of the job that classifies what came over without an aspect. Raises NotFoundError for
    an id that is none, InvalidInputError for one and the same.
    """
    if keep_id == other_id:
        raise InvalidInputError(
            "an entity cannot be merged with itself", where=f"entity {keep_id}", kept=_KEPT
        )
    with database.write() as writer:
        kept, other = _known(writer, keep_id), _known(writer, other_id)

        def merge() -> None:
            writer.entities.merge(keep_id, other_id, now)
            writer.entities.determine(keep_id, other.type, now)

        rows = _changed(writer, (keep_id, other_id), merge)
        _classify(writer, keep_id, max_attempts, now)
        writer.history.append(
            at=now, event="entities_merged", changed_by=by, old_content=other.name, new_content=kept.name,
            metadata={"kept": keep_id, "merged": other_id, "rows": rows},
        )  # fmt: skip
        merged = writer.entities.entity_of(keep_id)
    assert merged is not None
    return merged


def add_alias(database: Database, entity_id: int, name: str, *, by: str, now: int) -> Entity:
    """Gives an entity another name, under which later memories find it.

    Raises NotFoundError for an id that is none, InvalidInputError for a name that is none, or another entity's.
    """
    name = compose(collapse_white_space(encodable(name)))
    if not SHORTEST_NAME <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise InvalidInputError(
            f"a name has {SHORTEST_NAME} to {LONGEST_NAME} characters",
            code=ErrorCode.BAD_NAME,
            where="alias",
            kept=_KEPT,
        )
    with database.write() as writer:
        entity = _known(writer, entity_id)
        holder = writer.entities.entity_named(canonical_name(name))
        if holder not in (None, entity_id):
            raise InvalidInputError(
                "another entity has this name",
                code=ErrorCode.NAME_TAKEN,
                where=f'"{name}"',
                kept=_KEPT,
                todo="merge the two instead",
            )
        if holder is None:
            rows = _changed(writer, (entity_id,), lambda: writer.entities.add_alias(entity_id, name, now))
            writer.history.append(at=now, event="alias_added", changed_by=by, old_content=entity.name, new_content=name,
                metadata={"kept": entity_id, "rows": rows},
            )  # fmt: skip
        named = writer.entities.entity_of(entity_id)
    assert named is not None
    return named


def entity_changes(reader: Tables, entity_id: int | None = None) -> tuple[EntityChange, ...]:
    """What people changed of entities, newest first; of one, where its id is given, as the one that was kept."""
    found = _changes(reader)
    return tuple(change for change, _ in found if entity_id in (None, change.entity_id))


def undo_entity_change(
    database: Database, change_id: int, *, by: str, now: int, max_attempts: int = 3
) -> EntityChange:
    """Takes a merge or a name back: the other entity is there again with all that it had. What came since stays with
    the entity that was kept.

    now: epoch ms. Raises NotFoundError for no such change or one that is undone, ConflictError while a later change has
    to do with the same entities.
    """
    with database.write() as writer:
        found = _changes(writer)
        place = next((place for place, (one, _) in enumerate(found) if one.id == change_id), None)
        if place is None or found[place][0].undone:
            what = "no such change" if place is None else "it is undone already"
            raise NotFoundError(what, where=f"change {change_id}", kept=_KEPT)
        change, rows = found[place]
        if not rows:
            raise ConflictError(
                "an earlier version made this change and kept nothing to undo it with",
                where=_told(change),
                kept=_KEPT,
            )
        touched = entities_of(rows)
        later = next(
            (one for one, its in found[:place] if not one.undone and touched & entities_of(its)), None
        )
        if later is not None:
            raise ConflictError(
                f"a later change is in the way: {_told(later)}", where=_told(change), kept=_KEPT,
                todo="undo that one first",
            )  # fmt: skip
        try:
            numbers = writer.entity_rows.put_back(rows)
        except sqlite3.IntegrityError:
            what = "another entity has its name by now"
            raise ConflictError(what, where=_told(change), kept=_KEPT) from None
        ids = sorted({numbers["entities"].get(one, one) for one in touched})
        for attribute, entity_id, aspect in writer.entity_rows.strayed(ids):
            own = writer.entities.find_or_make_aspect(entity_id, aspect, now)
            writer.entities.move_to_aspect(attribute, own, now)
        for entity_id in ids:
            _classify(writer, entity_id, max_attempts, now)
        writer.history.append(
            at=now, event=_UNDONE, changed_by=by, old_content=change.entity, new_content=change.name,
            metadata={"undoes": change_id, "renumbered": numbers},
        )  # fmt: skip
    return change


def _changes(reader: Tables) -> list[tuple[EntityChange, list[RowChange]]]:
    """The changes of entities, newest first, each with what it made of their rows."""
    rows = reader.history.events((*_KINDS, _UNDONE), _MOST)
    undoing = {int(str(row.metadata["undoes"])): _numbers(row) for row in rows if row.event == _UNDONE}
    return [_change(row, undoing) for row in rows if row.event in _KINDS]


def _change(row: HistoryRow, undoing: Mapping[int, Numbers]) -> tuple[EntityChange, list[RowChange]]:
    """A change and what it made of rows. undoing: by the change that was undone, the ids that are others since."""
    kept = row.metadata.get("kept", row.metadata.get("entity"))
    entity_id = kept if isinstance(kept, int) else 0
    said = row.metadata.get("rows")
    changes = [RowChange(*one) for one in said] if isinstance(said, list) else []
    # What came back with another id is meant by older changes, whoever has its former id now.
    for numbers in (
        numbers for undone, numbers in undoing.items() if row.id < undone and any(numbers.values())
    ):
        changes = [renumbered(one, numbers) for one in changes]
        entity_id = numbers.get("entities", {}).get(entity_id, entity_id)
    merged = row.event == "entities_merged"
    entity, name = (row.new_content, row.old_content) if merged else (row.old_content, row.new_content)
    change = EntityChange(
        row.id, row.at, _KINDS[row.event], row.changed_by, entity_id, entity, name, row.id in undoing
    )
    return change, changes


def _numbers(row: HistoryRow) -> Numbers:
    kept = row.metadata.get("renumbered")
    found = kept.items() if isinstance(kept, dict) else ()
    return {table: {int(old): new for old, new in ids.items()} for table, ids in found}


def _changed(writer: Tables, ids: tuple[int, ...], change: Callable[[], None]) -> list[RowChange]:
    """Makes a change of some entities; what it made of their rows."""
    before = writer.entity_rows.of(ids)
    change()
    return differences(before, writer.entity_rows.of(ids))


def _classify(writer: Tables, entity_id: int, max_attempts: int, now: int) -> None:
    """Queues what is said of an entity and has no aspect yet."""
    if writer.entities.unclassified(entity_id, 1):
        writer.jobs.enqueue(
            type="structural_classify", target=str(entity_id), max_attempts=max_attempts, now=now
        )


def _told(change: EntityChange) -> str:
    if change.kind == "merged":
        return f'"{change.name}" was merged into "{change.entity}"'
    return f'"{change.name}" became another name of "{change.entity}"'


def _known(writer: Tables, entity_id: int) -> Kind:
    found = writer.entities.kind_of(entity_id)
    if found is None:
        raise NotFoundError("no such entity", field="entity", where=f"entity {entity_id}", kept=_KEPT)
    return found
