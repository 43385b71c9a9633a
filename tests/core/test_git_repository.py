"""The repository around a folder: asked once for each commit, and never taken for the one around it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kits.synced import git, own_git

from core.git_repository import first_commit, repository_around


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own_git(tmp_path, monkeypatch)
    monkeypatch.setenv("NUGGETS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "First")
    return folder


def first(folder: Path) -> str | None:
    found = repository_around(str(folder))
    assert found is not None
    return first_commit(found)


@pytest.mark.parametrize("packed", [False, True])
def test_git_is_asked_once_for_each_commit_that_is_checked_out(
    shop: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    git(shop, "pack-refs", "--all") if packed else None
    root = git(shop, "rev-parse", "HEAD")
    assert first(shop) == root
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", "")
    assert first(shop) == root
    monkeypatch.setenv("PATH", path)
    git(shop, "checkout", "-q", "--orphan", "other")
    git(shop, "commit", "-q", "--allow-empty", "-m", "Another history")
    assert first(shop) == git(shop, "rev-parse", "HEAD") != root


def test_a_cache_that_makes_no_sense_is_passed_over(shop: Path, tmp_path: Path) -> None:
    root = first(shop)
    for data in ("[]", "{torn", f'{{"{shop}": 3}}'):
        (tmp_path / "cache" / "first-commits.json").write_text(data)
        assert first(shop) == root


def test_a_repository_without_commits_has_no_first_one_and_a_broken_one_no_answer(
    shop: Path, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q", "fresh")
    assert first(tmp_path / "fresh") == ""
    (tmp_path / "fresh" / ".git" / "HEAD").unlink()
    assert first(tmp_path / "fresh") is None


def test_a_broken_repository_inside_of_another_is_not_taken_for_it(shop: Path) -> None:
    (shop / "vendor" / ".git").mkdir(parents=True)
    assert first(shop / "vendor") is None
