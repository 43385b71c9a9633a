"""TOML files of a person: values are changed, and nothing else is."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BrokenFileError, ConflictError
from core.storage.files.toml import brought_onto, values, with_values

WRITTEN = b"""# mine

[search]   # weights
vector_weight = 0.40  # less than usual
text_weight   = 0.5

# above the next
[reflection]
hour = 7
words = ["a",
  "b",  # two
]
"""


def test_a_value_is_changed_and_every_other_byte_stays() -> None:
    made = with_values(WRITTEN, {("search", "vector_weight"): 0.3}, "f")
    assert made == WRITTEN.replace(b"0.40", b"0.3")


def test_a_new_value_comes_into_its_table_and_a_new_table_to_the_end() -> None:
    made = with_values(WRITTEN, {("search", "link_weight"): 0.1, ("app", "theme"): "x"}, "f")
    assert tomllib.loads(made.decode()) == tomllib.loads(WRITTEN.decode()) | {
        "search": {"vector_weight": 0.4, "text_weight": 0.5, "link_weight": 0.1},
        "app": {"theme": "x"},
    }
    kept = [line for line in made.splitlines(keepends=True) if line in WRITTEN.splitlines(keepends=True)]
    assert b"".join(kept).replace(b"\n\n", b"\n") == WRITTEN.replace(b"\n\n", b"\n")


def test_taking_out_what_was_put_in_gives_the_very_bytes_back() -> None:
    for start in (b"", b"# only words\n", WRITTEN, WRITTEN.replace(b"\n", b"\r\n")):
        made = with_values(start, {("app", "theme"): "x"}, "f")
        assert values(with_values(made, {("app", "theme"): None}, "f"), "f") == values(start, "f")
        assert b"app" not in with_values(made, {("app", "theme"): None}, "f")


def test_a_table_with_a_comment_stays_when_its_last_value_goes() -> None:
    made = with_values(b"[app]\n# for the evening\ntheme = 'x'\n", {("app", "theme"): None}, "f")
    assert made == b"[app]\n# for the evening\n"


@pytest.mark.parametrize(
    "text",
    [
        "search.text_weight = 0.1\n",
        "search = { text_weight = 0.1 }\n",
        "[search]\ntext_weight = 0.1\n[app]\ntheme = 'x'\n[search.more]\na = 1\n",
        "app.theme = 'y'\nsearch.text_weight = 0.1\napp.other = 3\n",
        "",
    ],
)
def test_however_a_table_is_written_its_value_can_be_changed(text: str) -> None:
    made = with_values(text.encode(), {("search", "text_weight"): 0.7}, "f")
    expected = values(text.encode(), "f") | {("search", "text_weight"): 0.7}
    assert values(made, "f") == expected


@pytest.mark.parametrize("data", [b"[search\n", b"\xff\xfe", b"a = 1\na = 2\n", b"x = " + b"9" * 5000])
def test_a_file_that_cannot_be_read_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenFileError):
        with_values(data, {("a",): 1}, "f")


_NAME = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=8)
_VALUE = st.one_of(
    st.integers(-9, 9), st.booleans(), _NAME, st.floats(0, 1), st.lists(st.integers(0, 9), max_size=3)
)


@pytest.mark.slow
@given(st.dictionaries(st.tuples(_NAME, _NAME), _VALUE, max_size=6), st.data())
def test_whatever_is_put_in_is_read_back_and_nothing_else_is_touched(
    start: dict[tuple[str, str], Any], data: st.DataObject
) -> None:
    made = with_values(b"# begins\n", start, "f")
    assert values(made, "f") == start
    changes = data.draw(st.dictionaries(st.tuples(_NAME, _NAME), st.one_of(st.none(), _VALUE), max_size=4))
    again = with_values(made, changes, "f")
    expected = start | changes
    assert values(again, "f") == {path: value for path, value in expected.items() if value is not None}
    assert again.startswith(b"# begins\n")


def test_a_change_is_brought_onto_a_file_that_moved_on() -> None:
    before, after = b"[a]\nx = 1\ny = 1\n", b"[a]\nx = 2\ny = 1\n"
    assert brought_onto(before, after, b"[a]\nx = 1\ny = 5 # mine\n", "f") == b"[a]\nx = 2\ny = 5 # mine\n"
    assert brought_onto(before, after, before, "f") == after
    assert brought_onto(before, after, after, "f") == after


def test_a_value_that_was_changed_in_two_ways_is_a_conflict() -> None:
    with pytest.raises(ConflictError) as met:
        brought_onto(b"x = 1", b"x = 2", b"x = 3", "f")
    assert (met.value.field, met.value.base, met.value.ours, met.value.theirs) == ("x", "1", "2", "3")
