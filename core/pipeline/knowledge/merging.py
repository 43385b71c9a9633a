"""Entity edits by a person: merging two entities and renaming one, each audited."""

from __future__ import annotations

from typing import Final

from core.errors import ErrorCode, InvalidInputError, NotFoundError
from core.pipeline.database.connection import Database
from core.pipeline.database.entities import Kind
from core.pipeline.database.tables import Tables
from core.pipeline.intake.names import canonical_name
from core.pipeline.intake.normalisation import collapse_white_space, compose, encodable
from core.pipeline.knowledge.relations import SHORTEST_NAME
from core.pipeline.records import Entity

LONGEST_NAME: Final = 200
_KEPT: Final = "nothing was changed"


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
        writer.entities.merge(keep_id, other_id, now)
        writer.entities.determine(keep_id, other.type, now)
        if writer.entities.unclassified(keep_id, 1):
            writer.jobs.enqueue(
                type="structural_classify", target=str(keep_id), max_attempts=max_attempts, now=now
            )
        writer.history.append(
            at=now, event="entities_merged", changed_by=by, old_content=other.name, new_content=kept.name,
            metadata={"kept": keep_id, "merged": other_id},
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
            writer.entities.add_alias(entity_id, name, now)
            writer.history.append(at=now, event="alias_added", changed_by=by, old_content=entity.name, new_content=name,
                metadata={"entity": entity_id},
            )  # fmt: skip
        named = writer.entities.entity_of(entity_id)
    assert named is not None
    return named


def _known(writer: Tables, entity_id: int) -> Kind:
    found = writer.entities.kind_of(entity_id)
    if found is None:
        raise NotFoundError(
            "no such entity", code=ErrorCode.NO_SUCH_ENTITY, where=f"entity {entity_id}", kept=_KEPT
        )
    return found
