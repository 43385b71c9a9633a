"""A proposal is held against its target by the words first; a model is asked only where that is switched on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kits.scripted_model import ScriptedModel

from core.pipeline.contradiction import Contradiction, check
from core.pipeline.models.provider import Answer, BudgetSpentError, ModelTimeoutError
from core.settings.pipeline_sections import PipelineConfiguration

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "contradiction.json").read_text())
ASKING = PipelineConfiguration(semantic_contradiction_enabled=True, semantic_contradiction_timeout_ms=5_000)
FACT, TARGET = "The shop's order database runs on MongoDB", "The shop's order database runs on PostgreSQL"


@pytest.mark.parametrize("vector", VECTORS["contradiction_semantic"], ids=lambda vector: vector["id"])
def test_vectors_of_contradiction_in_meaning(vector: dict[str, Any]) -> None:
    given, expected = vector["input"], vector["expected"]
    if "llm_output" in given:
        found = check("update", FACT, TARGET, ScriptedModel([Answer(given["llm_output"])]), ASKING)
        assert (bool(found), found.confidence, found.calls) == (
            expected["detected"],
            expected["confidence"],
            1,
        )
        assert found.kind == ("semantic" if expected["detected"] else "")
        return
    words = [f"{word}berg" for word in "abcdefghi"][: given["overlap"]]
    model = ScriptedModel([{"contradicts": True, "confidence": 1, "reasoning": "x"}])
    found = check(given["action"], " ".join([*words, "here"]), " ".join([*words, "there"]), model, ASKING)
    assert bool(model.prompts) == expected["called"] == bool(found)


@pytest.mark.parametrize("action", ["update", "delete"])
def test_words_that_differ_in_polarity_need_no_model(action: str) -> None:
    model = ScriptedModel()
    found = check(action, "Anna does not drink coffee", "Anna drinks coffee", model, ASKING)
    assert (found.kind, found.confidence, model.prompts) == ("negation", 0.85, [])
    assert found.said == "negation (0.85): one of the two contains a negation"
    assert check("add", "Anna does not drink coffee", "Anna drinks coffee", model, ASKING) == Contradiction()


def test_no_model_is_asked_unless_it_is_switched_on() -> None:
    model = ScriptedModel()
    assert not check("update", FACT, TARGET, model, PipelineConfiguration())
    assert not check("update", FACT, TARGET, None, ASKING)
    assert model.prompts == []


@pytest.mark.parametrize(
    ("error", "kind"),
    [(ModelTimeoutError("late"), "timeout"), (BudgetSpentError("spent", until=9), "budget_spent")],
)
def test_a_model_that_fails_is_no_contradiction_and_says_why(error: Any, kind: str) -> None:
    found = check("update", FACT, TARGET, ScriptedModel([error]), ASKING)
    assert (bool(found), found.failure, found.said) == (False, kind, "")
