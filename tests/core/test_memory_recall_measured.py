"""Recall through the memory object, counted: facts first, then the notes, in which every value and tag stands too."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.recall_keys import make_keys, measure, write_memory
from kits.recall_questions import DEMO, PERSONAL, ask, recalled

from core import Memory

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("style", "size"), [("scoped", 50), ("scoped", 200), ("lone", 200), ("crowded", 200), ("sentence", 512)]
)
def test_nonsense_is_a_miss_also_where_values_hold_some_of_its_words(
    style: str, size: int, tmp_path: Path
) -> None:
    keys = make_keys(size, style)
    counts = measure(keys, recalled(write_memory(tmp_path, keys)), 250)
    assert counts["nonsense"] <= 0.02
    assert counts["paraphrase"] >= 0.9
    # A key of one short word with two letters wrong is offered at most.
    assert counts["typo"] >= (0.7 if style == "lone" else 0.9)


def test_questions_over_the_demo_memory_are_answered_and_those_that_nothing_answers_are_not(
    tmp_path: Path,
) -> None:
    DEMO.write(tmp_path)
    outcome = ask(DEMO, recalled(Memory.open(tmp_path)))
    assert outcome.right >= 0.75 * len(DEMO.answered)
    assert outcome.wrong <= 0.06 * len(DEMO.answered)
    assert outcome.false <= 0.02 * len(DEMO.unanswered)


def test_questions_over_the_memory_of_one_person_are_answered_as_well(tmp_path: Path) -> None:
    PERSONAL.write(tmp_path)
    outcome = ask(PERSONAL, recalled(Memory.open(tmp_path)))
    assert outcome.right >= 0.88 * len(PERSONAL.answered)
    assert outcome.wrong <= 1
    assert outcome.false == 0
