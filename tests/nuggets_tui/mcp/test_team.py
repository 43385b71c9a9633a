"""Tools of the server near a team's notes: whose each is, and that a change of one goes into its file."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.mcp_client import connected
from kits.memory_files import tree
from kits.team_pages import write_team

from core.team import project_at, remember, trust_folder

pytestmark = pytest.mark.slow

PAGES = {
    "deploy.md": "# Deploy steps\n\nRun make release on the staging cluster.\n",
    "rollback.md": "# Rollback\n\nRevert the tag, then run make release again.\n",
}


def test_an_agent_finds_and_edits_the_notes_of_the_team_of_its_folder(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "own"
    folder = write_team(project, PAGES)
    (project / "src").mkdir()
    with connected(home, folder=project / "src") as agent:
        agent("createNote", title="Backups", content="Every night, by make backup.", nugget="ops")
        before = tree(home)
        hits = {hit["title"]: hit for hit in agent("searchNotes", query="make")["hits"]}
        assert {title: hit["whose"] for title, hit in hits.items()} == {
            "Deploy steps": "team",
            "Rollback": "team",
            "Backups": "yours",
        }
        assert "(team)" in agent.text("searchNotes", query="rollback")
        assert agent("recall", query="what runs on the staging cluster")["whose"] == "team"
        assert "· team" in agent.text("recall", query="what runs on the staging cluster")
        id = hits["Rollback"]["id"]
        note = agent("getNote", id=id)
        assert (note["whose"], note["file"]) == ("team", str(folder / "rollback.md"))
        done = agent("editNote", id=id, content="Press the zebra button.")
        assert done["teamFolder"] == str(folder)
        assert "zebra" in (folder / "rollback.md").read_text()
        assert [hit["title"] for hit in agent("searchNotes", query="zebra")["hits"]] == ["Rollback"]
        refused = agent.refused("addLink", noteId=id, otherId=hits["Backups"]["id"])
        assert refused["code"] == "two-memories"
        agent("addLink", noteId=id, otherId=hits["Deploy steps"]["id"], reason="undoes")
        agent("hideNote", id=id)
        assert agent("searchNotes", query="zebra")["hits"] == []
        (folder / "new.md").write_text("# Giraffe\n\nTall.\n")
        assert [hit["whose"] for hit in agent("searchNotes", query="giraffe")["hits"]] == ["team"]
        assert tree(home)["graph/graph.json"] == before["graph/graph.json"]


def test_elsewhere_nothing_is_said_of_a_team(tmp_path: Path) -> None:
    write_team(tmp_path / "project", PAGES)
    with connected(tmp_path / "own") as agent:
        agent("createNote", title="Backups", content="Every night, by make backup.", nugget="ops")
        assert ["whose" in hit for hit in agent("searchNotes", query="make")["hits"]] == [False]
        assert "whose" not in agent("recall", query="backups every night")


def test_an_agent_reads_nothing_of_a_project_until_a_person_trusts_it(tmp_path: Path) -> None:
    folder = write_team(tmp_path / "project", PAGES, trusted=False)
    with connected(tmp_path / "own", folder=tmp_path / "project") as agent:
        assert agent("searchNotes", query="rollback")["hits"] == []
        assert agent("recall", query="what runs on the staging cluster")["judgement"] == "nothing"
        trust_folder(folder)
        assert [hit["whose"] for hit in agent("searchNotes", query="rollback")["hits"]] == ["team"]
        remember(project_at(folder), trusted=False)
        assert agent("searchNotes", query="rollback")["hits"] == []
    with connected(folder) as agent:
        assert agent.refused("searchNotes", query="rollback")["code"] == "not-trusted"
