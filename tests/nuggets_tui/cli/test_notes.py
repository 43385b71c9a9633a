"""Notes on the command line."""

from __future__ import annotations

from typing import Any

import pytest

# One note


# Several


# The list


@pytest.mark.slow
def test_json_of_notes_leaves_out_vectors_unless_they_are_asked_for(nuggets: Any) -> None:
    one = nuggets.json("note", "add", "One", "text")["id"]
    two = nuggets.json("note", "add", "Two", "text")["id"]
    for args in (
        ("note", "show", one), ("note", "edit", one, "--title", "Eins"), ("note", "tag", one, "--tag", "x"),
        ("note", "move", "shared", one), ("note", "link", one, two), ("note", "hide", one), ("notes",),
    ):  # fmt: skip
        found, asked = nuggets.json(*args), nuggets.json(*args, "--vectors")
        found, asked = (one if isinstance(one, dict) else one[0] for one in (found, asked))
        assert ("vector" in found, set(asked["vector"])) == (False, {"seed", "basis"}), args
    assert all("vector" in note for note in nuggets.notes())
