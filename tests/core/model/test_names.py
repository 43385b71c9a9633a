"""Names that become files, ids and times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.errors import InvalidInputError
from core.model.names import check_nugget_name, did_you_mean_note, iso, parse_iso

BAD = [
    "", ".x", "..", ".", "x.", "../evil", "a/b", "a\\b", "a b", "é", "日本", "x" * 65, "x\n", "\n", "a\x00",
    "~", "a:b", "CON", "con", "Con.txt", "prn", "AUX", "nul", "NUL.json", "COM1", "com0", "lpt9", "Lpt1.x",
    "$x", "*", "a?",
]  # fmt: skip


@pytest.mark.parametrize("name", [*BAD, *HOSTILE])
def test_anything_else_is_refused_on_one_line_that_shows_no_control_character(name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_nugget_name(name)
    assert caught.value.kept == "nothing was written"
    assert len(caught.value.message) < 400


def test_names_that_differ_by_case_alone_are_refused_and_the_same_name_is_not() -> None:
    assert check_nugget_name("memory", ["memory", "other"]) == "memory"
    with pytest.raises(InvalidInputError, match="only in case"):
        check_nugget_name("Memory", ["memory"])


@given(st.text(max_size=70))
def test_no_accepted_name_can_leave_a_folder(name: str) -> None:
    try:
        check_nugget_name(name)
    except InvalidInputError:
        return
    assert name.isascii()
    assert not set(name) & set("/\\:\x00")
    assert not name.startswith(".")
    assert 1 <= len(name) <= 64


@given(st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_a_written_time_is_read_back_and_sorts_as_text(moment: datetime) -> None:
    back = parse_iso(iso(moment))
    assert back is not None
    assert abs(moment - back) < timedelta(milliseconds=1)
    assert iso(moment) < iso(moment + timedelta(milliseconds=1))


IDS = ("note-project-1a2b3c4d", "note-project-9f8e7d6c", "fact-ops-00112233")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("Zebra crosing", 'did you mean "Zebra crossing"?'),
        ("  zebra CROSSNG ", 'did you mean "Zebra crossing"?'),
        ("note-project-1a2b3c4e", "did you mean note-project-1a2b3c4d?"),
        ("1a2b3c4e", "did you mean note-project-1a2b3c4d?"), ("note-project-55667788", ""),
        ("nothing of the kind", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_mistyped_title_or_id_names_the_note_that_is_most_like_it(typed: str, said: str) -> None:
    assert did_you_mean_note(typed, ["Zebra crossing", "JWT token format", "Deploy day"], IDS) == said
