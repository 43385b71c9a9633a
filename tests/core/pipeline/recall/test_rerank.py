"""Reranking: the head in another order, and all as it was whenever a provider fails, forgets or is late."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.pipeline.meaning import (
    Candidate,
    blended,
    embedding_reranker,
    model_reranker,
    parse_order,
    rerank,
)
from core.pipeline.models.provider import Answer, ModelTimeoutError, Schema, UnreadableAnswerError
from core.settings.pipeline_sections import RerankerPart

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "embeddings.json").read_text())["rerank"]
BLENDS = [one for one in VECTORS if "embedding_blend" in one["input"]]
PART = RerankerPart(enabled=True, top_n=2)


def candidates(ids: str) -> list[Candidate]:
    return [Candidate(id, 1.0 - place / 10) for place, id in enumerate(ids)]


def ids(found: Sequence[Candidate]) -> str:
    return "".join(one.id for one in found)


def says(order: str) -> Any:
    return lambda query, head, deadline: candidates(order)


@pytest.mark.parametrize("vector", BLENDS, ids=lambda vector: vector["id"])
def test_vectors_of_blending(vector: dict[str, Any]) -> None:
    asked = vector["input"]["embedding_blend"]
    expected = pytest.approx(vector["expected"]["score"])
    assert blended(asked["original"], asked["cosine"]) == expected
    (found,) = embedding_reranker({"a": asked["cosine"]})("", [Candidate("a", asked["original"])], 1.0)
    assert found.score == expected


def test_vector_05_nothing_is_put_in_no_order() -> None:
    (vector,) = [one for one in VECTORS if one not in BLENDS]
    part = RerankerPart(top_n=vector["input"]["topN"])
    assert (
        list(rerank("", candidates("".join(vector["input"]["ids"])), says("b"), part)) == vector["expected"]
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [("ba", "bac"), ("b", "bac"), ("", "abc"), ("xbya", "bac"), ("bbab", "bac"), ("cab", "abc")],
)
def test_the_head_follows_the_provider_what_it_forgets_comes_after_and_what_it_makes_up_does_not_count(
    said: str, expected: str
) -> None:
    assert ids(rerank("q", candidates("abc"), says(said), PART)) == expected


def test_a_provider_that_fails_or_is_late_leaves_all_as_it_was_and_is_asked_once() -> None:
    calls: list[float] = []

    def fails(query: str, head: Sequence[Candidate], deadline: float) -> Sequence[Candidate]:
        calls.append(deadline)
        raise ModelTimeoutError("late")

    assert ids(rerank("q", candidates("abc"), fails, PART)) == "abc"
    assert calls == [2.0]
    times = iter((0.0, 2.1))
    assert ids(rerank("q", candidates("abc"), says("ba"), PART, lambda: next(times))) == "abc"


def test_a_negative_cosine_takes_nothing_away_beyond_its_share() -> None:
    assert blended(0.5, -1.0) == blended(0.5, 0.0)


def test_a_model_reads_numbered_texts_without_credentials_in_less_than_the_time_there_is() -> None:
    asked: list[tuple[str, float]] = []

    def ask(prompt: str, schema: Schema, seconds: float) -> Answer:
        asked.append((prompt, seconds))
        return Answer('<think>2?</think>{"order": [2, 1, 2, 9, "1", true]}')

    key = "sk-proj-" + "Zq8vKp3Lx9Tn2Wb7Rd5Hs1Jc6Mf4Yg0A"
    head = [Candidate("a", 1.0, f"api_key={key}"), Candidate("b", 0.9, "long " * 99)]
    found = rerank(f"what is {key}", head, model_reranker(ask, 20), PART)
    assert ids(found) == "ba"
    ((prompt, seconds),) = asked
    assert key not in prompt
    assert "[2] long long long long\n" in prompt
    assert seconds < 2.0


@pytest.mark.parametrize("text", ['{"order": []}', '{"order": "1"}', '{"order": [0, -1, 7]}'])
def test_an_answer_that_names_no_order_is_none(text: str) -> None:
    with pytest.raises(UnreadableAnswerError):
        parse_order(Answer(text), 3)
