"""What is said before an action: on pairs of notes and calls that a person labelled, and once in a session."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.actions import ROOT, judged, known, standings, told
from kits.drafts import make_note

from core.grounding.advice import Advice, advice
from core.model.note import replace
from nuggets_tui.before_action import advice_for, first_time, forget_sessions


def test_what_is_said_is_right_nine_times_in_ten_and_never_on_controls() -> None:
    found = judged()
    assert len(found["right"]) + len(found["missed"]) >= 100
    assert len(found["wrong"]) + len(found["quiet"]) >= 200
    assert found["wrong"] + found["elsewhere"] == []
    assert len(found["missed"]) <= 0.1 * len(found["right"]), found["missed"]


def test_a_file_comes_before_its_folder_and_what_is_recalled_more_first() -> None:
    rules = [
        Advice("folder", "src", "folder", "x", 9), Advice("file", "src/a.py", "seldom", "x", 1),
        Advice("file", "src/a.py", "often", "x", 5), Advice("folder", "src/deep", "deep", "x", 0),
    ]  # fmt: skip
    assert [one[2] for one in advice_for(told("src/a.py"), ROOT, rules)] == ["often", "seldom", "folder"]
    assert [one[2] for one in advice_for(told("src/deep/b.py"), ROOT, rules)] == ["deep", "folder"]


def test_nothing_is_said_of_what_is_gone_or_hidden() -> None:
    note = "Never edit src/gen/api.ts by hand."
    made = make_note(1, content=note)
    gone, fresh = standings(note, "gone"), standings(note, "fresh")
    assert advice([made], {made.id: gone}) == []
    assert advice([replace(made, hidden=True)], {made.id: fresh}) == []


@pytest.mark.parametrize(
    "given",
    [None, 3, [], {"file_path": 7}, {"file_path": "\0"}, {"command": ["make", "deploy"]}, {"command": ""},
     {"file_path": "../../etc/passwd"}, {"file_path": "/elsewhere/src/gen/api.ts"}],
)  # fmt: skip
def test_an_event_of_any_shape_is_no_error(given: object) -> None:
    rules = known("Never edit src/gen/api.ts by hand. Careful with `make deploy`.")
    assert not list(advice_for({"tool_input": given}, ROOT, rules))


def test_a_session_is_told_once(tmp_path: Path) -> None:
    asked = [first_time(str(tmp_path), *one) for one in (("s", "a"), ("s", "a"), ("s", "b"), ("t", "a"))]
    assert asked == [True, False, True, True]
    forget_sessions(str(tmp_path))
    assert not first_time(str(tmp_path), "s", "a")
