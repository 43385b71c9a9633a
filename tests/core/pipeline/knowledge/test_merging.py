"""Two entities that are one thing become one; nothing that was known of either is lost or counted twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.knowledge_kit import Knowledge, triple

from core.errors import InvalidInputError, NotFoundError
from core.pipeline.knowledge_graph import add_alias, merge_entities, part_entity


@pytest.fixture
def knowledge(tmp_path: Path) -> Iterator[Knowledge]:
    with Knowledge(tmp_path) as opened:
        yield opened


def id_of(knowledge: Knowledge, name: str) -> int:
    return knowledge.entity(name).entity.id


def merge(knowledge: Knowledge, keep: str, other: str) -> None:
    merge_entities(knowledge.database, id_of(knowledge, keep), id_of(knowledge, other), by="person", now=50)


def test_merging_joins_mentions_relations_and_evidence(knowledge: Knowledge) -> None:
    knowledge.learn(
        "raw-1", triple("Postgres", "is", "database", 0.4), triple("Ben", "uses", "Postgres", 0.5)
    )
    knowledge.learn(
        "raw-2", triple("PostgreSQL", "is", "database", 0.8), triple("PostgreSQL", "replaces", "Postgres")
    )
    knowledge.find("raw-1", triple("PostgreSQL", "is", "database", 0.6))
    knowledge.bring_in()
    merge(knowledge, "PostgreSQL", "Postgres")
    page = knowledge.entity("postgres")
    assert (page.entity.name, page.entity.aliases, page.entity.mentions) == ("PostgreSQL", ("Postgres",), 2)
    assert [
        (one.type, one.other, one.outgoing, one.evidence, round(one.confidence, 9)) for one in page.relations
    ] == [
        ("is", "database", True, 2, 0.7),
        ("uses", "Ben", False, 1, 0.5),
    ]
    assert knowledge.database.reading.count("SELECT count(*) FROM entities WHERE id = root") == 3
    assert knowledge.database.reading.connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_what_waits_for_an_aspect_is_classified_under_the_kept_entity(knowledge: Knowledge) -> None:
    knowledge.learn("raw-1", triple("Ben", "uses", "npm"))
    knowledge.learn("raw-2", triple("Benjamin", "likes", "tea"), said=("Benjamin likes green tea",))
    knowledge.say("likes coffee", entity="Ben", aspect="preferences")
    merge(knowledge, "Ben", "Benjamin")
    knowledge.classify(None)
    said = {(one.aspect, one.content) for one in knowledge.entity("Ben").attributes}
    assert said == {("preferences", "likes coffee"), ("preferences", "Benjamin likes green tea")}
    undo(knowledge, "Ben", "Benjamin")
    assert [one.content for one in knowledge.entity("Benjamin").attributes] == ["Benjamin likes green tea"]


def test_merging_is_audited_and_refuses_what_makes_no_sense(knowledge: Knowledge) -> None:
    knowledge.learn("raw-1", triple("Ben", "uses", "npm"))
    ben = id_of(knowledge, "Ben")
    with pytest.raises(InvalidInputError):
        merge_entities(knowledge.database, ben, ben, by="person", now=1)
    with pytest.raises(NotFoundError):
        merge_entities(knowledge.database, ben, 99, by="person", now=1)
    merge(knowledge, "Ben", "npm")
    row = knowledge.database.reading.connection.execute("SELECT * FROM history").fetchone()
    assert (row["event"], row["changed_by"], row["old_content"], row["new_content"]) == (
        "entities_merged",
        "person",
        "npm",
        "Ben",
    )


def test_aliases_are_given_and_taken(knowledge: Knowledge) -> None:
    knowledge.learn("raw-1", triple("Ben", "uses", "npm"))
    ben, database = id_of(knowledge, "Ben"), knowledge.database
    assert add_alias(database, ben, "  Benjamin\tK. ", by="person", now=5).aliases == ("Benjamin K.",)
    assert add_alias(database, ben, "benjamin k.", by="person", now=6).aliases == ("Benjamin K.",)
    assert knowledge.entity("benjamin k.").entity.id == ben
    for name in ("npm", "x", "", "a\x00b", "y" * 201):
        with pytest.raises(InvalidInputError):
            add_alias(database, ben, name, by="person", now=7)
    with pytest.raises(NotFoundError):
        add_alias(database, 99, "Somebody", by="person", now=7)
    assert [row["event"] for row in database.reading.connection.execute("SELECT event FROM history")] == [
        "alias_added"
    ]


# Undo


def undo(knowledge: Knowledge, kept: str, name: str) -> None:
    part_entity(knowledge.database, id_of(knowledge, kept), name, by="person", now=60)


def rich(knowledge: Knowledge) -> None:
    """Two entities that share texts, statements and relations, and have others of their own."""
    knowledge.learn(
        "raw-1", triple("Postgres", "is", "database", 0.4), triple("Ben", "uses", "Postgres", 0.5)
    )
    knowledge.learn(
        "raw-2", triple("PostgreSQL", "is", "database", 0.8), triple("PostgreSQL", "replaces", "Postgres")
    )
    knowledge.find("raw-1", triple("PostgreSQL", "is", "database", 0.6))
    knowledge.bring_in()
    for name in ("Postgres", "PostgreSQL"):
        knowledge.say("stores the invoices", entity=name, aspect="uses", at=len(name))
    knowledge.say("listens on port 5432", entity="Postgres", aspect="interfaces")
    with knowledge.database.write() as writer:
        writer.connection.execute(
            "UPDATE aspects SET weight = .9 WHERE entity_id = ?", (id_of(knowledge, "Postgres"),)
        )
        writer.entities.pin(id_of(knowledge, "Postgres"), True, 5)


def test_a_merge_is_undone_whole(knowledge: Knowledge) -> None:
    rich(knowledge)
    before = knowledge.known()
    merge(knowledge, "PostgreSQL", "Postgres")
    assert knowledge.known() != before
    undo(knowledge, "PostgreSQL", "Postgres")
    assert knowledge.known() == before


def test_a_name_that_was_given_is_taken_back(knowledge: Knowledge) -> None:
    knowledge.learn("raw-1", triple("Ben", "uses", "npm"))
    add_alias(knowledge.database, id_of(knowledge, "Ben"), "Benjamin", by="person", now=5)
    undo(knowledge, "Ben", "Benjamin")
    assert knowledge.entity("Ben").entity.aliases == ()
    assert knowledge.database.reading.entities.entity_named("benjamin") is None
    for name in ("Benjamin", "Ben", "npm"):
        with pytest.raises(NotFoundError):
            undo(knowledge, "Ben", name)


def test_what_came_after_a_merge_stays_when_it_is_undone(knowledge: Knowledge) -> None:
    rich(knowledge)
    merge(knowledge, "PostgreSQL", "Postgres")
    knowledge.learn(
        "raw-9", triple("Postgres", "runs on", "Linux"), triple("PostgreSQL", "is", "database", 0.9)
    )
    knowledge.say("is backed up nightly", entity="PostgreSQL", aspect="interfaces", at=70)
    undo(knowledge, "PostgreSQL", "Postgres")
    kept, other = knowledge.entity("PostgreSQL"), knowledge.entity("Postgres")
    assert "Linux" in {one.other for one in kept.relations}
    assert ("interfaces", "is backed up nightly") in {(one.aspect, one.content) for one in kept.attributes}
    assert {(one.aspect, one.content) for one in other.attributes} == {
        ("uses", "stores the invoices"),
        ("interfaces", "listens on port 5432"),
    }
    (database,) = [one for one in kept.relations if one.other == "database"]
    assert database.evidence == 3
    assert knowledge.database.reading.connection.execute("PRAGMA foreign_key_check").fetchall() == []
