"""What a remote, an address or a folder's name can hold against a sync."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.synced import DRIVER, Machine, files, git

from core.errors import ErrorCode, SyncError
from core.facts.edits import remember
from core.sync import Sync, set_up
from core.sync import git as git_module
from core.sync.git import without_password

pytestmark = pytest.mark.slow


def _pushed(folder: Path, remote: Path, message: str, author: str) -> None:
    """Somebody changes a fact and its note by hand, and pushes it."""
    git(folder, "clone", "-q", str(remote), "other")
    for file in (folder / "other" / "web.nugget.json", folder / "other" / "graph" / "graph.json"):
        file.write_bytes(file.read_bytes().replace(b"8080", b"8081"))
    git(folder / "other", "commit", "-qam", message, f"--author={author} <x@example.org>")
    git(folder / "other", "push", "-q", "origin", "HEAD")


def _with_a_fact(home: Path, remote: Path | None) -> Machine:
    machine = Machine(home, remote, "laptop")
    machine.memory.change("store", lambda draft: remember(draft, "web", "port", "8080"))
    machine.sync()
    return machine


def test_control_characters_in_a_commit_stop_no_sync_and_reach_no_log(tmp_path: Path, remote: Path) -> None:
    laptop = _with_a_fact(tmp_path / "laptop", remote)
    _pushed(
        tmp_path, remote, "a\x1eb\x1f\x1f\x1b[2Jc\n\nNuggets-Author: person:\x1ex\x1f", "E\x1fv\x1ee\x1b[31m"
    )
    laptop.sync()
    assert laptop.facts == {"web": {"port": "8081"}}
    (entry,) = laptop.memory.history.log(limit=1)
    assert (str(entry.change_set.author) + entry.change_set.reason).isprintable()
    laptop.memory.close()


@pytest.mark.parametrize("name", ["two\nlines", "ends in one\n", "ümläut und \"quotes' ", "-dash", "\udcff"])
def test_a_memory_syncs_in_a_folder_of_any_name_and_writes_nowhere_else(
    tmp_path: Path, remote: Path, name: str
) -> None:
    above = tmp_path / name
    machine = _with_a_fact(above / "memory", remote)
    machine.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    assert machine.sync().sent == 1
    assert set(above.iterdir()) == {above / "memory"}
    assert {path.name for path in tmp_path.iterdir()} == {name, "remote.git", "gitconfig"}
    machine.memory.close()


ADDRESSES = [
    "https://ada:hunter2@127.0.0.1:1/memory.git",
    "https://ada:hun@hunter2@127.0.0.1:1/memory.git",
    "https://hunter2@127.0.0.1:1/memory.git",
    "http://ada:x/hunter2@127.0.0.1:1/memory.git",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_password_in_an_address_is_shown_nowhere_and_kept_by_git_alone(
    tmp_path: Path, address: str
) -> None:
    home = tmp_path / "memory"
    told = [
        set_up(home, address, driver=DRIVER, machine="laptop", dry_run=dry_run) for dry_run in (True, False)
    ]
    machine = Machine(home, None, "laptop")
    machine.memory.change("store", lambda draft: remember(draft, "web", "port", "8080"))
    result = machine.sync()
    assert result.state.offline
    told.append(set_up(home, None, driver=DRIVER, machine="laptop"))
    assert "hunter2" not in str((told, result, Sync(machine.memory).state()))
    machine.memory.close()
    assert [path.name for path in home.rglob("*") if path.is_file() and b"hunter2" in path.read_bytes()] == [
        "config"
    ]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("git@example.com:me/memory.git", "git@example.com:me/memory.git"),
        ("ssh://git:hunter2@example.com/memory.git", "ssh://git@example.com/memory.git"),
        ("/home/ada/a@b/memory.git", "/home/ada/a@b/memory.git"),
        ("https://example.com/memory.git", "https://example.com/memory.git"),
    ],
)
def test_what_an_address_shows_is_what_it_is_known_by(address: str, shown: str) -> None:
    assert without_password(address) == shown


def test_files_that_are_too_large_together_are_not_followed(
    tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop = _with_a_fact(tmp_path / "laptop", remote)
    sizes = [len(data) for data in files(laptop.home).values()]
    _pushed(tmp_path, remote, "by hand", "Eve")
    monkeypatch.setattr(git_module, "LARGEST", max(sizes) + 1)
    with pytest.raises(SyncError) as caught:
        laptop.sync()
    assert caught.value.code is ErrorCode.REMOTE
    assert laptop.facts == {"web": {"port": "8080"}}
    laptop.memory.close()


def test_a_commit_that_a_person_makes_at_the_same_moment_stands(tmp_path: Path, remote: Path) -> None:
    laptop = _with_a_fact(tmp_path / "laptop", remote)
    laptop.memory.change("store", lambda draft: remember(draft, "web", "host", "example.org"))

    def step(at: str) -> None:
        if at == "committing":
            (laptop.home / "README.md").write_text("mine")
            git(laptop.home, "add", "README.md")
            git(laptop.home, "commit", "-qm", "my own")

    with pytest.raises(SyncError) as caught:
        Sync(laptop.memory, step=step).run()
    assert caught.value.code is ErrorCode.GIT_UNDER_WAY
    assert git(laptop.home, "log", "-1", "--format=%s") == "my own"
    assert laptop.sync().sent == 1
    assert git(remote, "show", "main:README.md") == "mine"
    laptop.memory.close()
