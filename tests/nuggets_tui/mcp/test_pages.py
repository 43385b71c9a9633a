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
        assert "deploy-needs-vpn" in agent("searchNotes", query="vpn")
        assert "Connect first." in agent("recall", query="vpn deploy")
        assert tree(folder) == before
        agent("createNote", title="Rate limits", content="Ten a second.", nugget="claude")
        assert "Ten a second." in (folder / "rate-limits.md").read_text()
        for tool, given in (
            ("remember", {"nugget": "claude", "key": "k", "value": "v"}),
            ("promoteFacts", {}),
        ):
            assert agent.refused(tool, **given) == "no-place"
    assert set(tree(folder)) == set(before) | {"rate-limits.md"}
