"""A search without a hit says which words no note holds and what would find something."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from core.graph.edits import create_note
from core.memory import Memory
from core.model.infer import MetaInput


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = Memory.open(tmp_path / "memory")
    for nugget, title, type in (
        ("ops", "Pager rota", "relationship"),
        ("billing", "Invoice rounding", "preference"),
    ):
        meta = MetaInput(type=type)
        made.change(
            "made", partial(create_note, nugget=nugget, title=title, content="x", tags=["due"], meta=meta)
        )
    return made


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [("nugget:opz", "nugget:ops"), ("nugget:biling", "nugget:billing"), ("type:relationshp", "type:relationship"),
     ("tag:duee", "tag:due")],
)  # fmt: skip
def test_a_condition_that_nothing_fits_names_the_value_that_is_most_like_it(
    memory: Memory, asked: str, nearest: str
) -> None:
    result = memory.search.result(asked)
    assert not result.hits
    assert nearest in result.instead
    assert memory.search.result(nearest).hits


@pytest.mark.parametrize("asked", ["zqxwv", "kubernetes"])
def test_words_that_no_note_holds_are_named(memory: Memory, asked: str) -> None:
    result = memory.search.result(asked)
    assert not result.hits
    assert asked in result.nowhere


def test_a_corrected_word_is_said_and_a_known_one_is_not(memory: Memory) -> None:
    result = memory.search.result("invoyce rounding")
    assert ("invoyce", "invoice") in result.spellings
    assert any(clause.text == "invoyce: searched as invoice" for clause in result.clauses)
    assert memory.search.result("invoice rounding").spellings == ()


def test_whatever_is_suggested_finds_something(memory: Memory) -> None:
    for asked in (
        "ops -rota -invoice nugget:billing",
        "relationshi -pager",
        "nugget:x tag:y",
        "invxxce",
        "\u202e[",
    ):
        for query in memory.search.result(asked).instead:
            assert memory.search.result(query).hits, (asked, query)


def test_a_search_with_hits_suggests_nothing(memory: Memory) -> None:
    assert memory.search.result("pager").instead == ()
