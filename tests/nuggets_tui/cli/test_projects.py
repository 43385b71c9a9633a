"""On the command line: the project at hand answers first, and nuggets can be given to projects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    monkeypatch.delenv("NUGGETS_PROJECT")
    folders = {name: tmp_path / "work" / name for name in ("scanner", "website", "billing")}
    for folder in folders.values():
        (folder / ".git").mkdir(parents=True)
    return folders


def test_each_project_gets_its_own_answer_and_an_unknown_one_none(
    nuggets: Any, three: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, command in (("scanner", "cargo nextest run"), ("website", "pnpm test")):
        monkeypatch.chdir(three[name])
        nuggets.ok("remember", name, "test command", command)
    assert nuggets.json("recall", "test command")["answer"] == "pnpm test"
    assert nuggets.json("recall", "scanner test command")["project"] == "scanner"
    assert [hit.get("project", "") for hit in nuggets.json("search", "test command")] == ["", "scanner"]
    monkeypatch.chdir(three["billing"])
    missed = nuggets.json("recall", "test command", code=1)
    assert (missed["judgement"], missed["answer"]) == ("not sure", None)
    assert {one["project"] for one in missed["candidates"]} == {"scanner", "website"}
    assert "project" not in nuggets.json("recall", "test command", "--nugget", "scanner")


def test_a_nugget_is_given_to_another_project_and_a_project_renamed(
    nuggets: Any, three: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(three["scanner"])
    nuggets.ok("remember", "deploys", "target", "marlin")
    monkeypatch.chdir(three["website"])
    assert not nuggets.json("recall", "target", code=1)["found"]
    nuggets.ok("projects", "join", "deploys")
    assert nuggets.json("recall", "target")["found"]
    nuggets.ok("projects", "rename", "website", "shop")
    assert {one["name"]: one["nuggets"] for one in nuggets.json("projects")} == {
        "scanner": [],
        "shop": ["deploys"],
    }
    assert nuggets("projects", "rename", "nothing", "x").exit_code == 1


def test_another_project_is_named_by_an_option_or_the_environment(
    nuggets: Any, three: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(three["scanner"])
    nuggets.ok("remember", "deploys", "target", "marlin")
    monkeypatch.chdir(three["billing"])
    for option in (
        ("--project", "scanner", "recall", "target"),
        ("recall", "target", "--project", "Scanner"),
    ):
        assert nuggets.json(*option)["answer"] == "marlin"
    assert "project" not in nuggets.json("search", "target", "--project", "scanner")[0]
    nuggets.ok("remember", "rotas", "on call", "ada", "--project", "scanner")
    assert {one["name"]: one["nuggets"] for one in nuggets.json("projects")} == {
        "scanner": ["deploys", "rotas"]
    }
    assert "scanner" in nuggets.fails("--project", "scaner", "recall", "target", code=1)
    monkeypatch.setenv("NUGGETS_PROJECT", "scanner")
    assert nuggets.json("recall", "target")["answer"] == "marlin"


def test_a_fact_without_a_nugget_goes_to_the_project_at_hand(
    nuggets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_PROJECT", "scanner")
    assert nuggets.json("remember", "test cmd", "pytest -q")["nuggetName"] == "scanner"
    assert nuggets.json("remember", "prefs", "editor", "helix")["nuggetName"] == "prefs"
    monkeypatch.setenv("NUGGETS_PROJECT", "off")
    assert nuggets.json("remember", "city", "Kyoto")["nuggetName"] == "memory"
