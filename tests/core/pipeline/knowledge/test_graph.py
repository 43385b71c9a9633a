"""What a model found in memories becomes entities, mentions and relations whose counts cannot drift."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kits.knowledge_kit import Knowledge, triple

from core.pipeline.extract import ExtractedRelation
from core.pipeline.intake.names import canonical_name
from core.pipeline.knowledge_graph import relation_type
from core.settings.pipeline_sections import GraphPart, PipelineConfiguration

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "graph.json").read_text())


@pytest.fixture
def knowledge(tmp_path: Path) -> Iterator[Knowledge]:
    with Knowledge(tmp_path) as opened:
        yield opened


def relations_of(knowledge: Knowledge) -> list[tuple[str, str, str, float, int]]:
    rows = knowledge.database.reading.connection.execute(
        "SELECT a.canonical_name, r.type, b.canonical_name, avg(confidence), count(*) FROM ("
        " SELECT source_id, target_id, relations.type, confidence FROM relations"
        " JOIN relation_evidence ON relation_id = id) AS r"
        " JOIN entities AS a ON a.id = source_id JOIN entities AS b ON b.id = target_id GROUP BY 1, 2, 3"
    )
    return [tuple(row) for row in rows]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vectors_of_the_graph(vector: dict[str, Any], knowledge: Knowledge) -> None:
    given, expected = vector["input"], vector["expected"]
    if "canonicalise" in given:
        assert canonical_name(given["canonicalise"]) == expected
    elif "old_avg" in given:
        for number in range(given["mentions"]):
            knowledge.learn(f"raw-{number}", triple("Ben", "uses", "npm", given["old_avg"]))
        knowledge.learn("raw-new", triple("Ben", "uses", "npm", given["new_confidence"]))
        ((*_, confidence, evidence),) = relations_of(knowledge)
        assert (round(confidence, 9), evidence) == (expected["confidence"], expected["mentions"])
    elif "triples" in given:
        # Of one memory two wordings of one relation are one piece of evidence: each comes from its own.
        for number, one in enumerate(given["triples"]):
            knowledge.learn(f"raw-{number}", triple(*one))
        found = relations_of(knowledge)
        assert len(knowledge.database.reading.entities.entities()) == expected["entities"]
        assert len(found) == expected["relations"]
        if "mention_links" in expected:
            assert sum(one.mentions for one in knowledge.database.reading.entities.entities()) == 2
        assert sum(evidence for *_, evidence in found) == expected.get("relation_mentions", 1)
    elif "same_memory_persisted_twice" in given:
        knowledge.learn("raw-1", triple("Ben", "uses", "npm"))
        before = knowledge.dump()
        knowledge.find("raw-1", triple("Ben", "uses", "npm"))
        assert knowledge.bring_in(99).relations == 1
        assert knowledge.dump() == before
    else:
        assert given == {"graph_tx_raises": True}
        with knowledge.database.write() as writer:
            writer.connection.execute(
                "CREATE TRIGGER no_relations BEFORE INSERT ON relations BEGIN SELECT RAISE(ABORT, 'refused'); END"
            )
        knowledge.submit("raw-1")
        knowledge.find("raw-1", triple("Ben", "uses", "npm"), said=("Ben uses npm for his shop",))
        brought = knowledge.bring_in()
        assert brought.warning == "could not store the entities of raw-1: refused"
        assert knowledge.database.reading.facts.same("memory", _hash(knowledge)) is not None
        assert relations_of(knowledge) == []


def _hash(knowledge: Knowledge) -> str:
    return str(knowledge.database.reading.connection.execute("SELECT content_hash FROM facts").fetchone()[0])


def test_a_graph_that_is_switched_off_gets_nothing(tmp_path: Path) -> None:
    with Knowledge(tmp_path, PipelineConfiguration(graph=GraphPart(enabled=False))) as knowledge:
        knowledge.learn("raw-1", triple("Ben", "uses", "npm"), said=("Ben uses npm for his shop",))
        assert relations_of(knowledge) == []
        assert knowledge.jobs() == ()


def test_names_of_one_character_and_relations_with_oneself_are_left_out(knowledge: Knowledge) -> None:
    brought = knowledge.learn(
        "raw-1", triple("C", "is", "language"), triple("npm", "is", "NPM "), triple("npm", "_", "Node")
    )
    assert brought.relations == 0
    assert knowledge.database.reading.count("SELECT count(*) FROM entities WHERE id = root") == 0


def test_relations_are_one_however_they_are_written(knowledge: Knowledge) -> None:
    assert relation_type("Works_At") == relation_type(" works  at") == "works at"
    knowledge.submit("raw-1", "Today Anna met Bob.")
    knowledge.find("raw-1", triple("Bob", "related to", "Anna", 0.9))
    knowledge.bring_in()
    assert relations_of(knowledge) == [("anna", "related_to", "bob", 0.9, 1)]


def test_a_type_is_taken_from_a_model_once(knowledge: Knowledge) -> None:
    knowledge.learn("raw-1", triple("Ben", "uses", "npm"))
    for number, type in enumerate(("unknown", "tool", "system"), 2):
        knowledge.learn(f"raw-{number}", ExtractedRelation("npm", "is", "fast", 0.5, source_type=type))
    assert knowledge.kind("npm").type == "tool"
    assert knowledge.kind("ben").type == "extracted"


def test_a_fact_hangs_on_the_source_of_the_first_relation_that_it_names(knowledge: Knowledge) -> None:
    said = ("Anna and Ben decided to use PostgreSQL", "The weather was fine")
    relations = (
        triple("Ann", "knows", "Carla"),
        triple("Ben", "uses", "PostgreSQL"),
        triple("Anna", "knows", "Ben"),
    )
    brought = knowledge.learn("raw-1", *relations, said=said)
    assert brought.attributes == 1
    (attribute,) = knowledge.entity("Ben").attributes
    assert (attribute.content, attribute.aspect, attribute.kind) == (said[0], "", "constraint")
    assert [job.target for job in knowledge.jobs()] == [str(knowledge.entity("Ben").entity.id)]
    assert knowledge.entity("Anna").attributes == knowledge.entity("Ann").attributes == ()


def test_a_fact_stands_instead_of_the_clause_of_the_same_sentence(knowledge: Knowledge) -> None:
    knowledge.submit("raw-1", "In short: Marisol lives in Denver. Marisol likes green tea.")
    assert len(knowledge.entity("Marisol").attributes) == 2
    knowledge.find("raw-1", triple("Marisol", "lives in", "Denver"), said=("Marisol lives in Denver.",))
    knowledge.bring_in()
    assert {one.content for one in knowledge.entity("Marisol").attributes} == {
        "Marisol lives in Denver.",
        "likes green tea",
    }


def test_what_is_said_of_an_entity_goes_the_way_of_its_fact(knowledge: Knowledge) -> None:
    knowledge.learn("raw-1", triple("Ben", "uses", "npm"), said=("Ben uses npm for his shop",))

    def standing() -> list[str]:
        return [one.content for one in knowledge.entity("Ben").attributes]

    for status, expected in (("retracted", []), ("active", 1), ("denied", [])):
        with knowledge.database.write() as writer:
            writer.connection.execute("UPDATE facts SET status = ?", (status,))
        assert standing() == (["Ben uses npm for his shop"] if expected else [])
    with knowledge.database.write() as writer:
        writer.connection.execute("UPDATE facts SET status = 'active'")
        writer.connection.execute(
            "UPDATE facts SET content = 'Ben uses pnpm', normalised_content = 'ben uses pnpm'"
        )
    assert standing() == ["Ben uses pnpm"]


def test_the_list_finds_names_and_aliases_to_the_letter(knowledge: Knowledge) -> None:
    for number, name in enumerate(("npm", "npm_cache", "npmxcache", "Ben")):
        knowledge.learn(f"raw-{number}", triple(name, "is", "thing"))
    reader = knowledge.database.reading
    assert [one.name for one in reader.entities.entities()] == [
        "thing",
        "Ben",
        "npm",
        "npm_cache",
        "npmxcache",
    ]
    assert [one.name for one in reader.entities.entities("NPM_")] == ["npm_cache"]
    with knowledge.database.write() as writer:
        made = writer.entities.find_or_make_entity("Benjamin", "extracted", 5)
        writer.entities.merge(knowledge.entity("Ben").entity.id, made, 5)
        assert writer.entities.pin(knowledge.entity("npmxcache").entity.id, True, 5)
        assert not writer.entities.pin(99, True, 5)
    assert [(one.name, one.aliases) for one in reader.entities.entities("jamin")] == [("Ben", ("Benjamin",))]
    assert [one.name for one in reader.entities.entities("npm", most=2)] == ["npm", "npmxcache"]
    assert reader.entities.entity_page(99) is None
