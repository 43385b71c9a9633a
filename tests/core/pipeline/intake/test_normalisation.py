"""Texts that say the same hash the same, whatever their form."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.pipeline.intake.normalisation import HASH_VERSION, compose, normalise

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "normalisation.json").read_text("utf-8"))
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


def test_a_text_takes_the_forms_that_the_format_says() -> None:
    for vector in VECTORS:
        found = normalise(vector["input"])
        assert {
            "storageContent": found.storage_content,
            "normalizedContent": found.normalised_content,
            "hashBasis": found.hash_basis,
            "contentHash": found.content_hash,
        } == vector["expected"]
        assert found.raw_content == vector["input"]
        assert found.hash_version == HASH_VERSION


@given(ANY_TEXT)
def test_normalising_what_is_stored_changes_nothing(text: str) -> None:
    found = normalise(text)
    again = normalise(found.storage_content)
    assert again.storage_content == found.storage_content
    assert again.content_hash == found.content_hash
    found.storage_content.encode()


@given(ANY_TEXT, st.sampled_from("\t\n\v\f\r \u00a0\u1680\u2003\u2028\u202f\u205f\u3000\ufeff"))
def test_white_space_around_and_within_does_not_tell_texts_apart(text: str, blank: str) -> None:
    assert (
        normalise(f"{blank}a {text}{blank}").content_hash == normalise(f"a{blank}{blank}{text}").content_hash
    )


@given(st.text())
def test_composed_and_decomposed_letters_hash_the_same(text: str) -> None:
    assert normalise(text).content_hash == normalise(unicodedata.normalize("NFD", text)).content_hash


@pytest.mark.parametrize("text", ["J\u030c", "H\u0331", "ΟΔΟΣ", "İstanbul"])
def test_lower_case_is_composed_too(text: str) -> None:
    basis = normalise(text).hash_basis
    assert unicodedata.is_normalized("NFC", basis)
    assert normalise(basis).hash_basis == basis


def test_separators_that_only_python_takes_for_white_space_stay() -> None:
    assert normalise("a\x1cb\x85c").storage_content == "a\x1cb\x85c"


def test_a_lone_surrogate_is_stored_as_the_replacement_character_and_a_pair_is_joined() -> None:
    assert normalise("a\ud800b").storage_content == "a\ufffdb"
    assert normalise("\ud83d\ude00").storage_content == "😀"
    assert normalise("a\ud800b").raw_content == "a\ud800b"


def test_hostile_texts_have_a_hash() -> None:
    for text in HOSTILE:
        assert len(normalise(text).content_hash) == 64


@given(st.text(st.sampled_from("ae\u00e9\u0301\u0323\u0344\u0327\u1e69 "), max_size=200))
def test_composing_long_runs_of_marks_gives_the_standard_form(text: str) -> None:
    assert compose(text) == unicodedata.normalize("NFC", text)


@pytest.mark.slow
def test_a_million_marks_out_of_order_are_sorted_and_not_bubbled() -> None:
    # In quadratic time this would take many minutes.
    assert len(compose("q" + "\u0301\u0323" * 500_000)) == 1_000_001
