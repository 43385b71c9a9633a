"""Nuggets that hold more than their vectors can tell: the file answers, soon, and the answer says so."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import InvalidInputError
from core.facts import decode as decoding
from core.facts import feasible
from core.facts.decode import decode
from core.facts.feasible import RECALL_BYTES, check_decodable, is_hopeless, most_bytes, why_not_decoded
from core.facts.recall import Decoder, Keys, Recall
from core.model.fact import Fact, FactConfig, Nugget, NuggetMeta

GOLDEN = Path(__file__).parents[2] / "golden" / "original" / "recall.json"


def full(count: int, name: str = "big", **numbers: Any) -> Nugget:
    facts = tuple(Fact(key=f"user:port of service{i}", value=f"value {i}") for i in range(count))
    return Nugget(meta=NuggetMeta(name=name, **numbers), facts=facts)


@pytest.fixture
def undecoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr(decoding, "decode", refuse)


def answered(decoder: Decoder, nugget: Nugget, place: int) -> Recall:
    """What a recall makes of a key that is asked for to the letter."""
    (named,) = Keys().named([nugget], nugget.facts[place].key)
    assert named.place == place
    return decoder.with_decoding(Recall(answer=named.fact.value, certainty=1.0, found=True), nugget, place)


@pytest.mark.slow
@pytest.mark.parametrize("count", [600, 1400, 2000, 5000, 20_000])
@pytest.mark.usefixtures("undecoded")
def test_every_exact_key_is_answered_from_the_file_at_any_size(count: int) -> None:
    keys, decoder, nugget = Keys(), Decoder(), full(count)
    for place in (*range(0, count, count // 40), count - 1):
        for asked in (f"user:port of service{place}", f" USER:Port of service{place} "):
            (named,) = keys.named([nugget], asked)
            assert (named.fact.value, named.certainty) == (f"value {place}", 1.0)
        found = answered(decoder, nugget, place)
        assert (found.certainty, found.undecoded) == (1.0, "overfull")
        assert (found.confidence, found.margin, found.runners_up) == (0.0, 0.0, ())


@pytest.mark.parametrize(
    ("dimension", "banks", "count"), [(512, 1, 60), (512, 2, 150), (64, 2, 40), (16, 1, 40)]
)
def test_whatever_the_vectors_give_the_answer_is_what_the_file_holds(
    dimension: int, banks: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feasible, "why_not_decoded", lambda *_: "")
    nugget = full(count, D=dimension, banks=banks)
    decoded = decode(nugget.meta, [fact.value for fact in nugget.facts])
    decoder, wrong = Decoder(), 0
    for place, fact in enumerate(nugget.facts):
        found = answered(decoder, nugget, place)
        given = decoded.vocabulary[decoded.best[place, 0]]
        assert (found.answer, found.found) == (fact.value, True)
        assert found.certainty >= 0.9
        assert fact.value not in [other.value for other in found.runners_up]
        if given != fact.value:
            wrong += 1
            assert (found.undecoded, found.confidence, found.margin) == ("unsure", 0.0, 0.0)
            assert found.runners_up[0].value == given
        else:
            assert found.confidence == decoded.confidence[place]
            assert (found.undecoded == "") == (decoded.probability[place, 0] >= 0.9)
    assert wrong > 0 or dimension == 512


@pytest.mark.slow
def test_answers_of_the_original_keep_its_numbers_through_a_recall() -> None:
    decoder, compared = Decoder(), 0
    for case in json.loads(GOLDEN.read_text("utf-8"))["nuggets"]:
        facts = tuple(Fact(key=fact["key"], value=fact["value"]) for fact in case["facts"])
        meta = NuggetMeta(name=case["name"], D=case["D"], banks=case["banks"], ensembles=case["ensembles"])
        nugget, keys = Nugget(meta=meta, facts=facts), [fact.key for fact in facts]
        for query in case["queries"]:
            if query["resolved"]:
                found, wanted = answered(decoder, nugget, keys.index(query["resolved"])), query["result"]
                assert (found.answer, found.undecoded) == (wanted["answer"], "")
                assert found.confidence == pytest.approx(wanted["confidence"], abs=1e-6)
                assert found.margin == pytest.approx(wanted["margin"], abs=1e-6)
                compared += 1
    assert compared >= 30


@pytest.mark.parametrize("dimension", [2**25, 10**12])
def test_a_nugget_whose_vectors_are_too_long_is_read(dimension: int) -> None:
    found = answered(Decoder(), full(1, D=dimension), 0)
    assert (found.answer, found.undecoded) == ("value 0", "costly")


@pytest.mark.parametrize("dimension", [10**400, -(10**5000), 10**5000], ids=["long", "less", "longer"])
def test_a_dimension_of_any_length_is_refused_in_a_sentence(dimension: int) -> None:
    with pytest.raises(InvalidInputError, match=r"^odd: the facts cannot be decoded"):
        check_decodable(NuggetMeta(name="odd", D=dimension), 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("numbers", "count", "values"),
    [
        ({"D": 4096}, 150, 150),
        ({"D": 2**18, "banks": 3}, 3, 3),
        ({"D": 2**14, "banks": 40}, 40, 40),
        ({"D": 2**14, "banks": 3}, 70, 20),
        ({"D": 256}, 700, 700),
        ({"D": 512, "ensembles": 3}, 200, 200),
        ({"D": 2**14, "banks": 7, "config": FactConfig(sharpen_p=0.5, corvacs_a=1.5)}, 20, 20),
    ],
    ids=str,
)
def test_decoding_takes_no_more_memory_than_it_is_weighed_with(
    numbers: dict[str, Any], count: int, values: int
) -> None:
    meta = NuggetMeta(name="weighed", **numbers)
    texts = [f"v{i % values}" for i in range(count)]
    decode(NuggetMeta(name="warm", D=64), ["a", "b"])
    tracemalloc.start()
    try:
        decode(meta, texts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= most_bytes(meta, count, values) + 2**20


def test_what_a_recall_decodes_is_bounded_in_memory_and_in_work() -> None:
    for power in range(6, 27):
        for count in (1, 8, 64, 300, 512, 600, 2000, 20_000):
            meta = NuggetMeta(name="any", D=2**power)
            if not why_not_decoded(meta, count, count):
                assert most_bytes(meta, count, count) <= RECALL_BYTES
                assert 3.0 * count * count * meta.D <= feasible.RECALL_WORK
                assert not is_hopeless(meta, count, count)
    assert why_not_decoded(NuggetMeta(name="default"), 512, 512) == ""


def test_where_decoding_is_called_hopeless_most_of_it_is_wrong_and_a_full_nugget_is_not() -> None:
    for dimension, banks in ((64, 1), (256, 4), (1024, 4)):
        meta = NuggetMeta(name="lost", D=dimension, banks=banks)
        count = next(n for n in range(2, 10_000) if is_hopeless(meta, n, n))
        assert count > meta.capacity
        decoded = decode(meta, [f"v{i}" for i in range(count)])
        assert (decoded.best[:, 0] == np.arange(count)).mean() < 0.5
