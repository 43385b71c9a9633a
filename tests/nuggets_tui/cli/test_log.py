"""log, undo and redo."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

import pytest

from core.graph.edits import edit_note
from core.memory import Memory
from core.model.change import Author


@pytest.fixture
def told(nuggets: Any) -> Any:
    """A memory with a fact, two notes, an edit and a hidden note, each in the log."""
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    nuggets.ok("note", "add", "JWT format", "RS256", "--nugget", "project")
    nuggets.ok("note", "add", "Deploy day", "Tuesday", "--nugget", "project")
    nuggets.ok("note", "edit", "Deploy day", "--content", "Thursday")
    nuggets.ok("note", "hide", "JWT format")
    return nuggets


def contents(nuggets: Any) -> dict[str, str]:
    """Contents of the notes by title."""
    return {note["title"]: note["content"] for note in nuggets.notes()}


# The log


def test_times_are_shown_to_the_second_and_in_json_with_milliseconds(told: Any) -> None:
    entries = told.json("log")
    stamp = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
    assert all(stamp.fullmatch(entry["at"]) for entry in entries)
    times = [line[:19] for line in told.ok("log").splitlines()]
    local = [datetime.fromisoformat(entry["at"]).astimezone() for entry in entries]
    assert times == [f"{moment:%Y-%m-%d %H:%M:%S}" for moment in local]
    # What a person copies from there names all that the log shows at that time.
    assert len(told.json("log", "--until", times[0])) == len(entries)
    assert told.json("restore", times[0], "--dry-run")["changes"] == []


def test_what_another_program_wrote_is_in_the_log_from_the_next_change_on(told: Any) -> None:
    text = told.graph.read_text(encoding="utf-8").replace("Thursday", "Friday")
    told.graph.write_text(text, encoding="utf-8")
    assert all(entry["kind"] != "outside" for entry in told.json("log"))
    told.ok("note", "delete", "JWT format", "--yes")
    entry = told.json("log")[1]
    assert (entry["author"], entry["kind"]) == ("program", "outside")
    assert entry["changes"][0]["after"]["content"] == "Friday"
    told.ok("undo", entry["id"])
    assert contents(told)["Deploy day"] == "Thursday"


def test_no_listing_of_the_log_shows_a_credential(nuggets: Any) -> None:
    token, value = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "Tr0ub" + "4dor&3x"
    nuggets.ok("note", "add", f"Deploys use {token}", f"the password is {value}", "--nugget", "web")
    nuggets.ok("remember", "web", "pass" + "word", value)
    for args in ((), ("--verbose",), ("--json",)):
        said = nuggets.ok("log", *args)
        assert "Deploys use" in said
        assert token not in said
        assert value not in said


# Taking back


# Beside the answers


def test_notices_of_the_memory_go_to_standard_error(told: Any) -> None:
    for path in told.home.glob("nuggets.db*"):
        path.write_bytes(b"no database at all" * 100)
    result = told("status", "--json")
    json.loads(result.stdout)
    assert result.stderr.startswith("note: ")
    assert "nuggets.db" in result.stderr
    assert told("status").stderr == ""


def test_a_conflict_names_the_command_that_settles_it(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = Memory.open(told.home, author=Author("agent", "codex"))
    draft = stale.draft()
    edit_note(draft, stale.snapshot.resolve("Deploy day").id, content="Monday")
    late = draft.change_set("late", author=stale.author)
    told.ok("note", "edit", "Deploy day", "--content", "Sunday")
    monkeypatch.setattr(Memory, "change", lambda self, *_: (None, self.apply(late)))
    line = told.fails("note", "add", "A", "B", code=3)
    (waiting,) = [entry["id"] for entry in told.json("log") if entry["state"] == "conflict"]
    assert f"nuggets resolve {waiting}" in line
    assert told.json("status")["conflictCount"] == 1
    assert "nuggets resolve" in told.ok("status")
