"""`nuggets accept`: lists what waits, accepts it, takes it back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kits.synced import bare, own_git

pytestmark = pytest.mark.slow


@pytest.fixture
def desk(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nuggets: Any) -> str:
    """The home of a machine on which two notes wait that came in from another one."""
    own_git(tmp_path, monkeypatch)
    remote, desk = bare(tmp_path), str(tmp_path / "desk")
    nuggets.ok("note", "add", "Deploy", "make deploy")
    nuggets.ok("note", "add", "Ports", "8080\x1b]52;c;ZXZpbA==\x07")
    nuggets.ok("sync", "init", str(remote), "--machine", "laptop")
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk" / "settings.toml").write_text('[sync]\ntrust = "ask"\n')
    nuggets.ok("--home", desk, "sync", "init", str(remote), "--machine", "desk")
    return desk


def test_what_waits_is_listed_accepted_by_name_and_taken_back(desk: str, nuggets: Any) -> None:
    told = nuggets.ok("--home", desk, "accept")
    assert "Deploy" in told
    assert "Ports" in told
    assert "sync" in told
    assert "\x1b]" not in told
    assert "\x07" not in told
    assert "Accepted Deploy." in nuggets.ok("--home", desk, "accept", "Deploy")
    assert "Deploy" not in nuggets.ok("--home", desk, "accept")
    nuggets.ok("--home", desk, "accept", "--not", "Deploy")
    assert "Deploy" in nuggets.ok("--home", desk, "accept")
    assert "Accepted 2 notes." in nuggets.ok("--home", desk, "accept", "--all")
    assert "Nothing waits" in nuggets.ok("--home", desk, "accept")
    nuggets.ok("--home", desk, "undo")
    assert "Deploy" in nuggets.ok("--home", desk, "accept")


def test_a_note_that_waits_is_marked_in_lists_and_json_and_others_are_not(desk: str, nuggets: Any) -> None:
    assert "not accepted" in nuggets.ok("--home", desk, "notes")
    assert "nobody here accepted it" in nuggets.ok("--home", desk, "note", "show", "Deploy")
    assert json.loads(nuggets.ok("--home", desk, "note", "show", "Deploy", "--json"))["accepted"] is False
    nuggets.ok("--home", desk, "accept", "Deploy")
    assert "accepted" not in json.loads(nuggets.ok("--home", desk, "note", "show", "Deploy", "--json"))
    assert [one.get("accepted") for one in json.loads(nuggets.ok("--home", desk, "notes", "--json"))].count(
        False
    ) == 1
    assert "accepted: Deploy" in nuggets.ok("--home", desk, "log")


@pytest.mark.parametrize("words", [("--all", "Deploy"), ("--all", "--not"), ("--not",)], ids=" ".join)
def test_what_makes_no_sense_is_refused_and_accepts_nothing(
    desk: str, nuggets: Any, words: tuple[str, ...]
) -> None:
    nuggets.fails("--home", desk, "accept", *words)
    nuggets.fails("--home", desk, "accept", "no such note", code=1)
    assert "Deploy" in nuggets.ok("--home", desk, "accept")
