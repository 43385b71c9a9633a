"""Dampening: what only seems near yields, hubs yield once there are enough names, decisions and dates gain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.pipeline.signals import (
    gravity,
    hub,
    is_dated,
    least_hub,
    overlaps,
    resolution,
    telling,
    tokens,
)
from core.search.signals import after
from core.settings.pipeline_sections import DampeningPart

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "recall.json").read_text())


def dampened(given: dict[str, Any]) -> list[list[Any]]:
    part, words = DampeningPart(**given["cfg"]), telling(tokens(given["query"]))
    degrees, entities = given["degrees"] or {}, given["entities"] or {}
    ordered = sorted(degrees.values())
    least = least_hub(part, len(ordered), given.get("notes", 0), ordered.__getitem__)
    hubs = {name for name, degree in degrees.items() if least is not None and degree >= least}
    found = []
    for row in given["rows"]:
        far = row["source"] in ("vector", "hybrid", "traversal")
        stages = (
            gravity(part, row["score"], words, tokens(row["content"])) if far else None,
            hub(part, entities.get(row["id"], ()), hubs),
            resolution(part, row["type"] in ("constraint", "decision"), row["content"]),
        )
        found.append([row["id"], after([stage for stage in stages if stage], row["score"])])
    return sorted(found, key=lambda row: -row[1])


def test_each_vector_of_dampening_gives_its_scores_in_its_order() -> None:
    for vector in VECTORS["dampening"]:
        assert [[id, pytest.approx(score)] for id, score in vector["expected"]] == dampened(vector["input"])


def test_a_note_that_names_hubs_alone_yields_from_twenty_names_on() -> None:
    degrees = {f"e{number}": 1 for number in range(1, 20)}
    given = {
        "rows": [{"id": "a", "score": 0.8, "source": "fts", "content": "redis", "type": "fact"}],
        "query": "redis", "cfg": {}, "entities": {"a": ["hub"]}, "degrees": degrees | {"hub": 100},
    }  # fmt: skip
    assert dampened(given) == [["a", pytest.approx(0.56)]]
    assert dampened(given | {"cfg": {"hub_enabled": False}}) == [["a", 0.8]]
    # What less than a quarter of the notes name is no hub.
    assert dampened(given | {"notes": 400}) == [["a", pytest.approx(0.56)]]
    assert dampened(given | {"notes": 401}) == [["a", 0.8]]
    # One name beside it that is no hub spares the note.
    spared = given | {"entities": {"a": ["hub", "other"]}}
    assert dampened(spared) == [["a", 0.8]]


def test_all_three_stages_multiply_and_each_has_its_switch() -> None:
    degrees = {f"e{number}": 1 for number in range(1, 20)} | {"hub": 5}
    given = {
        "rows": [{"id": "a", "score": 0.8, "source": "vector", "content": "pasta", "type": "decision"}],
        "query": "redis", "cfg": {}, "entities": {"a": ["hub"]}, "degrees": degrees,
    }  # fmt: skip
    assert dampened(given) == [["a", pytest.approx(0.336)]]
    for off, left in (("gravity", 0.672), ("hub", 0.48), ("resolution", 0.28)):
        assert dampened(given | {"cfg": {f"{off}_enabled": False}}) == [["a", pytest.approx(left)]]


def test_words_with_one_stem_overlap_and_may_is_a_month_beside_a_number_or_with_a_capital() -> None:
    assert overlaps(tokens("caching"), tokens("the cache"))
    assert not overlaps(tokens("cab"), tokens("cache"))
    dated = ("in may", "since May", "moved on 2026-03-22", "3 may", "may 3", "It was May then", "on March")
    assert [text for text in dated if not is_dated(text)] == []
    assert [
        text for text in ("it may be", "a march of ants", "May be so", "It ends. May I?") if is_dated(text)
    ] == []
