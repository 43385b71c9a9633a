"""resolve and merge-file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import note_object, notes_of, write_graph

from core.errors import ConflictError
from core.graph.edits import delete_note
from core.memory import Memory
from core.model.change import Author

ROOT = Path(__file__).parents[3]


def test_a_text_cannot_settle_what_is_about_no_text(nuggets: Any) -> None:
    nuggets.ok("note", "add", "Deploy day", "Tuesday")
    agent = Memory.open(nuggets.home, author=Author("agent", "codex"))
    draft = agent.draft()
    delete_note(draft, agent.snapshot.resolve("Deploy day").id)
    late = draft.change_set("late", author=agent.author)
    nuggets.ok("note", "edit", "Deploy day", "--content", "Sunday")
    with pytest.raises(ConflictError) as raised:
        agent.apply(late)
    id = str(raised.value.entry)
    assert "--incoming" in nuggets.fails("resolve", id, "--text", "x")
    assert "--text" not in nuggets("resolve", id).stdout
    nuggets.ok("resolve", id, "--incoming")
    assert nuggets.notes() == []


# Conflict copies


@pytest.fixture
def copied(nuggets: Any) -> Path:
    """A memory beside whose graph a sync tool left a copy that has one more note; the copy's path."""
    write_graph(nuggets.home, [note_object(1)])
    copy: Path = nuggets.graph.with_name("graph (conflicted copy 2026-11-20).json")
    shutil.copy(write_graph(nuggets.home, [note_object(1), note_object(2)]), copy)
    write_graph(nuggets.home, [note_object(1)])
    nuggets.ok("status")
    return copy


def test_conflict_copies_are_joined_and_kept(nuggets: Any, copied: Path) -> None:
    before = copied.read_bytes()
    would = nuggets.json("resolve", "--dry-run")
    assert [one["path"] for one in would["joined"]] == [str(copied)]
    assert copied.read_bytes() == before
    assert len(nuggets.notes()) == 1
    joined = nuggets.json("resolve")
    (one,) = joined["joined"]
    assert (one["original"], one["problem"]) == (str(nuggets.graph), "")
    assert Path(one["kept"]).read_bytes() == before
    assert not copied.exists()
    assert [change["title"] for change in joined["changeSet"]["changes"]] == ["Title 2"]
    assert len(nuggets.notes()) == 2
    assert nuggets.json("resolve")["joined"] == []
    nuggets.ok("undo", joined["changeSet"]["id"])
    assert len(nuggets.notes()) == 1


@pytest.mark.parametrize("again", [False, True])
def test_a_fact_changed_on_both_sides_is_shown_with_both_values_and_how_to_take_either(
    nuggets: Any, again: bool
) -> None:
    nuggets.ok("remember", "memory", "user:k", "base")
    copy = nuggets.home / "memory.nugget (1).json"
    copy.write_bytes(
        (nuggets.home / "memory.nugget.json").read_bytes().replace(b"base", b"from the other machine")
    )
    nuggets.ok("remember", "memory", "user:k", "from this machine")
    said = nuggets("resolve")
    if again:
        said = nuggets("resolve")
    assert said.exit_code == 3
    assert "user:k" in said.stdout
    assert "from the other machine" in said.stdout
    assert "from this machine" in said.stdout
    assert "nothing new" not in said.stdout
    id = said.stdout.split()[-1]
    nuggets.ok("resolve", id, "--incoming")
    assert nuggets.json("recall", "user:k")["answer"] == "from the other machine"
    assert nuggets.ok("verify")


def test_copies_that_cannot_be_joined_do_not_keep_back_the_others(nuggets: Any, copied: Path) -> None:
    broken = {"graph 2.json": "{", "graph 3.json": '{"version": 99, "notes": []}'}
    for name, text in broken.items():
        copied.with_name(name).write_text(text, encoding="utf-8")
    joined = nuggets.json("resolve", code=1)
    assert len(nuggets.notes()) == 2
    problems = {Path(one["path"]).name: one["problem"] for one in joined["joined"]}
    assert problems.pop(copied.name) == ""
    assert "version 99" in problems["graph 3.json"]
    assert all(problems.values())
    said = nuggets("resolve")
    assert said.exit_code == 1
    assert "2 copies could not be merged." in said.stdout
    assert sorted(path.name for path in nuggets.graph.parent.glob("graph ?.json")) == sorted(broken)


# Merging files


@pytest.fixture
def versions(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Three versions of a graph: ours and theirs added a note each to the one of the base."""
    paths = []
    for name, numbers in (("base", (1,)), ("ours", (1, 2)), ("theirs", (1, 3))):
        paths.append(write_graph(tmp_path / name, [note_object(number) for number in numbers]))
    base, ours, theirs = paths
    return base, ours, theirs


def test_different_notes_merge_by_themselves(nuggets: Any, versions: tuple[Path, ...]) -> None:
    result = nuggets.json("merge-file", *map(str, versions))
    assert result == {"merged": True, "notes": 1, "facts": 0, "fields": [], "conflicts": []}
    assert len(notes_of(versions[1].parents[1])) == 3
    assert not nuggets.home.exists()
    assert "Nothing to merge" in nuggets.ok("merge-file", *map(str, versions))


def test_what_cannot_be_merged_is_named_and_left(
    nuggets: Any, versions: tuple[Path, ...], tmp_path: Path
) -> None:
    base, ours, theirs = map(str, versions)
    nuggets.fails("merge-file", base, ours)
    nuggets.fails("merge-file", base, ours, str(tmp_path / "nowhere"), code=1)
    versions[2].write_bytes(b"{broken")
    before = versions[1].read_bytes()
    assert theirs in nuggets.fails("merge-file", base, ours, theirs)
    assert versions[1].read_bytes() == before


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_merges_with_the_lines_that_the_help_shows(nuggets: Any, tmp_path: Path) -> None:
    help_text = nuggets.ok("merge-file", "--help")
    attributes = [line.strip() for line in help_text.splitlines() if line.endswith("merge=nuggets")]
    assert len(attributes) == 3
    (driver,) = [
        line.partition('"')[2].rstrip('"') for line in help_text.splitlines() if "git config" in line
    ]
    assert driver == "nuggets merge-file %O %A %B %P"
    work = tmp_path / "work"
    work.mkdir()
    (work / ".gitattributes").write_text("\n".join(attributes) + "\n", encoding="utf-8")

    def git(*args: str) -> None:
        own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *own, *args], cwd=work, check=True, capture_output=True, timeout=60)

    git("init", "-b", "main")
    run = driver.replace("nuggets ", f"{sys.executable} -m nuggets_tui.cli ", 1)
    git("config", "merge.nuggets.driver", f"PYTHONPATH={ROOT} {run}")

    def commit(*numbers: int) -> None:
        write_graph(work, [note_object(number) for number in numbers])
        git("add", ".")
        git("commit", "-m", "change")

    commit(1)
    git("checkout", "-b", "other")
    commit(1, 2)
    git("checkout", "main")
    commit(1, 3)
    git("merge", "other")
    assert len(json.loads((work / "graph" / "graph.json").read_bytes())["notes"]) == 3
