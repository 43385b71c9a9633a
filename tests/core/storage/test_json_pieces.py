"""A document taken apart: each part keeps its bytes, also beside odd values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.storage.format.json_text import JsonError, split_array, split_document, split_object

TEXTS = st.text(max_size=8) | st.sampled_from(['"notes": [', "\\", '"', "é", "]"])
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OTHERS = st.dictionaries(st.sampled_from(["version", "x", "notes ", "other"]), VALUES, max_size=2)
Split = tuple[dict[str, bytes], list[bytes]]


def split(text: bytes) -> Split | None:
    """The parts of a document; None for one that is refused."""
    try:
        return split_document(text, "notes")
    except JsonError:
        return None


@given(OTHERS, st.lists(VALUES, max_size=5), OTHERS, st.sampled_from([None, 1, 2]))
def test_a_document_in_parts_says_what_it_said(
    before: dict[str, Any], notes: list[Any], after: dict[str, Any], indent: int | None
) -> None:
    text = json.dumps(before | {"notes": notes} | after, indent=indent, ensure_ascii=False).encode()
    found = split(text)
    assert found is not None
    assert [json.loads(one) for one in found[1]] == notes
    assert list(found[0]) == list(before | {"notes": notes} | after)


@given(st.lists(VALUES, min_size=1, max_size=4), st.data())
def test_parts_of_a_damaged_document_stand_in_it(notes: list[Any], data: st.DataObject) -> None:
    text = json.dumps({"version": 3, "notes": notes, "x": [[1], {"notes": []}]}, indent=2).encode()
    place = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(place, min(place + 6, len(text))))
    marks = [b"", b",", b"]", b"}", b'"', b"[", b"\xff", b"1", b"NaN", b"\\", b"\\ud800", b"\n"]
    damaged = text[:place] + data.draw(st.sampled_from(marks)) + text[end:]
    found = split(damaged)
    assert found is None or all(part in damaged for part in found[1])


@pytest.mark.parametrize("odd", [b"NaN", b'"\\ud800"', b'"a\nb"', b'"\xff"'])
def test_one_odd_value_leaves_the_others_readable(odd: bytes) -> None:
    assert split(b'{"x": 1, "notes": [{"a": 1}, {"a": ' + odd + b"}]}") == (
        {"x": b"1", "notes": b"[]"},
        [b'{"a": 1}', b'{"a": ' + odd + b"}"],
    )


@pytest.mark.parametrize(
    "text", [b"", b" ", b"{", b"[1", b'{"a": 1,}', b'{"a" 1}', b'{"a": 1} x', b"[" * 9_000]
)
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(JsonError):
        split_object(text)
    with pytest.raises(JsonError):
        split_array(text)


def test_a_second_list_of_notes_is_refused() -> None:
    text = b'{"notes": [{"id": "a", "title": "a title", "content": "a text"}], "notes": [{"id": "b"}]}'
    with pytest.raises(JsonError):
        split_document(text, "notes")
