"""The notes of a team, opened in place: the pages in the repository are the notes, and nothing of ours is beside."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from kits.claude_pages import note_of, tree
from kits.team_pages import PAGES, write_team

from core import Memory
from core.errors import InvalidInputError, StorageError
from core.graph.edits import (
    create_note,
    edit_note,
    hide_note,
    link_notes,
    unlink_notes,
)
from core.places import home_of
from core.verify import findings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_team(tmp_path / "project")


def _differs(folder: Path, before: dict[str, bytes]) -> set[str]:
    now = tree(folder)
    return {name for name in {*now, *before} if now.get(name) != before.get(name)}


def _lines(folder: Path, name: str, before: dict[str, bytes]) -> tuple[list[str], list[str]]:
    """The lines that went from a page, and those that came."""
    old, new = (data[name].decode().split("\n") for data in (before, tree(folder)))
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_each_page_is_a_note_with_what_it_says(folder: Path) -> None:
    memory = Memory.open(folder)
    said = {note.page.file: (note.title, note.hidden) for note in memory.snapshot.notes if note.page}
    assert said == {
        "deploy-to-staging.md": ("Deploy to staging", False),
        "vpn-setup.md": ("VPN setup", False),
        "billing.md": ("Billing", False),
        "plain.md": ("plain", False),
        "api/rate-limits.md": ("Rate limits", False),
        "old-server.md": ("The old server", True),
    }
    assert memory.snapshot.problems == ()
    assert findings(memory.snapshot) == []
    deploy, vpn, billing = (
        note_of(memory, name) for name in ("deploy-to-staging.md", "vpn-setup.md", "billing.md")
    )
    assert set(deploy.tags) == {"team", "scope:shared", "type:note", "deploy", "staging"}
    assert {"network", "remote-work"} <= set(vpn.tags)
    assert (vpn.type, vpn.scope, vpn.source, vpn.stability) == (
        "preference",
        "shared",
        "explicit_user",
        "durable",
    )
    assert [(link.to, link.reason) for link in deploy.links] == [(vpn.id, "staging is behind it")]
    assert (deploy.id, "staging is behind it") in [(link.to, link.reason) for link in vpn.links]
    assert (vpn.id, "linked") in [(link.to, link.reason) for link in billing.links]


@pytest.mark.parametrize("reconcile", [True, False, None])
def test_reading_changes_no_byte_and_leaves_no_file_in_the_project(
    folder: Path, reconcile: bool | None
) -> None:
    project = folder.parent.parent
    before = tree(project)
    memory = Memory.open(folder, reconcile=reconcile)
    assert memory.search("vpn")
    memory.recall("how do we deploy", session="s1")
    memory.close()
    assert tree(project) == before


def test_every_clone_gives_the_same_notes_the_same_ids(folder: Path, tmp_path: Path) -> None:
    memory = Memory.open(folder)
    made, _ = memory.change("new", lambda draft: create_note(draft, "", "On-call: who?", "Ada."))
    memory.change("link", lambda draft: link_notes(draft, made.id, note_of(memory, "billing.md").id, "pays"))
    memory.change("tag", lambda draft: edit_note(draft, made.id, add_tags=["zeta", "alpha"]))
    memory.change("hide", lambda draft: hide_note(draft, note_of(memory, "plain.md").id))
    assert made.page is not None
    shutil.copytree(tmp_path / "project", tmp_path / "clone")
    other = Memory.open(tmp_path / "clone" / ".nuggets" / "notes")

    def shown(memory: Memory) -> list[tuple[object, ...]]:
        return sorted(
            (n.id, n.title, n.content, n.hidden, n.tags, n.scope, n.type, n.source, n.confidence, n.stability,
             n.nugget_name, n.subject, sorted((link.to, link.reason) for link in n.links))
            for n in memory.snapshot.notes
        )  # fmt: skip

    assert shown(other) == shown(memory)
    assert note_of(other, "on-call-who.md").id == made.id


def test_a_tag_is_one_line_and_what_people_wrote_keeps_its_bytes(folder: Path) -> None:
    before, memory = tree(folder), Memory.open(folder)
    deploy, vpn = note_of(memory, "deploy-to-staging.md"), note_of(memory, "vpn-setup.md")
    memory.change("tag", lambda draft: edit_note(draft, deploy.id, add_tags=["ops"]))
    assert _lines(folder, "deploy-to-staging.md", before) == ([], ["  - ops"])
    memory.change("tag", lambda draft: edit_note(draft, vpn.id, add_tags=["ops"], remove_tags=["network"]))
    now = tree(folder)["vpn-setup.md"]
    list = b'tags: [network,  "Remote Work"] # two'
    assert now == before["vpn-setup.md"].replace(list, b"tags:\r\n  - ops\r\n  - remote-work")
    memory.history.undo()
    memory.history.undo()
    assert tree(folder) == before


def test_a_link_stands_on_one_page_and_goes_from_there(folder: Path) -> None:
    before, memory = tree(folder), Memory.open(folder)
    plain, limits = note_of(memory, "plain.md"), note_of(memory, "api/rate-limits.md")
    memory.change("link", lambda draft: link_notes(draft, plain.id, limits.id, "because: both"))
    assert _differs(folder, before) == {"api/rate-limits.md"}
    assert _lines(folder, "api/rate-limits.md", before) == ([], ["links:", '  - plain: "because: both"'])
    assert plain.id in [link.to for link in Memory.open(folder).snapshot.by_id[limits.id].links]
    memory.change("unlink", lambda draft: unlink_notes(draft, plain.id, limits.id))
    assert tree(folder) == before
    memory.history.undo()
    memory.history.undo()
    assert tree(folder) == before


# What git does


CONFLICT = "# Billing\n\n<<<<<<< HEAD\nInvoices on the 1st.\n=======\nInvoices on the 2nd.\n>>>>>>> theirs\n"


def test_a_page_with_markers_of_a_conflict_is_told_and_the_note_stands_as_it_was(folder: Path) -> None:
    memory = Memory.open(folder)
    note, links = note_of(memory, "billing.md"), note_of(memory, "vpn-setup.md").links
    (folder / "billing.md").write_text(CONFLICT)
    again = Memory.open(folder)
    assert "merge conflict" in again.snapshot.problems[0].what
    assert again.snapshot.by_id[note.id] == note
    assert note_of(again, "vpn-setup.md").links == links
    with pytest.raises(InvalidInputError, match="merge conflict"):
        again.change("edit", lambda draft: edit_note(draft, note.id, content="Mine."))
    again.recall("invoices", session="s")
    assert (folder / "billing.md").read_text() == CONFLICT
    (folder / "billing.md").write_text("# Billing\n\nInvoices on the 3rd.\n")
    assert Memory.open(folder).snapshot.by_id[note.id].content == "Invoices on the 3rd."
    (folder / "fresh.md").write_text(CONFLICT)
    assert "fresh.md" not in [n.page.file for n in Memory.open(folder).snapshot.notes if n.page]


def test_no_note_is_written_that_would_be_taken_for_a_conflict(folder: Path) -> None:
    before, memory = tree(folder), Memory.open(folder)
    with pytest.raises(InvalidInputError, match="merge conflict"):
        memory.change(
            "new", lambda draft: create_note(draft, "", "Conflicts", "They look so:\n<<<<<<< HEAD\n")
        )
    with pytest.raises(InvalidInputError, match="merge conflict"):
        memory.change("edit", lambda d: edit_note(d, note_of(memory, "plain.md").id, content=">>>>>>> x"))
    assert tree(folder) == before


@pytest.mark.parametrize(
    "change",
    ["", "text", "title"],
)
def test_a_page_that_git_renames_keeps_its_id_and_history(folder: Path, change: str) -> None:
    memory = Memory.open(folder)
    note = note_of(memory, "vpn-setup.md")
    memory.change("tag", lambda draft: edit_note(draft, note.id, add_tags=["kept"]))
    text = (folder / "vpn-setup.md").read_text()
    text = text.replace("Connect first.", "Connect.") if change == "text" else text
    text = text.replace("# VPN setup", "# Remote access") if change == "title" else text
    (folder / "vpn-setup.md").unlink()
    (folder / "remote.md").write_text(text)
    deploy = folder / "deploy-to-staging.md"
    deploy.write_text(deploy.read_text().replace("vpn-setup:", "remote:"))
    again = Memory.open(folder)
    moved = note_of(again, "remote.md")
    assert (moved.id, moved.hidden) == (note.id, False)
    assert moved.title == ("Remote access" if change == "title" else "VPN setup")
    assert note.id in [link.to for link in note_of(again, "deploy-to-staging.md").links]
    assert len(again.snapshot.notes) == len(PAGES)


def test_switching_branches_hides_and_shows_notes_with_one_entry_each(folder: Path) -> None:
    memory = Memory.open(folder)
    known, logged = {note.id: note for note in memory.snapshot.notes}, len(memory.history.log())
    texts = tree(folder)
    shutil.rmtree(folder)
    memory.refresh()
    assert all(note.hidden for note in memory.snapshot.notes)
    write_team(folder.parent.parent, {name: data.decode() for name, data in texts.items()})
    memory.refresh()
    assert {n.id: (n.title, n.hidden, n.links) for n in memory.snapshot.notes} == {
        id: (n.title, n.hidden, n.links) for id, n in known.items()
    }
    assert len(memory.history.log()) <= logged + 2


def test_what_git_brings_back_right_after_an_edit_stays(folder: Path) -> None:
    before, memory = tree(folder), Memory.open(folder)
    note = note_of(memory, "plain.md")
    memory.change("edit", lambda draft: edit_note(draft, note.id, content="On a branch."))
    memory.change("tag", lambda draft: edit_note(draft, note.id, add_tags=["branch"]))
    (folder / "plain.md").write_bytes(before["plain.md"])
    memory.refresh()
    again = Memory.open(folder)
    again.change("other", lambda draft: edit_note(draft, note_of(again, "billing.md").id, add_tags=["x"]))
    assert tree(folder)["plain.md"] == before["plain.md"]
    assert again.snapshot.by_id[note.id].content == "just text"
    assert memory.take_notices() == again.take_notices() == ()


# What else may lie there


def test_what_cannot_be_a_note_is_told_with_its_reason_and_nothing_else_suffers(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\nhunter2\n")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "broken.md").symlink_to(tmp_path / "nowhere.md")
    (folder / "alias.md").symlink_to(folder / "billing.md")
    (folder / "latin.md").write_bytes(b"# Caf\xe9\n")
    (folder / "nul.md").write_bytes(b"# N\0\n")
    (folder / "huge.md").write_bytes(b"x" * (5 << 20))
    (folder / "bell\x07.md").write_text("# Bell\n")
    (folder / "folder.md").mkdir()
    os.mkfifo(folder / "pipe.md")
    memory = Memory.open(folder)
    assert len(memory.snapshot.notes) == len(PAGES)
    assert {Path(problem.where).name for problem in memory.snapshot.problems} == {
        "out.md", "broken.md", "latin.md", "nul.md", "huge.md", "bell\x07.md", "pipe.md",
    }  # fmt: skip
    assert not memory.search("hunter2")
    assert "Billing" in [hit.note.title for hit in memory.search("invoices")]


@pytest.mark.parametrize("state", ["off", "/dev/null/state", "in the folder"])
@pytest.mark.parametrize("reconcile", [True, False, None])
def test_without_a_place_for_its_state_it_is_searched_and_not_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, state: str, reconcile: bool | None
) -> None:
    before = tree(folder)
    monkeypatch.setenv("NUGGETS_STATE", str(folder / "state") if state == "in the folder" else state)
    memory = Memory.open(folder, reconcile=reconcile)
    assert memory.pages == folder
    assert "make deploy" in str(memory.recall("how do we deploy to staging", session="s1").answer)
    assert Memory.open(home_of(folder), reconcile=reconcile).search("vpn")
    with pytest.raises(StorageError):
        memory.change("edit", lambda draft: edit_note(draft, note_of(memory, "plain.md").id, content="New."))
    assert tree(folder) == before
