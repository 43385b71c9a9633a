"""`nuggets note hints`: the questions of a model that find a note, listed, removed and put back."""

from __future__ import annotations

from typing import Any

import pytest
from kits.service_kit import drain, open_pipeline

from core.pipeline.service import Pipeline


@pytest.fixture
def hinted(nuggets: Any) -> str:
    """A note with two hints; its id."""
    nuggets.home.mkdir(parents=True, exist_ok=True)
    (nuggets.home / "settings.toml").write_text("[pipeline.hints]\nenabled = true\n")
    note = nuggets.json("note", "add", "Acme", "All payments go through Acme.")["id"]
    with open_pipeline(nuggets.home) as pipeline:
        drain(pipeline)
        with pipeline.database.write() as writer:
            writer.hints.put(note, ("Who handles payments?", "Which service is paid?"))
    return str(note)


@pytest.mark.slow
def test_hints_are_listed_removed_and_put_back(nuggets: Any, hinted: str) -> None:
    listed = nuggets.ok("note", "hints", hinted)
    assert " 1  Who handles payments?\n 2  Which service is paid?\n" in listed
    told = nuggets.json("note", "hints", hinted, "--remove", "2")
    assert (told["hints"], told["removed"]) == (["Who handles payments?"], ["Which service is paid?"])
    assert "(removed)" in nuggets.ok("note", "hints", hinted)
    assert 'Undid: removed the hint "Which service is paid?"' in nuggets.ok("undo", told["changeSet"])
    assert len(nuggets.json("note", "hints", hinted)["hints"]) == 2
    assert "nuggets undo" in nuggets.ok("note", "hints", hinted, "--remove", "who handles payments?")
    assert "no such hint" in nuggets.fails("note", "hints", hinted, "--remove", "9", code=1)


def test_where_hints_are_off_it_says_how_to_switch_them_on_and_makes_nothing(nuggets: Any) -> None:
    note = nuggets.json("note", "add", "Acme", "All payments go through Acme.")["id"]
    told = nuggets.ok("note", "hints", note)
    assert "Hints are off" in told
    assert "[pipeline.hints]" in told
    assert not Pipeline.exists(nuggets.home)
