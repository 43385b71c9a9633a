"""From a text that is handed in to an entity with aspects, relations and flags, by the pipeline itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from kits.scripted_model import Line, ScriptedModel
from kits.service_kit import Clock, configure, drain, open_pipeline

from core.pipeline.models.provider import ModelTimeoutError
from core.pipeline.records import EntityPage
from core.pipeline.service import Pipeline

TEXTS = {
    "In short: Marisol lives in Boulder and teaches there.": "Marisol lives in Boulder",
    "By now Marisol lives in Denver, she says.": "Marisol lives in Denver",
}


def model(instead: Line | None = None) -> ScriptedModel:
    """Knows both texts, adds each fact, and sorts all into one aspect. instead: what it says when it should sort."""

    def answer(prompt: str) -> Line:
        if prompt.startswith("Sort statements"):
            labels = re.findall(r"^(A\d+):", prompt, re.MULTILINE)
            if instead is not None:
                return instead
            return {
                "entity_type": "person",
                "results": [
                    {"id": one, "aspect": "home", "kind": "attribute", "new": True} for one in labels
                ],
            }
        if prompt.startswith("Decide what"):
            return {"action": "add", "targetId": None, "confidence": 0.9, "reason": "new"}
        fact = next(fact for text, fact in TEXTS.items() if text[10:] in prompt)
        return {
            "facts": [{"content": fact, "type": "fact", "confidence": 0.9}],
            "entities": [
                {
                    "source": "Marisol",
                    "relationship": "lives_in",
                    "target": fact.split()[-1],
                    "confidence": 0.8,
                }
            ],
        }

    return ScriptedModel(by_prompt=answer)


def marisol(pipeline: Pipeline) -> EntityPage:
    (found,) = pipeline.entities("marisol")
    return pipeline.entity(found.id)


@pytest.mark.slow
def test_two_texts_become_one_entity_whose_older_home_is_flagged(tmp_path: Path) -> None:
    clock = Clock()
    with open_pipeline(configure(tmp_path), model(), clock) as pipeline:
        for text in TEXTS:
            pipeline.ingest(text)
            drain(pipeline)
            clock.forward(days=3)
        drain(pipeline)
        page = marisol(pipeline)
        assert page.entity.type == "person"
        assert [(one.type, one.other, one.evidence) for one in page.relations if one.type == "lives in"] == [
            ("lives in", "Boulder", 1),
            ("lives in", "Denver", 1),
        ]
        at_home = {one.content: one for one in page.attributes if one.aspect == "home"}
        older, newer = at_home["Marisol lives in Boulder"], at_home["Marisol lives in Denver"]
        assert (older.review_needed, older.superseded_by, older.status) == (True, newer.id, "active")
        assert len(page.mentions) == 2
        assert [job.status for job in pipeline.jobs() if job.type == "structural_classify"] == [
            "completed"
        ] * 2


def test_shadow_brings_in_what_a_person_accepts_and_nothing_before(tmp_path: Path) -> None:
    clock = Clock()
    with open_pipeline(configure(tmp_path, "shadowMode = true"), model(), clock) as pipeline:
        pipeline.ingest(next(iter(TEXTS)))
        drain(pipeline)
        assert {one.type for one in marisol(pipeline).relations} <= {"related_to"}
        (proposal,) = pipeline.proposals()
        assert pipeline.accept([proposal.id]).written == (proposal.id,)
        drain(pipeline)
        clock.forward(seconds=10)
        drain(pipeline)
        page = marisol(pipeline)
        assert "lives in" in {one.type for one in page.relations}
        assert [one.content for one in page.attributes if one.aspect == "home"] == [
            "Marisol lives in Boulder"
        ]


@pytest.mark.parametrize("instead", [ModelTimeoutError("late"), "nonsense", {"results": []}], ids=str)
def test_a_model_that_never_sorts_leaves_it_to_the_rules(instead: Line, tmp_path: Path) -> None:
    clock = Clock()
    with open_pipeline(configure(tmp_path), model(instead), clock) as pipeline:
        pipeline.ingest(next(iter(TEXTS)))
        for _ in range(6):
            drain(pipeline)
            clock.forward(minutes=10)
        (job,) = (one for one in pipeline.jobs() if one.type == "structural_classify")
        assert (job.status, job.attempts) == ("completed", 3)
        page = marisol(pipeline)
        assert "Marisol lives in Boulder" in {one.content for one in page.attributes if one.aspect}


def test_names_pins_and_merges_are_a_persons(tmp_path: Path) -> None:
    with open_pipeline(configure(tmp_path), model()) as pipeline:
        pipeline.ingest(next(iter(TEXTS)))
        drain(pipeline)
        page = marisol(pipeline)
        (boulder,) = pipeline.entities("boulder")
        pipeline.pin(boulder.id, True)
        assert pipeline.entities()[0].pinned
        assert pipeline.alias(page.entity.id, "Mari").aliases == ("Mari",)
        merged = pipeline.merge_entities(page.entity.id, boulder.id)
        assert merged.aliases == ("Boulder", "Mari")
        assert pipeline.entity(boulder.id).entity == merged
        assert pipeline.part_entity(page.entity.id, "Boulder").aliases == ("Mari",)
