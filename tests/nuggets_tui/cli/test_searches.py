"""Saved searches on the command line."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def filled(nuggets: Any) -> Any:
    nuggets.ok("note", "add", "Lunch", "Soup on Mondays")
    return nuggets


def test_a_name_is_taken_once_unless_it_is_to_be_replaced(filled: Any) -> None:
    filled.ok("searches", "keep", "one", "auth")
    assert "a saved search with this name exists" in filled.fails("searches", "keep", "one", "soup", code=2)
    filled.ok("searches", "keep", "one", "soup", "--replace")
    assert [one["query"] for one in filled.json("searches")] == ["soup"]


def test_searches_are_dropped_and_undo_brings_them_back(filled: Any) -> None:
    filled.ok("searches", "keep", "one", "auth")
    filled.json("searches", "drop", "one")
    assert filled.json("searches") == []
    filled.ok("undo")
    assert [one["name"] for one in filled.json("searches")] == ["one"]
    filled.fails("searches", "drop", "nobody", code=1)


def test_a_broken_file_of_searches_is_named_once_and_kept(filled: Any) -> None:
    path = filled.home / "searches.toml"
    path.write_text("[searches\n", encoding="utf-8")
    before = sorted(filled.home.rglob("*"))
    for command in (("searches",), ("searches", "keep", "one", "auth"), ("searches", "drop", "one")):
        said = filled.fails(*command, code=2)
        assert said.count("cannot be read") == 1
        assert said.endswith("the file is unchanged; fix the file or move it away")
    assert path.read_text(encoding="utf-8") == "[searches\n"
    assert sorted(filled.home.rglob("*")) == before
