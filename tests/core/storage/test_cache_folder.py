"""Where caches lie: apart from every memory, one folder each, and gone when their memory is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from core.storage.cache import (
    INDEX_NAME,
    MEMORY_NAME,
    cache_folder,
    claim_cache_folder,
    read_cache,
    write_cache,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "memory"
    made.mkdir()
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "caches"


def _claimed(home: Path, root: Path) -> Path:
    folder = cache_folder(home, {"NUGGETS_CACHE": str(root)})
    assert folder is not None
    assert claim_cache_folder(folder, home)
    assert write_cache(folder / INDEX_NAME, "1", {"block": b"content"})
    return folder


def test_each_memory_has_one_folder_whatever_leads_to_it(home: Path, root: Path) -> None:
    environ = {"NUGGETS_CACHE": str(root)}
    folder = cache_folder(home, environ)
    other = cache_folder(home.with_name("other"), environ)
    link = home.with_name("link")
    link.symlink_to(home)
    assert folder is not None
    assert folder.parent == root.resolve()
    assert folder != other
    assert cache_folder(link, environ) == folder
    assert cache_folder(home / ".." / home.name, environ) == folder
    assert not root.exists()


@pytest.mark.parametrize("value", ["off", "OFF", " off "])
def test_a_person_may_have_no_cache(home: Path, value: str) -> None:
    assert cache_folder(home, {"NUGGETS_CACHE": value}) is None


def test_no_cache_lies_inside_the_memory(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = home.with_name("link")
    inside.symlink_to(home / "deep")
    for named in (home, home / "deep", inside):
        assert cache_folder(home, {"NUGGETS_CACHE": str(named)}) is None
    monkeypatch.chdir(home)
    assert cache_folder(home, {"NUGGETS_CACHE": "caches"}) is None
    # A memory that is the user's whole folder has the user's folder for caches inside it.
    assert cache_folder(Path(os.environ["HOME"]), {}) is None


def test_the_folder_names_its_memory_and_is_the_owners(home: Path, root: Path) -> None:
    folder = _claimed(home, root)
    assert (folder / MEMORY_NAME).read_text() == f"{home.resolve()}\n"
    if os.name != "nt":
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    before = (folder / MEMORY_NAME).stat().st_ino
    assert claim_cache_folder(folder, home)
    assert (folder / MEMORY_NAME).stat().st_ino == before
    (folder / MEMORY_NAME).write_bytes(b"somewhere else\n")
    assert claim_cache_folder(folder, home)
    assert (folder / MEMORY_NAME).read_text() == f"{home.resolve()}\n"


def test_caches_of_memories_that_are_gone_go_and_the_others_stay(home: Path, root: Path) -> None:
    others = [home.with_name(f"other {number}") for number in range(3)]
    for other in others:
        other.mkdir()
    made = [_claimed(other, root) for other in others]
    others[0].rmdir()
    others[1].rename(home.with_name("moved"))
    kept = _claimed(home, root)
    assert set(root.iterdir()) == {kept, made[2]}
    assert read_cache(made[2] / INDEX_NAME, "1") is not None


def test_only_our_own_files_are_removed(home: Path, root: Path) -> None:
    gone = home.with_name("gone")
    folder = _claimed(gone, root)
    (folder / "letter.txt").write_text("mine")
    (folder / ".index.cache.77-0123abcd.tmp").write_text("half")
    (folder / "sub").mkdir()
    foreign = {"0123456789abcdef": str(gone), "photos": str(gone), "a" * 16: ""}
    for name, memory in foreign.items():
        (root / name).mkdir()
        (root / name / MEMORY_NAME).write_text(f"{memory}\n")
    (root / "note.txt").write_text("mine")
    target = home.with_name("target")
    target.mkdir()
    (root / ("b" * 16)).symlink_to(target)
    kept = _claimed(home, root)
    assert {path.name for path in folder.iterdir()} == {"letter.txt", "sub"}
    assert {path.name for path in root.iterdir()} == {kept.name, folder.name, *foreign, "note.txt", "b" * 16}
    assert all((root / name / MEMORY_NAME).exists() for name in foreign)


@pytest.mark.parametrize("kind", ["file", "link", "not ours"])
def test_a_folder_that_is_not_ours_is_not_used(
    home: Path, root: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cache_folder(home, {"NUGGETS_CACHE": str(root)})
    assert folder is not None
    root.mkdir()
    if kind == "file":
        folder.write_bytes(b"")
    elif kind == "link":
        folder.symlink_to(home)
    elif hasattr(os, "geteuid"):
        folder.mkdir()
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    else:
        pytest.skip("needs owners of files")
    assert not claim_cache_folder(folder, home)
    assert list(home.iterdir()) == []
