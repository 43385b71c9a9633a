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

FIELDS = {
    "id", "at", "author", "authorKind", "reason", "kind", "state", "undone", "about", "changes", "conflict",
}  # fmt: skip
PART_FIELDS = {
    "part", "id", "undone", "what", "action", "noteId", "nuggetName", "key", "title", "fields", "before", "after",
}  # fmt: skip


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


def test_everything_that_changed_is_listed_newest_first(told: Any) -> None:
    entries = told.json("log")
    assert [entry["changes"][0]["action"] for entry in entries] == [
        "hidden", "changed", "added", "added", "added",
    ]  # fmt: skip
    assert [entry["at"] for entry in entries] == sorted((entry["at"] for entry in entries), reverse=True)
    for entry in entries:
        assert set(entry) == FIELDS
        assert (entry["author"], entry["authorKind"], entry["state"]) == ("command line", "agent", "done")
        assert [set(change) for change in entry["changes"]] == [PART_FIELDS]
        assert entry["changes"][0]["id"] == f"{entry['id']}.1"


def test_a_change_carries_the_fields_that_differ(told: Any) -> None:
    change = told.json("log")[1]["changes"][0]
    assert (change["what"], change["title"], change["key"]) == ("note", "Deploy day", None)
    assert change["before"]["content"] == "Tuesday"
    assert change["after"]["content"] == "Thursday"
    assert set(change["fields"]) == set(change["before"]) == set(change["after"])
    assert "title" not in change["fields"]


def test_what_came_or_went_is_carried_whole(told: Any) -> None:
    kept = {note["title"]: note for note in told.notes()}["Deploy day"]
    told.ok("note", "delete", "Deploy day", "--yes")
    removed, *_, added = told.json("log", "--note", kept["id"])
    assert (removed["changes"][0]["action"], removed["changes"][0]["after"]) == ("removed", None)
    assert removed["changes"][0]["before"] == kept
    assert (added["changes"][0]["before"], added["changes"][0]["after"]["content"]) == (None, "Tuesday")


@pytest.mark.slow
def test_the_log_is_filtered_and_limited(told: Any) -> None:
    newest = told.json("log", "--limit", "1")
    assert len(newest) == 1
    assert len(told.json("log", "--note", "Deploy day")) == 2
    assert told.json("log", "--author", "agent") == told.json("log", "--author", "command line") != []
    assert told.json("log", "--author", "me") == []
    assert len(told.json("log", "--since", "1h")) == 5
    assert told.json("log", "--since", newest[0]["at"]) == newest
    assert told.json("log", "--since", "2100-01-01") == []


@pytest.mark.slow
def test_the_log_is_filtered_by_what_was_done_by_words_run_and_days(told: Any) -> None:
    every = told.json("log")
    assert [entry["id"] for entry in told.json("log", "--kind", "hid")] == [every[0]["id"]]
    assert told.json("log", "--kind", "reflection") == told.json("log", "--kind", "hit") == []
    assert told.json("log", "--kind", "hid", "--kind", "added", "--limit", "1") == every[:1]
    found = told.json("log", "--words", "JWT HID")
    assert every[0] in found
    assert all("JWT" in entry["reason"] or "JWT" in str(entry["changes"]) for entry in found)
    assert told.json("log", "--words", "no such words") == []
    assert told.json("log", "--until", "2001-01-01") == []
    assert told.json("log", "--until", every[0]["at"]) == every
    assert told.json("log", "--run", every[1]["id"]) == [every[1]]
    told.ok("undo", every[0]["id"])
    turned = told.json("log", "--run", every[0]["id"])
    assert [entry["kind"] for entry in turned] == ["undo", every[0]["kind"]]
    assert "no such entry" in told.fails("log", "--run", "zzzzzz", code=1)
    told.fails("log", "--kind", "nonsense")


@pytest.mark.slow
def test_the_log_of_a_deleted_note_is_found_by_id_beginning_and_title(told: Any) -> None:
    id = told.json("note", "show", "Deploy day")["id"]
    told.ok("note", "delete", id, "--yes")
    expected = told.json("log", "--note", id)
    assert len(expected) == 3
    assert told.json("log", "--note", "deploy day") == expected
    assert told.json("log", "--note", id[:-2]) == expected
    assert told.json("log", "--note", id.rpartition("-")[2]) == expected
    assert "nowhere" in told.fails("log", "--note", "nowhere", code=1)
    told.ok("note", "delete", "JWT format", "--yes")
    assert "matches 2 notes" in told.fails("log", "--note", "note-")


def test_people_see_a_line_for_each_entry(told: Any) -> None:
    id = told.json("log")[1]["id"]
    lines = told.ok("log").splitlines()
    assert len(lines) == 5
    assert "command line  hid JWT format" in lines[0]
    assert "edited Deploy day" in lines[1]
    assert id in lines[1]
    assert "--limit" in told.ok("log", "--limit", "2").splitlines()[-1]


def test_times_are_shown_to_the_second_and_in_json_with_milliseconds(told: Any) -> None:
    entries = told.json("log")
    stamp = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
    assert all(stamp.fullmatch(entry["at"]) for entry in entries)
    shown = [re.match(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)  \S", line) for line in told.ok("log").splitlines()]
    assert all(shown)
    times = [match[1] for match in shown if match is not None]
    assert times == [
        f"{datetime.fromisoformat(entry['at']).astimezone():%Y-%m-%d %H:%M:%S}" for entry in entries
    ]
    # What a person copies from there names all that the log shows at that time.
    assert len(told.json("log", "--until", times[0])) == len(entries)
    assert told.json("restore", times[0], "--dry-run")["changes"] == []


def test_people_see_what_went_and_came_on_demand(told: Any) -> None:
    shown = told.ok("log", "--verbose", "--note", "Deploy day")
    assert "- Tuesday" in shown
    assert "+ Thursday" in shown
    assert "Tuesday" not in told.ok("log")
    assert shown == told.ok("log", "-v", "--note", "Deploy day")


def test_an_empty_log_says_so(nuggets: Any) -> None:
    assert nuggets.json("log") == []
    assert "The history is empty" in nuggets.ok("log")
    assert not nuggets.home.exists()
    nuggets.ok("note", "add", "One", "Text")
    assert "No entry of the history matches" in nuggets.ok("log", "--author", "pipeline")


@pytest.mark.parametrize(
    "args", [("--since", "soon"), ("--author", " "), ("--note", ""), ("--limit", "0"), ("extra",)]
)
def test_what_the_log_cannot_look_for_is_refused(told: Any, args: tuple[str, ...]) -> None:
    told.fails("log", *args)


def test_what_another_program_wrote_is_in_the_log(told: Any) -> None:
    text = told.graph.read_text(encoding="utf-8").replace("Thursday", "Friday")
    told.graph.write_text(text, encoding="utf-8")
    entry = told.json("log")[0]
    assert (entry["author"], entry["kind"]) == ("program", "outside")
    assert entry["changes"][0]["after"]["content"] == "Friday"
    assert "another program" in told.ok("log").splitlines()[0]
    told.ok("undo", entry["id"])
    assert contents(told)["Deploy day"] == "Thursday"


def test_recalls_are_in_the_log_and_passed_over_by_undo(told: Any) -> None:
    told.ok("recall", "test cmd", "--session", "s1")
    entry = told.json("log")[0]
    assert (entry["kind"], entry["author"], entry["changes"][0]["action"]) == ("hit", "s1", "recalled")
    assert "hid JWT format" in told.ok("undo")


# Taking back


def test_undo_takes_back_the_last_change_and_redo_does_it_again(told: Any) -> None:
    last = told.json("log")[0]
    done = told.json("undo")
    assert set(done) == FIELDS
    assert (done["kind"], done["about"]) == ("undo", last["id"])
    assert not any(note["hidden"] for note in told.notes())
    assert [entry["undone"] for entry in told.json("log")][:2] == [False, True]
    again = told.json("redo")
    assert (again["kind"], again["about"]) == ("redo", last["id"])
    assert any(note["hidden"] for note in told.notes())
    assert again == told.json("log")[0]


def test_an_older_change_is_taken_back_by_its_id_and_what_came_later_stays(told: Any) -> None:
    edit = told.json("log", "--note", "Deploy day")[0]["id"]
    told.ok("note", "edit", "Deploy day", "--tag", "release")
    told.ok("undo", edit)
    note = next(note for note in told.notes() if note["title"] == "Deploy day")
    assert note["content"] == "Tuesday"
    assert "release" in note["tags"]


@pytest.mark.slow
def test_one_change_of_an_entry_is_taken_back_alone(told: Any) -> None:
    told.ok("note", "hide", "Deploy day", "test cmd")
    entry = told.json("log")[0]
    first = entry["changes"][0]
    assert len(entry["changes"]) == 2
    told.ok("undo", first["id"])
    hidden = {note["id"] for note in told.notes() if note["hidden"]}
    assert first["noteId"] not in hidden
    assert entry["changes"][1]["noteId"] in hidden
    entry = told.json("log")[1]
    assert (entry["undone"], [change["undone"] for change in entry["changes"]]) == (False, [True, False])
    assert "1 undone" in told.ok("log")
    assert first["id"] in told.ok("log", "-v")
    told.ok("redo", first["id"])
    assert first["noteId"] in {note["id"] for note in told.notes() if note["hidden"]}


def test_what_stands_in_the_way_is_a_conflict_that_names_it(told: Any) -> None:
    first = told.json("log", "--note", "Deploy day")[0]["id"]
    told.ok("note", "edit", "Deploy day", "--content", "Friday")
    second = told.json("log")[0]["id"]
    assert second in told.fails("undo", first, code=3)
    assert contents(told)["Deploy day"] == "Friday"


# Beside the answers


def test_notices_of_the_memory_go_to_standard_error(told: Any) -> None:
    for path in told.home.glob("nuggets.db*"):
        path.write_bytes(b"no database at all" * 100)
    result = told("status", "--json")
    json.loads(result.stdout)
    assert result.stderr.startswith("note: ")
    assert "nuggets.db" in result.stderr
    assert told("status").stderr == ""


def test_status_tells_the_last_change_and_how_many_wait(told: Any) -> None:
    status = told.json("status")
    assert status["conflictCount"] == 0
    newest = told.json("log")[0]
    assert status["lastChange"] == {
        "id": newest["id"], "at": newest["at"], "author": "command line", "what": "hid JWT format",
    }  # fmt: skip
    assert "hid JWT format" in told.ok("status")


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
    assert "nothing was written" in line
    assert told.json("status")["conflictCount"] == 1
    assert "nuggets resolve" in told.ok("status")


def test_no_listing_of_the_log_shows_a_credential(home: Any, nuggets: Any) -> None:
    value = "Tr0ub" + "4dor&3x"
    nuggets.ok("note", "add", "Router", f"the password is {value}", "--nugget", "web")
    nuggets.ok("remember", "web", "pass" + "word", value)
    listed = nuggets.json("log")
    assert value not in json.dumps(listed)
    assert [entry["changes"][0]["title"] for entry in listed][-1] == "Router"
    assert value not in nuggets.ok("log", "--verbose")


def test_no_line_of_the_log_shows_a_credential(nuggets: Any) -> None:
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    nuggets.ok("note", "add", f"Deploys use {token}", "They run on Friday.")
    for args in ((), ("--verbose",), ("--json",)):
        said = nuggets.ok("log", *args)
        assert "Deploys use" in said
        assert token not in said
