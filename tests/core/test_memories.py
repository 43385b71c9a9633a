"""Tests of the memories found on a machine: what is found, what is read of it, and that nothing is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.facts.edits import remember
from core.memories import PAGE_LIMIT, found_memories, memory_elsewhere, pages, read_page
from core.memory import Memory


def claude(home: Path, project: str = "-work-web") -> Path:
    folder = home / ".claude" / "projects" / project / "memory"
    folder.mkdir(parents=True)
    return folder


def a_memory(home: Path) -> Path:
    memory = Memory.open(home)
    memory.change("made", lambda draft: remember(draft, "prefs", "style", "2-space"))
    memory.close()
    return home


def test_claude_codes_folders_are_found_the_newest_first_and_empty_ones_left_out(tmp_path: Path) -> None:
    for number, project in enumerate(("-old", "-new")):
        page = claude(tmp_path, project) / "MEMORY.md"
        page.write_text("# Memory\n")
        os.utime(page, (1_700_000_000 + number, 1_700_000_000 + number))
    claude(tmp_path, "-nothing")
    (tmp_path / ".claude" / "projects" / "-no-memory").mkdir()
    found = found_memories(tmp_path, {})
    assert [(one.kind, one.name, one.files, one.size) for one in found] == [
        ("claude", "-new", 1, 9),
        ("claude", "-old", 1, 9),
    ]
    assert found[0].at == "2023-11-14T22:13:21.000Z"


def test_folders_of_facts_and_notes_are_found_wherever_they_likely_lie(tmp_path: Path) -> None:
    home, beside = tmp_path / "home", tmp_path / "beside"
    wanted = [
        home / ".nuggets", home / "work-nuggets", home / "nuggets-tool" / ".nuggets", beside / "Nuggets2",
    ]  # fmt: skip
    named = tmp_path / "named"
    for folder in (*wanted, named):
        a_memory(folder)
    (home / "nuggets-without").mkdir()
    found = found_memories(home, {"NUGGETS_HOME": str(named)}, [beside])
    assert {one.path for one in found} == {str(folder) for folder in (*wanted, named)}
    assert all(one.kind == "nuggets" and one.files == 2 and one.size and one.at for one in found)


def test_the_folder_of_the_newest_original_is_found_and_offered_where_the_usual_one_is_not_there(
    tmp_path: Path,
) -> None:
    usual, donna = tmp_path / ".nuggets", tmp_path / ".donna"
    assert memory_elsewhere(usual, tmp_path) is None
    donna.mkdir()
    assert memory_elsewhere(usual, tmp_path) is None
    a_memory(donna)
    assert [one.path for one in found_memories(tmp_path, {})] == [str(donna)]
    offered = memory_elsewhere(usual, tmp_path)
    assert offered is not None
    assert offered.path == str(donna)
    assert memory_elsewhere(tmp_path / "named", tmp_path) is None
    usual.mkdir()
    assert memory_elsewhere(usual, tmp_path) is None


def test_links_say_where_they_lead_and_folders_behind_links_are_left_out(tmp_path: Path) -> None:
    folder = claude(tmp_path)
    (folder / "MEMORY.md").write_text("real")
    (folder / "alias.md").symlink_to("MEMORY.md")
    (folder / "gone.md").symlink_to("nowhere.md")
    (folder / "round").symlink_to(folder, target_is_directory=True)
    found = {page.name: page for page in pages(folder)}
    assert set(found) == {"MEMORY.md", "alias.md", "gone.md"}
    assert (found["alias.md"].link, found["alias.md"].problem) == ("MEMORY.md", "")
    assert "broken link" in found["gone.md"].problem
    assert read_page(found["alias.md"].path).text == "real"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_is_told_and_waited_for_by_nobody(tmp_path: Path) -> None:
    folder = claude(tmp_path)
    os.mkfifo(folder / "pipe.md")
    assert pages(folder)[0].problem == "not a regular file"
    assert read_page(str(folder / "pipe.md")).problem == "not a regular file"


def test_a_huge_page_is_cut_and_a_page_of_any_bytes_is_read(tmp_path: Path) -> None:
    huge, odd = tmp_path / "huge.md", tmp_path / "odd.md"
    huge.write_bytes(b"x" * (PAGE_LIMIT + 1))
    odd.write_bytes(b"\xef\xbb\xbfone\r\ntwo \xff\x00")
    assert read_page(str(huge)).cut
    assert len(read_page(str(huge)).text) == PAGE_LIMIT
    assert read_page(str(odd)).text == "one\ntwo \ufffd\x00"
    assert not read_page(str(odd)).cut
