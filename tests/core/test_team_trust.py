"""A project's notes are used once a person trusts its repository, and nothing of them before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kits.synced import git, own_git
from kits.team_pages import write_team

from core.errors import ErrorCode, NuggetsError
from core.memory import Memory
from core.settings import Settings, TeamSettings
from core.team import answer_for, entry_for, must_be_trusted, remember, trust_folder
from core.workspace import refuse_untrusted, use_team_near

PAGES = {
    "zebra.md": "---\ntags: [stripes]\nlinks:\n  - gnu: they graze\n---\n\n# Zebra\n\nPress the zebra button.\n",
    "gnu.md": "# Gnu\n\nIt runs.\n",
}


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of notes in a repository that nobody was asked about."""
    own_git(tmp_path, monkeypatch)
    folder = write_team(tmp_path / "shop", PAGES, trusted=False)
    # A fact file and a memory's own files beside the pages are no door either.
    (folder / "evil.nugget.json").write_text('{"name":"evil","facts":[{"key":"zebra","value":"sh"}]}')
    git(tmp_path / "shop", "init", "-q", "-b", "main")
    git(tmp_path / "shop", "add", "-A")
    git(tmp_path / "shop", "commit", "-qm", "Notes")
    git(tmp_path / "shop", "remote", "add", "origin", "https://example.org/shop.git")
    return folder


@pytest.fixture
def memory(tmp_path: Path, notes: Path) -> Memory:
    own = Memory.open(tmp_path / "own")
    use_team_near(own, lambda: notes.parent.parent)
    return own


def seen(memory: Memory) -> tuple[object, ...]:
    """What of the team's notes reaches a search, a recall, an explanation, tags and lists."""
    found = memory.recall("zebra button", record=False)
    return (
        memory.search.team, memory.search("zebra"), memory.search("tag:stripes"), found.answer, found.candidates,
        memory.search.snapshot.notes, [tag for note in memory.search.snapshot.notes for tag in note.tags],
    )  # fmt: skip


NOTHING = (None, (), (), None, (), (), [])


def test_nothing_of_a_project_is_read_before_a_yes_and_one_notice_says_how_many_wait(
    memory: Memory, notes: Path
) -> None:
    assert seen(memory) == NOTHING
    (told,) = memory.take_notices()
    assert "2 notes" in told
    assert "nuggets team trust" in told
    seen(memory)
    assert memory.take_notices() == ()
    trust_folder(notes)
    assert [hit.whose for hit in memory.search("zebra")] == ["team"]
    assert memory.recall("zebra button", record=False).whose == "team"


def test_a_no_is_kept_and_asks_no_more(memory: Memory, notes: Path) -> None:
    trust_folder(notes)
    assert memory.search("zebra")
    remember(entry_for(notes), trusted=False)
    assert seen(memory) == NOTHING
    assert memory.take_notices() == ()


@pytest.mark.parametrize(
    "change",
    [
        ("remote", "set-url", "origin", "https://example.net/shop.git"),
        ("remote", "remove", "origin"),
        ("checkout", "-q", "--orphan", "other"),
    ],
)
def test_another_remote_or_another_first_commit_asks_again(
    memory: Memory, notes: Path, change: tuple[str, ...]
) -> None:
    trust_folder(notes)
    assert memory.search("zebra")
    git(notes.parent.parent, *change)
    if "--orphan" in change:
        git(notes.parent.parent, "commit", "-qm", "Another history")
    assert seen(memory) == NOTHING
    assert answer_for(entry_for(notes)) is None


def test_one_answer_counts_for_every_clone_and_worktree_of_the_repository(
    notes: Path, tmp_path: Path
) -> None:
    shop = notes.parent.parent
    trust_folder(notes)
    git(shop, "worktree", "add", "-q", "../tree")
    git(tmp_path, "clone", "-q", str(shop), "clone")
    git(tmp_path / "clone", "remote", "set-url", "origin", "https://someone:token@example.org/shop.git")
    for place in ("tree", "clone"):
        assert answer_for(entry_for(tmp_path / place / ".nuggets" / "notes")), place


def test_a_folder_inside_a_trusted_repository_is_another_project(notes: Path) -> None:
    trust_folder(notes)
    inner = write_team(notes.parent.parent / "vendor" / "evil", PAGES, trusted=False)
    assert answer_for(entry_for(inner)) is None


def test_a_project_without_commits_goes_by_its_real_path(tmp_path: Path) -> None:
    folder = write_team(tmp_path / "plain", PAGES)
    (tmp_path / "link").symlink_to(tmp_path / "plain")
    assert answer_for(entry_for(folder))
    assert answer_for(entry_for(tmp_path / "link" / ".nuggets" / "notes"))
    assert answer_for(entry_for(write_team(tmp_path / "other", PAGES, trusted=False))) is None


def test_where_git_cannot_say_which_repository_it_is_nothing_is_trusted(notes: Path) -> None:
    trust_folder(notes)
    (notes.parent.parent / ".git" / "HEAD").unlink()
    with pytest.raises(NuggetsError) as refused:
        must_be_trusted(notes, Settings())
    assert refused.value.code == ErrorCode.NOT_TRUSTED


@pytest.mark.parametrize("data", [b"{", b'[{"key": 1}]', b"\xff"])
def test_answers_that_cannot_be_read_trust_nothing_say_so_and_stay(
    memory: Memory, notes: Path, data: bytes
) -> None:
    trust_folder(notes)
    kept = Path(os.environ["NUGGETS_STATE"], "trusted.json")
    kept.write_bytes(data)
    assert seen(memory) == NOTHING
    assert [one for one in memory.take_notices() if "trusted.json" in one]
    with pytest.raises(NuggetsError):
        trust_folder(notes)
    assert kept.read_bytes() == data


def test_what_a_person_wrote_in_the_settings_trusts_every_project(notes: Path, tmp_path: Path) -> None:
    assert must_be_trusted(notes, Settings(team=TeamSettings(trust="all")))


def test_an_agent_may_not_open_an_untrusted_projects_notes_as_its_memory(notes: Path) -> None:
    team = Memory.open(notes)
    with pytest.raises(NuggetsError) as refused:
        refuse_untrusted(team)
    assert refused.value.code == ErrorCode.NOT_TRUSTED
    remember(entry_for(notes), trusted=False)
    with pytest.raises(NuggetsError):
        refuse_untrusted(team)
    trust_folder(notes)
    refuse_untrusted(team)


@pytest.mark.parametrize(
    ("words", "setting"),
    [
        (("config", "core.fsmonitor"), "{program}"),
        (("config", "core.hooksPath"), "{folder}"),
        (("config", "filter.x.clean"), "{program}"),
        (("config", "filter.a.b.process"), "{program}"),
        (("config", "filter.a=b.clean"), "{program}"),
    ],
)
def test_asking_git_about_a_foreign_repository_runs_nothing_that_its_configuration_names(
    notes: Path, tmp_path: Path, words: tuple[str, ...], setting: str
) -> None:
    from core.team import team_state

    ran = tmp_path / "ran"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for program in (hooks / "run", hooks / "post-index-change"):
        program.write_text(f"#!/bin/sh\ntouch {ran}\n")
        program.chmod(0o755)
    shop = notes.parent.parent
    git(shop, *words, setting.format(program=hooks / "run", folder=hooks))
    name = words[1].removeprefix("filter.").rpartition(".")[0]
    (shop / ".git" / "info" / "attributes").write_text(f'* filter="{name}"\n* filter={name}\n')
    page = notes / "zebra.md"
    page.write_text(page.read_text().replace("button", "bottom"))
    team_state(Memory.open(notes, reconcile=False))
    entry_for(notes)
    assert not ran.exists()
