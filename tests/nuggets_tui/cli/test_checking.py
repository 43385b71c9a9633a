"""`nuggets check` and `nuggets blame`: what is listed, changed, and told by exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kits.replayed import git


@pytest.fixture
def root(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scanner"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "auth.py").write_text(
        "def sign_in(request):\n    return request.user and request.token\n"
    )
    (folder / "src" / "other.py").write_text("other = 'what nobody else has in this project'\n")
    (folder / "AGENTS.md").write_text("# Scanner\n\nSigning in is in src/auth.py, see src/other.py.\n")
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    commit(folder)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NUGGETS_PROJECT", raising=False)
    # However slow the machine is.
    monkeypatch.setattr("core.grounding.SECONDS_OF_AN_ANSWER", 60.0)
    return folder


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")


def test_nothing_is_listed_of_what_is_as_it_was(root: Path, nuggets: Any) -> None:
    nuggets.ok("remember", "sign in", "src/auth.py:1")
    assert nuggets.json("check") == {"notes": [], "pages": []}


def test_what_moved_and_what_is_gone_is_listed_and_what_is_gone_is_an_exit_code(
    root: Path, nuggets: Any
) -> None:
    nuggets.ok("remember", "sign in", "src/auth.py:1")
    git(root, "mv", "src/auth.py", "src/login.py")
    commit(root)
    told = nuggets.json("check")
    assert [(one["state"], one["where"]) for note in told["notes"] for one in note["stale"]] == [
        ("moved", "src/login.py:1")
    ]
    assert [(page["line"], page["stale"][0]["where"]) for page in told["pages"]] == [(3, "src/login.py")]
    (hit,) = nuggets.json("search", "sign in")
    shown = nuggets.json("note", "show", hit["id"])
    assert hit["stale"] == shown["stale"] == told["notes"][0]["stale"]
    (root / "src" / "other.py").unlink()
    commit(root)
    told = nuggets.json("check", code=1)
    assert [page["stale"][0]["state"] for page in told["pages"]] == ["moved", "gone"]
    assert nuggets.json("check", "AGENTS.md", code=1)["notes"] == []


def test_fixing_names_code_where_it_is_now_and_is_undone_as_one(root: Path, nuggets: Any) -> None:
    nuggets.ok("remember", "sign in", "src/auth.py:1")
    git(root, "mv", "src/auth.py", "src/login.py")
    commit(root)
    assert nuggets.fails("check", "--fix", code=2)
    done = nuggets.json("check", "--fix", "--yes")["changeSet"]
    assert nuggets.json("recall", "sign", "in")["answer"] == "src/login.py:1"
    assert nuggets.json("check")["notes"] == []
    nuggets.ok("undo", done)
    assert nuggets.json("recall", "sign in")["answer"] == "src/auth.py:1"


def test_blame_lists_who_names_a_file_its_folder_or_a_symbol(root: Path, nuggets: Any) -> None:
    for key, value in (
        ("file", "src/auth.py"),
        ("folder", "all code is in src/"),
        ("symbol", "`sign_in()` checks"),
    ):
        nuggets.ok("remember", key, value)
    assert {one["title"] for one in nuggets.json("blame", "src/auth.py")} == {"file", "folder", "symbol"}
    assert {one["title"] for one in nuggets.json("blame", "sign_in")} == {"symbol"}
    assert nuggets.json("blame", "README.md", code=1) == []
    git(root, "mv", "src/auth.py", "src/login.py")
    commit(root)
    assert {one["title"] for one in nuggets.json("blame", "src/login.py")} == {"file", "folder", "symbol"}


def test_what_cannot_be_checked_is_one_error(
    root: Path, nuggets: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert nuggets.fails("check", "missing.md", code=2)
    monkeypatch.chdir(tmp_path.root)
    assert nuggets.fails("check", code=2)
