"""A writer that is killed at any moment: the folder opens, no memory is lost, log and files agree.

The number of kills at random moments is small here; NUGGETS_KILLS=200 makes it the full test.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kits.forked import Forked, run
from kits.memory_files import fact_object, facts_of, note_object, notes_of, tree, write_graph, write_nugget

from core import Memory
from core.verify import findings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
KILLS = int(os.environ.get("NUGGETS_KILLS", "10"))
NOTES = 12

# Writes in every way, and says of each change, once it is told to be done, what must be there from then on.
WRITER = """
import sys
from core import Memory
from core.facts.edits import forget, remember
from core.graph.edits import create_note, edit_note, hide_note, link_notes, unhide_note
memory, start = Memory.open(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
for turn in range(start, start + 100_000):
    note = f"note-memory-{turn % 12:08x}"
    memory.change("edit", lambda draft: edit_note(draft, note, content=f"turn {turn}"))
    print("note", note, turn, flush=True)
    memory.change("fact", lambda draft: remember(draft, "memory", f"key {turn}", f"value {turn}"))
    print("fact", turn, flush=True)
    if turn % 3 == 0:
        memory.change("forget", lambda draft: forget(draft, "memory", f"key {turn}"))
        print("gone", turn, flush=True)
    if turn % 4 == 1:
        memory.history.undo()
        print("undone", turn, flush=True)
    memory.change("link", lambda draft: link_notes(draft, note, f"note-memory-{(turn + 5) % 12:08x}", str(turn)))
"""

# Ends the process, as kill -9 would, right before the nth step that reaches the disk.
AT_STEP = """
import sys
sys.path.insert(0, "tests")
from kits.faults import end_before_step
from core import Memory
from core.facts.edits import remember
from core.graph.edits import hide_note
memory = Memory.open(sys.argv[1])
end_before_step(int(sys.argv[2]))
memory.change("hide", lambda draft: hide_note(draft, "fact-memory-000000aa"))
memory.change("remember", lambda draft: remember(draft, "fresh", "new", "value"))
print("done", flush=True)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_graph(tmp_path, [note_object(number) for number in range(NOTES)])
    write_nugget(tmp_path, "memory", [fact_object("first")])
    Memory.open(tmp_path).maintenance.repair()
    return tmp_path


def _agree(home: Path) -> Memory:
    """Opens a memory and holds that nothing in it, in its folder or in its log is left half done."""
    memory = Memory.open(home)
    assert memory.snapshot.problems == ()
    assert findings(memory.snapshot) == []
    journal = memory.store.journal
    assert journal is not None
    assert journal.pending_count() == 0
    assert memory.history.conflicts() == ()
    assert memory.store.reconciled
    return memory


@pytest.mark.timeout(900)
def test_a_writer_killed_at_random_moments_loses_nothing_that_it_said_was_done(home: Path) -> None:
    chance = random.Random(7)
    contents: dict[str, int] = {}
    facts: dict[str, bool] = {}
    turn = 0
    for _ in range(KILLS):
        writer = Forked(
            [sys.executable, "-c", WRITER, str(home), str(turn)],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        # A random moment of its work: after so many lines, plus however long the kill takes.
        told = [writer.stdout.readline().decode().split() for _ in range(chance.randrange(1, 12))]
        writer.send_signal(signal.SIGKILL)
        rest, errors = writer.communicate()
        assert errors == b""
        told += [line.split() for line in rest.decode().splitlines()]
        memory = _agree(home)
        notes, stored = notes_of(home), {fact["key"] for fact in facts_of(home, "memory.nugget.json")}
        assert len([id for id in notes if id.startswith("note-memory-")]) == NOTES
        for line in told:
            turn = max(turn, int(line[-1]))
            match line:
                case ["note", id, number]:
                    contents[id] = int(number)
                case ["fact", number]:
                    facts[number] = True
                case ["gone", number]:
                    facts[number] = False
                case ["undone", number]:
                    facts.pop(number, None)
        for id, number in contents.items():
            written = int(notes[id]["content"].removeprefix("turn "))
            assert written >= number
        # What was not said to be done yet may have been done: the last fact may be gone by then.
        for number, there in facts.items():
            if int(number) < turn:
                assert (f"key {number}" in stored) is there
        entries = memory.history.log(limit=None)
        assert len({entry.id for entry in entries}) == len(entries)
        if _may_have_gone_on(*told[-1]):
            facts.pop(told[-1][-1], None)
        turn += 1


def _may_have_gone_on(said: str, *about: str) -> bool:
    """Whether the writer forgets or takes back the fact of its last word next, which it may have done untold."""
    turn = int(about[-1])
    return (said == "fact" and turn % 3 == 0) or (said in ("fact", "gone") and turn % 4 == 1)


def test_a_writer_killed_before_any_step_leaves_a_change_whole_or_undone(home: Path) -> None:
    Memory.open(home).change("fact", lambda draft: _with_fact_note(draft))
    step = 0
    while True:
        copy = home.with_name(f"copy-{step}")
        _copy(home, copy)
        done = run(
            [sys.executable, "-c", AT_STEP, str(copy), str(step)], cwd=ROOT, capture_output=True, check=False
        )
        assert done.stderr == b""
        _agree(copy)
        notes = notes_of(copy)
        hidden = notes["fact-memory-000000aa"]
        keys = {fact["key"] for fact in facts_of(copy, "memory.nugget.json")}
        assert ("there" in keys) is not hidden["hidden"]
        assert hidden["hidden"] is ("hiddenFact" in hidden)
        fresh = copy / "fresh.nugget.json"
        stored = {fact["key"] for fact in facts_of(copy, fresh.name)} if fresh.exists() else set()
        assert stored == {note["sourceKey"] for note in notes.values() if note["nuggetName"] == "fresh"}
        _take_back(copy, {"hide", "remember"})
        # What a writer that was killed left beside a file goes with the next change.
        assert {name: data for name, data in tree(copy).items() if not name.endswith(".tmp")} == tree(home)
        if done.stdout == b"done\n":
            assert step > 15
            break
        step += 1


def _take_back(home: Path, reasons: set[str]) -> None:
    """Takes back what stands in the log under these reasons: it tells each change whole, whenever the kill came."""
    memory = Memory.open(home)
    for entry in memory.history.log(limit=2):
        if entry.change_set.reason in reasons:
            memory.history.undo(entry.id)


def _with_fact_note(draft: object) -> None:
    from core.facts.edits import remember
    from core.model.draft import Draft
    from core.model.note import replace

    assert isinstance(draft, Draft)
    made = remember(draft, "memory", "there", "a value")
    draft.remove(made.id)
    draft.put(replace(made, id="fact-memory-000000aa"))


def _copy(home: Path, copy: Path) -> None:
    for path in home.rglob("*"):
        if path.is_file():
            target = copy / path.relative_to(home)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
