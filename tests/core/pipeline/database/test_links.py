"""What is linked to a memory can be stored again without a count rising."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.pipeline.database.connection import Database
from core.pipeline.database.entities import (
    KnownNames,
)
from core.pipeline.intake.linker import link
from core.pipeline.writes.submit import Submission, store_submission
from core.settings.pipeline_sections import PipelineConfiguration

TEXT = "With Anna and Bob. Carla decided to use PostgreSQL. Dora likes green tea."


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.open(tmp_path)
    store_submission(opened, PipelineConfiguration(), Submission(TEXT), raw_id="raw-1", now=1)
    yield opened
    opened.close()


def dump(database: Database) -> list[tuple[object, ...]]:
    return [
        tuple(row)
        for table in ("entities", "mentions", "aspects", "attributes", "relations", "relation_evidence")
        for row in database.reading.connection.execute(f"SELECT * FROM {table}")
    ]


def test_linking_a_memory_again_changes_nothing(database: Database) -> None:
    before = dump(database)
    with database.write() as writer:
        writer.entities.store_links(link(TEXT), "raw-1", 99)
    assert dump(database) == before


def test_names_are_known_by_their_canonical_form_and_their_aliases(database: Database) -> None:
    with database.write() as writer:
        writer.entities.merge(1, writer.entities.find_or_make_entity("Postgres", "extracted", 1), 1)
    known = KnownNames(database.reading.entities)
    assert "anna" in known
    assert "postgres" in known
    assert "Anna" not in known
    assert 7 not in known


def test_an_entity_is_one_whatever_its_case_and_form(database: Database) -> None:
    with database.write() as writer:
        made = writer.entities.find_or_make_entity("Café  Zürich", "place", 1)
        assert writer.entities.find_or_make_entity("cafe\u0301 ZÜRICH", "tool", 2) == made
    row = database.reading.connection.execute(
        "SELECT name, type FROM entities WHERE id = ?", (made,)
    ).fetchone()
    assert tuple(row) == ("Café  Zürich", "place")


def test_a_mention_and_its_evidence_count_once(database: Database) -> None:
    with database.write() as writer:
        first, second = (writer.entities.find_or_make_entity(name, "tool", 1) for name in ("npm", "bun"))
        writer.entities.add_mention(first, "raw-1", "npm", 0.9, "model", 1)
        writer.entities.add_mention(first, "raw-1", "NPM", 0.5, "model", 2)
        relation = writer.entities.add_relation(first, second, "replaces", 0.3, 1)
        assert writer.entities.add_relation(first, second, "replaces", 1.0, 2) == relation
        assert writer.entities.add_relation(first, second, "replaces", 0.2, 2) == relation
        writer.entities.add_evidence(relation, "raw-1", 0.5, 1)
        writer.entities.add_evidence(relation, "raw-1", 0.9, 2)
        writer.entities.add_evidence(relation, "raw-1", 0.1, 3)
    found = database.reading.connection.execute(
        "SELECT strength, confidence FROM relations JOIN relation_evidence ON relation_id = id WHERE id = ?",
        (relation,),
    ).fetchall()
    assert list(map(tuple, found)) == [(1.0, 0.9)]


def test_the_same_attribute_is_active_once_on_an_aspect(database: Database) -> None:
    with database.write() as writer:
        entity = writer.entities.find_or_make_entity("npm", "tool", 1)
        aspects = [None, writer.entities.find_or_make_aspect(entity, "General", 1)]
        assert writer.entities.find_or_make_aspect(entity, "general", 2) == aspects[1]
        made = [
            writer.entities.add_attribute(
                entity_id=entity, aspect_id=aspect, raw_id="raw-1", fact_id="", kind="attribute",
                content="is slow", normalised_content="is slow", confidence=0.7, importance=0.5, now=1,
            )
            for aspect in aspects * 2
        ]  # fmt: skip
        assert made[2:] == [None, None]
        assert None not in made[:2]
        writer.connection.execute("UPDATE attributes SET status = 'retracted' WHERE id = ?", (made[0],))
        assert writer.entities.add_attribute(
            entity_id=entity, aspect_id=None, raw_id="raw-1", fact_id="", kind="attribute",
            content="is slow", normalised_content="is slow", confidence=0.7, importance=0.5, now=1,
        )  # fmt: skip
