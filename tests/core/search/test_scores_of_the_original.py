"""Text scores and boosts agree with what the original computed on plain words; where ours differs, it is said here."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from core.memory import Memory
from core.model.snapshot import Snapshot
from core.search import Filters, Hit, SearchIndex
from core.settings import SearchSettings

GOLDEN = Path(__file__).parents[2] / "golden" / "original"
QUERIES: list[dict[str, Any]] = json.loads((GOLDEN / "search.json").read_text(encoding="utf-8"))["queries"]


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return Memory.open(GOLDEN / "store", reconcile=False).snapshot


@pytest.fixture(scope="module")
def index(snapshot: Snapshot) -> SearchIndex:
    made = SearchIndex()
    made.update(snapshot)
    return made


def filters_of(query: dict[str, Any]) -> Filters:
    options = query.get("opts", {})
    return Filters(
        nugget=query.get("nugget"),
        scope=options.get("scope"),
        type=options.get("type"),
        subject=options.get("subject"),
        include_hidden=options.get("includeHidden", False),
    )


def explained(index: SearchIndex, query: dict[str, Any]) -> list[tuple[dict[str, Any], Hit]]:
    pairs = []
    for result in query["results"]:
        explanation = index.explain(query["query"], result["id"], filters_of(query))
        assert explanation is not None
        pairs.append((result, explanation.hit))
    return pairs


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query["query"] or "empty")
def test_boosts_are_those_of_the_original(index: SearchIndex, query: dict[str, Any]) -> None:
    """Its scores are a softmax over one nugget: ratios of two give the differences of their blends."""
    settings = SearchSettings()
    by_nugget: dict[str, list[tuple[dict[str, Any], Hit]]] = {}
    for result, hit in explained(index, query):
        by_nugget.setdefault(result["nugget_name"], []).append((result, hit))
    for pairs in by_nugget.values():
        (first, first_hit), *others = pairs
        for other, hit in others:
            blends = settings.temperature * math.log(first["score"] / other["score"])
            vectors = settings.vector_weight * (first["vectorScore"] - other["vectorScore"])
            texts = settings.text_weight * (min(first["textScore"], 1.5) - min(other["textScore"], 1.5)) / 1.5
            wanted = blends - vectors - texts
            found = first_hit.breakdown.boost - hit.breakdown.boost
            assert found == pytest.approx(wanted, abs=1e-9), (first["title"], other["title"])


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query["query"] or "empty")
def test_the_first_hits_are_those_with_text_in_the_original(
    index: SearchIndex, query: dict[str, Any]
) -> None:
    expected = {result["id"] for result in query["results"] if result["textScore"]}
    hits = index.result(query["query"], query["limit"], filters_of(query)).hits
    assert expected <= {hit.note.id for hit in hits}


def test_hidden_notes_are_found_when_asked_for(index: SearchIndex) -> None:
    assert index.result("garden").hits == ()
    (hit,) = index.result("garden", filters=Filters(include_hidden=True)).hits
    assert hit.note.title == "old garden idea"


def test_the_release_plan_is_first_over_all_nuggets(index: SearchIndex) -> None:
    hits = index.result("deploy to production and staging", 100).hits
    assert hits[0].note.title == "project:release plan"
    assert {hit.note.nugget_name for hit in hits} == {"projects", "memory"}
