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


def hidden(nuggets: Any) -> set[str]:
    return {note["id"] for note in nuggets.notes() if note["hidden"]}


# The log


def test_everything_that_changed_is_listed_newest_first_with_the_fields_that_differ(told: Any) -> None:
    entries = told.json("log")
    actions = [entry["changes"][0]["action"] for entry in entries]
    assert actions == ["hidden", "changed", "added", "added", "added"]
    assert [entry["at"] for entry in entries] == sorted((entry["at"] for entry in entries), reverse=True)
    for entry in entries:
        assert set(entry) == FIELDS
        assert (entry["author"], entry["authorKind"], entry["state"]) == ("command line", "agent", "done")
        assert [set(change) for change in entry["changes"]] == [PART_FIELDS]
        assert entry["changes"][0]["id"] == f"{entry['id']}.1"
    change = entries[1]["changes"][0]
    assert (change["what"], change["title"], change["key"]) == ("note", "Deploy day", None)
    assert (change["before"]["content"], change["after"]["content"]) == ("Tuesday", "Thursday")
    assert set(change["fields"]) == set(change["before"]) == set(change["after"])
    assert "title" not in change["fields"]
    status = told.json("status")
    assert status["lastChange"] == {
        "id": entries[0]["id"], "at": entries[0]["at"], "author": "command line", "what": "hid JWT format",
    }  # fmt: skip


def test_what_came_or_went_is_carried_whole(told: Any) -> None:
    kept = {note["title"]: note for note in told.notes()}["Deploy day"]
    told.ok("note", "delete", "Deploy day", "--yes")
    removed, *_, added = told.json("log", "--note", kept["id"])
    assert (removed["changes"][0]["action"], removed["changes"][0]["after"]) == ("removed", None)
    assert removed["changes"][0]["before"] == kept
    assert (added["changes"][0]["before"], added["changes"][0]["after"]["content"]) == (None, "Tuesday")


@pytest.mark.slow
def test_the_log_is_filtered_and_limited(told: Any) -> None:
    every = told.json("log")
    assert told.json("log", "--limit", "1") == every[:1]
    assert len(told.json("log", "--note", "Deploy day")) == 2
    assert told.json("log", "--author", "agent") == told.json("log", "--author", "command line") == every
    assert told.json("log", "--author", "me") == []
    assert len(told.json("log", "--since", "1h")) == 5
    assert told.json("log", "--since", every[0]["at"]) == every[:1]
    assert told.json("log", "--since", "2100-01-01") == told.json("log", "--until", "2001-01-01") == []
    assert told.json("log", "--until", every[0]["at"]) == every
    assert [entry["id"] for entry in told.json("log", "--kind", "hid")] == [every[0]["id"]]
    assert told.json("log", "--kind", "reflection") == told.json("log", "--kind", "hit") == []
    assert told.json("log", "--kind", "hid", "--kind", "added", "--limit", "1") == every[:1]
    found = told.json("log", "--words", "JWT HID")
    assert every[0] in found
    assert all("JWT" in entry["reason"] or "JWT" in str(entry["changes"]) for entry in found)
    assert told.json("log", "--run", every[1]["id"]) == [every[1]]
    told.ok("undo", every[0]["id"])
    turned = told.json("log", "--run", every[0]["id"])
    assert [entry["kind"] for entry in turned] == ["undo", every[0]["kind"]]
    told.fails("log", "--run", "zzzzzz", code=1)


@pytest.mark.slow
def test_the_log_of_a_deleted_note_is_found_by_id_beginning_and_title(told: Any) -> None:
    id = told.json("note", "show", "Deploy day")["id"]
    told.ok("note", "delete", id, "--yes")
    expected = told.json("log", "--note", id)
    assert len(expected) == 3
    for name in ("deploy day", id[:-2], id.rpartition("-")[2]):
        assert told.json("log", "--note", name) == expected
    assert "nowhere" in told.fails("log", "--note", "nowhere", code=1)
    told.ok("note", "delete", "JWT format", "--yes")
    told.fails("log", "--note", "note-")


def test_people_see_a_line_for_each_entry_and_on_demand_what_went_and_came(told: Any) -> None:
    id = told.json("log")[1]["id"]
    lines = told.ok("log").splitlines()
    assert len(lines) == 5
    assert "command line  hid JWT format" in lines[0]
    assert id in lines[1]
    assert "--limit" in told.ok("log", "--limit", "2").splitlines()[-1]
    shown = told.ok("log", "--verbose", "--note", "Deploy day")
    assert "- Tuesday" in shown
    assert "+ Thursday" in shown
    assert shown == told.ok("log", "-v", "--note", "Deploy day")


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


def test_an_empty_log_makes_no_folder(nuggets: Any) -> None:
    assert nuggets.json("log") == []
    assert nuggets.ok("log")
    assert not nuggets.home.exists()


@pytest.mark.parametrize(
    "args",
    [("--since", "soon"), ("--author", " "), ("--note", ""), ("--limit", "0"), ("--kind", "x"), ("extra",)],
)
def test_what_the_log_cannot_look_for_is_refused(told: Any, args: tuple[str, ...]) -> None:
    told.fails("log", *args)


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


def test_recalls_are_in_the_log_and_passed_over_by_undo(told: Any) -> None:
    told.ok("recall", "test cmd", "--session", "s1")
    entry = told.json("log")[0]
    assert (entry["kind"], entry["author"], entry["changes"][0]["action"]) == ("hit", "s1", "recalled")
    told.ok("undo")
    assert not hidden(told)


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


def test_undo_takes_back_the_last_change_and_redo_does_it_again(told: Any) -> None:
    last = told.json("log")[0]
    done = told.json("undo")
    assert set(done) == FIELDS
    assert (done["kind"], done["about"]) == ("undo", last["id"])
    assert not hidden(told)
    assert [entry["undone"] for entry in told.json("log")][:2] == [False, True]
    again = told.json("redo")
    assert (again["kind"], again["about"]) == ("redo", last["id"])
    assert hidden(told)
    assert again == told.json("log")[0]


def test_an_older_change_is_taken_back_by_its_id_unless_a_later_one_is_in_the_way(told: Any) -> None:
    edit = told.json("log", "--note", "Deploy day")[0]["id"]
    told.ok("note", "edit", "Deploy day", "--tag", "release")
    told.ok("undo", edit)
    note = next(note for note in told.notes() if note["title"] == "Deploy day")
    assert (note["content"], "release" in note["tags"]) == ("Tuesday", True)
    told.ok("redo", edit)
    told.ok("note", "edit", "Deploy day", "--content", "Friday")
    later = told.json("log")[0]["id"]
    assert later in told.fails("undo", edit, code=3)
    assert contents(told)["Deploy day"] == "Friday"


@pytest.mark.slow
def test_one_change_of_an_entry_is_taken_back_alone(told: Any) -> None:
    told.ok("note", "hide", "Deploy day", "test cmd")
    first, second = told.json("log")[0]["changes"]
    told.ok("undo", first["id"])
    assert (first["noteId"] in hidden(told), second["noteId"] in hidden(told)) == (False, True)
    entry = told.json("log")[1]
    assert (entry["undone"], [change["undone"] for change in entry["changes"]]) == (False, [True, False])
    assert "1 undone" in told.ok("log")
    assert first["id"] in told.ok("log", "-v")
    told.ok("redo", first["id"])
    assert first["noteId"] in hidden(told)


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
