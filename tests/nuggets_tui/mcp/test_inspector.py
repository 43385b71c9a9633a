"""The MCP Inspector's command line against the server: it takes every schema, and drives every tool.

Runs where the Inspector is installed (`npm install -g @modelcontextprotocol/inspector`), or where NUGGETS_INSPECTOR
names its program.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kits.mcp_client import server_command

from nuggets_tui.mcp.tools import TOOLS

INSPECTOR = os.environ.get("NUGGETS_INSPECTOR") or shutil.which("mcp-inspector")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(INSPECTOR is None, reason="the MCP Inspector is not installed"),
]
CALLS: dict[str, dict[str, Any]] = {
    "remember": {"key": "test command", "value": "pytest -q", "nugget": "app"},
    "recall": {"query": "test command", "related": True},
    "listFacts": {"nugget": "app", "limit": 5},
    "createNote": {
        "title": "Why uv",
        "content": "It is quick.",
        "nugget": "app",
        "tags": ["build"],
        "confidence": 0.8,
    },
    "searchNotes": {"query": "quick", "includeHidden": False},
    "getNote": {"id": "Why uv"},
    "editNote": {"id": "Why uv", "addTags": ["tools"]},
    "addLink": {"noteId": "Why uv", "otherId": "test command", "reason": "used for it"},
    "reflectAndCleanMemory": {"limit": 5},
    "ingest": {"text": "We chose uv over pip."},
    "sessionCheckpoint": {"digest": "Moved to uv.", "session": "s1"},
    "sessionRecover": {"session": "s1", "maxTokens": 200},
    "status": {},
    "hideNote": {"id": "Why uv"},
    "forget": {"nugget": "app", "key": "test command"},
    "promoteFacts": {"dryRun": True},
}


def inspected(home: Path, method: str, *options: str) -> Any:
    """What the Inspector prints of one request."""
    assert INSPECTOR is not None
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [INSPECTOR, "--cli", "-e", f"PYTHONPATH={root}", *server_command(home), "--method", method, *options],
        capture_output=True, text=True, check=False, timeout=100, cwd=home.parent,
        env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_tools_resources_and_prompts(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    assert {tool["name"] for tool in inspected(home, "tools/list")["tools"]} == set(CALLS)
    assert [one["uri"] for one in inspected(home, "resources/list")["resources"]] == ["nuggets://briefing"]
    assert [one["name"] for one in inspected(home, "prompts/list")["prompts"]] == ["recall-first"]
    read = inspected(home, "resources/read", "--uri", "nuggets://briefing")
    assert read["contents"][0]["text"].startswith("# Memory briefing")


def test_the_inspector_drives_every_tool(tmp_path: Path) -> None:
    assert set(CALLS) == {tool.name for tool in TOOLS}
    home, page = tmp_path / "memory", tmp_path / "page"
    page.mkdir()
    CALLS["promoteFacts"]["memoryDir"] = str(page)
    for tool, given in CALLS.items():
        pairs = [
            f"{name}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in given.items()
        ]
        options = [word for pair in pairs for word in ("--tool-arg", pair)]
        result = inspected(home, "tools/call", "--tool-name", tool, *options)
        assert not result.get("isError"), (tool, result)
        assert result["structuredContent"], tool
        assert result["content"][0]["text"], tool
