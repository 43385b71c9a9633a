"""The team's notes on the command line: found from the working directory, told apart, changed in their files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kits import forked
from kits.claude_pages import PAGES as CLAUDE_PAGES
from kits.claude_pages import tree, write_folder
from kits.team_pages import write_team

if TYPE_CHECKING:
    from conftest import CommandLine

ROOT = Path(__file__).parents[3]
PAGES = {
    "deploy.md": "# Deploy steps\n\nRun make release on the staging cluster.\n",
    "rollback.md": "# Rollback\n\nRevert the tag, then run make release again.\n",
}


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_team(tmp_path / "shop", PAGES)
    monkeypatch.setenv("NUGGETS_TEAM", str(folder))
    return folder


@pytest.fixture
def own(nuggets: CommandLine, pages: Path) -> CommandLine:
    nuggets.ok("note", "add", "Backups", "Every night to the vault, by make backup.")
    return nuggets


def test_each_hit_says_whose_it_is_in_words_and_json(own: CommandLine) -> None:
    heads = [line for line in own.ok("search", "make").splitlines() if "certainty" in line]
    assert [line.split()[0] for line in heads if "team" not in line] == ["Backups"]
    assert len(heads) == 3
    assert {hit["title"]: hit["whose"] for hit in own.json("search", "make")} == {
        "Deploy steps": "team",
        "Rollback": "team",
        "Backups": "yours",
    }
    assert [hit["title"] for hit in own.json("search", "make is:mine")] == ["Backups"]


@pytest.mark.slow
def test_a_project_names_its_teams_notes_for_every_command(
    own: CommandLine, pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = pages.parent.parent
    monkeypatch.chdir(tmp_path)
    for variable, setting in ((str(project), ""), (str(pages), ""), ("", str(project)), ("", str(pages))):
        monkeypatch.setenv("NUGGETS_TEAM", variable)
        (own.home / "settings.toml").write_text(f'[team]\nfolder = "{setting}"\n')
        assert len(own.json("search", "make")) == 3
        assert own.json("team")["folder"] == str(pages)
        assert own.json("team", "index", "--check", code=1)["notes"] == 2
        assert own.json("team", "share", "Backups", "--dry-run")["folder"] == str(pages)
    # The project that is named with the command wins.
    other = write_team(tmp_path / "other", {})
    assert own.json("team", "share", "Backups", "--dry-run", "--to", str(tmp_path / "other"))[
        "folder"
    ] == str(other)
    monkeypatch.setenv("NUGGETS_TEAM", "off")
    for words in (["team"], ["team", "share", "Backups"]):
        assert "switched off" in own.fails(*words, code=1)


def test_what_is_no_teams_folder_is_refused_in_one_sentence_and_ones_own_notes_are_found(
    own: CommandLine, pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = write_folder(tmp_path)
    plain, memory = tmp_path / "plain", tmp_path / "mine" / ".nuggets"
    (plain / "notes").mkdir(parents=True)
    write_team(tmp_path / "mine", PAGES)
    (memory / "graph").mkdir()
    (memory / "graph" / "graph.json").write_text("{}")
    for named in (claude, plain, plain / "notes", pages.parent, memory, memory / "notes", tmp_path / "gone"):
        monkeypatch.setenv("NUGGETS_TEAM", str(named))
        result = own("search", "make")
        assert result.exit_code == 0
        assert "Backups" in result.stdout
        assert result.stderr.count("is no folder of a team's notes; name a project that has") == 1
        assert "no folder of a team's notes" in own.fails("team")
        assert "no folder of a team's notes" in own.fails("team", "share", "Backups", "--yes")
    assert len(tree(claude)) == len(CLAUDE_PAGES)


@pytest.mark.slow
def test_a_note_of_the_team_is_changed_in_its_file_and_the_answer_names_it(
    own: CommandLine, pages: Path
) -> None:
    before = own.bytes()
    said = own.ok("note", "edit", "Rollback", "--content", "Press the red button.")
    assert str(pages / "rollback.md") in said
    assert f"nuggets --home {pages} undo" in said
    assert "Press the red button." in (pages / "rollback.md").read_text()
    shown = own.json("note", "show", "Rollback")
    assert (shown["whose"], shown["file"]) == ("team", str(pages / "rollback.md"))
    assert own.json("note", "tag", "Rollback", "--tag", "ops")[0]["whose"] == "team"
    own.ok("note", "link", "Rollback", "Deploy steps", "--reason", "undoes")
    own.ok("note", "hide", "Rollback")
    assert "hidden: true" in (pages / "rollback.md").read_text()
    assert own.bytes() == before
    assert "Rollback" not in own.ok("log")
    own.ok("--home", str(pages), "undo")
    assert "hidden: true" not in (pages / "rollback.md").read_text()
    own.ok("note", "delete", "Deploy steps", "--yes")
    assert not (pages / "deploy.md").exists()


def test_a_link_or_a_merge_over_both_is_refused_in_one_sentence(own: CommandLine, pages: Path) -> None:
    before, files = own.bytes(), tree(pages)
    for command in ("link", "merge", "unlink", "hide"):
        assert "some are the team's" in own.fails("note", command, "Backups", "Rollback")
    assert (own.bytes(), tree(pages)) == (before, files)


def test_the_list_of_notes_is_ones_own_or_with_team_the_teams(
    own: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [note["title"] for note in own.json("notes")] == ["Backups"]
    assert sorted(note["title"] for note in own.json("notes", "--team")) == ["Deploy steps", "Rollback"]
    monkeypatch.setenv("NUGGETS_TEAM", "off")
    assert "no team has notes here" in own.fails("notes", "--team", code=1)


@pytest.mark.slow
def test_no_command_that_cleans_up_or_promotes_sees_the_team(own: CommandLine, pages: Path) -> None:
    before = tree(pages)
    for _ in range(4):
        own.ok("recall", "what runs on the staging cluster", "--session", os.urandom(4).hex())
    page = own.home.parent / "project" / "MEMORY.md"
    page.parent.mkdir()
    page.write_text("# Memory\n")
    (own.home / "settings.toml").write_text(f"[promotion]\nmemory_dir = {json.dumps(str(page.parent))}\n")
    own.ok("promote")
    own("reflect", "--yes")
    assert "staging" not in page.read_text()
    assert tree(pages) == before
    assert [note["title"] for note in own.notes()] == ["Backups"]


def test_what_cannot_be_read_of_the_team_is_a_notice_beside_ones_own_hits(
    own: CommandLine, pages: Path
) -> None:
    (pages / "broken.md").write_bytes(b"\xff\xfe\x00")
    result = own("search", "make")
    assert result.exit_code == 0
    assert "Backups" in result.stdout
    assert "Rollback" in result.stdout
    assert "broken.md" in result.stderr


# Processes


def run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return forked.run(
        [sys.executable, "-m", "nuggets_tui.cli", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)} | environment,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
def test_a_fresh_clone_is_searched_at_once_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    project, clone = tmp_path / "project", tmp_path / "clone"
    write_team(project, {"deploy.md": "# Deploy steps\n\nRun make release on staging.\n"})
    who = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "Notes"]):
        subprocess.run(["git", *words], cwd=project, check=True)
    subprocess.run(["git", "clone", "-q", str(project), str(clone)], check=True)
    inside = clone / "src" / "deep"
    inside.mkdir(parents=True)
    before = tree(clone / ".nuggets")
    # Below what is no folder nothing can be made, by whoever runs this.
    nowhere = os.path.join(os.devnull, "x")
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "settings.toml").write_text('[team]\ntrust = "all"\n')
    empty.chmod(0o500)
    for state in (nowhere, "off"):
        known = {
            "HOME": str(empty), "NUGGETS_HOME": str(empty), "NUGGETS_STATE": state, "NUGGETS_CACHE": state
        }  # fmt: skip
        found = run(inside, "search", "make release", "--json", **known)
        assert found.returncode == 0, found.stderr
        assert b'"whose": "team"' in found.stdout
        answer = run(inside, "recall", "what runs on staging", **known)
        assert answer.returncode == 0, answer.stderr
        assert b"Run make release on staging." in answer.stdout
    assert tree(clone / ".nuggets") == before
    assert [one.name for one in empty.iterdir()] == ["settings.toml"]
