"""Programs that write the folder without a lock, beside ours: nobody's work is lost, and real conflicts wait.

The runs of several processes are short here; NUGGETS_FOREIGN_SECONDS=20 makes them the full test.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kits.beside import NUGGET
from kits.memory_files import (
    fact_object,
    facts_of,
    note_object,
    notes_of,
    tree,
    write_graph,
    write_nugget,
)
from kits.original_writer import Original
from kits.steps import assert_facts_and_notes_are_one

from core import Memory

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
WRITER = ROOT / "tests" / "kits" / "original_writer.py"
SECONDS = float(os.environ.get("NUGGETS_FOREIGN_SECONDS", "1.5"))
FULL = SECONDS >= 20
PROCESSES, EDITS = 4, 50 if FULL else 6


# Several processes at once

EDITOR = """
import sys, time
from core.storage import database
from core import Memory
from core.facts.edits import remember
from core.graph.edits import edit_note
home, me, edits, pause, facts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
if "quick" in sys.argv:
    import os
    os.fsync, database.DURABLE, database.RELAXED = (lambda handle: None), "OFF", "OFF"
memory = Memory.open(home)
for turn in range(edits):
    own = f"note-memory-{me * edits + turn:08x}"
    memory.change("turn", lambda draft: edit_note(draft, own, content=f"by {me} in turn {turn}"))
    if facts == "facts":
        memory.change("new", lambda draft: remember(draft, "memory", f"user:key {me} {turn}", f"first {turn}"))
        if turn % 2:
            again = f"user:key {me} {turn - 1}"
            memory.change("again", lambda draft: remember(draft, "memory", again, f"second {turn}"))
    time.sleep(pause)
"""


def _run_together(home: Path, *options: str, facts: bool) -> list[str]:
    """Runs editors of ours and one foreign writer at once; the ids of the notes that the writer wrote."""
    naive = _start([str(WRITER), str(home), "--seconds", str(SECONDS), *options])
    assert naive.stdout is not None
    first = naive.stdout.readline()
    pause = SECONDS / EDITS * 0.8 if FULL else 0.0
    arguments = [str(EDITS), str(pause), "facts" if facts else "notes", "" if FULL else "quick"]
    editors = [_start(["-c", EDITOR, str(home), str(number), *arguments]) for number in range(PROCESSES)]
    assert [editor.communicate() for editor in editors] == [("", "")] * PROCESSES
    rest, errors = naive.communicate()
    assert errors == ""
    return (first + rest).split()


def _start(arguments: list[str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=pipe, stderr=pipe, text=True)


def _turns() -> list[tuple[int, int]]:
    return [(me, turn) for me in range(PROCESSES) for turn in range(EDITS)]


def _assert_all_there(memory: Memory, foreign: list[str]) -> None:
    notes = notes_of(memory.home)
    assert [id for id in foreign if id not in notes] == []
    written = {
        id: notes[id]["content"] for me, turn in _turns() if (id := f"note-memory-{me * EDITS + turn:08x}")
    }
    assert written == {
        f"note-memory-{me * EDITS + turn:08x}": f"by {me} in turn {turn}" for me, turn in _turns()
    }
    assert len(notes) == len(set(notes))
    assert memory.history.conflicts() == ()
    assert memory.store.reconciled
    assert not [name for name in tree(memory.home) if name.endswith(".tmp")]


@pytest.mark.timeout(300)
def test_every_edit_and_every_note_of_a_writer_without_a_lock_is_there(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(number) for number in range(PROCESSES * EDITS)])
    write_nugget(tmp_path, "memory", [fact_object(f"user:kept {number}") for number in range(5)])
    foreign = _run_together(tmp_path, "--pause", "10", facts=False)
    memory = Memory.open(tmp_path)
    _assert_all_there(memory, foreign)
    assert foreign
    assert len(facts_of(tmp_path, NUGGET)) == 5
    edits = [entry for entry in memory.history.log(limit=None) if entry.change_set.reason == "turn"]
    assert len(edits) == PROCESSES * EDITS


@pytest.mark.timeout(300)
def test_facts_outlive_a_writer_that_holds_one_list_of_them(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(number) for number in range(PROCESSES * EDITS)])
    write_nugget(tmp_path, "memory", [fact_object(f"user:kept {number}") for number in range(5)])
    Memory.open(tmp_path).maintenance.repair()
    foreign = _run_together(tmp_path, "--pause", "10", "--hold", facts=True)
    memory = Memory.open(tmp_path)
    _assert_all_there(memory, foreign)
    values = {fact["key"]: fact["value"] for fact in facts_of(tmp_path, NUGGET)}
    expected = {f"user:kept {number}": "a value" for number in range(5)}
    for me, turn in _turns():
        edited = turn % 2 == 0 and turn + 1 < EDITS
        expected[f"user:key {me} {turn}"] = f"second {turn + 1}" if edited else f"first {turn}"
    assert values == expected
    assert_facts_and_notes_are_one(memory.snapshot)
    assert memory.maintenance.verify() == ()


CONTENDER = """
import sys
from core import Memory
from core.errors import ConflictError
from core.graph.edits import edit_note
home, note, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
memory = Memory.open(home)
for turn in range(rounds):
    draft = memory.draft()
    former = draft.note(note).content
    edit_note(draft, note, content=f"ours in turn {turn} of {note}", add_tags=[f"turn-{turn}"])
    print("thought", flush=True)
    while memory.snapshot.note(note).content == former:
        memory.refresh(patient=False)
    try:
        memory.apply(draft.change_set(f"turn {turn}"))
    except ConflictError as error:
        print(error.entry, flush=True)
"""


@pytest.mark.timeout(300)
def test_each_real_conflict_waits_in_the_log_and_is_settled_as_somebody_says(tmp_path: Path) -> None:
    rounds = 10 if FULL else 3
    write_graph(tmp_path, [note_object(number) for number in range(4)])
    ids = [f"note-memory-{number:08x}" for number in range(1, 4)]
    contenders = [_start(["-c", CONTENDER, str(tmp_path), note, str(rounds)]) for note in ids]
    other = Original(tmp_path, load=False)
    waiting: list[str] = []
    for turn in range(rounds):
        for contender in contenders:
            assert contender.stdout is not None
            assert contender.stdout.readline() == "thought\n"
        for note in ids:
            other.edit_note(note, content=f"theirs in turn {turn}")
        for contender in contenders:
            assert contender.stdout is not None
            waiting.append(contender.stdout.readline().strip())
    assert [contender.communicate() for contender in contenders] == [("", "")] * len(contenders)
    memory = Memory.open(tmp_path)
    assert sorted(entry.id for entry in memory.history.conflicts()) == sorted(waiting)
    assert len(set(waiting)) == rounds * len(ids)
    for number, entry in enumerate(memory.history.conflicts()):
        assert entry.conflict is not None
        note = entry.conflict.where
        before = notes_of(tmp_path)[note]["content"]
        wanted = entry.change_set.notes[0].note.content
        take, text = (("ours", None), ("theirs", None), ("ours", f"both {number}"))[number % 3]
        memory.history.resolve_conflict(entry.id, take, text)  # type: ignore[arg-type]
        found = notes_of(tmp_path)[note]
        assert found["content"] == (text or (wanted if take == "ours" else before))
        assert any(tag.startswith("turn-") for tag in found["tags"])
    assert memory.history.conflicts() == ()
