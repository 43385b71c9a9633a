"""verify where there is a pipeline: both sides are held against each other, and repair makes them agree."""

from __future__ import annotations

from typing import Any

import pytest
from kits.memory_files import note_object, notes_of, write_graph
from kits.outbox_kit import learned, status_of

from core.pipeline.database.connection import Database


@pytest.fixture
def database(nuggets: Any) -> Any:
    write_graph(nuggets.home, [note_object(1)])
    opened = Database.open(nuggets.home)
    yield opened
    opened.close()


@pytest.mark.slow
def test_what_was_accepted_and_never_came_over_is_found_and_brought_over(
    nuggets: Any, database: Database
) -> None:
    added = learned(database, "Deploys run on Friday.")
    [finding] = nuggets.json("verify", code=1)["findings"]
    assert (finding["kind"], finding["repair"]) == ("outbox-waiting", "writes the notes")
    document = nuggets.json("verify", "--repair")
    assert (document["ok"], document["repaired"]) == (True, 1)
    assert notes_of(nuggets.home)[added.note]["content"] == "Deploys run on Friday."
    nuggets.ok("undo", document["changeSet"]["id"])
    assert added.note not in notes_of(nuggets.home)


@pytest.mark.slow
def test_a_fact_whose_note_was_deleted_is_found_and_taken_back(nuggets: Any, database: Database) -> None:
    added = learned(database, "Deploys run on Friday.")
    nuggets.json("verify", "--repair")
    nuggets.ok("note", "delete", added.note, "--yes")
    [finding] = nuggets.json("verify", code=1)["findings"]
    assert (finding["kind"], finding["where"]) == ("fact-gone", added.note)
    assert "Repaired 1 finding." in nuggets.ok("verify", "--repair", "--yes")
    assert status_of(database, added.fact) == "retracted"
    assert nuggets.json("verify") == {"ok": True, "findings": []}


@pytest.mark.slow
def test_a_note_that_was_hidden_or_shown_by_hand_is_no_fault_and_the_pipeline_follows(
    nuggets: Any, database: Database
) -> None:
    added = learned(database, "Deploys run on Friday.")
    nuggets.json("verify", "--repair")
    for done, status in (("hide", "retracted"), ("unhide", "active")):
        nuggets.ok("note", done, added.note)
        assert nuggets.json("verify") == {"ok": True, "findings": []}
        nuggets("daemon", "--once")
        assert status_of(database, added.fact) == status
