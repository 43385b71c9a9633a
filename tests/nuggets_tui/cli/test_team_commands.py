"""The command line on the notes of a team: made, shared, listed, and never committed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import tree

from core.team import trust_folder

pytestmark = pytest.mark.slow


def git(folder: Path, *words: str) -> str:
    named = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    run = subprocess.run(["git", *named, *words], cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout


@pytest.fixture
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nuggets: Any) -> Path:
    project = tmp_path / "shop"
    (project / "src").mkdir(parents=True)
    git(project, "init", "-q", "-b", "main")
    monkeypatch.chdir(project / "src")
    nuggets.ok("team", "init")
    git(project, "add", ".")
    git(project, "commit", "-qm", "notes")
    trust_folder(project / ".nuggets" / "notes")
    return project


def add(nuggets: Any, title: str, content: str, *more: str) -> str:
    return str(nuggets.json("note", "add", title, content, *more)["id"])


def test_init_makes_the_folder_at_the_root_of_the_repository_and_says_each_thing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nuggets: Any
) -> None:
    project = tmp_path / "shop"
    (project / "src").mkdir(parents=True)
    git(project, "init", "-q")
    monkeypatch.chdir(project / "src")
    assert "nuggets team init" in nuggets.fails("team", code=1)
    assert "Would make" in nuggets.ok("team", "init", "--dry-run")
    assert not (project / ".nuggets").exists()
    steps = nuggets.json("team", "init")["steps"]
    assert [(one["step"], one["already"]) for one in steps] == [("folder", False), ("index", False)]
    made = set(tree(project / ".nuggets"))
    assert made == {"README.md", "notes/.gitkeep"}
    assert [one["already"] for one in nuggets.json("team", "init")["steps"]] == [True, True]
    (project / ".gitignore").write_text(".nuggets\n")
    assert "Git ignores" in nuggets.ok("team", "init")


def test_shared_notes_are_files_of_the_work_tree_with_their_links_and_one_undo_takes_them_back(
    project: Path, nuggets: Any
) -> None:
    before = tree(project)
    deploy = add(nuggets, "Deploy to staging", "Run make deploy.", "--tag", "deploy")
    vpn, other = add(nuggets, "VPN setup", "Connect first."), add(nuggets, "Mine alone", "Not for others.")
    nuggets.ok("note", "link", deploy, vpn, "--reason", "behind it")
    nuggets.ok("note", "link", deploy, other, "--reason", "x")
    own = nuggets.bytes()
    shown = nuggets.json("team", "share", deploy, vpn, "--dry-run")
    assert [one["file"] for one in shown["files"]] == ["deploy-to-staging.md", "vpn-setup.md"]
    assert shown["leftOut"] == [{"title": "Deploy to staging", "to": "Mine alone"}]
    assert tree(project) == before
    refused = nuggets("team", "share", deploy, vpn)
    assert (refused.exit_code, refused.stdout, "--yes" in refused.stderr) == (2, "", True)
    done = nuggets.json("team", "share", deploy, vpn, "--yes")
    folder = project / ".nuggets" / "notes"
    for one in done["files"]:
        assert (folder / one["file"]).read_text() == one["after"]
    assert "  - vpn-setup: behind it\n" in (folder / "deploy-to-staging.md").read_text()
    assert nuggets.bytes() == own
    assert {one["how"] for one in nuggets.json("team")["changed"]} == {"new"}
    assert git(project, "log", "--oneline").count("\n") == 1
    nuggets.ok("undo", done["changeSet"], "--home", str(folder))
    assert tree(project) == before


def test_sharing_again_updates_the_same_file_and_never_that_of_another(project: Path, nuggets: Any) -> None:
    folder = project / ".nuggets" / "notes"
    (folder / "rate-limits.md").write_text("# Rate limits\n\nOf somebody else.\n")
    id = add(nuggets, "Rate limits", "10 a second.")
    nuggets.ok("team", "share", id, "--yes")
    assert "somebody else" in (folder / "rate-limits.md").read_text()
    assert (folder / "rate-limits-2.md").read_text().endswith("# Rate limits\n\n10 a second.\n")
    assert nuggets.json("team", "share", id, "--yes")["same"] == ["Rate limits"]
    nuggets.ok("note", "edit", id, "--content", "20 a second.", "--title", "Limits")
    nuggets.ok("team", "share", id, "--yes")
    assert (folder / "rate-limits-2.md").read_text().endswith("# Limits\n\n20 a second.\n")
    (folder / "rate-limits-2.md").write_text("# Limits\n\n30 a second, says Bob.\n")
    nuggets.ok("note", "edit", id, "--content", "40 a second.")
    assert "was changed since you shared it" in nuggets.fails("team", "share", id, "--yes")
    assert "Bob" in (folder / "rate-limits-2.md").read_text()


def test_a_credential_is_refused_with_the_line_and_nothing_is_written(project: Path, nuggets: Any) -> None:
    before = tree(project)
    text = "token = ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    fine, bad = add(nuggets, "Fine", "Text."), add(nuggets, "Not fine", f"First line.\n{text}")
    (refused,) = nuggets.json("team", "share", fine, bad, "--dry-run", code=2)["refused"]
    assert (refused["why"], refused["found"][0]["line"]) == ("credential", 2)
    said = nuggets.fails("team", "share", fine, bad, "--yes")
    assert "line 2" in said
    assert "ghp_" not in said
    assert tree(project) == before


@pytest.mark.parametrize(
    "text",
    [
        "See /home/ada/notes.txt",
        "See /Users/ada/notes",
        "cd ~/work/shop",
        r"See C:\Users\ada\notes",
        r"See c:/users/ada",
        "In `file:///home/ada/x`",
        "Data lies in /srv/lovelace/data",
    ],
)
def test_a_path_of_a_home_folder_is_pointed_out_with_its_line(
    project: Path, nuggets: Any, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "lovelace")
    id = add(nuggets, "Not fine", f"First line.\n{text}")
    shown = nuggets.json("team", "share", id, "--dry-run")
    assert shown["refused"] == []
    assert [one["line"] for one in shown["files"][0]["homes"]] == [2]
    assert "line 2" in nuggets.ok("team", "share", id, "--yes")
    assert text in (project / ".nuggets" / "notes" / "not-fine.md").read_text()


def test_the_index_is_made_by_command_in_the_order_of_files_and_is_no_note(
    project: Path, nuggets: Any
) -> None:
    folder = project / ".nuggets" / "notes"
    readme = folder.parent / "README.md"
    readme.write_text(f"Words of ours.\n\n{readme.read_text()}\nAnd more.\n")
    (folder / "b.md").write_text("# Zeta <!-- end of the index -->\n")
    (folder / "a b.md").write_text("# [Alpha]\n")
    (folder / "c.md").write_text("---\nhidden: true\n---\n# Hidden\n")
    assert nuggets("team", "index", "--check").exit_code == 1
    assert nuggets.json("team", "index")["notes"] == 2
    said = readme.read_text()
    assert r"- [\[Alpha\]](<notes/a b.md>)" in said
    assert said.index("Alpha") < said.index("Zeta")
    assert "Hidden" not in said
    assert said.startswith("Words of ours.\n")
    assert said.endswith("And more.\n")
    assert nuggets.json("team", "index", "--check")["stale"] is False
    nuggets.ok("team", "index")
    assert readme.read_text() == said
    assert nuggets.json("team")["notes"] == 2


def test_a_file_in_conflict_is_told_with_exit_code_1(project: Path, nuggets: Any) -> None:
    path = project / ".nuggets" / "notes" / "a.md"
    path.write_text("# A\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> other\n")
    state = nuggets.json("team", code=1)
    assert [one["file"] for one in state["problems"]] == ["a.md"]
    assert state["changed"] == [{"file": "a.md", "how": "new"}]


def test_an_edit_of_a_page_in_conflict_is_refused_and_names_the_page_once(
    project: Path, nuggets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project / ".nuggets" / "notes" / "a.md"
    path.write_text("# A\nDeploy on Monday.\n")
    monkeypatch.chdir(project)
    nuggets.ok("note", "edit", "A", "--tag", "x")
    path.write_text("# A\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> other\n")
    assert nuggets.fails("note", "edit", "A", "--tag", "y").count("a.md") == 1
    assert nuggets("search", "Monday").stderr.count("a.md") == 1
