"""The briefing at the start of a session near a team's notes, which are in it once a person trusts the project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kits.team_pages import write_team

from core.briefing import Order
from core.graph.edits import create_note
from core.memory import Memory
from core.model.note import Note
from core.projects import Project
from core.team import entry_for, remember
from core.workspace import briefing_of, use_team_near

PAGES = {"deploy.md": "# Deploy steps\n\nRun make release.\n", "vpn.md": "# VPN\n\nConnect first.\n"}


def near_a_team(tmp_path: Path) -> Memory:
    project = tmp_path / "project"
    write_team(project, PAGES)
    memory = Memory.open(tmp_path / "own")
    memory.change("made", lambda draft: create_note(draft, "shop", "Backups", "Every night to the vault."))
    use_team_near(memory, lambda: project)
    return memory


def test_the_notes_of_the_team_are_named_once_the_project_is_trusted_and_marked(tmp_path: Path) -> None:
    memory = near_a_team(tmp_path)
    project = entry_for(tmp_path / "project" / ".nuggets" / "notes")
    remember(project, trusted=False)
    before = briefing_of(memory)
    assert "Backups" in before.text
    assert "make release" not in before.text
    remember(project, trusted=True)
    for nugget in ("", "shop"):
        (line,) = [
            one
            for one in briefing_of(memory, project=Project(nugget) if nugget else None).text.split("\n")
            if "release" in one
        ]
        assert line.endswith(" (team)")


def test_who_puts_notes_in_order_never_sees_the_teams(tmp_path: Path) -> None:
    memory = near_a_team(tmp_path)
    asked: list[str] = []

    def order(notes: Sequence[Note]) -> Order:
        asked.extend(note.title for note in notes)
        return Order(tuple(note.id for note in notes), "Ordered.")

    made = briefing_of(memory, order=order)
    assert asked == ["Backups"]
    assert "Ordered." in made.text
    assert "VPN" in made.text
    assert {id for id, _ in made.places} == set(memory.snapshot.by_id)
