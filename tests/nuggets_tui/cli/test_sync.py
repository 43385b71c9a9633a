"""`nuggets sync` on the command line: what it says, its documents and its exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kits.synced import bare, git, own_git

pytestmark = pytest.mark.slow


@pytest.fixture
def remote(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own_git(tmp_path, monkeypatch)
    return bare(tmp_path)


def test_two_folders_and_a_remote_from_init_to_off(nuggets: Any, remote: Path, tmp_path: Path) -> None:
    desk = str(tmp_path / "desk")
    nuggets.ok("remember", "web", "port", "8080")
    told = nuggets.json("sync", "init", str(remote), "--machine", "laptop")
    assert [one["step"] for one in told["steps"] if not one["already"]][:1] == ["repository"]
    assert told["sync"]["sent"] == 1
    joined = nuggets.json("--home", desk, "sync", "init", str(remote), "--machine", "desk")
    assert joined["sync"]["cameIn"] == 1
    assert "8080" in nuggets.ok("--home", desk, "notes", "--facts", "--nugget", "web")
    nuggets.ok("--home", desk, "remember", "web", "port", "1111", "--as", "claude")
    nuggets.ok("--home", desk, "sync")
    nuggets.ok("remember", "web", "port", "2222")
    document = nuggets.json("sync", code=3)
    assert (document["standing"], document["conflicts"], document["committed"]) == ("conflict", 1, 1)
    assert "1 conflict: nuggets resolve" in nuggets("sync", "status").stdout
    (waits,) = nuggets.json("resolve", code=3)["conflicts"]
    for shown in (nuggets("resolve").stdout, nuggets("resolve", waits["id"]).stdout):
        # Both lists say whose it is.
        assert "incoming: claude on desk's change, which waits; current: what the files hold now" in shown
    nuggets.ok("resolve", "--all", "--incoming")
    assert nuggets.json("sync")["standing"] == "in-step"
    nuggets.ok("--home", desk, "sync")
    assert "1111" in nuggets.ok("notes", "--facts", "--nugget", "web")
    assert nuggets.ok("verify") == nuggets.ok("--home", desk, "verify")
    nuggets.ok("sync", "off")
    assert nuggets.json("sync", "status")["standing"] == "off"
    assert "nuggets sync init" in nuggets.fails("sync")


def test_a_dry_run_says_each_thing_and_does_none(nuggets: Any, remote: Path) -> None:
    nuggets.ok("remember", "web", "port", "8080")
    before = nuggets.bytes()
    lines = nuggets.ok("sync", "init", str(remote), "--dry-run").splitlines()
    assert len(lines) == 6
    assert all(line.startswith("Would ") for line in lines)
    assert nuggets.bytes() == before
    assert git(remote, "branch", "--list") == ""


def test_offline_is_exit_code_1_and_commits(nuggets: Any, remote: Path) -> None:
    nuggets.ok("sync", "init", str(remote))
    nuggets.ok("remember", "web", "port", "8080")
    remote.rename(remote.with_name("away"))
    result = nuggets("sync")
    assert result.exit_code == 1
    assert "Committed 1 note." in result.stdout
    assert "Offline" in result.stdout
    assert nuggets.json("sync", "status", code=1)["toSend"] == 1


def test_an_error_is_one_line_with_what_to_do(nuggets: Any, remote: Path) -> None:
    nuggets.ok("remember", "web", "port", "8080")
    assert "nuggets sync init" in nuggets.fails("sync")
    assert "git clone" in nuggets.fails("sync", "init", "--", "--upload-pack=x")
    nuggets.ok("sync", "init", str(remote))
    git(nuggets.home, "checkout", "-q", "--detach")
    assert "detached HEAD" in nuggets.fails("sync")
