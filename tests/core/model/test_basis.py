"""The recipe of a note's vector, its tags and its links, as every write sets them right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.drafts import make_link, make_note

from core import Memory
from core.model.note import (
    BASIS_LIMIT,
    custom_tags,
    normalise_tag,
    normalised_note,
    replace,
    utf16_length,
    vector_spec,
)
from core.settings import InferenceSettings
from core.storage.format.codec import read_note
from core.text.exact import basis_tokens


def test_the_basis_of_every_golden_note_is_what_the_original_wrote(store: Path) -> None:
    notes = Memory.open(store).snapshot.notes
    assert len(notes) == 25
    assert {note.id: vector_spec(note) for note in notes} == {note.id: note.vector for note in notes}


def test_the_basis_of_every_golden_reflection_is_what_the_original_wrote(golden: Path) -> None:
    found = json.loads((golden / "reflect.json").read_bytes())
    notes = [read_note(json.dumps(note).encode(), InferenceSettings()) for note in _notes_in(found)]
    assert len(notes) > 50
    assert [note.id for note in notes if vector_spec(note) != note.vector] == []


def _notes_in(value: object) -> list[dict[str, object]]:
    if isinstance(value, dict):
        if "vector" in value and "basis" in (value["vector"] or {}):
            return [value]
        return [note for item in value.values() for note in _notes_in(item)]
    return [note for item in value for note in _notes_in(item)] if isinstance(value, list) else []


def test_the_basis_has_its_parts_in_order_and_at_most_twenty() -> None:
    links = tuple(make_link(make_note(number)) for number in range(10, 16))
    note = make_note(
        1, title="one two three four five", content="a b1 c1 d1 e1 f1 g1 h1", tags=tuple("tuvwxyz"),
        links=links,
    )  # fmt: skip
    basis = vector_spec(note).basis
    assert basis[:7] == (
        "kind:note", "subject:user:primary", "scope:user", "type:note", "source:explicit_user", "stability:durable",
        f"note:{note.id}",
    )  # fmt: skip
    assert basis[7:11] == ("title:one", "title:two", "title:three", "title:four")
    assert basis[11:17] == (
        "content:b1", "content:c1", "content:d1", "content:e1", "content:f1", "content:g1",
    )  # fmt: skip
    assert basis[17:] == ("tag:memory", "tag:t", "tag:u")
    assert len(basis) == BASIS_LIMIT


def test_the_seed_is_the_length_in_the_units_of_javascript() -> None:
    note = replace(make_note(1), subject="user:😀")
    spec = vector_spec(note)
    assert spec.seed == len("|".join(spec.basis)) + 1
    assert utf16_length("a😀\ud800") == 4


@pytest.mark.parametrize(("text", "tokens"), [
    ("The CI-build of src/Main.ts:47 is A failure, café I", ["ci-build", "src/main", "ts:47", "failure", "caf"]),
    ("The User's ci-build", ["user", "ci-build"]), ("a b cd", ["cd"]), ("x_y:z/w", ["x_y:z/w"]),
    ("same same", ["same", "same"]), ("имя", []), ("UPPER", ["upper"]),
])  # fmt: skip
def test_the_tokens_of_the_basis_are_the_plain_ones_of_the_file_format(text: str, tokens: list[str]) -> None:
    assert basis_tokens(text) == tokens


@given(
    st.lists(st.text(max_size=12), max_size=6),
    st.sampled_from(["self", "project"]),
    st.sampled_from(["style", "fact"]),
)
def test_system_tags_follow_scope_and_type_and_settling_twice_is_settling_once(
    tags: list[str], scope: str, type_: str
) -> None:
    note = replace(make_note(1), tags=tuple(tags), scope=scope, type=type_)
    done = normalised_note(note, lambda _: True)
    assert normalised_note(done, lambda _: True) == done
    assert {"memory", f"scope:{scope}", f"type:{type_}"} <= set(done.tags)
    assert [tag for tag in done.tags if tag.startswith("scope:") and tag != f"scope:{scope}"] == [
        tag
        for tag in dict.fromkeys(map(normalise_tag, tags))
        if tag.startswith("scope:") and tag in custom_tags(done)
    ]
    assert len(set(done.tags)) == len(done.tags)


@pytest.mark.parametrize(
    ("tag", "stored"),
    [
        ("CI Build", "ci-build"), (" a  b\tc ", "a-b-c"), ("É", "é"), ("a-b", "a-b"), ("", ""),
        ("scope:X", "scope:x"),
    ],
)  # fmt: skip
def test_tags_are_lower_case_with_hyphens(tag: str, stored: str) -> None:
    assert normalise_tag(tag) == stored
    assert normalise_tag(stored) == stored
