"""Single files that an import takes are found where they likely lie; what only looks like one is not listed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from core import Memory
from core.memories import FoundFile
from core.memories import found_files as find

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
