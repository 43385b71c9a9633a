"""The vector leg: likeness of weighted words and pairs, whatever the size of a note."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from core.model.note import Note
from core.search import SearchIndex

MakeNote = Callable[..., Note]
MakeIndex = Callable[..., SearchIndex]


def test_sharing_more_stems_scores_more_and_unrelated_notes_nothing(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    query = "deploying the staging gateway"
    both = make_note("x", "we deploy a gateway to staging nightly")
    one = make_note("y", "the gateway was replaced on Friday evening")
    none = make_note("z", "tea is best at eighty degrees, boiled slowly")
    index = make_index(both, one, none)
    found = {}
    for note in (both, one, none):
        explanation = index.explain(query, note.id)
        assert explanation is not None
        found[note.id] = explanation.hit.breakdown
    assert found[both.id].vector_score == 1.0
    assert 0.1 < found[one.id].vector_score < 0.7
    assert found[none.id].vector_score == 0.0
    assert index.result(query).hits[0].note is both


@pytest.mark.slow
def test_a_huge_note_is_indexed_and_does_not_slow_the_rest(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    huge = make_note("log", " ".join(f"line{number}" for number in range(100_000)))
    index = make_index(huge, make_note("kettle", "line7 boil"))
    assert index.result("line7 boil").hits[0].note.title == "kettle"
    assert [hit.note.title for hit in index.result("line99999").hits] == ["log"]


@pytest.mark.slow
def test_importing_search_loads_no_numpy() -> None:
    code = "import sys, core.search; sys.exit('numpy' in sys.modules or 'rapidfuzz' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
