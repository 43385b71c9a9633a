"""Kept and golden searches on the command line."""

from __future__ import annotations

from typing import Any

import pytest
from kits.hostile import HOSTILE, RAW


@pytest.fixture
def filled(nuggets: Any) -> Any:
    for title, content in (("Auth middleware", "Tokens are checked"), ("Lunch", "Soup on Mondays")):
        nuggets.ok("note", "add", title, content)
    return nuggets


def test_without_any_the_list_says_how_to_keep_one(filled: Any) -> None:
    assert filled.json("searches") == []
    assert "nuggets searches keep" in filled.ok("searches")


def test_a_golden_search_is_kept_and_listed_with_its_rank(filled: Any) -> None:
    kept = filled.json(
        "searches", "keep", "tokens", "auth tokens", "--must-find", "Auth middleware", "--within", "3"
    )
    assert (kept["rank"], kept["within"], kept["lost"]) == (1, 3, False)
    filled.ok("searches", "keep", "food", "soup")
    golden, plain = filled.json("searches")
    assert golden["name"] == "tokens"
    assert golden["noteId"] == golden["mustFind"]
    assert (plain["name"], plain["total"], plain["lost"]) == ("food", 1, None)
    assert "found at #1 of 1 hit" in filled.ok("searches")


def test_a_lost_golden_search_ends_the_list_with_one_and_says_why(filled: Any) -> None:
    filled.ok("searches", "keep", "tokens", "auth tokens", "--must-find", "Auth middleware")
    filled.ok("note", "hide", "Auth middleware")
    (found,) = filled.json("searches", code=1)
    assert (found["lost"], found["trouble"]) == (True, "hidden")
    said = filled("searches").stdout
    assert "✗" in said
    assert "failed: its note is hidden" in said
    assert "1 search check failed" in said


def test_keeping_a_search_that_does_not_find_its_note_yet_is_no_error_and_is_said(filled: Any) -> None:
    assert filled.json("searches", "keep", "odd", "zebra", "--must-find", "Lunch")["trouble"] == "no hit"
    said = filled.ok("searches", "keep", "odd", "zebra", "--must-find", "Lunch", "--replace")
    assert "Saved odd, but its check fails: it finds nothing" in said
    assert filled("searches").exit_code == 1


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


def test_a_place_without_a_note_is_refused(filled: Any) -> None:
    filled.fails("searches", "keep", "one", "auth", "--within", "3", code=2)
    filled.fails("searches", "keep", "one", "auth", "--must-find", "nobody", code=1)
    assert filled.json("searches") == []


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


def test_searches_that_cannot_be_read_never_pass_for_none_being_lost(filled: Any) -> None:
    path = filled.home / "searches.toml"
    path.write_text("[searches\n", encoding="utf-8")
    assert "cannot be read" in filled.fails("searches", code=2)
    path.write_text('[searches.a]\nquery = "soup"\n[searches.b]\nmust_find = 3\n', encoding="utf-8")
    result = filled("searches")
    assert result.exit_code == 1
    assert "skipped what is not a saved search: b" in result.stderr


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_queries_never_reach_the_terminal_raw(filled: Any, text: str) -> None:
    (filled.home / "searches.toml").write_text(
        f"[searches.{_quoted(text[:90] or 'x')}]\nquery = {_quoted(text[:900] or 'x')}\n", encoding="utf-8"
    )
    said = filled.ok("searches")
    assert not RAW.search(said)


def _quoted(text: str) -> str:
    import tomlkit

    return tomlkit.string("".join(char for char in text if char.isprintable()) or "x").as_string()
