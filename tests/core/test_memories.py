"""Tests of the memories found on a machine: what is found, what is read of it, and that nothing is written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from core import Memory
from core.facts.edits import remember
from core.memories import PAGE_LIMIT, FoundFile, found_memories, memory_elsewhere, pages, read_page
from core.memories import found_files as find


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


# Single files


ENTITY = json.dumps({"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes tea"]})


def found(home: Path, *places: Path, **environ: str) -> dict[str, FoundFile]:
    return {os.path.relpath(one.path, home): one for one in find(home, environ, places)}


def test_files_of_each_format_are_found_with_how_much_they_say(tmp_path: Path) -> None:
    work = tmp_path / "work"
    for folder in (work, tmp_path / ".claude", tmp_path / ".codex", tmp_path / "mcp"):
        folder.mkdir()
    (tmp_path / ".claude" / "CLAUDE.md").write_text("- Use tabs, never spaces\n- Run the tests first\n")
    (tmp_path / ".codex" / "AGENTS.md").write_text("- Answer in short sentences\n")
    (work / "memory.json").write_text(ENTITY + "\n")
    (tmp_path / "mcp" / "kept.json").write_text(ENTITY + "\n")
    memory = Memory.open(tmp_path / "m")
    memory.exchange.export("json", work / "all.json")
    memory.close()
    listed = found(tmp_path, work, MEMORY_FILE_PATH=str(tmp_path / "mcp" / "kept.json"))
    assert {name: (one.format, one.records) for name, one in listed.items()} == {
        "mcp/kept.json": ("mcp-memory", 1), "work/all.json": ("json", 0),
        "work/memory.json": ("mcp-memory", 1), ".claude/CLAUDE.md": ("agents", 2),
        ".codex/AGENTS.md": ("agents", 1),
    }  # fmt: skip
    assert all(one.size and one.at.endswith("Z") for one in listed.values())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("package.json", '{"name": "x", "version": "1"}'), ("broken.json", '{"type": '),
        ("empty.json", ""), ("CLAUDE.md", "# Only prose\n"), ("deep.json", "[" * 100_000), ("AGENTS.md", "\0\1\2"),
        ("notes.md", "- a bullet of anybody\n"), (".hidden.json", ENTITY),
    ],
)  # fmt: skip
def test_a_file_of_which_nothing_would_come_is_not_listed(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert found(tmp_path) == {}


def test_no_pipe_link_or_folder_is_waited_for_or_listed_twice(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("- Answer in short sentences\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    (tmp_path / "gone.json").symlink_to("nowhere")
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    assert len(found(tmp_path, tmp_path, tmp_path / ".." / tmp_path.name)) == 1
