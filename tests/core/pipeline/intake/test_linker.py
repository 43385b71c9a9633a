"""Aspects, attributes and pairs that the rules find in a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.pipeline.intake.linker import MOST_ENTITIES, MOST_PAIRS, aspect_of, link
from core.pipeline.intake.names import canonical_name

FOLDER = Path(__file__).parents[1] / "vectors"
CLAUSES = json.loads((FOLDER / "linker_clauses.json").read_text("utf-8"))
ASPECTS = json.loads((FOLDER / "linker_aspects.json").read_text("utf-8"))


def test_a_predicate_has_the_aspect_that_the_format_says() -> None:
    for vector in ASPECTS:
        assert aspect_of(vector["input"]) == vector["expected"]


@pytest.mark.parametrize("vector", CLAUSES, ids=lambda vector: vector["id"])
def test_clauses_say_of_entities_what_the_format_says(vector: dict[str, Any]) -> None:
    found = [(one.entity, one.content, one.aspect) for one in link(vector["input"]).attributes]
    assert found == [
        (canonical_name(one["entity"]), one["predicate"], one["aspect"]) for one in vector["expected"]
    ]


def test_each_group_of_verbs_names_its_aspect() -> None:
    for predicate, aspect in [
        ("is passionate about birds", "preferences"),
        ("fears spiders", "preferences"),
        ("identifies as a baker", "properties"),
        ("came home late", "events"),
        ("researches whales", "activities"),
        ("realized it too late", "perspectives"),
        ("got married in May", "relationships"),
        ("lives in Boston", "background"),
        ("hopes to retire", "decision patterns"),
        ("hopes that it lasts", "perspectives"),
        ("camps by the lake", "activities"),
        ("stated the goal", "general"),
    ]:
        assert aspect_of(predicate) == aspect


def test_a_language_called_go_is_no_journey() -> None:
    assert aspect_of("chose Rust over Go") == "decision patterns"


@pytest.mark.parametrize(
    "text", ["the `rate_limiter` needs a lock", '"Rate Limiter" needs a lock', "Anna's needs a lock"]
)
def test_signs_that_close_around_a_name_are_not_said_of_it(text: str) -> None:
    assert [one.content for one in link(text).attributes] == ["needs a lock"]


@pytest.mark.parametrize(("word", "length"), [("milk ", 199), ("x", 200)])
def test_of_a_long_clause_the_first_200_characters_are_kept_to_the_end_of_a_word(
    word: str, length: int
) -> None:
    (one,) = link("Anna says " + word * 300).attributes
    assert one.content == ("says " + word * 300)[:length].rstrip()
    assert one.aspect == "general"


def test_only_the_clause_that_decides_becomes_a_constraint() -> None:
    links = link("Bob chose Rust over Zig. Anna likes green tea.")
    assert links.protected
    assert [(one.entity, one.kind, one.importance) for one in links.attributes] == [
        ("bob", "constraint", 0.85),
        ("anna", "attribute", 0.5),
    ]


def test_the_same_said_twice_is_one_attribute() -> None:
    assert len(link("Anna likes green tea. Anna likes green  tea!").attributes) == 1


def test_the_pairs_that_share_a_clause_come_first() -> None:
    pairs = link("With Anna. With Bob and Carla").pairs
    assert pairs[0][:2] == ("bob", "carla")
    assert len(pairs) == 3


def test_a_long_list_of_names_is_capped() -> None:
    links = link("met " + ", ".join(f"Anna{number}" for number in range(40)))
    assert len(links.entities) == MOST_ENTITIES
    assert len(links.pairs) == MOST_PAIRS
    assert len(set(links.pairs)) == MOST_PAIRS


@given(
    st.text()
    | st.lists(
        st.sampled_from(
            ["Anna ", "Bob ", "likes ", "chose ", "over ", ". ", " - ", "who ", ", ", "\n", "tea "]
        )
    ).map("".join)
)
def test_what_is_found_stands_in_the_text_and_hangs_together(text: str) -> None:
    links = link(text)
    names = {one.canonical_name for one in links.entities}
    assert len(links.entities) <= MOST_ENTITIES
    assert len(links.pairs) <= MOST_PAIRS
    for attribute in links.attributes:
        assert attribute.entity in names
        assert attribute.content == " ".join(attribute.span.of(text).split()) or not text.isprintable()
        assert 5 <= len(attribute.span.of(text)) <= 200
        assert (attribute.kind == "constraint") == (attribute.importance == 0.85)
        assert attribute.kind == "attribute" or links.protected
    for pair in links.pairs:
        assert {pair.source, pair.target} <= names
        assert pair.source != pair.target


def test_hostile_texts_are_linked() -> None:
    for text in HOSTILE:
        link(f"Anna likes {text}. Bob chose {text} over tea")


@pytest.mark.slow
def test_no_more_than_the_first_part_of_a_text_is_linked() -> None:
    for unit in ["Anna likes tea. ", "...", "- ", " – ", "chose ", "Anna ", "picked a ", "Anna,,,,"]:
        text = unit * (1_000_000 // len(unit))
        assert link(text) == link(text[:20_000])
