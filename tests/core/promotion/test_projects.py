"""Which MEMORY.md is whose: found from anywhere in a project, and given no other project's notes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from core.daily import run_daily_pass
from core.graph.edits import create_note
from core.memory import Memory
from core.model.infer import MetaInput
from core.model.note import replace
from core.projects import Project, register, take_over
from core.promotion import project_folder
from core.storage.personal.page_homes import folders_called

# Title, nugget, scope.
NOTES = [
    ("Alpha ledger", "alpha", "project"), ("Beta port", "Beta", "project"),
    ("Shared linter", "tools", "shared"), ("Beta shares", "Beta", "shared"), ("My editor", "prefs", "user"),
]  # fmt: skip
OFFERED = {"Beta port", "Shared linter", "Beta shares", "My editor"}


@pytest.fixture
def beta(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a worktree, for which Claude Code keeps a folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    root = tmp_path / "work" / "beta"
    (root / "src" / "deep").mkdir(parents=True)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["worktree", "add", "-q", "../wt"],
    ):
        subprocess.run([*git, *words], cwd=root, check=True)
    page_of(root, tmp_path / ".claude").parent.mkdir(parents=True)
    return root


def page_of(root: Path, claude: Path) -> Path:
    return claude / "projects" / project_folder(str(root)) / "memory" / "MEMORY.md"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path / "own")
    for title, nugget, scope in NOTES:
        made, _ = memory.change(
            "add",
            lambda draft, title=title, nugget=nugget, scope=scope: create_note(
                draft, nugget, title, f"It says {title}.", meta=MetaInput(scope=scope)
            ),
        )
        memory.change(
            "count", lambda draft, id=made.id: draft.put(replace(draft.note(id), hits=9)), kind="hit"
        )
    return memory


@pytest.mark.parametrize("place", [".", "src/deep", "../wt"])
def test_the_page_is_found_from_wherever_one_works_in_the_repository(
    memory: Memory, beta: Path, tmp_path: Path, place: str
) -> None:
    found = memory.promotion.promote(dry_run=True, cwd=beta / place)
    assert found.path == str(page_of(beta, tmp_path / ".claude"))
    assert {one.title for one in found.entries} == OFFERED
    assert "Alpha" not in str(found.to_dict())


def test_the_folder_that_claude_code_is_told_counts(
    memory: Memory, beta: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = page_of(beta, tmp_path / "moved")
    moved.parent.mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved"))
    assert memory.promotion.promote(dry_run=True, cwd=beta).path == str(moved)


def test_a_pass_that_nobody_watches_writes_the_projects_own_notes_and_those_about_the_person(
    memory: Memory, beta: Path, tmp_path: Path
) -> None:
    page = page_of(beta, tmp_path / ".claude")
    memory.save_settings({"promotion.automatic": "projects", "promotion.projects": (str(page.parent),)})
    # It runs wherever the daemon was started.
    done = run_daily_pass(memory, if_due=False)
    assert [one.path for one in done.promotions] == [str(page)]
    text = page.read_text()
    assert [title for title, *_ in NOTES if title in text] == ["Beta port", "Beta shares", "My editor"]


def test_a_page_whose_project_is_gone_gets_what_is_about_the_person_alone(
    memory: Memory, beta: Path, tmp_path: Path
) -> None:
    page = tmp_path / ".claude" / "projects" / "-gone-away-beta" / "memory" / "MEMORY.md"
    memory.promotion.promote(memory_dir=page.parent, cwd=tmp_path, unattended=True)
    assert [title for title, *_ in NOTES if title in page.read_text()] == ["My editor"]


def test_what_a_person_wrote_there_of_another_project_stays_as_it_is(
    memory: Memory, beta: Path, tmp_path: Path
) -> None:
    page = page_of(beta, tmp_path / ".claude")
    memory.promotion.promote(cwd=beta)
    before = page.read_text() + "- **Alpha ledger**: by hand\n"
    page.write_text(before)
    memory.promotion.promote(cwd=beta, unattended=True)
    assert page.read_text() == before


def test_what_we_wrote_goes_once_its_nugget_is_another_projects(
    memory: Memory, beta: Path, tmp_path: Path
) -> None:
    page = page_of(beta, tmp_path / ".claude")
    memory.promotion.promote(cwd=beta)
    assert "Shared linter" in page.read_text()
    take_over(str(memory.home), Project("lint", "/work/lint"), "tools")
    done = memory.promotion.promote(cwd=beta, unattended=True)
    assert [entry.title for entry in done.entries if entry.status == "removed"] == ["Shared linter"]
    assert "Shared linter" not in page.read_text()


def test_a_nugget_that_a_person_joined_is_the_projects_whatever_its_name_and_one_first_written_there_is_not(
    memory: Memory, beta: Path, tmp_path: Path
) -> None:
    home, project = str(memory.home), Project("beta", str(beta))
    register(home, project, "tools", ())
    page = page_of(beta, tmp_path / ".claude")
    memory.promotion.promote(memory_dir=page.parent, cwd=beta)
    assert "Shared linter" not in page.read_text()
    take_over(home, project, "tools")
    # As the daemon does, which runs in no project.
    memory.promotion.promote(memory_dir=page.parent, cwd=tmp_path, unattended=True)
    titles = [title for title, *_ in NOTES if title in page.read_text()]
    assert titles == ["Beta port", "Shared linter", "Beta shares", "My editor"]


@pytest.mark.parametrize(
    ("nugget", "project", "offered"),
    [("Client-Beta", "client beta", True), ("cafe", "cafe\u0301", True), ("beta", "client-beta", False)],
)
def test_names_of_nuggets_and_projects_are_compared_as_people_read_them(
    tmp_path: Path, beta: Path, nugget: str, project: str, offered: bool
) -> None:
    memory, root = Memory.open(tmp_path / "other"), tmp_path / project
    root.mkdir()
    page_of(root, tmp_path / ".claude").parent.mkdir(parents=True)
    meta = MetaInput(scope="project")
    made, _ = memory.change("add", lambda draft: create_note(draft, nugget, "Port", "5433", meta=meta))
    memory.change("count", lambda draft: draft.put(replace(draft.note(made.id), hits=9)), kind="hit")
    assert bool(memory.promotion.promote(dry_run=True, cwd=root).entries) is offered


def test_a_folder_of_claude_codes_leads_back_to_its_project(beta: Path) -> None:
    assert list(folders_called(project_folder(str(beta)), project_folder)) == [str(beta)]


@pytest.mark.parametrize(
    ("cwd", "folder"),
    [
        ("/home/ann/work/my proj", "-home-ann-work-my-proj"), ("C:\\Users\\ann", "C--Users-ann"),
        ("/wörk/京/👍", "-w-rk-----"),
    ],
)  # fmt: skip
def test_every_character_that_is_no_letter_or_digit_becomes_a_hyphen(cwd: str, folder: str) -> None:
    assert project_folder(cwd) == folder
