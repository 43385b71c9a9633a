"""What an agent is told at the start near a team's notes: these as well, as they are, once a person trusts them."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.team_pages import write_team

from core.graph.edits import create_note
from core.memory import Memory
from core.team import entry_for, remember, trust_folder
from nuggets_tui.hooks.fast import kept_briefing, state_of
from nuggets_tui.hooks.worker import main, make_briefing


def test_a_briefing_near_a_team_holds_for_its_notes_as_they_are(tmp_path: Path) -> None:
    home, project = tmp_path / "own", tmp_path / "project"
    pages = {"deploy.md": "# Deploy steps\n\nRun make release.\n"}
    page = write_team(project, pages, trusted=False) / "deploy.md"
    memory = Memory.open(home)
    memory.change("made", lambda draft: create_note(draft, "ops", "Backups", "Every night."))
    near = str(project)
    assert "release" not in make_briefing(home, "", near)
    trust_folder(page.parent)
    assert kept_briefing(str(home), "", near) == {}
    main([str(home), "", near])
    kept = kept_briefing(str(home), "", near)
    said, ahead = kept["text"], kept["ahead"]
    assert "Run make release." in said
    assert "(team)" in said
    assert [id for id, _ in ahead] == list(memory.snapshot.by_id)
    page.write_text(page.read_text().replace("release", "destroy"))
    assert kept_briefing(str(home), "", near) == {}
    assert "destroy" in make_briefing(home, "", near)
    remember(entry_for(page.parent), trusted=False)
    assert kept_briefing(str(home), "", near) == {}
    assert "destroy" not in make_briefing(home, "", near)


@pytest.mark.parametrize("link", [".nuggets", ".nuggets/notes"])
def test_a_briefing_holds_for_the_team_above_a_link_that_leads_out_of_a_project(
    tmp_path: Path, link: str
) -> None:
    page = (
        write_team(tmp_path / "outer", {"deploy.md": "# Deploy steps\n\nRun make release.\n"}) / "deploy.md"
    )
    elsewhere = write_team(tmp_path / "elsewhere", {})
    place = tmp_path / "outer" / "inner" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(elsewhere.parent if link == ".nuggets" else elsewhere)
    near = str(tmp_path / "outer" / "inner")
    before = state_of("", near)
    page.write_text("# Deploy steps\n\nNever run make release on Fridays.\n")
    assert state_of("", near) != before


def test_elsewhere_the_briefing_is_as_without_a_team(tmp_path: Path) -> None:
    home = tmp_path / "own"
    write_team(tmp_path / "project", {"deploy.md": "# Deploy steps\n\nRun make release.\n"})
    memory = Memory.open(home)
    memory.change("made", lambda draft: create_note(draft, "ops", "Backups", "Every night."))
    (tmp_path / "away").mkdir()
    near = str(tmp_path / "away")
    main([str(home), "", near])
    said = kept_briefing(str(home), "", near)["text"]
    assert "Backups" in said
    assert "release" not in said
