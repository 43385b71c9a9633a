"""The app in a real pseudo-terminal, in a real git repository with a team's notes, hostile ones among them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from kits.app_kit import small_memory
from kits.pseudo_terminal import EVIL, Terminal, obeyed

pytestmark = [pytest.mark.terminal, pytest.mark.slow]

# A page with this in it is no text.
HOSTILE = EVIL.replace("\0", "")
DAY = "---\ntags: [release]\n---\n\n# Release day\n\nReleases go out on Thursdays.\n"


def git(folder: Path, *words: str) -> str:
    own = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    ran = subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True, text=True)
    return ran.stdout


def test_a_clones_notes_are_trusted_searched_and_edited_and_git_sees_the_file_alone(tmp_path: Path) -> None:
    project, home = tmp_path / "shop", tmp_path / "own"
    folder = project / ".nuggets" / "notes"
    folder.mkdir(parents=True)
    (folder / "release-day.md").write_text(DAY)
    (folder / "evil.md").write_text(f"# Evil {HOSTILE}\n\nRelease {HOSTILE}\n")
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "notes")
    small_memory(home).close()
    terminal = Terminal(home, cwd=project)
    terminal.until("2 project notes")
    terminal.press("\x14")
    terminal.until("Use this project's notes")
    terminal.press("y")
    terminal.until("2 team notes")
    terminal.press("/releases go out on thursdays")
    terminal.until("hits")
    terminal.press("\x1b[B")
    terminal.until("release-day.md")
    assert git(project, "status", "--porcelain") == ""
    terminal.press("x")
    terminal.until("Hid")
    assert git(project, "status", "--porcelain").split() == ["M", ".nuggets/notes/release-day.md"]
    terminal.press("u")
    terminal.until("Undid")
    assert git(project, "status", "--porcelain") == ""
    terminal.press("\x1b")
    terminal.press("N")
    terminal.until("Evil")
    terminal.press("N")
    terminal.until("Deploy day")
    assert terminal.leave() == 0
    assert obeyed(terminal.output) == b""
    assert git(project, "status", "--porcelain") == ""
