"""A long document is read in pieces, and that makes no difference to what is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.storage.format import json_text
from core.storage.format.json_text import JsonError, split_array, split_document, split_object

TEXTS = st.text(max_size=8) | st.sampled_from(["\n    },\n    {", "\n  ]", '\n  "notes": [', "\\", '"', "é"])
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
NOTES = st.dictionaries(st.sampled_from(["id", "title", "notes", "links"]), VALUES, max_size=3) | VALUES
OTHERS = st.dictionaries(st.sampled_from(["version", "x", "notes ", "other"]), VALUES, max_size=2)


@pytest.fixture(autouse=True)
def _short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "_PIECE", 8)
    monkeypatch.setattr(json_text, "_COMPARED", 4)


def whole(text: bytes) -> tuple[dict[str, bytes], list[bytes]] | None:
    """The same without pieces; None for a document that is refused."""
    try:
        fields = split_object(text, once="notes")
        return fields | {"notes": b"[]"}, split_array(fields["notes"]) if "notes" in fields else []
    except JsonError:
        return None


def in_pieces(text: bytes) -> tuple[dict[str, bytes], list[bytes]] | None:
    try:
        return split_document(text, "notes")
    except JsonError:
        return None


@pytest.mark.slow
@given(OTHERS, st.lists(NOTES, max_size=5), OTHERS, st.sampled_from([None, 1, 2, 4]))
def test_pieces_are_those_of_the_whole(
    before: dict[str, Any], notes: list[Any], after: dict[str, Any], indent: int | None
) -> None:
    text = json.dumps(before | {"notes": notes} | after, indent=indent, ensure_ascii=False).encode()
    found = in_pieces(text)
    assert found == whole(text)
    assert found is not None
    assert [json.loads(one) for one in found[1]] == notes
    assert list(found[0]) == list(before | {"notes": notes} | after)


@pytest.mark.slow
@given(st.lists(NOTES, min_size=1, max_size=4), st.data())
def test_a_damaged_document_is_refused_or_read_as_the_whole_is(notes: list[Any], data: st.DataObject) -> None:
    text = json.dumps({"version": 3, "notes": notes, "x": [[1], {"notes": []}]}, indent=2).encode()
    place = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(place, min(place + 6, len(text))))
    damaged = (
        text[:place] + data.draw(st.sampled_from([b"", b",", b"]", b"}", b'"', b"[", b"\xff"])) + text[end:]
    )
    assert in_pieces(damaged) == whole(damaged)


@pytest.mark.parametrize(
    "text",
    [
        b'{\n  "notes": [\n    {\n    },\n    {\n    },\n  ]\n}',
        b'{\n  "notes": [\n    {\n    },\n    {\n    }\n  ],\n  "notes": [\n    {\n    }\n  ]\n}',
        b'{\n  "x": {\n  "notes": [\n    {\n    },\n    {\n    }\n  ]\n},\n  "notes": []\n}',
        b'{\n  "notes": [\n    {\n    },\n    {\n    }\n  ],\n  "x": [\n    1\n  ]\n}',
        b'{\n  "notes": [\n    {\n    },\n    {\n    }\n  ]\n}\n}',
        b'[\n  "notes": [\n    {\n    },\n    {\n    }\n  ]\n]',
    ],
)
def test_what_only_looks_like_the_list_is_not_taken_for_it(text: bytes) -> None:
    assert in_pieces(text) == whole(text)


def test_pieces_are_really_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "split_array", lambda _: pytest.fail("read as a whole"))
    text = json.dumps({"version": 3, "notes": [{"id": str(number)} for number in range(50)]}, indent=2)
    assert len(split_document(text.encode(), "notes")[1]) == 50


def with_known(text: bytes, known: list[bytes]) -> tuple[dict[str, bytes], list[bytes]] | None:
    try:
        return split_document(text, "notes", known)
    except JsonError:
        return None


@pytest.mark.slow
@given(st.lists(NOTES, max_size=6), st.lists(NOTES, max_size=6), st.data())
def test_items_known_from_the_former_text_make_no_difference(
    former: list[Any], others: list[Any], data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(former)))
    last = data.draw(st.integers(first, len(former)))
    notes = [*former[:first], *others, *former[last:]]
    known = whole(json.dumps({"notes": former}, indent=2, ensure_ascii=False).encode())
    text = json.dumps({"version": 3, "notes": notes, "x": [1]}, indent=2, ensure_ascii=False).encode()
    assert known is not None
    assert with_known(text, known[1]) == whole(text)


@pytest.mark.slow
@given(st.lists(NOTES, max_size=10), st.lists(NOTES, max_size=4), st.data())
def test_items_known_here_and_there_make_no_difference(
    former: list[Any], others: list[Any], data: st.DataObject
) -> None:
    notes = list(former)
    for other in others:
        place = data.draw(st.integers(0, len(notes)))
        notes[place : place + data.draw(st.integers(0, 2))] = data.draw(st.sampled_from([[], [other]]))
    known = whole(json.dumps({"notes": former}, indent=2, ensure_ascii=False).encode())
    text = json.dumps({"version": 3, "notes": notes, "x": [1]}, indent=2, ensure_ascii=False).encode()
    assert known is not None
    assert with_known(text, known[1]) == whole(text)


@given(st.lists(NOTES, min_size=1, max_size=4), st.data())
def test_a_damaged_text_is_refused_or_read_as_the_whole_is_whatever_was_known(
    notes: list[Any], data: st.DataObject
) -> None:
    text = json.dumps({"version": 3, "notes": notes, "x": [[1]]}, indent=2).encode()
    known = whole(text)
    assert known is not None
    place = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(place, min(place + 6, len(text))))
    marks = [b"", b",", b",,", b"]", b"}", b'"', b"[", b"\xff", b",\n    ", b"\n    ", b"1"]
    damaged = text[:place] + data.draw(st.sampled_from(marks)) + text[end:]
    assert with_known(damaged, known[1]) == whole(damaged)


@pytest.mark.parametrize(
    "inside", ["", ",", "\n    1,\n  ", "\n    ,\n    1\n  ", "\n    1\n    1\n  ", "\n    12\n  "]
)
def test_a_list_that_is_none_stays_none_beside_known_items(inside: str) -> None:
    text = ('{\n  "notes": [' + inside + "\n  ]\n}").encode()
    assert with_known(text, [b"1"]) == whole(text)
    assert with_known(text, [b"1", b"2"]) == whole(text)


def test_known_items_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = [{"id": str(number)} for number in range(50)]
    known = split_document(json.dumps({"notes": notes}, indent=2).encode(), "notes")[1]
    monkeypatch.setattr(json_text, "_in_pieces", lambda *_: pytest.fail("read again"))
    found = split_document(
        json.dumps({"version": 3, "notes": notes[:40]}, indent=2).encode(), "notes", known
    )[1]
    assert all(one is other for one, other in zip(found, known[:40], strict=True))


def test_only_what_is_new_is_read_where_little_changed_in_several_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes = [{"id": f"a note of some length, number {number}"} for number in range(50)]
    known = split_document(json.dumps({"notes": notes}, indent=2).encode(), "notes")[1]
    changed = [{"id": "new"}, *notes[:7], {"id": "other"}, *notes[8:20], *notes[22:], {"id": "last"}]
    read: list[bytes] = []
    in_pieces = json_text._in_pieces
    monkeypatch.setattr(
        json_text, "_in_pieces", lambda *given: read.extend(made := in_pieces(*given)) or made
    )
    found = split_document(json.dumps({"version": 3, "notes": changed}, indent=2).encode(), "notes", known)[1]
    assert [json.loads(one) for one in found] == changed
    assert [json.loads(one)["id"] for one in read] == ["new", "other", "last"]
