"""Our writer beside programs that write the same pages without a lock, at any time: nothing of either is lost."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kits.claude_pages import note_of, write_folder

from core import Memory
from core.graph.edits import create_note, edit_note
from core.model.draft import Draft
from core.storage.files import exchange

pytestmark = pytest.mark.slow

# As an agent does: reads a page as it is now, changes one line of it, and writes all of it in place.
WRITER = """
import pathlib, re, sys, time
page, turns = pathlib.Path(sys.argv[1]), int(sys.argv[2])
for turn in range(turns):
    text = page.read_text()
    time.sleep(float(sys.argv[4]))
    text = re.sub(r"theirs \\d+", f"theirs {turn}", text)
    if sys.argv[3] == "replace":
        beside = page.with_suffix(".new")
        beside.write_text(text)
        beside.replace(page)
    else:
        page.write_text(text)
    time.sleep(0.02)
print("done")
"""
PAGE = "---\nname: shared\n---\n\nours 0\n\nbetween\n\ntheirs 0\n"


@pytest.fixture(autouse=True)
def _somebody_is_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is written in place is empty for an instant, and may be replaced in that instant."""
    monkeypatch.setattr(exchange, "SETTLING_SECONDS", 2.0)


def _edit(memory: Memory, file: str, turn: int) -> None:
    def edited(draft: Draft) -> None:
        note = next(note for note in draft.notes() if note.page and note.page.file == file)
        edit_note(draft, note.id, content=re.sub(r"ours \d+", f"ours {turn}", note.content))

    memory.change(f"turn {turn}", edited)


@pytest.mark.parametrize("way", ["replace", "in place"])
def test_pages_that_another_program_writes_do_not_lose_its_changes_nor_ours(way: str, tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path, {"a.md": PAGE, "b.md": PAGE.replace("shared", "other"), "MEMORY.md": "# I\n"}
    )
    memory = Memory.open(folder)
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder / "b.md"), "30", way, "0"], stdout=subprocess.PIPE
    )
    for turn in range(1, 21):
        _edit(memory, "a.md", turn)
    assert writer.communicate()[0] == b"done\n"
    memory.refresh()
    assert "ours 20" in (folder / "a.md").read_text()
    assert "theirs 29" in (folder / "b.md").read_text()
    assert "theirs 29" in note_of(memory, "b.md").content
    ours = [
        e.change_set.reason for e in memory.history.log(limit=500) if e.change_set.reason.startswith("turn ")
    ]
    assert len(ours) == 20


@pytest.mark.parametrize("pause", ["0", "0.03"])
def test_one_page_that_both_write_keeps_the_last_change_of_each(tmp_path: Path, pause: str) -> None:
    folder = write_folder(tmp_path, {"a.md": PAGE})
    memory = Memory.open(folder)
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder / "a.md"), "30", "in place", pause], stdout=subprocess.PIPE
    )
    for turn in range(1, 16):
        _edit(memory, "a.md", turn)
    assert writer.communicate()[0] == b"done\n"
    while memory.refresh() or not memory.store.reconciled:
        pass
    text = (folder / "a.md").read_text()
    held = [str(entry.change_set) for entry in memory.history.log(limit=500)]
    for wanted in (*(f"ours {turn}" for turn in range(1, 16)), "theirs 29"):
        assert any(wanted in one for one in held)
    assert text == PAGE.replace("ours 0", "ours 15").replace("theirs 0", "theirs 29")


def test_two_of_our_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    before = len(Memory.open(folder).snapshot.notes)

    def adding(number: int) -> None:
        memory = Memory.open(folder)
        for turn in range(4):
            text = f"{number} {turn}"
            memory.change("new", lambda draft, text=text: create_note(draft, "claude", "Same title", text))
        memory.close()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(adding, range(3)))
    memory = Memory.open(folder)
    assert len(memory.snapshot.notes) == before + 12
    pages = [note.page.file for note in memory.snapshot.notes if note.page]
    assert len(set(pages)) == len(pages)
    assert (folder / "MEMORY.md").read_text().count("(same-title") == 12
    assert memory.history.conflicts() == ()
