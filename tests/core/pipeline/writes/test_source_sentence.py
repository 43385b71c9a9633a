from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.pipeline.ground import source_spans

TEXT = (
    "# Stand-up\n"
    "- Anna works in Berlin since 2021.\n"
    "- The deploy runs on Fridays!  Postgres 15.2 is used by billing, e.g. for reports.\n"
    "Anna likes tea"
)


@pytest.mark.parametrize(
    ("fact", "sentence"),
    [
        ("Anna lives and works in Berlin", "Anna works in Berlin since 2021."),
        ("Deploys run on a Friday", "The deploy runs on Fridays!"),
        ("Billing uses Postgres 15.2", "Postgres 15.2 is used by billing, e.g. for reports."),
        ("Tea is what Anna likes", "Anna likes tea"),
    ],
)
def test_a_fact_is_traced_to_the_sentence_it_comes_from(fact: str, sentence: str) -> None:
    (span,) = source_spans(TEXT, [fact])
    assert span is not None
    assert TEXT[slice(*span)] == sentence


def test_a_fact_that_shares_no_word_of_meaning_has_no_sentence() -> None:
    assert source_spans(TEXT, ["Der Mond kreist", "", "the of and"]) == [None, None, None]


def test_rare_words_weigh_more_than_those_of_every_sentence() -> None:
    text = "The service checkout runs. The service checkout logs. The service checkout pages Ben."
    (span,) = source_spans(text, ["The checkout service belongs to Ben"])
    assert span is not None
    assert text[slice(*span)] == "The service checkout pages Ben."


def test_hostile_text_gives_spans_within_it() -> None:
    for text in HOSTILE:
        for span in source_spans(text, [text, "anna"]):
            assert span is None or 0 <= span[0] < span[1] <= len(text)


@given(st.text(max_size=200), st.lists(st.text(max_size=60), max_size=4))
def test_spans_lie_within_any_text(text: str, facts: list[str]) -> None:
    spans = source_spans(text, facts)
    assert len(spans) == len(facts)
    for span in spans:
        assert span is None or (0 <= span[0] < span[1] <= len(text) and text[slice(*span)].strip())
