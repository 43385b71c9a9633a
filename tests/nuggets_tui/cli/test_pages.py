"""The command line on a folder of Claude Code's pages: each command works on it, or says that it cannot."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from kits.claude_pages import tree, write_folder

from core import Memory
from core.daily import daily_state, run_daily_pass
from core.places import home_of
from nuggets_tui.daemon import Daemon


@pytest.fixture
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_folder(tmp_path)
    monkeypatch.setenv("NUGGETS_HOME", str(folder))
    return folder


def test_what_only_reads_shows_the_pages_and_leaves_every_byte(folder: Path, nuggets: Any) -> None:
    before = tree(folder)
    assert "deploy-needs-vpn" in nuggets.ok("notes")
    assert nuggets.json("search", "pnpm")[0]["title"] == "prefers-pnpm"
    assert "never npm" in nuggets.ok("recall", "prefers pnpm")
    assert "Connect first." in nuggets.ok("note", "show", "deploy-needs-vpn")
    status = nuggets.json("status")
    assert (status["home"], status["noteCount"], status["exists"]) == (str(folder), 6, True)
    assert "Nothing is wrong" in nuggets.ok("verify")
    assert "pages of Claude Code" in str(nuggets.json("doctor", code=0)["checks"])
    assert "claude" in nuggets.ok("status")
    assert "white space" not in nuggets.ok("reflect", "--dry-run")
    assert tree(folder) == before


def test_what_changes_writes_pages_and_is_undone_to_the_byte(folder: Path, nuggets: Any) -> None:
    before = tree(folder)
    nuggets.ok("note", "add", "Rate limits", "The API allows 10 a second.", "--nugget", "claude")
    assert "The API allows 10 a second." in (folder / "rate-limits.md").read_text()
    assert "(rate-limits.md)" in (folder / "MEMORY.md").read_text()
    nuggets.ok("note", "edit", "prefers-pnpm", "--content", "Use pnpm 9.")
    assert "Use pnpm 9." in (folder / "feedback_pnpm.md").read_text()
    nuggets.ok("note", "hide", "debugging notes")
    assert not (folder / "debugging.md").exists()
    nuggets.ok("note", "link", "prefers-pnpm", "rate limits", "--reason", "both matter")
    assert "Rate limits" in nuggets.ok("log")
    for _ in range(4):
        nuggets.ok("undo")
    assert tree(folder) == before


@pytest.mark.parametrize(
    "command",
    [
        ("remember", "claude", "key", "value"),
        ("forget", "claude", "key"),
        ("notes", "--facts", "--nugget", "claude"),
        ("forget", "claude", "--all", "--yes"),
        ("promote",),
        ("ingest", "--nugget", "claude"),
    ],
)
def test_what_pages_have_no_place_for_is_said_and_nothing_is_written(
    folder: Path, nuggets: Any, command: tuple[str, ...]
) -> None:
    before = tree(folder)
    said = nuggets.fails(*command, input="Caroline chose PostgreSQL.\n")
    assert said.startswith(f"nuggets: {folder}: ")
    assert "Claude Code" in said
    assert tree(folder) == before


def test_no_cleanup_runs_on_pages_unasked_and_one_by_hand_does(folder: Path, nuggets: Any) -> None:
    (folder / "copy.md").write_text((folder / "debugging.md").read_text())
    before = tree(folder)
    home = Path(nuggets.json("doctor")["home"])
    assert home == folder
    settings = home_of(folder) / "settings.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("[schedule]\napp_applies = true\n")
    lines: list[str] = []
    at = datetime(2026, 11, 18, 12, tzinfo=UTC)
    daemon = Daemon(home_of(folder), clock=lambda: at, wait=lambda _: None, report=lines.append, zone=UTC)
    daemon.run(once=True)
    assert len(lines) == 1
    assert "nuggets reflect" in lines[0]
    state = daily_state(home_of(folder), at, UTC)
    assert (state.due, state.daemon_applies, state.app_applies) == (True, False, False)
    memory = Memory.open(folder, clock=lambda: at)
    assert (run_daily_pass(memory).why_not, tree(folder)) == ("pages", before)
    nuggets.ok("reflect", "--yes")
    assert tree(folder) != before
