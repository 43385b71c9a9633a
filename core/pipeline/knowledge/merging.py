"""Entity edits by a person: merging two entities and giving one another name, each audited, and taken back."""

from __future__ import annotations

from typing import Final, Literal

from core.errors import ErrorCode, InvalidInputError, NotFoundError
from core.pipeline.database.connection import Database
from core.pipeline.database.entities import Kind
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


def merge_entities(database: Database, keep_id: int, other_id: int, *, by: str, now: int) -> Entity:
    """Makes two entities one: what is known of the other is shown with the kept one, and its names lead there.

    now: epoch ms. Raises NotFoundError for an id that is none, InvalidInputError for two that are one.
    """
    with database.write() as writer:
        kept, other = _known(writer, keep_id), _known(writer, other_id)
        if kept.id == other.id:
            raise InvalidInputError(
                "an entity cannot be merged with itself", where=f"entity {keep_id}", kept=_KEPT
            )
        writer.entities.merge(kept.id, other.id, now)
        writer.history.append(
            at=now, event="entities_merged", changed_by=by, old_content=other.name, new_content=kept.name,
            metadata={"kept": kept.id, "merged": other.id},
        )  # fmt: skip
        merged = writer.entities.entity_of(kept.id)
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
        if holder not in (None, entity.id):
            raise InvalidInputError(
                "another entity has this name",
                code=ErrorCode.NAME_TAKEN,
                where=f'"{name}"',
                kept=_KEPT,
                todo="merge the two instead",
            )
        if holder is None:
            writer.entities.add_alias(entity.id, name, now)
            writer.history.append(
                at=now, event="alias_added", changed_by=by, old_content=entity.name, new_content=name,
                metadata={"kept": entity.id},
            )  # fmt: skip
        named = writer.entities.entity_of(entity_id)
    assert named is not None
    return named


def entity_changes(reader: Tables, entity_id: int | None = None) -> tuple[EntityChange, ...]:
    """What people changed of entities, newest first; of one, where its id is given, as the one that was kept."""
    rows = reader.history.events((*_KINDS, _UNDONE), _MOST)
    undone = {int(str(row.metadata["undoes"])) for row in rows if row.event == _UNDONE}
    found = (_change(row, row.id in undone) for row in rows if row.event in _KINDS)
    return tuple(change for change in found if entity_id in (None, change.entity_id))


def undo_entity_change(database: Database, change_id: int, *, by: str, now: int) -> EntityChange:
    """Takes a merge or a name back: the other entity is there again with all that it had. What came since stays with
    the entity that was kept.

    now: epoch ms. Raises NotFoundError for no such change or one that is undone.
    """
    with database.write() as writer:
        change = next((one for one in entity_changes(writer) if one.id == change_id), None)
        if change is None or change.undone:
            what = "no such change" if change is None else "it is undone already"
            raise NotFoundError(what, where=f"change {change_id}", kept=_KEPT)
        if change.kind == "merged":
            undone = writer.entities.part(change.entity_id, change.merged_id, now)
        else:
            undone = writer.entities.drop_alias(change.entity_id, change.name)
        if not undone:
            raise NotFoundError("nothing of it is left", where=f"change {change_id}", kept=_KEPT)
        writer.history.append(
            at=now, event=_UNDONE, changed_by=by, old_content=change.entity, new_content=change.name,
            metadata={"undoes": change_id},
        )  # fmt: skip
    return change


def _change(row: HistoryRow, undone: bool) -> EntityChange:
    kept, merged = (int(str(row.metadata.get(name, 0))) for name in ("kept", "merged"))
    kind = _KINDS[row.event]
    entity, name = row.new_content, row.old_content
    if kind == "alias":
        entity, name = name, entity
    return EntityChange(row.id, row.at, kind, row.changed_by, kept, entity, name, merged, undone)


def _known(writer: Tables, entity_id: int) -> Kind:
    found = writer.entities.kind_of(entity_id)
    if found is None:
        raise NotFoundError("no such entity", field="entity", where=f"entity {entity_id}", kept=_KEPT)
    return found
