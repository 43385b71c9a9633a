"""verify and restore."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from kits.drafts import LONG_AGO
from kits.memory_files import note_object, notes_of, write_graph

ONE, TWO, THREE = (f"note-memory-0000000{number}" for number in (1, 2, 3))


# Verify


@pytest.fixture
def crooked(nuggets: Any) -> Any:
    """A memory with a link that goes one way, which can be repaired."""
    link = {"to": TWO, "reason": "kin", "createdAt": LONG_AGO}
    write_graph(nuggets.home, [note_object(1, links=[link]), note_object(2)])
    nuggets.ok("status")
    return nuggets


def test_a_sound_memory_is_called_sound(nuggets: Any) -> None:
    assert nuggets.json("verify") == {"ok": True, "findings": []}
    assert not nuggets.home.exists()
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    assert nuggets.json("verify", "--repair") == {
        "ok": True,
        "findings": [],
        "repaired": 0,
        "changeSet": None,
    }
    assert nuggets.ok("verify")


def test_findings_say_what_is_wrong_and_what_repair_would_do(crooked: Any) -> None:
    before = crooked.bytes()
    document = crooked.json("verify", code=1)
    assert document["ok"] is False
    for finding in document["findings"]:
        assert set(finding) == {"kind", "where", "detail", "repair"}
    assert any("link" in finding["kind"] and finding["repair"] for finding in document["findings"])
    assert "nuggets verify --repair" in crooked("verify").stdout.splitlines()[-1]
    assert crooked.bytes() == before


def test_a_repair_of_several_kinds_names_each_entry_that_undoes_it(crooked: Any) -> None:
    crooked.graph.write_bytes(crooked.graph.read_bytes()[:-30])
    document = crooked.json("verify", "--repair")
    entries = crooked.json("log", "--limit", "2")
    assert document["undo"] == [entry["id"] for entry in entries]
    assert [entry["kind"] for entry in entries] == ["repair", "repair"]


def test_a_repair_of_the_note_graph_is_undone_before_what_came_earlier(nuggets: Any) -> None:
    nuggets.ok("note", "add", "Mine", "my own text")
    nuggets.graph.write_bytes(nuggets.graph.read_bytes()[:-30])
    broken = nuggets.graph.read_bytes()
    assert "To undo it: nuggets undo" in nuggets.ok("verify", "--repair", "--yes")
    [entry] = nuggets.json("log", "--limit", "1")
    assert entry["author"] == "command line"
    [change] = entry["changes"]
    assert (change["title"], change["before"]["kept"][:11]) == ("graph/graph.json", "quarantine/")
    assert "- as it was; its bytes are in quarantine/" in nuggets.ok("log", "--limit", "1", "--verbose")
    assert "nuggets verify --repair" in nuggets.ok("undo")
    assert nuggets.graph.read_bytes() == broken
    nuggets.ok("verify", "--repair", "--yes")
    assert [note["content"] for note in nuggets.notes()] == ["my own text"]


def test_without_a_terminal_repair_acts_and_can_be_taken_back(crooked: Any) -> None:
    before = notes_of(crooked.home)
    wrong = crooked.json("verify", code=1)["findings"]
    document = crooked.json("verify", "--repair")
    assert (document["ok"], document["findings"], document["repaired"]) == (True, [], len(wrong))
    change_set = document["changeSet"]
    assert change_set == crooked.json("log")[0]
    assert change_set["kind"] == "repair"
    assert [link["to"] for link in notes_of(crooked.home)[TWO]["links"]] == [ONE]
    crooked.ok("undo")
    assert notes_of(crooked.home) == before


def test_what_only_a_person_can_decide_is_left_and_told(nuggets: Any) -> None:
    link = {"to": TWO, "reason": "kin", "createdAt": LONG_AGO}
    write_graph(nuggets.home, [note_object(1, links=[link]), note_object(2), note_object(3, confidence=7)])
    done = nuggets("verify", "--repair")
    assert done.exit_code == 1
    assert "nuggets undo" in done.stdout
    (left,) = nuggets.json("verify", code=1)["findings"]
    assert (left["where"], left["repair"]) == (THREE, "")
    assert nuggets.json("verify", "--repair", code=1)["repaired"] == 0


def test_a_person_sees_the_repairs_and_is_asked(crooked: Any, at_keyboard: Any) -> None:
    before = crooked.bytes()
    at_keyboard()
    refused = crooked("verify", "--repair", "--json", input="n\n")
    assert (refused.exit_code, json.loads(refused.stdout)["repaired"]) == (1, 0)
    assert crooked.bytes() == before
    crooked.ok("verify", "--repair", input="y\n")
    assert crooked.json("verify")["ok"] is True


# Restore


@pytest.fixture
def earlier(nuggets: Any) -> tuple[Any, str]:
    """A memory where after a moment (given too) one note was deleted, one edited and one added."""
    for title in ("Kept", "Deploy day", "Doomed"):
        nuggets.ok("note", "add", title, f"{title} as it was")
    moment = nuggets.json("log")[0]["at"]
    nuggets.ok("note", "edit", "Deploy day", "--content", "Another")
    nuggets.ok("note", "delete", "Doomed", "--yes")
    nuggets.ok("note", "add", "Late", "Too late")
    return nuggets, moment


def contents(nuggets: Any) -> dict[str, str]:
    """Contents of the notes by title."""
    return {note["title"]: note["content"] for note in nuggets.notes()}


AS_IT_WAS = {title: f"{title} as it was" for title in ("Kept", "Deploy day", "Doomed")}


def test_backups_are_listed_newest_first(earlier: tuple[Any, str]) -> None:
    nuggets, _ = earlier
    listed = nuggets.json("restore")
    assert listed
    for one in listed:
        assert set(one) == {"name", "at", "reason", "size"}
        assert (nuggets.home / "backups" / f"{one['name']}.zip").stat().st_size == one["size"]
    assert [one["at"] for one in listed] == sorted((one["at"] for one in listed), reverse=True)
    assert listed[0]["name"] in nuggets.ok("restore")


@pytest.mark.slow
def test_the_memory_goes_back_to_a_moment_and_forth_again(earlier: tuple[Any, str]) -> None:
    nuggets, moment = earlier
    now = contents(nuggets)
    done = nuggets.json("restore", moment, "--yes")
    assert done["kind"] == "restore"
    assert contents(nuggets) == AS_IT_WAS
    assert sorted(change["action"] for change in done["changes"]) == ["added", "changed", "removed"]
    assert done == nuggets.json("log")[0]
    nuggets.ok("undo")
    assert contents(nuggets) == now


def test_a_dry_run_shows_each_note_and_writes_nothing(earlier: tuple[Any, str]) -> None:
    nuggets, moment = earlier
    before = nuggets.bytes()
    would = nuggets.json("restore", moment, "--dry-run")
    assert {change["title"] for change in would["changes"]} == {"Deploy day", "Doomed", "Late"}
    assert nuggets.bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_without_a_terminal_restoring_shows_what_it_would_do_and_then_asks_for_a_yes(
    earlier: tuple[Any, str], options: tuple[str, ...]
) -> None:
    nuggets, moment = earlier
    before = nuggets.bytes()
    refused = nuggets("restore", moment, *options)
    assert (refused.exit_code, refused.stdout) == (2, "")
    *preview, said = refused.stderr.splitlines()
    assert preview == nuggets.ok("restore", moment, "--dry-run").splitlines()
    assert all(any(title in line for line in preview) for title in ("Deploy day", "Doomed", "Late"))
    assert "not a terminal" in said
    assert "--yes" in said
    assert nuggets.bytes() == before


def test_a_person_sees_what_would_change_and_is_asked(earlier: tuple[Any, str], at_keyboard: Any) -> None:
    nuggets, moment = earlier
    before = nuggets.bytes()
    at_keyboard()
    refused = nuggets("restore", moment, "--json", input="n\n")
    assert (refused.exit_code, json.loads(refused.stdout)["changes"]) == (0, [])
    assert "Doomed" in refused.stderr
    assert nuggets.bytes() == before
    assert "nuggets undo" in nuggets("restore", moment, input="y\n").stdout
    assert contents(nuggets) == AS_IT_WAS


def test_one_note_alone_goes_back_also_when_it_was_deleted(earlier: tuple[Any, str]) -> None:
    nuggets, moment = earlier
    nuggets.ok("restore", moment, "--note", "doomed", "--yes")
    assert contents(nuggets) == AS_IT_WAS | {"Deploy day": "Another", "Late": "Too late"}
    nuggets.ok("restore", moment, "--note", "Deploy day", "--yes")
    assert contents(nuggets) == AS_IT_WAS | {"Late": "Too late"}


@pytest.mark.slow
def test_a_backup_is_named_by_its_beginning(earlier: tuple[Any, str]) -> None:
    nuggets, _ = earlier
    name = nuggets.json("restore")[0]["name"]
    would = nuggets.json("restore", name, "--dry-run")
    assert would["changes"]
    for beginning in (name[:-3], f"{name}.zip"):
        assert nuggets.json("restore", beginning, "--dry-run")["reason"] == would["reason"]
    nuggets.ok("restore", name, "--yes")
    assert nuggets.json("restore", name, "--dry-run")["changes"] == []


@pytest.mark.slow
def test_what_is_as_it_was_needs_no_restoring(earlier: tuple[Any, str]) -> None:
    nuggets, _ = earlier
    before = nuggets.bytes()
    assert "Nothing to do" in nuggets.ok("restore", "now")
    assert nuggets.json("restore", datetime.now(UTC).date().isoformat())["changes"] == []
    assert nuggets.bytes() == before


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("soon", "--yes"), 2),
        (("2100-01-01", "--yes"), 2),
        (("1999-01-01", "--yes"), 1),
        (("now", "--note", "nowhere", "--yes"), 1),
        (("--note", "Kept"), 2),
        (("--yes",), 2),
        (("", "--yes"), 2),
    ],
)
def test_what_cannot_be_gone_back_to_is_refused(
    earlier: tuple[Any, str], args: tuple[str, ...], code: int
) -> None:
    nuggets, _ = earlier
    before = nuggets.bytes()
    nuggets.fails("restore", *args, code=code)
    assert nuggets.bytes() == before
