"""resolve and merge-file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import fact_object, facts_of, note_object, notes_of, write_graph, write_nugget

from core.errors import ConflictError
from core.graph.edits import delete_note, edit_note
from core.memory import Memory
from core.model.change import Author
from core.model.draft import Draft

ROOT = Path(__file__).parents[3]


def meet(nuggets: Any, late: Any) -> str:
    """Lets an agent's late change of the note "Deploy day" meet an edit; the id under which it waits."""
    agent = Memory.open(nuggets.home, author=Author("agent", "codex"))
    draft = agent.draft()
    late(draft, agent.snapshot.resolve("Deploy day").id)
    change_set = draft.change_set("late", author=agent.author)
    nuggets.ok("note", "edit", "Deploy day", "--content", "Sunday")
    with pytest.raises(ConflictError) as raised:
        agent.apply(change_set)
    assert raised.value.entry
    return str(raised.value.entry)


@pytest.fixture
def waiting(nuggets: Any) -> tuple[Any, str]:
    """A memory in whose log an agent's edit waits, since the same text was edited meanwhile; and its id."""
    nuggets.ok("note", "add", "Deploy day", "Tuesday")

    def edit(draft: Draft, id: str) -> None:
        edit_note(draft, id, content="Monday")

    return nuggets, meet(nuggets, edit)


def content(nuggets: Any) -> str:
    """What the note says now."""
    return str(nuggets.notes()[0]["content"])


# Conflicts of the log


def test_conflicts_that_wait_are_listed(waiting: tuple[Any, str]) -> None:
    nuggets, id = waiting
    listed = nuggets.json("resolve", code=3)
    assert (listed["joined"], listed["changeSet"]) == ([], None)
    (entry,) = listed["conflicts"]
    assert (entry["id"], entry["state"], entry["author"]) == (id, "conflict", "codex")
    conflict = entry["conflict"]
    assert (conflict["base"], conflict["incoming"], conflict["current"]) == ("Tuesday", "Monday", "Sunday")
    assert conflict["field"] == "content"
    assert nuggets.json("log", "--author", "codex") == [entry]
    for command, code in (("resolve", 3), ("log", 0)):
        said = nuggets(command)
        assert said.exit_code == code
        assert f"nuggets resolve {id}" in said.stdout.splitlines()[-1]
    # Where nobody can be asked, one is shown with its three versions and the ways to resolve it.
    for args in ((id[:5],), (id, "--incoming", "--dry-run")):
        shown = nuggets("resolve", *args)
        assert shown.exit_code == 3
        for word in ("Tuesday", "Monday", "Sunday", "--incoming", "--current", "--text"):
            assert word in shown.stdout
    assert content(nuggets) == "Sunday"


@pytest.mark.parametrize(
    ("args", "stands"),
    [
        (("--incoming",), "Monday"),
        (("--current",), "Sunday"),
        (("--text", "Both\ndays"), "Both\ndays"),
        (("--text", "-"), "From\na file"),
    ],
)
def test_a_conflict_is_settled_by_either_side_or_a_text(
    waiting: tuple[Any, str], args: tuple[str, ...], stands: str
) -> None:
    nuggets, id = waiting
    settled = nuggets.json("resolve", id, *args, input="From\na file\n")
    assert settled["conflicts"] == []
    assert bool(settled["changeSet"]["changes"]) == (stands != "Sunday")
    assert content(nuggets) == stands
    states = {entry["id"]: entry["state"] for entry in nuggets.json("log")}
    assert states[id] == "settled"
    assert nuggets.json("resolve")["conflicts"] == []
    # What is no conflict, or none any more, cannot be resolved.
    edit = nuggets.json("log", "--limit", "5")[-1]["id"]
    for name, code in ((id, 2), (edit, 2), ("fffffffff", 1)):
        nuggets.fails("resolve", name, "--incoming", code=code)


def test_a_person_is_asked_which_shall_stand(waiting: tuple[Any, str], at_keyboard: Any) -> None:
    nuggets, id = waiting
    at_keyboard()
    left = nuggets("resolve", id, input="\n")
    assert (left.exit_code, "Monday" in left.output, content(nuggets)) == (0, True, "Sunday")
    assert nuggets("resolve", id, input="current\n").exit_code == 0
    assert nuggets.json("resolve")["conflicts"] == []


def test_a_text_cannot_settle_what_is_about_no_text(nuggets: Any) -> None:
    nuggets.ok("note", "add", "Deploy day", "Tuesday")
    id = meet(nuggets, delete_note)
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


def test_one_field_changed_both_ways_is_a_conflict_and_ours_stands(nuggets: Any, tmp_path: Path) -> None:
    paths = [
        write_nugget(tmp_path / name, "memory", [fact_object("test cmd", value)])
        for name, value in (("base", "pytest"), ("ours", "pytest -q"), ("theirs", "pytest -x"))
    ]
    result = nuggets("merge-file", *map(str, paths))
    assert result.exit_code == 3
    assert "pytest -x" in result.stderr
    assert "pytest -x" not in result.stdout
    document = nuggets.json("merge-file", *map(str, paths), code=3)
    assert document["merged"] is False
    assert (document["conflicts"][0]["ours"], document["conflicts"][0]["theirs"]) == (
        "pytest -q",
        "pytest -x",
    )
    assert facts_of(tmp_path / "ours", "memory.nugget.json")[0]["value"] == "pytest -q"


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


# All that wait


@pytest.mark.parametrize(("side", "content"), [("--incoming", "Monday"), ("--current", "Sunday")])
def test_all_conflicts_that_wait_are_settled_at_once(
    waiting: tuple[Any, str], side: str, content: str
) -> None:
    nuggets, _ = waiting
    assert len(nuggets.json("resolve", code=3)["conflicts"]) == 1
    assert "Would resolve 1 conflict." in nuggets("resolve", "--all", side, "--dry-run").stdout
    done = nuggets.json("resolve", "--all", side)
    assert (done["conflicts"], len(done["changeSets"])) == ([], 1)
    assert nuggets.notes()[0]["content"] == content
