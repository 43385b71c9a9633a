"""Promotion by a memory: what it remembers of each MEMORY.md, with undo, several targets and a lost log."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from core.graph.edits import create_note, edit_note
from core.memory import Memory
from core.model.note import replace
from core.promotion.refusal import REFUSED
from core.storage.files.atomic import read_file


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory of two often recalled notes, and a home folder of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    (tmp_path / "person").mkdir()
    made = Memory.open(tmp_path / "memory")
    for title in ("one", "two"):
        note, _ = made.change(
            "new", partial(create_note, nugget="project", title=title, content=f"Text {title}.")
        )
        made.change("recalled", lambda draft, note=note: draft.put(replace(note, hits=4)))
    return made


def page(folder: Path) -> str:
    return (folder / "MEMORY.md").read_text(encoding="utf-8")


def note_id(memory: Memory, title: str) -> str:
    return next(note.id for note in memory.snapshot.notes if note.title == title)


def test_a_bullet_edited_by_hand_is_kept_until_that_is_given_up_by_name(
    memory: Memory, tmp_path: Path
) -> None:
    memory.promotion.promote(memory_dir=tmp_path)
    (tmp_path / "MEMORY.md").write_text(page(tmp_path).replace("Text one.", "My own words."))
    memory.change("edited", partial(edit_note, id=note_id(memory, "one"), content="New text."))
    result = memory.promotion.promote(memory_dir=tmp_path)
    assert result.change_set.empty
    assert "My own words." in page(tmp_path)
    memory.promotion.promote(memory_dir=tmp_path, accept=[result.edited[0].id])
    assert "New text." in page(tmp_path)


def test_a_promotion_that_is_taken_back_leaves_the_page_as_it_was_and_its_bullets_ours(
    memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "MEMORY.md").write_text("# Mine\n")
    memory.promotion.promote(memory_dir=tmp_path)
    first = page(tmp_path)
    memory.change("edited", partial(edit_note, id=note_id(memory, "one"), content="New text."))
    memory.promotion.promote(memory_dir=tmp_path)
    memory.history.undo()
    assert page(tmp_path) == first
    again = memory.promotion.promote(memory_dir=tmp_path, dry_run=True)
    assert (again.updated, again.edited) == (1, ())
    memory.history.undo()
    memory.history.undo()
    assert page(tmp_path) == "# Mine\n"
    assert memory.promotion.promote(memory_dir=tmp_path).promoted == 2


def test_a_refusal_is_in_the_note_and_goes_with_an_undo(memory: Memory, tmp_path: Path) -> None:
    ids = {
        entry.title: entry.id for entry in memory.promotion.promote(memory_dir=tmp_path, dry_run=True).entries
    }
    done = memory.promotion.promote(memory_dir=tmp_path, accept=[ids["one"]], refuse=[ids["two"]])
    assert [entry.title for entry in done.refused] == ["two"]
    assert REFUSED in memory.snapshot.by_id[note_id(memory, "two")].extra
    assert REFUSED in (memory.home / "graph" / "graph.json").read_text(encoding="utf-8")
    assert "Text two." not in page(tmp_path)
    assert memory.promotion.promote(memory_dir=tmp_path).change_set.empty
    memory.history.undo()
    assert [
        entry.status for entry in memory.promotion.promote(memory_dir=tmp_path, dry_run=True).entries
    ] == ["new", "new"]


def test_without_its_log_promotion_goes_by_titles_and_texts(memory: Memory, tmp_path: Path) -> None:
    memory.promotion.promote(memory_dir=tmp_path)
    memory.close()
    (memory.home / "nuggets.db").unlink()
    anew = Memory.open(memory.home)
    assert anew.promotion.targets(tmp_path) == ()
    assert anew.promotion.promote(memory_dir=tmp_path).change_set.empty
    assert [target.count for target in anew.promotion.targets(tmp_path)] == [2]
    anew.change("edited", partial(edit_note, id=note_id(anew, "one"), content="New text."))
    assert anew.promotion.promote(memory_dir=tmp_path).updated == 1


def test_a_page_that_is_saved_while_it_is_thought_about_is_read_again(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = iter(["# Mine\n", "# Mine again\n"])

    def read_before_it_is_saved(path: Path) -> object:
        found = read_file(path)
        for text in islice(saved, 1):
            path.write_text(text, encoding="utf-8")
        return found

    monkeypatch.setattr("core.services.promotion.read_file", read_before_it_is_saved)
    assert memory.promotion.promote(memory_dir=tmp_path).promoted == 2
    assert page(tmp_path).startswith("# Mine again\n")
    assert "Text two." in page(tmp_path)
    assert len(memory.history.log(limit=None)) == 5


# Several targets


def test_the_present_projects_file_comes_first_then_those_written_to_before(
    memory: Memory, tmp_path: Path
) -> None:
    here = tmp_path / "project"
    claude = tmp_path / "person" / ".claude" / "projects" / str(here).replace("/", "-").replace("_", "-")
    claude.mkdir(parents=True)
    for name in ("a", "b"):
        memory.promotion.promote(memory_dir=tmp_path / name)
    targets = memory.promotion.targets(here)
    assert [Path(target.path).parent.name for target in targets] == ["memory", "b", "a"]
    assert [(target.current, target.there, target.count) for target in targets] == [
        (True, True, 0), (False, True, 2), (False, True, 2)
    ]  # fmt: skip
    memory.promotion.promote(cwd=here)
    assert memory.promotion.targets(here)[0].cwd == str(here)
    assert memory.promotion.targets(tmp_path)[0].cwd == str(here)


@pytest.mark.slow
def test_what_a_promotion_that_was_killed_left_goes_with_the_next_one(memory: Memory, tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f".MEMORY.md.{ended.pid}-0a1b2c3d.tmp"
    others = [
        tmp_path / f".MEMORY.md.{os.getpid()}-0a1b2c3d.tmp",
        tmp_path / f".OTHER.md.{ended.pid}-0a1b2c3d.tmp",
        tmp_path / f".MEMORY.md.{ended.pid}-mine.tmp",
    ]
    for path in (left, *others):
        path.write_text("half a page")
    os.utime(left, (0, 0))
    memory.promotion.promote(memory_dir=tmp_path, dry_run=True)
    assert left.exists()
    memory.promotion.promote(memory_dir=tmp_path)
    assert not left.exists()
    assert all(path.exists() for path in others)
    left.write_text("half a page")
    os.utime(left, (0, 0))
    assert memory.promotion.promote(memory_dir=tmp_path).change_set.empty
    assert not left.exists()
