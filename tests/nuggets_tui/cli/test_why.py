"""Why a note answers a question, or not: `--explain`, and the notes that are offered when nothing is sure."""

from __future__ import annotations

from typing import Any

import pytest
from kits.hostile import HOSTILE, RAW

QUESTION = "how do we roll back"
# Of these words one note holds one: likely enough to be offered, not to be the answer.
UNSURE = "rollback zeppelin"


@pytest.fixture
def filled(nuggets: Any) -> Any:
    """Three notes, two of one title, and a fact."""
    for title, content, nugget in (
        ("Deploy", "With make deploy on Mondays", "ops"),
        ("Rollback", "Roll back with make rollback; ask Anna first\nand tell the others", "ops"),
        ("Deploy", "Another note about staging", "web"),
    ):
        nuggets.ok("note", "add", title, content, "--nugget", nugget)
    nuggets.ok("remember", "ops", "db port", "5432")
    return nuggets


# One note


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_questions_and_titles_are_explained_harmlessly(nuggets: Any, hostile: str) -> None:
    text = hostile.replace("\ud800", "")[:2_000] or "x"
    made = nuggets.json("note", "add", text, f"token {text}")
    for question in ("token", text, f"{text} lamp post"):
        for command in ("search", "recall"):
            result = nuggets(command, "--explain", made["id"], "--", question)
            assert result.exit_code in (0, 1, 2), result.stderr
            assert not RAW.search((result.stdout + result.stderr).replace("\n", ""))


# All of an answer


@pytest.mark.slow
def test_recall_explains_what_may_answer_and_ends_with_one(filled: Any) -> None:
    answer = filled.json("recall", UNSURE, "--explain", code=1)
    assert [one["id"] for one in answer["explained"]] == [one["id"] for one in answer["candidates"]]
    assert filled("recall", UNSURE, "--explain").exit_code == 1
    assert filled.json("recall", "zzyzx", "--explain", code=1)["explained"] == []
    assert filled.fails("recall", "zzyzx", "--explain", code=1)
    (missed,) = filled.json("recall", "zzyzx", "--explain", "Rollback", code=1)["explained"]
    assert missed["obstacle"] == "nothing in common"


@pytest.mark.slow
def test_search_explains_every_hit(filled: Any) -> None:
    found = filled.json("search", "deploy make", "--explain")
    assert [one["rank"] for one in found] == list(range(1, len(found) + 1))
    assert len(found) > 1
    assert filled.json("search", "zzyzx", "--explain", code=1) == []


# What may answer


def test_a_mistyped_word_is_said_with_the_word_it_was_taken_for(nuggets: Any) -> None:
    for number in range(6):
        nuggets.ok("note", "add", f"Note {number}", f"Something about subject{number}.")
    nuggets.ok("note", "add", "Postgres", "Version 17 since November.")
    offered = nuggets.json("recall", "postgers elephants", code=1)["candidates"][0]
    assert offered["holds"] == ["postgers"]
    assert '"postgers" taken as "postgres"' in offered["why"]
