"""`nuggets agent` and `nuggets doctor`: what they print, and how they end."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kits.agent_files import NAMES, tree

NO_STATE = (".local", ".nuggets", "memory", ".cache")


def of_agents(user: Path) -> dict[str, bytes | None]:
    """The user's files but for our own."""
    return {path: data for path, data in tree(user).items() if not path.startswith(NO_STATE)}


def all_files(user: Path) -> dict[str, bytes | None]:
    """Every file, but for the marks that SQLite sets while somebody reads."""
    return {path: data for path, data in tree(user).items() if not path.endswith(("-shm", "-wal"))}


@pytest.fixture
def user(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own folder, where no agent is on the search path."""
    monkeypatch.setenv("PATH", str(home.parent / "bin"))
    return home.parent


@pytest.mark.parametrize("name", NAMES)
def test_install_status_and_remove_end_where_they_began(name: str, user: Path, nuggets: Any) -> None:
    before = of_agents(user)
    assert nuggets("agent", "status", name).exit_code == 1
    preview = nuggets.json("agent", "install", name, "--dry-run")
    assert preview["dryRun"]
    assert preview["changed"]
    assert {one["change"] for one in preview["files"]} == {"created"}
    assert of_agents(user) == before
    made = nuggets.json("agent", "install", name)
    assert [one["path"] for one in made["files"]] == [one["path"] for one in preview["files"]]
    connected = of_agents(user)
    assert not nuggets.json("agent", "install", name)["changed"]
    assert of_agents(user) == connected
    [shown] = nuggets.json("agent", "status", name)["agents"]
    assert shown["connected"]
    assert nuggets.json("agent", "remove", name)["version"] == 1
    assert of_agents(user) == before
    assert not nuggets.json("agent", "remove", name)["changed"]


def test_the_memory_of_the_call_is_the_one_that_agents_get(user: Path, nuggets: Any) -> None:
    nuggets.ok("agent", "install", "claude")
    server = json.loads((user / ".claude.json").read_bytes())["mcpServers"]["nuggets"]
    assert os.path.isabs(server["command"])
    assert server["args"][-3:] == ["mcp", "--home", str(user / "memory")]
    nuggets.ok("--home", str(user / ".nuggets"), "agent", "install", "claude")
    server = json.loads((user / ".claude.json").read_bytes())["mcpServers"]["nuggets"]
    assert server["args"][-1] == "mcp"


@pytest.mark.slow
def test_the_registered_hook_can_be_run_as_it_stands(user: Path, nuggets: Any) -> None:
    nuggets.ok("agent", "install", "claude")
    hooks = json.loads((user / ".claude" / "settings.json").read_bytes())["hooks"]
    line = hooks["UserPromptSubmit"][0]["hooks"][0]["command"]
    done = subprocess.run(["/bin/sh", "-c", line], input=b"{}", capture_output=True, timeout=60, cwd=user)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_project_has_files_of_its_own(user: Path, nuggets: Any) -> None:
    for name in NAMES:
        nuggets.ok("agent", "install", name, "--project")
    made = {path for path, data in of_agents(user).items() if data is not None}
    assert {".mcp.json", "CLAUDE.md", ".codex/config.toml", "opencode.json", ".pi/mcp.json", "AGENTS.md",
            ".cursor/rules/nuggets.mdc", ".gemini/settings.json", "GEMINI.md"} <= made  # fmt: skip
    for name in NAMES:
        nuggets.ok("agent", "remove", name, "--project")
    assert of_agents(user) == {}


def test_an_entry_that_is_not_ours_is_a_conflict(user: Path, nuggets: Any) -> None:
    (user / ".claude.json").write_bytes(b'{"mcpServers": {"nuggets": {"command": "x"}}}')
    assert "not of this program" in nuggets.fails("agent", "install", "claude", code=3)


# The doctor


def checks(nuggets: Any, code: int) -> dict[str, str]:
    return {one["name"]: one["state"] for one in nuggets.json("doctor", code=code)["checks"]}


def test_all_is_well_on_a_new_machine(user: Path, nuggets: Any) -> None:
    assert "All is well" in nuggets.ok("doctor")
    assert checks(nuggets, 0)["folder"] == "note"
    assert of_agents(user) == {}


def test_an_agent_that_is_here_is_offered_to_be_connected(user: Path, nuggets: Any) -> None:
    (user / ".claude").mkdir()
    assert "nuggets agent install claude" in nuggets.ok("doctor")


def test_what_is_registered_and_gone_is_found(user: Path, nuggets: Any) -> None:
    nuggets.ok("agent", "install", "codex")
    config = user / ".codex" / "config.toml"
    config.write_text(
        config.read_text().replace('command = "', 'command = "/gone').replace("python", "nuggets")
    )
    found = checks(nuggets, 1)
    assert found["codex-server"] == "wrong"
    assert found["codex-hooks"] == "ok"
    assert found["codex-starts"] == "wrong"


def test_a_broken_memory_is_found_and_the_rest_is_looked_at_all_the_same(user: Path, nuggets: Any) -> None:
    (user / "memory" / "graph").mkdir(parents=True)
    nuggets.graph.write_bytes(b"{broken")
    (user / ".donna").mkdir()
    (user / ".donna" / "a.donna.json").write_bytes(b"{}")
    found = nuggets.json("doctor", code=1)
    assert any(
        one["section"] == "memory" and one["state"] == "wrong" and one["todo"] for one in found["checks"]
    )
    assert any(one["section"] == "elsewhere" for one in found["checks"])
    assert nuggets.graph.read_bytes() == b"{broken"


@pytest.mark.slow
def test_the_doctor_shows_what_hooks_had_trouble_with(user: Path, nuggets: Any) -> None:
    code = "from nuggets_tui.hooks import fast; fast._DEADLINE = 50; fast.main(['claude'])"
    subprocess.run([sys.executable, "-c", code], input=b"nonsense", check=True, timeout=60)
    assert "standard input is no JSON" in nuggets.ok("doctor")


@pytest.mark.slow
def test_the_doctor_changes_nothing(user: Path, nuggets: Any) -> None:
    nuggets.ok("note", "add", "Deploy", "With make ship.")
    nuggets.ok("agent", "install", "claude")
    # The commands above ran in this process: what they hold of the log is written into it when they are collected.
    gc.collect()
    before = all_files(user)
    nuggets("doctor")
    assert all_files(user) == before
