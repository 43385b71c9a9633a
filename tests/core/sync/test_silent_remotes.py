"""A remote that takes a connection and says nothing is given up soon, and told as offline."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.synced import Machine, git

from core.facts.edits import remember
from core.sync import Standing, Sync
from core.sync.git import Git

pytestmark = pytest.mark.slow


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server whose connections are accepted and never answered."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as server:
        yield server.getsockname()[1]


def _silenced(machine: Machine, address: str) -> None:
    git(machine.home, "remote", "set-url", "origin", address)
    machine.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))


def test_a_silent_web_server_is_given_up_and_the_change_waits_in_a_commit(
    pair: tuple[Machine, Machine], silent: int
) -> None:
    laptop, _ = pair
    _silenced(laptop, f"http://127.0.0.1:{silent}/memory.git")
    result = Sync(laptop.memory, silence=1).run()
    assert (result.committed, result.sent) == (1, 0)
    assert (result.state.standing, result.state.to_send) == (Standing.OFFLINE, 1)
    assert result.state.problem == "the remote did not answer within 1 s"


def test_a_remote_that_refuses_at_once_is_told_in_gits_words(pair: tuple[Machine, Machine]) -> None:
    laptop, _ = pair
    _silenced(laptop, "http://127.0.0.1:1/memory.git")
    result = Sync(laptop.memory, silence=5).run()
    assert result.state.standing is Standing.OFFLINE
    assert "Failed to connect" in result.state.problem


def _limits(folder: Path) -> dict[str, str]:
    """The settings that a run to a remote has, by their names."""
    said = Git(folder, silence=7).run_remote("config", "--list").out.decode()
    return dict(line.partition("=")[::2] for line in said.splitlines())


def test_limits_that_the_user_set_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "--quiet")
    ours = _limits(tmp_path)
    assert (ours["http.lowspeedlimit"], ours["http.lowspeedtime"]) == ("1", "7")
    assert "ConnectTimeout=7" in ours["core.sshcommand"]
    git(tmp_path, "config", "http.https://example.org/.lowSpeedTime", "300")
    git(tmp_path, "config", "core.sshCommand", "ssh -i key")
    theirs = _limits(tmp_path)
    assert "http.lowspeedtime" not in theirs
    assert theirs["core.sshcommand"] == "ssh -i key"
    git(tmp_path, "config", "--unset", "core.sshCommand")
    for name in ("GIT_SSH_COMMAND", "GIT_SSH"):
        with monkeypatch.context() as patch:
            patch.setitem(os.environ, name, "plink")
            assert "core.sshcommand" not in _limits(tmp_path)
