"""Promotion on the command line: entry by entry, several files, what is said beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def recalled(nuggets: Any, tmp_path: Path) -> Any:
    """A memory of three facts that were recalled often, and one that lacks a recall; its settings name the folders that
    a script may promote to.
    """
    nuggets.home.mkdir()
    folders = json.dumps(
        [str(tmp_path), *(str(tmp_path / name) for name in ("a", "b", "c", "gone", "new", "mine"))]
    )
    (nuggets.home / "settings.toml").write_text(f"[promotion]\nprojects = {folders}\n")
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    nuggets.ok("remember", "project", "deploy cmd", "make ship")
    nuggets.ok("remember", "project", "lint cmd", "ruff check")
    for session in ("one", "two", "three"):
        nuggets.ok("recall", "test cmd", "--session", session)
        nuggets.ok("recall", "deploy cmd", "--session", session)
    nuggets.ok("recall", "lint cmd", "--session", "one")
    nuggets.ok("recall", "lint cmd", "--session", "two")
    return nuggets


def ids(result: dict[str, Any]) -> dict[str, str]:
    return {entry["title"]: entry["id"] for entry in result["entries"]}


def page(folder: Path) -> str:
    return (folder / "MEMORY.md").read_text(encoding="utf-8")


def test_a_dry_run_lists_entries_and_what_is_not_written(recalled: Any, tmp_path: Path) -> None:
    shown = recalled.ok("promote", "--dry-run", "--memory-dir", str(tmp_path))
    result = recalled.json("promote", "--dry-run", "--memory-dir", str(tmp_path))
    for title, id in ids(result).items():
        assert f"{id}  new  {title}" in " ".join(shown.split(" ")).replace("   ", "  ") or id in shown
    assert "Just under 3 recalls: lint cmd (1 more)" in shown
    assert result["length"]["limit"] == 200
    assert [note["title"] for note in result["below"]] == ["lint cmd"]
    assert not (tmp_path / "MEMORY.md").exists()


def test_only_accepted_entries_are_written_and_refused_ones_are_not_proposed_again(
    recalled: Any, tmp_path: Path
) -> None:
    where = ("--memory-dir", str(tmp_path))
    known = ids(recalled.json("promote", "--dry-run", *where))
    done = recalled.json("promote", "--accept", known["test cmd"], "--refuse", known["deploy cmd"], *where)
    assert (done["promoted"], [entry["title"] for entry in done["refused"]]) == (1, ["deploy cmd"])
    assert "make ship" not in page(tmp_path)
    again = recalled.json("promote", *where)
    assert (again["promoted"], again["diff"]) == (0, "")
    assert "Refused until their texts change: deploy cmd" in recalled.ok("promote", *where)
    recalled.ok("promote", "--accept", again["refused"][0]["id"], *where)
    assert "make ship" in page(tmp_path)


def test_an_id_that_nothing_proposes_is_an_error(recalled: Any, tmp_path: Path) -> None:
    assert "new-zzz" in recalled.fails(
        "promote", "--accept", "new-zzz", "--memory-dir", str(tmp_path), code=1
    )
    assert not (tmp_path / "MEMORY.md").exists()


def test_all_writes_every_file_known_and_leaves_out_what_is_gone(recalled: Any, tmp_path: Path) -> None:
    assert "--memory-dir" in recalled.fails("promote", "--all", code=1)
    for name in ("a", "b", "gone"):
        recalled.ok("promote", "--memory-dir", str(tmp_path / name))
    (tmp_path / "gone" / "MEMORY.md").unlink()
    (tmp_path / "gone").rmdir()
    recalled.ok("note", "edit", "test cmd", "--content", "pytest -q -x")
    result = recalled.json("promote", "--all")
    assert {Path(one["path"]).parent.name: one["updated"] for one in result["promotions"]} == {"a": 1, "b": 1}
    assert result["skipped"] == [str(tmp_path / "gone" / "MEMORY.md")]
    assert "its folder is gone" in recalled.ok("promote", "--all")
    recalled.fails("promote", "--all", "--memory-dir", str(tmp_path))


def test_a_person_is_asked_for_what_they_chose(recalled: Any, tmp_path: Path, at_keyboard: Any) -> None:
    where = ("--memory-dir", str(tmp_path))
    known = ids(recalled.json("promote", "--dry-run", *where))
    at_keyboard()
    refused = recalled("promote", "--accept", known["test cmd"], *where, input="n\n")
    assert "pytest -q" in refused.output
    assert "make ship" not in refused.output
    assert not (tmp_path / "MEMORY.md").exists()
    assert json.loads(recalled("promote", "--json", *where, input="n\n").stdout)["entries"] == []
    recalled.ok("promote", "--accept", known["test cmd"], *where, input="y\n")
    assert "pytest -q" in page(tmp_path)


def test_whether_the_daily_pass_promotes_is_said_once_and_taken_back(nuggets: Any, tmp_path: Path) -> None:
    nuggets.ok("remember", "ops", "port", "5432")
    said = nuggets.json("promote", "--automatic", "project", "--memory-dir", str(tmp_path / "docs"))
    assert (said["automatic"], said["projects"]) == ("projects", [str(tmp_path / "docs")])
    assert not (tmp_path / "docs").exists()
    nuggets.ok("undo")
    assert not (nuggets.home / "settings.toml").exists()
    assert "--automatic" in nuggets.fails("promote", "--automatic", "never", "--all")


def test_all_leaves_a_page_alone_whose_promotion_was_undone_until_it_is_promoted_by_name(
    recalled: Any, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        recalled.ok("promote", "--memory-dir", str(tmp_path / name))
    recalled.ok("undo")
    undone = tmp_path / "b" / "MEMORY.md"
    for words in (("promote", "--all", "--dry-run"), ("promote", "--all"), ("promote", "--all")):
        result = recalled.json(*words)
        assert [Path(one["path"]).parent.name for one in result["promotions"]] == ["a"]
        assert result["skipped"] == [str(undone)]
        shown = recalled.ok(*words)
        assert f"the promotion there was undone: {undone}" in shown
        assert f"nuggets promote --memory-dir {undone.parent}" in shown
        assert not undone.exists()
    recalled.ok("redo")
    assert recalled.json("promote", "--all")["skipped"] == []
    recalled.ok("undo")
    recalled.ok("promote", "--memory-dir", str(undone.parent))
    assert recalled.json("promote", "--all")["skipped"] == []


@pytest.mark.parametrize("agent", ["", "CLAUDECODE"])
def test_without_a_person_no_page_is_written_in_a_folder_that_the_caller_names(
    recalled: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    if agent:
        monkeypatch.setenv(agent, "1")
    folder = tmp_path / "named" / "by" / "nobody"
    assert recalled("promote", "--memory-dir", str(folder), "--yes").exit_code == 2
    assert not folder.exists()
    assert recalled.json("promote", "--memory-dir", str(folder), "--dry-run")["promoted"] == 2


def test_an_agent_promotes_nothing_and_sets_nothing(
    recalled: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = recalled.bytes()
    monkeypatch.setenv("CLAUDECODE", "1")
    for words in (
        (),
        ("--memory-dir", str(tmp_path)),
        ("--all",),
        ("--automatic", "always"),
        ("--accept", "x"),
    ):
        assert recalled("promote", *words).exit_code == 2, words
    assert recalled.bytes() == before
    assert not (tmp_path / "MEMORY.md").exists()
