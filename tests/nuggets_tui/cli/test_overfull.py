"""On the command line: nuggets that hold more than their vectors can tell, and those that are passed over."""

from __future__ import annotations

from typing import Any

import pytest
from kits.memory_files import fact_object, write_nugget


@pytest.fixture
def overfull(nuggets: Any) -> Any:
    facts = [fact_object(f"port of service{i}", f"value {i}") for i in range(1400)]
    write_nugget(nuggets.home, "big", facts, D=16384)
    return nuggets


@pytest.mark.slow
def test_an_overfull_nugget_answers_from_its_file_and_says_so_where_its_vectors_are_asked(
    overfull: Any,
) -> None:
    for place in (0, 7, 1399):
        answer = overfull.json("recall", f"port of service{place}", "--nugget", "big", "--explain")
        assert (answer["answer"], answer["found"], answer["via"]) == (f"value {place}", True, "facts")
        assert (answer["certainty"], answer["undecoded"]) == (1.0, "overfull")
    assert "undecoded" not in overfull.json("recall", "port of service9")


def test_a_nugget_that_cannot_be_read_is_named_in_the_answer(nuggets: Any) -> None:
    nuggets.ok("remember", "sound", "deploy command", "make ship")
    (nuggets.home / "torn.nugget.json").write_bytes(b'{"version": 4, "name": "torn", "facts": [{"key"')
    answer = nuggets.json("recall", "deploy command")
    assert answer["answer"] == "make ship"
    assert [(one["nuggetName"], one["reason"]) for one in answer["skipped"]] == [("torn", "unreadable")]
    assert "torn" in nuggets("recall", "deploy command").stderr
