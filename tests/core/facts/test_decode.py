"""Decoding of nuggets: the original's answers and numbers, every fact of a full nugget, and odd files."""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.laws import examples

from core.errors import InvalidInputError
from core.facts import decode as decoding
from core.facts.decode import decode, similarities
from core.fhrr.operations import softmax
from core.model.fact import FactConfig, NuggetMeta

GOLDEN = Path(__file__).parents[2] / "golden" / "original" / "recall.json"
NUGGETS = ("memory", "project-notes", "wide", "twin")


@cache
def golden(name: str) -> dict[str, Any]:
    loaded = json.loads(GOLDEN.read_text("utf-8"))["nuggets"]
    found: dict[str, Any] = next(nugget for nugget in loaded if nugget["name"] == name)
    return found


def meta_of(nugget: dict[str, Any]) -> NuggetMeta:
    return NuggetMeta(
        name=nugget["name"], D=nugget["D"], banks=nugget["banks"], ensembles=nugget["ensembles"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NUGGETS)
def test_every_resolved_query_is_answered_as_by_the_original(name: str) -> None:
    nugget = golden(name)
    keys = [fact["key"] for fact in nugget["facts"]]
    decoded = decode(meta_of(nugget), [fact["value"] for fact in nugget["facts"]])
    asked = [query for query in nugget["queries"] if query["resolved"]]
    assert asked
    for query in asked:
        place, wanted = keys.index(query["resolved"]), query["result"]
        assert decoded.vocabulary[decoded.best[place, 0]] == wanted["answer"]
        assert decoded.confidence[place] == pytest.approx(wanted["confidence"], abs=1e-6)
        assert decoded.margin[place] == pytest.approx(wanted["margin"], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", NUGGETS)
def test_all_similarities_and_probabilities_are_those_of_the_original(name: str) -> None:
    nugget = golden(name)
    keys = [fact["key"] for fact in nugget["facts"]]
    compared = similarities(meta_of(nugget), [fact["value"] for fact in nugget["facts"]])
    for case in nugget["sims"]:
        row = compared.total[keys.index(case["tag"])]
        assert np.allclose(row, case["sims"], rtol=0, atol=1e-6)
        if "words" in case:
            assert list(compared.vocabulary) == case["words"]
            assert np.allclose(softmax(row, 0.9), case["probs"], rtol=0, atol=1e-6)


def test_nuggets_recalled_together_are_answered_as_by_the_original() -> None:
    wide = json.loads(GOLDEN.read_text("utf-8"))["shelf_wide"]
    for query in wide["queries"]:
        wanted = query["result"]
        if not wanted["found"]:
            continue
        facts = wide["nuggets"][wanted["nugget_name"]]
        meta = NuggetMeta(name=wanted["nugget_name"], D=wide["D"], banks=wide["banks"])
        decoded = decode(meta, [fact[1] for fact in facts])
        place = [fact[0] for fact in facts].index(wanted["key"])
        assert decoded.vocabulary[decoded.best[place, 0]] == wanted["answer"]
        assert decoded.confidence[place] == pytest.approx(wanted["confidence"], abs=1e-6)
        assert decoded.margin[place] == pytest.approx(wanted["margin"], abs=1e-6)


@pytest.mark.slow
def test_a_full_nugget_of_512_facts_recalls_every_one() -> None:
    values = [f"value {number}" for number in range(512)]
    decoded = decode(NuggetMeta(name="full"), values)
    assert [decoded.vocabulary[best] for best in decoded.best[:, 0]] == values
    assert decoded.probability[:, 0].min() > 0.99


def test_a_value_stored_twice_is_one_word_of_the_vocabulary() -> None:
    decoded = decode(NuggetMeta(name="twice", D=256, banks=2), ["blue", "red", "blue", "blue"])
    assert decoded.vocabulary == ("blue", "red")
    assert decoded.best[:, 0].tolist() == [0, 1, 0, 0]


def test_best_values_come_first_and_probabilities_add_up_to_no_more_than_one() -> None:
    decoded = decode(NuggetMeta(name="order", D=512, banks=2), [f"v{i}" for i in range(30)])
    assert (np.diff(decoded.similarity, axis=1) <= 0).all()
    assert (decoded.probability.sum(axis=1) <= 1 + 1e-5).all()


@pytest.mark.slow
@pytest.mark.parametrize("banks", [1, 3, 4, 10, 64])
def test_the_quick_ways_of_comparing_agree(banks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    meta, values = NuggetMeta(name="ways", D=960, banks=banks), [f"v{i}" for i in range(70)]
    usual = similarities(meta, values)
    for few in (0, 1000):
        monkeypatch.setattr(decoding, "FEW_ROLES", few)
        monkeypatch.setattr(decoding, "FEW_ROLES_UNFOLDED", few)
        other = similarities(meta, values)
        assert np.allclose(other.total, usual.total, rtol=0, atol=1e-5)
        assert np.allclose(other.evidence, usual.evidence, rtol=1e-4, atol=1e-2)


@given(
    st.integers(1, 40),
    st.integers(-2, 9) | st.just(10**25),
    st.integers(-1, 3),
    st.lists(st.sampled_from(["", "a", "b", "\ud800", "x" * 999, "c"]), max_size=12),
    st.builds(
        FactConfig,
        sharpen_p=st.floats(-3, 4) | st.sampled_from([1e308, -1e308]),
        corvacs_a=st.floats(-1, 3) | st.just(1e308),
        temp_T=st.floats(-1, 2) | st.sampled_from([0.0, 1e308]),
        orth_iters=st.integers(-1, 3),
    ),
)
@settings(max_examples=examples(60), deadline=None)
def test_no_odd_number_in_a_file_breaks_decoding(
    dimension: int, banks: int, ensembles: int, values: list[str], config: FactConfig
) -> None:
    meta = NuggetMeta(name="odd", D=dimension, banks=banks, ensembles=ensembles, config=config)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decoded = decode(meta, values)
    assert len(decoded.best) == len(values)
    for numbers in (decoded.similarity, decoded.probability, decoded.confidence, decoded.margin):
        assert np.isfinite(numbers).all()


@pytest.mark.parametrize(
    "meta",
    [
        NuggetMeta(name="none", D=0),
        NuggetMeta(name="less", D=-5),
        NuggetMeta(name="huge", D=10**12),
        NuggetMeta(name="beyond", D=10**40),
        NuggetMeta(name="many", ensembles=10**9),
        NuggetMeta(name="rounds", D=64, config=FactConfig(orth_iters=10**400)),
    ],
)
def test_numbers_beyond_any_machine_are_refused_with_the_nugget_named(meta: NuggetMeta) -> None:
    with pytest.raises(InvalidInputError, match=f"^{meta.name}: the facts cannot be decoded"):
        decode(meta, ["one", "two"])
