"""Reflection and promotion on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

COUNTS = ("rewritten", "merged", "hidden", "tagged", "linked")


@pytest.fixture
def untidy(nuggets: Any) -> Any:
    """A memory with a pair of near-duplicates and a scratch note."""
    text = "The staging database is restored every night at two from the production copy"
    nuggets.ok("note", "add", "Restore", text, "--nugget", "project")
    nuggets.ok("note", "add", "Restore again", text, "--nugget", "project")
    nuggets.ok("note", "add", "tmp scratch", "x", "--nugget", "project")
    return nuggets


def test_a_dry_run_proposes_and_writes_nothing(untidy: Any) -> None:
    before = untidy.bytes()
    result = untidy.json("reflect", "--dry-run")
    assert {"ranAt", "inspected", *COUNTS, "changes"} <= set(result)
    assert sum(result[name] for name in COUNTS) == len(result["changes"]) > 0
    assert {"type", "nuggetName", "noteId", "detail"} <= set(result["changes"][0])
    assert untidy.bytes() == before
    assert "Would change" in untidy.ok("reflect", "--dry-run")


def test_without_a_terminal_reflection_acts_and_then_has_nothing_to_do(untidy: Any) -> None:
    assert untidy.json("reflect")["hidden"] >= 1
    assert [note["title"] for note in untidy.json("notes") if note["title"].startswith("tmp")] == []
    assert untidy.json("reflect")["changes"] == []
    assert "Nothing to do" in untidy.ok("reflect")


def test_only_accepted_changes_are_made(untidy: Any) -> None:
    proposed = untidy.json("reflect", "--dry-run")["changes"]
    hide = next(change for change in proposed if change["type"] == "hide")
    done = untidy.json("reflect", "--accept", hide["id"])
    assert [change["type"] for change in done["changes"]] == ["hide"]
    hidden = [note["id"] for note in untidy.notes() if note["hidden"]]
    assert hidden == [hide["noteId"]]


def test_accepting_a_change_that_is_not_proposed_changes_nothing(untidy: Any) -> None:
    before = untidy.bytes()
    proposed = untidy.json("reflect", "--dry-run")["changes"]
    assert "hide-nothing" in untidy.fails("reflect", "--accept", f"{proposed[0]['id']},hide-nothing", code=1)
    assert untidy.bytes() == before


def test_a_person_sees_the_changes_and_is_asked(untidy: Any, at_keyboard: Any) -> None:
    before = untidy.bytes()
    at_keyboard()
    refused = untidy("reflect", input="n\n")
    assert refused.exit_code == 0
    assert "tmp scratch" in refused.output
    assert "Nothing was changed" in refused.stdout
    assert untidy.bytes() == before
    refused = untidy("reflect", "--json", input="n\n")
    assert json.loads(refused.stdout)["changes"] == []
    assert untidy.bytes() == before
    assert "Changed" in untidy("reflect", input="y\n").stdout
    assert untidy.bytes() != before


def test_reflection_takes_filters_and_a_limit(untidy: Any) -> None:
    assert untidy.json("reflect", "--dry-run", "--limit", "1")["inspected"] == 1
    assert untidy.json("reflect", "--dry-run", "--scope", "session")["inspected"] == 0
    untidy.fails("reflect", "--nugget", "nowhere", code=1)


@pytest.mark.slow
def test_a_refused_change_is_not_proposed_again_and_refusing_does_nothing_else(untidy: Any) -> None:
    proposed = untidy.json("reflect", "--dry-run")["changes"]
    merge = next(change["id"] for change in proposed if change["type"] == "merge")
    result = untidy.json("reflect", "--refuse", merge)
    assert (result["refused"], result["changes"]) == (1, [])
    assert not any(note["hidden"] for note in untidy.notes())
    later = untidy.json("reflect", "--dry-run")["changes"]
    assert merge not in [change["id"] for change in later]
    assert "hide" in [change["type"] for change in later]
    untidy.ok("undo")
    assert merge in [change["id"] for change in untidy.json("reflect", "--dry-run")["changes"]]


@pytest.mark.slow
def test_a_run_archives_five_at_most_says_what_waits_and_all_lifts_that(nuggets: Any) -> None:
    for number in range(8):
        nuggets.ok("note", "add", f"tmp {number}", "x", "--nugget", "project")
    assert "3 more to archive wait for the next pass" in nuggets.ok("reflect", "--dry-run")
    assert nuggets.json("reflect", "--dry-run")["left"] == {"merged": 0, "hidden": 3}
    assert nuggets.json("reflect", "--all")["hidden"] == 8


@pytest.fixture
def recalled(nuggets: Any) -> Any:
    """A memory with one fact that three sessions recalled."""
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    for session in ("one", "two", "three"):
        nuggets.ok("recall", "test cmd", "--session", session)
    return nuggets


@pytest.mark.slow
def test_promotion_writes_memory_md_and_says_what(recalled: Any, tmp_path: Path) -> None:
    target = tmp_path / "docs"
    target.mkdir()
    (recalled.home / "settings.toml").write_text(f"[promotion]\nmemory_dir = {json.dumps(str(target))}\n")
    preview = recalled.json("promote", "--dry-run", "--memory-dir", str(target))
    assert not (target / "MEMORY.md").exists()
    assert "+" in preview["diff"]
    result = recalled.json("promote", "--memory-dir", str(target))
    assert set(result) >= {"promoted", "updated", "path", "entries", "diff"}
    assert (result["promoted"], result["updated"]) == (1, 0)
    assert Path(result["path"]) == target / "MEMORY.md"
    assert "pytest -q" in (target / "MEMORY.md").read_text(encoding="utf-8")
    again = recalled.json("promote", "--memory-dir", str(target))
    assert (again["promoted"], again["updated"], again["diff"]) == (0, 0, "")
    assert "Nothing to do" in recalled.ok("promote", "--memory-dir", str(target))
    recalled.ok("note", "edit", "test cmd", "--content", "pytest -q -x")
    assert "1 changed" in recalled.ok("promote", "--memory-dir", str(target))
    recalled.ok("forget", "project", "test cmd")
    assert "1 removed" in recalled.ok("promote", "--memory-dir", str(target))


def test_promotion_without_a_target_says_what_to_do(recalled: Any) -> None:
    assert "--memory-dir" in recalled.fails("promote", code=1)


def test_a_doubtful_link_is_listed_and_made_only_when_it_is_named(nuggets: Any) -> None:
    nuggets.ok("note", "add", "Port", "staging database listens elsewhere", "--nugget", "project")
    nuggets.ok("note", "add", "Copy", "staging database gets dumped", "--nugget", "project")
    (link,) = [one for one in nuggets.json("reflect", "--dry-run")["changes"] if one["type"] == "link"]
    assert link["doubtful"]
    shown = nuggets.ok("reflect", "--dry-run")
    assert "link?" in shown
    assert "1 uncertain change" in shown
    assert nuggets.json("reflect")["linked"] == 0
    assert nuggets.json("reflect", "--accept", link["id"])["linked"] == 1


@pytest.mark.parametrize("command", ["reflect", "promote"])
@pytest.mark.parametrize("option", ["--accept", "--refuse"])
@pytest.mark.parametrize("ids", ["", " , "])
def test_an_option_without_an_id_is_bad_input_and_no_wish_for_everything(
    untidy: Any, command: str, option: str, ids: str
) -> None:
    before = untidy.bytes()
    assert "names no id" in untidy.fails(command, option, ids)
    assert untidy.bytes() == before


def test_an_agent_cleans_up_nothing(untidy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    proposed = untidy.json("reflect", "--dry-run")["changes"]
    before = untidy.bytes()
    monkeypatch.setenv("CLAUDECODE", "1")
    for words in ((), ("--if-due",), ("--accept", proposed[0]["id"]), ("--all", "--yes")):
        assert untidy("reflect", *words).exit_code == 2, words
    assert untidy.bytes() == before
    assert untidy.json("reflect", "--dry-run")["changes"]
