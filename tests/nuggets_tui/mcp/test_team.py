"""Tools of the server near a team's notes: whose each is, and that a change of one goes into its file."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.mcp_client import connected
from kits.memory_files import tree
from kits.team_pages import write_team

from core.team import entry_for, remember, trust_folder

pytestmark = pytest.mark.slow

PAGES = {
    "deploy.md": "# Deploy steps\n\nRun make release on the staging cluster.\n",
    "rollback.md": "# Rollback\n\nRevert the tag, then run make release again.\n",
}
TEAMS = "(the team's)"


def test_an_agent_finds_and_edits_the_notes_of_the_team_of_its_folder(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "own"
    folder = write_team(project, PAGES)
    (project / "src").mkdir()
    with connected(home, folder=project / "src") as agent:
        agent("createNote", title="Backups", content="Every night, by make backup.", nugget="ops")
        before = tree(home)
        hits = agent("searchNotes", query="make").splitlines()
        whose = {hit.partition(":")[0].removeprefix("- "): hit.endswith(TEAMS) for hit in hits}
        assert whose == {"Deploy steps": True, "Rollback": True, "Backups": False}
        assert "the team's" in agent("recall", query="what runs on the staging cluster")
        assert "the team's" in agent("getNote", id="Rollback")
        assert f"--home {folder} undo" in agent("editNote", id="Rollback", content="Press the zebra button.")
        assert "zebra" in (folder / "rollback.md").read_text()
        assert agent.refused("editNote", id="Rollback", linkTo="Backups") == "invalid-input"
        agent("editNote", id="Rollback", linkTo="Deploy steps")
        agent("forget", id="Rollback")
        assert "Rollback" not in agent("searchNotes", query="zebra")
        (folder / "new.md").write_text("# Giraffe\n\nTall.\n")
        assert "Giraffe" in agent("searchNotes", query="giraffe")
        assert tree(home)["graph/graph.json"] == before["graph/graph.json"]


def test_an_agent_reads_nothing_of_a_project_until_a_person_trusts_it(tmp_path: Path) -> None:
    folder = write_team(tmp_path / "project", PAGES, trusted=False)
    with connected(tmp_path / "own", folder=tmp_path / "project") as agent:
        assert "Rollback" not in agent("searchNotes", query="rollback")
        assert "the team's" not in agent("recall", query="what runs on the staging cluster")
        trust_folder(folder)
        assert agent("searchNotes", query="rollback").startswith("- Rollback")
        remember(entry_for(folder), trusted=False)
        assert "Rollback" not in agent("searchNotes", query="rollback")
    with connected(folder) as agent:
        assert agent.refused("searchNotes", query="rollback") == "not-trusted"
