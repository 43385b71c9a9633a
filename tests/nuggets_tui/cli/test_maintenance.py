"""verify and restore."""

from __future__ import annotations

from typing import Any

import pytest
from kits.drafts import LONG_AGO
from kits.memory_files import note_object, write_graph

ONE, TWO, THREE = (f"note-memory-0000000{number}" for number in (1, 2, 3))


# Verify


@pytest.fixture
def crooked(nuggets: Any) -> Any:
    """A memory with a link that goes one way, which can be repaired."""
    link = {"to": TWO, "reason": "kin", "createdAt": LONG_AGO}
    write_graph(nuggets.home, [note_object(1, links=[link]), note_object(2)])
    nuggets.ok("status")
    return nuggets


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
