"""What is a decision, and what only sounds like one."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.pipeline.intake.linker import find_decisions

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "decision_patterns.json").read_text("utf-8"))


def test_decisions_are_those_that_the_format_says() -> None:
    for vector in VECTORS:
        found, expected = find_decisions(vector["input"]), vector["expected"]
        assert bool(found) == expected["protected"]
        if "patterns" in expected:
            assert sorted({one.form for one in found}) == expected["patterns"]


def test_decisions_in_other_words() -> None:
    for text in [
        "They are migrating to AWS",
        "we are switching from npm to bun",
        "choosing Rust over Go",
        "We decided not to use Redis",
        "No, we chose Go over Rust",
        "we haven't slept but picked Rust over Go",
        "we not only decided to ship it",
        "went with plan B",
        "settled on tabs",
    ]:
        assert find_decisions(text)


def test_negated_supposed_asked_and_far_apart_words_are_no_decisions() -> None:
    for text in [
        "We have not decided to ship",
        "we haven't switched to bun",
        "We never adopted it",
        "Have we decided to ship?",
        "have we decided to ship",
        "should we have picked Rust over Go",
        "if we switched to bun, it would break",
        "nobody knows whether they settled on tabs",
        "We chose " + "x" * 61 + " over tea",
        "he chose tea. The bridge over the river",
    ]:
        assert not find_decisions(text)


def test_a_question_does_not_take_back_the_decision_beside_it() -> None:
    text = "Which one? We decided on Rust. Have they adopted it?"
    assert [one.span.of(text) for one in find_decisions(text)] == ["decided on"]


@given(
    st.lists(
        st.sampled_from(["chose ", "over ", "not ", "decided ", "to ", "? ", ". ", ", ", "prefer ", "é "])
    ).map("".join)
    | st.text()
)
def test_each_place_begins_and_ends_with_a_word(text: str) -> None:
    for one in find_decisions(text):
        said = one.span.of(text)
        assert said == said.strip()
        assert 1 <= one.form <= 14


def test_hostile_texts_are_read() -> None:
    for text in HOSTILE:
        assert find_decisions(f"we decided to ship. {text}")
