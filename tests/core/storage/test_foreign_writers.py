"""Programs that write the folder without a lock, beside ours: nobody's work is lost, and real conflicts wait.

The runs of several processes are short here; NUGGETS_FOREIGN_SECONDS=20 makes them the full test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from memory_files import (
    GRAPH,
    fact_object,
    facts_of,
    javascript,
    note_object,
    notes_of,
    replace_bytes,
    tree,
    write_graph,
    write_nugget,
)
from original_writer import Original, read_graph, save_graph
from steps import assert_facts_and_notes_are_one

from core import Memory
from core.errors import ConflictError, NuggetsError
from core.facts.edits import forget, remember
from core.graph.edits import create_note, delete_note, edit_note, hide_note
from core.model.snapshot import Snapshot
from core.storage import exchange, outside, store
from core.storage.ledger import Ledger

RESTORED_ONE = "restored 1 note that another program took back"
ROOT = Path(__file__).parents[3]
WRITER = ROOT / "tests" / "original_writer.py"
SECONDS = float(os.environ.get("NUGGETS_FOREIGN_SECONDS", "1.5"))
FULL = SECONDS >= 20
PROCESSES, EDITS = 4, 50 if FULL else 6
ONE, TWO, THREE = (f"note-memory-{number:08x}" for number in (1, 2, 3))
NUGGET = "memory.nugget.json"


# Several processes at once

EDITOR = """
import sys, time
import core.storage.ledger as ledger
from core import Memory
from core.facts.edits import remember
from core.graph.edits import edit_note
home, me, edits, pause, facts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
if "quick" in sys.argv:
    import os
    os.fsync, ledger.DURABLE, ledger.RELAXED = (lambda handle: None), "OFF", "OFF"
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
    assert memory.conflicts() == ()
    assert memory._store.settled
    assert not [name for name in tree(memory.home) if name.endswith(".tmp")]


@pytest.mark.timeout(300)
def test_every_edit_and_every_note_of_a_writer_without_a_lock_is_there(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(number) for number in range(PROCESSES * EDITS)])
    write_nugget(tmp_path, "memory", [fact_object(f"user:kept {number}") for number in range(5)])
    foreign = _run_together(tmp_path, "--pause", "10", facts=False)
    memory = Memory.open(tmp_path)
    _assert_all_there(memory, foreign)
    assert len(foreign) > 3
    assert len(facts_of(tmp_path, NUGGET)) == 5
    edits = [entry for entry in memory.log(limit=None) if entry.change_set.reason == "turn"]
    assert len(edits) == PROCESSES * EDITS


@pytest.mark.timeout(300)
def test_facts_outlive_a_writer_that_holds_one_list_of_them(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(number) for number in range(PROCESSES * EDITS)])
    write_nugget(tmp_path, "memory", [fact_object(f"user:kept {number}") for number in range(5)])
    Memory.open(tmp_path).repair()
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
    assert memory.verify() == ()


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
    assert sorted(entry.id for entry in memory.conflicts()) == sorted(waiting)
    assert len(set(waiting)) == rounds * len(ids)
    for number, entry in enumerate(memory.conflicts()):
        assert entry.conflict is not None
        note = entry.conflict.where
        before = notes_of(tmp_path)[note]["content"]
        wanted = entry.change_set.notes[0].note.content
        take, text = (("ours", None), ("theirs", None), ("ours", f"both {number}"))[number % 3]
        memory.settle_conflict(entry.id, take, text)  # type: ignore[arg-type]
        found = notes_of(tmp_path)[note]
        assert found["content"] == (text or (wanted if take == "ours" else before))
        assert any(tag.startswith("turn-") for tag in found["tags"])
    assert memory.conflicts() == ()


# The same, step by step


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_graph(tmp_path, [note_object(number) for number in (1, 2, 3)])
    write_nugget(tmp_path, "memory", [fact_object("user:a"), fact_object("user:b")])
    Memory.open(tmp_path).repair()
    for path in tmp_path.glob("ledger*"):
        path.unlink()
    # A memory with backups once had a log, and that it is gone would be told.
    shutil.rmtree(tmp_path / "backups", ignore_errors=True)
    return tmp_path


def _later(path: Path, write: Callable[[], object], seconds: float = 1.0) -> None:
    """Writes a file such that it looks to have been written so long after what stands there now."""
    before = path.stat().st_mtime_ns
    write()
    moment = before + int(seconds * 1e9)
    os.utime(path, ns=(moment, moment))


def _save(home: Path, graph: dict[str, Any], seconds: float = 1.0) -> None:
    _later(home / GRAPH, lambda: save_graph(home, graph), seconds)


def _once_before_the_exchange(
    monkeypatch: pytest.MonkeyPatch, name: str, foreign: Callable[[], object]
) -> None:
    """Lets another program write in the instant between our last look at a file and the exchange of that file."""
    real, turns = exchange._swap, iter([True])

    def swap(one: Path, other: Path) -> bool:
        if other.name == name and next(turns, False):
            foreign()
        return real(one, other)

    monkeypatch.setattr(exchange, "_swap", swap)


def _never_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever somebody looks, another program has just saved."""
    for module in (outside, store):
        monkeypatch.setattr(module, "is_quiet", lambda loaded, seconds: False)


def _kinds(memory: Memory) -> list[tuple[str, str]]:
    return [(entry.change_set.kind, entry.state) for entry in reversed(memory.log(limit=None))]


def _add(home: Path, number: int = 9) -> None:
    shaped = read_graph(home)
    save_graph(home, shaped | {"notes": [*shaped["notes"], note_object(number)]})


def _content(home: Path, id: str = ONE) -> str:
    return str(notes_of(home)[id]["content"])


def _values(home: Path) -> dict[str, str]:
    return {fact["key"]: fact["value"] for fact in facts_of(home, NUGGET)}


def test_what_slips_in_at_the_exchange_is_brought_in_on_top(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)

    def foreign() -> None:
        _add(home)
        Original(home, load=False).edit_note(TWO, content="Theirs.")

    _once_before_the_exchange(monkeypatch, "graph.json", foreign)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    assert (_content(home), _content(home, TWO)) == ("Ours.", "Theirs.")
    assert "note-memory-00000009" in notes_of(home)
    assert _kinds(memory) == [("edit", "done"), ("outside", "done")]
    assert memory.snapshot.notes == Memory.open(home).snapshot.notes
    assert _kinds(Memory.open(home)) == [("edit", "done"), ("outside", "done")]
    assert tree(home).keys() == {str(GRAPH), NUGGET}
    entry = memory.log(author="program")[0]
    memory.undo(entry.id)
    assert (_content(home), _content(home, TWO)) == ("Ours.", "Content of note 2.")
    assert "note-memory-00000009" not in notes_of(home)


def test_recalls_and_edits_that_slip_in_are_both_brought_in(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)

    def foreign() -> None:
        Original(home, load=False).record_hit(TWO, "s-1")
        Original(home, load=False).edit_note(ONE, tags=[*notes_of(home)[ONE]["tags"], "theirs"])

    _once_before_the_exchange(monkeypatch, "graph.json", foreign)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours.", add_tags=["ours"]))
    assert notes_of(home)[TWO]["hits"] == 1
    assert {"ours", "theirs"} <= set(notes_of(home)[ONE]["tags"])
    assert _content(home) == "Ours."
    assert sorted(_kinds(memory)) == [("edit", "done"), ("hit", "done"), ("outside", "done")]


def test_what_slips_into_a_fact_file_is_brought_in_on_top(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    _once_before_the_exchange(
        monkeypatch,
        NUGGET,
        lambda: write_nugget(home, "memory", [*facts_of(home, NUGGET), fact_object("user:theirs", "theirs")]),
    )
    memory.change("fact", lambda draft: remember(draft, "memory", "user:ours", "ours"))
    assert {**_values(home)} == {
        "user:a": "a value", "user:b": "a value", "user:ours": "ours", "user:theirs": "theirs",
    }  # fmt: skip
    assert _kinds(memory) == [("edit", "done"), ("outside", "done")]
    assert tree(home).keys() == {str(GRAPH), NUGGET}


def test_a_slip_that_changed_the_same_field_waits_as_a_conflict(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)

    def foreign() -> None:
        _add(home)
        Original(home, load=False).edit_note(ONE, content="Theirs.")

    _once_before_the_exchange(monkeypatch, "graph.json", foreign)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    assert _content(home) == "Ours."
    assert "note-memory-00000009" in notes_of(home)
    (entry,) = memory.conflicts()
    assert entry.conflict is not None
    assert (entry.conflict.base, entry.conflict.ours, entry.conflict.theirs) == (
        "Content of note 1.", "Theirs.", "Ours.",
    )  # fmt: skip
    assert [one.id for one in Memory.open(home).conflicts()] == [entry.id]
    memory.settle_conflict(entry.id, "ours")
    assert _content(home) == "Theirs."
    assert memory.conflicts() == ()


def test_a_file_that_comes_to_be_in_the_instant_of_our_making_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(tmp_path)
    real, turns = os.link, iter([True, False])

    def link(one: Path, other: Path) -> None:
        if next(turns, False):
            write_graph(tmp_path, [note_object(9)])
        real(one, other)

    monkeypatch.setattr(os, "link", link)
    memory.change("new", lambda draft: create_note(draft, "memory", "Ours", "Text."))
    assert sorted(note["title"] for note in notes_of(tmp_path).values()) == ["Ours", "Title 9"]
    assert tree(tmp_path).keys() == {str(GRAPH)}


def test_a_second_file_that_comes_to_be_while_the_first_is_written_already_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(tmp_path)
    real, turns = os.link, iter([False, True])

    def link(one: Path, other: Path) -> None:
        if next(turns, False):
            if other.name == "graph.json":
                write_graph(tmp_path, [note_object(9)])
            else:
                write_nugget(tmp_path, "memory", [fact_object("user:theirs")])
        real(one, other)

    monkeypatch.setattr(os, "link", link)
    memory.change("fact", lambda draft: remember(draft, "memory", "user:ours", "ours"))
    assert sorted(note["title"] for note in notes_of(tmp_path).values()) in (
        ["Title 9", "user:ours"],
        ["user:ours"],
    )
    assert "user:ours" in _values(tmp_path)
    assert len(_values(tmp_path)) + len(notes_of(tmp_path)) == 3
    assert tree(tmp_path).keys() == {str(GRAPH), NUGGET}
    assert memory.snapshot.notes == Memory.open(tmp_path).snapshot.notes


class Killed(BaseException):
    """The end of a process, as far as what it has written goes."""


def _kill(*_: object, **__: object) -> None:
    raise Killed


def _killed_before_finishing(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, foreign: Callable[[], object]
) -> None:
    """A change of ours that another program slipped into, cut off before the log knew that it was written."""
    memory = Memory.open(home)
    with monkeypatch.context() as patch:
        _once_before_the_exchange(patch, name, foreign)
        patch.setattr(Ledger, "finish", _kill)
        with pytest.raises(Killed):
            memory.change("edit", lambda draft: (edit_note(draft, ONE, content="Ours."),
                                                 remember(draft, "memory", "user:ours", "ours")))  # fmt: skip
    assert list(home.rglob("*.tmp"))


def test_a_version_that_slipped_in_is_rescued_after_a_kill(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _killed_before_finishing(home, monkeypatch, "graph.json", lambda: _add(home))
    memory = Memory.open(home)
    assert "note-memory-00000009" in notes_of(home)
    assert _content(home) == "Ours."
    assert _values(home)["user:ours"] == "ours"
    assert_facts_and_notes_are_one(memory.snapshot)
    assert not list(home.rglob("*.tmp"))
    assert memory._store.settled
    assert sorted(_kinds(Memory.open(home))) == [("edit", "done"), ("outside", "done")]


def test_a_fact_file_that_slipped_in_is_rescued_after_a_kill(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = [*facts_of(home, NUGGET), fact_object("user:theirs", "theirs")]
    _killed_before_finishing(home, monkeypatch, NUGGET, lambda: write_nugget(home, "memory", theirs))
    memory = Memory.open(home)
    assert _values(home) == {
        "user:a": "a value",
        "user:b": "a value",
        "user:ours": "ours",
        "user:theirs": "theirs",
    }
    assert not list(home.rglob("*.tmp"))
    assert memory._store.settled


def test_what_another_program_wrote_after_a_kill_and_what_it_had_slipped_in_are_both_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _killed_before_finishing(home, monkeypatch, "graph.json", lambda: _add(home, 8))
    _add(home, 9)
    memory = Memory.open(home)
    assert {"note-memory-00000008", "note-memory-00000009"} <= set(notes_of(home))
    assert _content(home) == "Ours."
    assert memory._store.settled


def test_a_kill_that_another_program_followed_with_a_stale_save_still_ends_with_our_change(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = read_graph(home)
    memory = Memory.open(home)
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "finish", _kill)
        with pytest.raises(Killed):
            memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    assert _content(home) == "Ours."
    stale["notes"].append(note_object(9))
    _save(home, stale)
    memory = Memory.open(home)
    assert _content(home) == "Ours."
    assert "note-memory-00000009" in notes_of(home)


# What is taken back


def test_a_change_that_another_program_took_back_is_restored_once_and_said(home: Path) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    done = memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))[1]
    stale["notes"].append(note_object(9))
    _save(home, stale)
    assert _content(home) == "Content of note 1."
    again = Memory.open(home)
    assert _content(home) == "Ours."
    assert "note-memory-00000009" in notes_of(home)
    assert [notice.partition(";")[0] for notice in again.take_notices()] == [RESTORED_ONE]
    assert again.take_notices() == ()
    assert _kinds(again) == [("edit", "done"), ("outside", "done"), ("restore", "done"), ("outside", "done")]
    restored = again.log()[1].change_set
    assert (restored.about, [change.id for change in restored.notes]) == (done.id, [ONE])
    assert [change.id for change in again.log()[0].change_set.notes] == ["note-memory-00000009"]
    for _ in range(2):
        assert Memory.open(home).take_notices() == ()
    assert len(Memory.open(home).log()) == 4
    memory.refresh()
    assert memory.snapshot.note(ONE).content == "Ours."
    memory.undo()
    assert _content(home) == "Content of note 1."
    assert Memory.open(home).take_notices() == ()
    assert _content(home) == "Content of note 1."


def test_a_memory_that_stays_open_restores_at_its_next_look(home: Path) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    _save(home, stale)
    assert memory.refresh()
    assert memory.snapshot.note(ONE).content == "Ours."
    assert [notice.partition(";")[0] for notice in memory.take_notices()] == [RESTORED_ONE]
    assert [change_set.kind for change_set in memory.history] == ["edit", "outside", "restore"]


def test_what_was_restored_twice_waits_for_a_person_the_third_time(home: Path) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    for _ in range(2):
        _save(home, stale)
        memory.refresh()
        assert _content(home) == "Ours."
    _save(home, stale)
    memory.refresh()
    assert _content(home) == "Content of note 1."
    (entry,) = memory.conflicts()
    assert entry.conflict is not None
    assert (entry.conflict.where, entry.conflict.field) == (ONE, "content")
    assert (entry.conflict.ours, entry.conflict.theirs) == ("Ours.", "Content of note 1.")
    # Once more: it waits already.
    for _ in range(2):
        _save(home, stale)
        memory.refresh()
    assert len(memory.conflicts()) == 1
    memory.settle_conflict(entry.id, "ours")
    assert _content(home) == "Ours."
    assert memory.conflicts() == ()
    # A person has decided: from here on it is restored again.
    _save(home, stale)
    memory.refresh()
    assert _content(home) == "Ours."


def test_a_conflict_about_what_is_taken_back_again_and_again_may_be_left_as_theirs(home: Path) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    for _ in range(3):
        _save(home, stale)
        memory.refresh()
    memory.settle_conflict(memory.conflicts()[0].id, "theirs")
    assert _content(home) == "Content of note 1."
    assert memory.conflicts() == ()
    assert Memory.open(home).conflicts() == ()
    assert _content(home) == "Content of note 1."


@pytest.mark.parametrize("seconds", [1.0, 3.0, 100.0])
def test_a_real_edit_of_another_program_is_not_fought(home: Path, seconds: float) -> None:
    memory = Memory.open(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    _later(home / GRAPH, lambda: Original(home, load=False).edit_note(ONE, content="Theirs, later."), seconds)
    memory.refresh()
    assert _content(home) == "Theirs, later."
    assert memory.take_notices() == ()
    assert memory.conflicts() == ()
    assert _kinds(memory) == [("edit", "done"), ("outside", "done")]


def test_a_file_put_back_long_after_is_a_change_like_any_other(home: Path) -> None:
    memory = Memory.open(home)
    old = (home / GRAPH).read_bytes()
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    _later(home / GRAPH, lambda: replace_bytes(home / GRAPH, old), 60)
    memory.refresh()
    assert _content(home) == "Content of note 1."
    assert memory.take_notices() == ()
    memory.undo(memory.log(author="program")[0].id)
    assert _content(home) == "Ours."


def test_nothing_is_restored_while_another_program_keeps_saving(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    with monkeypatch.context() as patch:
        _never_quiet(patch)
        for number in range(9, 14):
            stale["notes"].append(note_object(number))
            _save(home, stale, 0.02)
            memory.refresh(patient=False)
            assert _content(home) == "Content of note 1."
            assert not memory._store.settled
        # Whoever writes meanwhile does so on what stands there.
        memory.change("edit", lambda draft: edit_note(draft, TWO, content="Ours too."))
        assert memory.take_notices() == ()
        assert [kind for kind, _ in _kinds(memory)].count("restore") == 0
    memory.refresh()
    assert (_content(home), _content(home, TWO)) == ("Ours.", "Ours too.")
    assert [notice.partition(";")[0] for notice in memory.take_notices()] == [RESTORED_ONE]
    assert memory._store.settled
    assert {f"note-memory-{number:08x}" for number in range(9, 14)} <= set(notes_of(home))


def test_what_is_owed_is_restored_by_whoever_opens_next_however_late(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    with monkeypatch.context() as patch:
        _never_quiet(patch)
        _save(home, stale)
        memory.refresh(patient=False)
    stale["notes"].append(note_object(9))
    _save(home, stale, 3600)
    again = Memory.open(home)
    assert _content(home) == "Ours."
    assert "note-memory-00000009" in notes_of(home)
    assert [notice.partition(";")[0] for notice in again.take_notices()] == [RESTORED_ONE]


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda draft: create_note(draft, "memory", "Made", "Text."), "restored 1 note"),
        (lambda draft: delete_note(draft, TWO), "restored 1 note"),
        (lambda draft: hide_note(draft, TWO), "restored 1 note"),
        (lambda draft: edit_note(draft, TWO, title="Other", add_tags=["x"]), "restored 1 note"),
    ],
)
def test_every_kind_of_change_of_notes_outlives_a_stale_save(home: Path, edit: Any, reason: str) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", edit)
    after = _without_times(memory.snapshot)
    _save(home, stale)
    memory.refresh()
    assert _without_times(memory.snapshot) == after
    assert "".join(memory.take_notices()).startswith(reason)
    assert memory.verify() == ()


@pytest.mark.parametrize("what", ["both", "facts", "graph"])
@pytest.mark.parametrize(
    "edit",
    [
        lambda draft: remember(draft, "memory", "user:new", "value"),
        lambda draft: remember(draft, "memory", "user:a", "another value"),
        lambda draft: forget(draft, "memory", "user:a"),
    ],
    ids=["new", "changed", "forgotten"],
)
def test_facts_and_their_notes_outlive_a_stale_save_of_either_file(home: Path, edit: Any, what: str) -> None:
    memory = Memory.open(home)
    held, stale = Original(home, load=False), read_graph(home)
    memory.change("edit", edit)
    after = _without_times(memory.snapshot)
    if what != "graph":
        _later(home / NUGGET, held.save_facts)
    if what != "facts":
        # Which is how a stale save of both differs from forgetting.
        stale["notes"][1] |= {"content": "News.", "updatedAt": "2030-01-01T00:00:00.000Z"}
        _save(home, stale)
        memory.refresh()
        memory.undo(memory.log(author="program", limit=1)[0].id)
    memory.refresh()
    assert _without_times(memory.snapshot) == after
    assert len(memory.take_notices()) == 1
    assert_facts_and_notes_are_one(memory.snapshot)
    assert Memory.open(home).take_notices() == ()
    memory.undo()
    assert _values(home) == {"user:a": "a value", "user:b": "a value"}
    assert_facts_and_notes_are_one(memory.snapshot)
    assert Memory.open(home).take_notices() == ()


def _without_times(snapshot: Snapshot) -> object:
    notes = [
        (
            n.id,
            n.title,
            n.content,
            n.tags,
            n.hidden,
            n.source_key,
            [(link.to, link.reason) for link in n.links],
        )
        for n in snapshot.notes
    ]
    facts = [(nugget.name, f.key, f.value) for nugget in snapshot.nuggets for f in nugget.facts]
    return sorted(notes), facts


def test_white_space_that_a_save_squeezed_is_put_back_without_a_word(home: Path) -> None:
    memory = Memory.open(home)
    code = "- a\n  - b\n\n    code()"
    memory.change("edit", lambda draft: edit_note(draft, ONE, content=code))
    entries = len(memory.log())
    graph = read_graph(home)
    graph["notes"].append(note_object(9))
    _save(home, graph)
    assert _content(home) != code
    memory.refresh()
    assert _content(home) == code
    assert memory.take_notices() == ()
    assert [kind for kind, _ in _kinds(memory)] == ["edit", "outside"]
    assert len(memory.log()) == entries + 1
    assert Memory.open(home)._store.settled


def test_renamed_keys_keep_their_notes_when_the_original_loads(tmp_path: Path) -> None:
    write_graph(tmp_path, [])
    write_nugget(tmp_path, "memory", [fact_object("plain", "value"), fact_object("user:b", "other")])
    memory = Memory.open(tmp_path)
    memory.repair()
    note = next(note for note in memory.snapshot.notes if note.key == "plain")
    Original(tmp_path, load=True)
    memory.refresh()
    assert memory.snapshot.note(note.id).key == "user:plain"
    assert_facts_and_notes_are_one(memory.snapshot)
    assert len(memory.snapshot.notes) == 2


# What cannot be read


def test_a_broken_version_that_slipped_in_is_not_thrown_away(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    broken = (home / GRAPH).read_bytes()[:-40]
    _once_before_the_exchange(monkeypatch, "graph.json", lambda: replace_bytes(home / GRAPH, broken))
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    assert _content(home) == "Ours."
    kept = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    assert broken in kept
    assert memory.take_notices()


def test_a_file_that_slipped_in_with_a_note_that_cannot_be_read_is_kept(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    shaped = json.loads((home / GRAPH).read_bytes())
    shaped["notes"] += [note_object(9), note_object(10, content=5)]
    data = javascript(shaped, indent=2) + b"\n"
    _once_before_the_exchange(monkeypatch, "graph.json", lambda: replace_bytes(home / GRAPH, data))
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    assert "note-memory-00000009" in notes_of(home)
    everywhere = b"".join(
        path.read_bytes() for path in home.rglob("*") if path.is_file() and "ledger" not in path.name
    )
    assert b"note-memory-0000000a" in everywhere


def test_a_file_that_breaks_between_two_looks_takes_nothing_out_of_the_log(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    whole = (home / GRAPH).read_bytes()
    (home / GRAPH).write_bytes(whole[:-30])
    for _ in range(2):
        with pytest.raises(NuggetsError):
            memory.refresh()
        with pytest.raises(NuggetsError):
            Memory.open(home)
    replace_bytes(home / GRAPH, whole)
    memory.refresh()
    assert _kinds(memory) == [("edit", "done")]
    memory.undo()
    assert _content(home) == "Content of note 1."


def test_a_fact_file_that_breaks_takes_no_fact_out_of_the_log(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("fact", lambda draft: remember(draft, "memory", "user:ours", "ours"))
    whole = (home / NUGGET).read_bytes()
    replace_bytes(home / NUGGET, whole[:-30])
    memory.refresh()
    Memory.open(home)
    memory.change("note", lambda draft: edit_note(draft, ONE, content="Ours."))
    replace_bytes(home / NUGGET, whole)
    again = Memory.open(home)
    assert [kind for kind, _ in _kinds(again)] == ["edit", "edit"]
    again.undo()
    again.undo()
    assert _values(home) == {"user:a": "a value", "user:b": "a value"}


def test_a_conflict_is_raised_to_whoever_applies_and_kept_for_whoever_looks(home: Path) -> None:
    memory = Memory.open(home)
    draft = memory.draft()
    edit_note(draft, ONE, content="Ours.")
    Original(home, load=False).edit_note(ONE, content="Theirs.")
    with pytest.raises(ConflictError) as caught:
        memory.apply(draft.change_set("edit"))
    assert caught.value.entry == Memory.open(home).conflicts()[0].id
