"""Tools of the server on a folder of Claude Code's pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.claude_pages import tree, write_folder
from kits.mcp_client import connected

pytestmark = pytest.mark.slow


def test_an_agent_reads_and_writes_pages_and_is_told_that_they_hold_no_facts(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    before = tree(folder)
    with connected(folder) as agent:
        assert "deploy-needs-vpn" in str(agent("searchNotes", query="vpn"))
        assert "Connect first." in agent.text("recall", query="vpn deploy")
        assert tree(folder) == before
        made = agent("createNote", title="Rate limits", content="Ten a second.", nugget="claude")
        assert "Ten a second." in (folder / "rate-limits.md").read_text()
        assert made
        told = agent.refused("remember", nugget="claude", key="k", value="v")
        assert told["code"] == "no-place"
        for tool, given in (("promoteFacts", {}), ("ingest", {"text": "Caroline chose PostgreSQL."})):
            assert agent.refused(tool, **given)["code"] == "no-place"
    assert set(tree(folder)) == set(before) | {"rate-limits.md"}
