"""Where caches lie: apart from every memory, one folder each, for their owner alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from core.storage.cache import INDEX_NAME, cache_folder, claim_cache_folder, remove_cache, write_cache


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
    assert claim_cache_folder(folder)
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


def test_the_folder_is_the_owners_and_only_our_own_files_are_removed(home: Path, root: Path) -> None:
    folder = _claimed(home, root)
    if os.name != "nt":
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "letter.txt").write_text("mine")
    (folder / ".index.cache.77-0123abcd.tmp").write_text("half")
    remove_cache(folder)
    assert [path.name for path in folder.iterdir()] == ["letter.txt"]


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
    assert not claim_cache_folder(folder)
    assert list(home.iterdir()) == []
