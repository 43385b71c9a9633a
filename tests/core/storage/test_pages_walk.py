"""Changes of pages at random: what is opened anew says the same, and all of them undone give back every page."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from kits.claude_pages import listed, write_folder
from kits.team_pages import write_team

from core import Memory
from core.graph.edits import create_note, delete_note, edit_note, hide_note, link_notes, unhide_note
from core.model.draft import Draft
from core.model.infer import MetaInput
from core.model.note import Note

pytestmark = pytest.mark.slow

WALKS = int(os.environ.get("NUGGETS_PAGE_WALKS", "10"))


def _deed(chance: random.Random, draft: Draft, one: Note, other: Note) -> None:
    deed = chance.choice(["edit", "title", "hide", "new", "delete", "link", "tag", "scope"])
    if deed == "edit":
        edit_note(
            draft,
            one.id,
            content=chance.choice([f"{one.content}\n\nMore.", "Short.", "# H\n\nx", "D\n\n[[x]]"]),
        )
    elif deed == "title":
        edit_note(draft, one.id, title=chance.choice(["New: one", "b", "x # y", "2024", "[q] z"]))
    elif deed == "hide":
        (unhide_note if one.hidden else hide_note)(draft, one.id)
    elif deed == "new":
        create_note(
            draft, one.nugget_name, chance.choice(["Made", "b c", "Ü"]), chance.choice(["Text", "a\n\nb"])
        )
    elif deed == "delete":
        delete_note(draft, one.id)
    elif deed == "link" and one.id != other.id:
        link_notes(draft, one.id, other.id, chance.choice(["why", "because: x"]))
    elif deed == "tag":
        edit_note(draft, one.id, add_tags=[chance.choice(["t1", "u v"])])
    elif deed == "scope":
        edit_note(draft, one.id, meta=MetaInput(scope=chance.choice(["user", "project", "shared"])))


def _said(memory: Memory, *, ids: bool = True) -> list[tuple[object, ...]]:
    notes = [note for note in memory.snapshot.notes if ids or not note.hidden]
    return sorted(
        (note.id if ids else "", note.title, note.content, note.hidden, note.tags) for note in notes
    )


@pytest.mark.parametrize("write", [write_folder, write_team])
@pytest.mark.parametrize("seed", range(WALKS))
def test_changes_are_read_as_they_were_made_and_undone_to_the_byte(
    seed: int, write: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    folder = write(tmp_path / "project")  # type: ignore[operator]
    before, memory, made = listed(folder), Memory.open(folder), 0
    for _ in range(chance.randint(2, 9)):
        one, other = chance.choice(memory.snapshot.notes), chance.choice(memory.snapshot.notes)
        _, done = memory.change("walk", lambda draft, one=one, other=other: _deed(chance, draft, one, other))
        made += not done.empty
        again = Memory.open(folder)
        assert _said(again) == _said(memory)
        assert again.snapshot.problems == ()
        assert all(entry.change_set.kind != "outside" for entry in again.history.log(limit=100))
        if memory.is_team:
            with monkeypatch.context() as elsewhere:
                elsewhere.setenv("NUGGETS_STATE", str(tmp_path / "another machine"))
                assert _said(Memory.open(folder, reconcile=False), ids=False) == _said(memory, ids=False)
            shutil.rmtree(tmp_path / "another machine", ignore_errors=True)
        memory = again
    for _ in range(made):
        memory.history.undo()
    assert listed(folder) == before
