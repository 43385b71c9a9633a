"""verify where there is a pipeline: both sides are held against each other, and repair makes them agree."""

from __future__ import annotations

from typing import Any

import pytest
from kits.memory_files import note_object, write_graph
from kits.writes_kit import Writes

TEXT = "Deploys run on Friday."


@pytest.fixture
def learned(nuggets: Any) -> tuple[str, Any]:
    """The id of a note that came of a text, and what tells the status of its fact."""
    write_graph(nuggets.home, [note_object(1)])
    with Writes(nuggets.home) as writes:
        (note,) = writes.known(TEXT)

    def status() -> str:
        with Writes(nuggets.home) as writes:
            fact = writes.database.reading.facts.of_note(note)
            assert fact is not None
            return fact.status

    return note, status


@pytest.mark.slow
def test_a_fact_whose_note_was_deleted_is_found_and_taken_back(
    nuggets: Any, learned: tuple[str, Any]
) -> None:
    note, status = learned
    nuggets.ok("note", "delete", note, "--yes")
    [finding] = nuggets.json("verify", code=1)["findings"]
    assert (finding["kind"], finding["where"]) == ("fact-gone", note)
    assert "Repaired 1 finding." in nuggets.ok("verify", "--repair", "--yes")
    assert status() == "retracted"
    assert nuggets.json("verify") == {"ok": True, "findings": []}
