"""Laws of the log: whatever is done is taken back in any order, and the log always knows what stands in the files.

The number of lives that are tried is small here; NUGGETS_LAWS=2000 makes it the full test.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.laws import examples
from kits.memory_files import notes_of, write_graph
from kits.steps import (
    KEYS,
    SEQUENCES,
    STEPS,
    Step,
    assert_facts_and_notes_are_one,
    make_folder,
    take_step,
)

from core import Memory
from core.errors import ConflictError, NuggetsError
from core.model.change import Author, ChangeSet
from core.model.change_parts import change_parts
from core.model.compare import at_moment
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.storage.files.atomic import fingerprint
from core.storage.journal.baseline import named_items

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("NUGGETS_LAWS", "30"))
# Besides the edits: a pass of reflection, and another program's own work.
OTHERS = ("reflect", "theirs: note", "theirs: text", "theirs: gone")
ALL_KINDS = st.sampled_from([*STEPS, *OTHERS])
LIVES = st.lists(
    st.tuples(ALL_KINDS, st.integers(0, 40), st.integers(0, 40), st.sampled_from(KEYS)),
    min_size=1,
    max_size=10,
)
LATER = "2030-01-01T00:00:{:02}.000Z"


@contextmanager
def _memory() -> Iterator[Memory]:
    with tempfile.TemporaryDirectory() as name:
        yield make_folder(Path(name))


def _live(memory: Memory, step: Step) -> None:
    """Takes a step of ours, or lets another program take one and looks at it."""
    kind, one, _, word = step
    if kind == "reflect":
        memory.reflect(limit=5)
    elif kind.startswith("theirs"):
        _theirs(memory, kind.partition(": ")[2], one, word)
    else:
        take_step(memory, step)


def _theirs(memory: Memory, what: str, number: int, word: str) -> None:
    notes = notes_of(memory.home)
    plain = [id for id, note in notes.items() if note["kind"] == "note"]
    at = LATER.format(len(memory.history.log(limit=None)))
    if what == "note":
        id = f"note-memory-{0xB000 + len(memory.history.log(limit=None)):08x}"
        template = next(iter(notes.values()), None)
        if template is None or id in notes:
            return
        made = {
            "id": id,
            "kind": "note",
            "title": word,
            "content": word,
            "links": [],
            "createdAt": at,
            "updatedAt": at,
        }
        notes[id] = {k: v for k, v in template.items() if k not in ("sourceKey", "hiddenFact", "archivedAt")}
        notes[id] |= made | {"hidden": False}
    elif not plain:
        return
    elif what == "text":
        notes[plain[number % len(plain)]] |= {"content": f"theirs {word} {at}", "updatedAt": at}
    else:
        gone = plain[number % len(plain)]
        del notes[gone]
        for note in notes.values():
            note["links"] = [link for link in note["links"] if link["to"] != gone]
    write_graph(memory.home, notes.values())
    memory.refresh()


def _said(snapshot: Snapshot) -> object:
    """Everything that a memory says, without times, places and recalls, which a merge sets right between two files."""
    notes = {note.id: _meaning(note) for note in snapshot.notes}
    facts = {
        (nugget.name, f.key): (f.value, str(f.extra)) for nugget in snapshot.nuggets for f in nugget.facts
    }
    return notes, facts, {nugget.name for nugget in snapshot.nuggets}


def _meaning(note: Note) -> object:
    kept = note.hidden_fact
    return (
        note.title, note.content, note.key, note.kind, note.hidden, note.subject, note.scope, note.type,
        note.source, note.confidence, note.stability, set(note.tags), {(link.to, link.reason) for link in note.links},
        (kept.key, kept.value) if kept is not None else None, str(note.extra),
    )  # fmt: skip


def _done(memory: Memory) -> list[str]:
    return [entry.id for entry in reversed(memory.history.log(limit=None)) if entry.state == "done"]


@settings(max_examples=examples(EXAMPLES))
@given(steps=SEQUENCES, chance=st.randoms(use_true_random=False))
def test_changes_are_taken_back_in_any_order_that_does_not_conflict(
    steps: list[Step], chance: object
) -> None:
    with _memory() as memory:
        before = memory.snapshot
        for step in steps:
            take_step(memory, step)
        waiting = _done(memory)
        chance.shuffle(waiting)  # type: ignore[attr-defined]
        if _take_all_back(memory, waiting):
            assert _said(memory.snapshot) == _said(before)
        assert_facts_and_notes_are_one(memory.snapshot)
        assert memory.history.conflicts() == ()


def _take_all_back(memory: Memory, waiting: list[str]) -> bool:
    """Takes back what can be, again and again; whether all could be in this order."""
    reasons: list[str] = []
    while waiting:
        left = []
        for id in waiting:
            now = memory.snapshot
            try:
                Memory.open(memory.home).history.undo(id)
            except ConflictError as error:
                reasons.append(error.message)
                memory.refresh()
                assert memory.snapshot.notes == now.notes
                left.append(id)
            memory.refresh()
        if len(left) == len(waiting):
            return False
        waiting[:] = left
    assert all("undo that first" in reason or "undo them first" in reason for reason in reasons)
    return True


def _start_over(memory: Memory, after: Snapshot) -> None:
    """Does again all that was taken back, and takes back all from the newest on."""
    turns = [entry for entry in memory.history.log(limit=None) if entry.change_set.kind == "undo"]
    for entry in turns:
        memory.history.undo(entry.id)
    assert _said(memory.snapshot) == _said(after)
    for id in reversed(
        [id for id in _done(memory) if memory.history.entry(id).change_set.kind not in ("undo", "redo")]
    ):
        memory.history.undo(id)


@settings(max_examples=examples(EXAMPLES))
@given(steps=LIVES)
def test_everything_whoever_did_it_is_taken_back_from_the_newest_on(steps: list[Step]) -> None:
    with _memory() as memory:
        states = {0: memory.snapshot}
        for step in steps:
            _live(memory, step)
            states[memory.store.journal.last_seq] = memory.snapshot  # type: ignore[union-attr]
        entries = memory.history.log(limit=None)
        known = {entry.seq for entry in entries} | {0}
        for entry in entries:
            memory.history.undo(entry.id)
            former = max((seq for seq in known if seq < entry.seq), default=0)
            if former in states:
                assert memory.snapshot.notes == states[former].notes
                assert memory.snapshot.nuggets == states[former].nuggets


@settings(max_examples=examples(EXAMPLES))
@given(steps=LIVES)
def test_unwinding_the_log_gives_every_former_state(steps: list[Step]) -> None:
    with _memory() as memory:
        states = {0: memory.snapshot}
        for number, step in enumerate(steps):
            _live(memory, step)
            if number % 3 == 2 and memory.history.log():
                _quietly_undone(memory)
            states[memory.store.journal.last_seq] = memory.snapshot  # type: ignore[union-attr]
        entries = memory.history.log(limit=None)
        known = {entry.seq for entry in entries} | {0}
        for seq, state in states.items():
            if seq in known:
                later = [e.change_set for e in entries if e.seq > seq and not _put_right(e.change_set)]
                found = at_moment(memory.snapshot, later)
                assert found.notes == state.notes
                assert _stored(found) == _stored(state)


def _stored(snapshot: Snapshot) -> object:
    return [(nugget.name, nugget.facts) for nugget in snapshot.nuggets]


def _put_right(change_set: ChangeSet) -> bool:
    """Whether this restored what another program had taken back: as far as the log goes, that never was gone."""
    return change_set.author == Author("program", "nuggets")


def _quietly_undone(memory: Memory) -> None:
    try:
        memory.history.undo(memory.history.log()[0].id)
    except NuggetsError:
        return


@settings(max_examples=examples(EXAMPLES))
@given(steps=LIVES)
def test_the_log_has_seen_the_files_as_they_are_after_every_step(steps: list[Step]) -> None:
    with _memory() as memory:
        for number, step in enumerate(steps):
            _live(memory, step)
            if number % 4 == 3 and memory.history.log():
                _quietly_undone(memory)
            _assert_seen(memory)
            entries = len(memory.history.log(limit=None))
            again = Memory.open(memory.home)
            assert len(again.history.log(limit=None)) == entries
            assert again.take_notices() == ()


def _assert_seen(memory: Memory) -> None:
    store = memory.store
    journal = store.journal
    assert journal is not None
    assert store.reconciled
    documents = {str(path.relative_to(memory.home)): made for path, made in store.loaded.documents().items()}
    seen = journal.seen_files()
    assert seen.keys() == documents.keys()
    for file, document in documents.items():
        known = seen[file].fingerprint
        assert known is not None
        assert known.same_data(fingerprint(memory.home / file))
        assert document.fingerprint == fingerprint(memory.home / file)
        rows = journal.rows("SELECT item, raw FROM seen WHERE file = ? ORDER BY place", (file,))
        assert rows == list(named_items(document).items())


@settings(max_examples=examples(EXAMPLES))
@given(steps=SEQUENCES, chance=st.randoms(use_true_random=False))
def test_parts_taken_back_one_by_one_are_the_whole_taken_back(steps: list[Step], chance: object) -> None:
    with _memory() as memory:
        before = memory.snapshot

        def all_of_them(draft: object) -> None:
            for kind, one, two, word in steps:
                notes = list(draft.notes())  # type: ignore[attr-defined]
                if not notes or kind in ("hit", "merge", "delete", "delete two"):
                    continue
                try:
                    STEPS[kind](draft, notes[one % len(notes)].id, notes[two % len(notes)].id, word)  # type: ignore[arg-type]
                except NuggetsError:
                    return

        done = memory.change("all", all_of_them)[1]
        if done.empty:
            return
        numbers = list(range(1, len(change_parts(done)) + 1))
        chance.shuffle(numbers)  # type: ignore[attr-defined]
        waiting = [f"{done.id}.{number}" for number in numbers]
        if _take_all_back(memory, waiting):
            assert _said(memory.snapshot) == _said(before)
