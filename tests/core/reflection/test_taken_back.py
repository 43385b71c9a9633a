"""What a person took back of a run is not done again by a run that nobody watches."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from core.graph.edits import edit_note, unhide_note
from core.memory import Memory
from core.model.build import new_note
from core.reflection import ReflectionResult

NEAR = "bravo charlie delta echo foxtrot golf hotel india"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory in which there is something to do for each rule."""
    opened = Memory.open(tmp_path)
    notes = {
        "Restore": NEAR,
        "Restore again": NEAR,
        "tmp": "",
        "List": "milk\nmilk\nbread",
        "Owner": "alice owns the billing importer",
        "Breakage": "the billing importer breaks",
        "Path": "look into src/auth/token.py",
    }
    for title, content in notes.items():
        opened.change("w", partial(new_note, kind="note", nugget="project", title=title, content=content))
    return opened


def ids(result: ReflectionResult) -> set[str]:
    return {change.id for change in result.changes}


def test_a_run_that_was_taken_back_whole_is_not_done_again_unwatched_and_is_proposed_to_a_person(
    memory: Memory,
) -> None:
    done = ids(memory.reflect())
    assert {id.partition("-")[0] for id in done} == {"hide", "rewrite", "merge", "tag", "link"}
    memory.history.undo(memory.history.log(limit=1)[0].id)
    assert ids(memory.reflect(dry_run=True, unattended=True)).isdisjoint(done)
    assert ids(memory.reflect(dry_run=True)) == done
    for _ in range(3):
        assert ids(memory.reflect(unattended=True)).isdisjoint(done)


@pytest.mark.parametrize("kind", ["hide", "rewrite", "tag"])
def test_one_change_that_was_taken_back_is_not_done_again(memory: Memory, kind: str) -> None:
    result = memory.reflect()
    change = next(change for change in result.changes if change.type == kind)
    entry = memory.history.log(limit=1)[0]
    number = next(n for n, part in enumerate(entry.change_set.notes, 1) if part.id == change.note_id)
    memory.history.undo(entry.id, number)
    assert change.id not in ids(memory.reflect(dry_run=True, unattended=True))
    assert change.id in ids(memory.reflect(dry_run=True))


def test_it_is_done_again_once_the_text_changed(memory: Memory) -> None:
    merge = next(id for id in ids(memory.reflect()) if id.startswith("merge"))
    run = memory.history.log(limit=1)[0].id
    memory.history.undo(run)
    twin = next(note for note in memory.snapshot.notes if note.title == "Restore")
    memory.change("edited", partial(edit_note, id=twin.id, content=f"{NEAR}."))
    assert merge in ids(memory.reflect(dry_run=True, unattended=True))


def test_what_was_taken_back_and_done_again_is_no_longer_in_the_way(memory: Memory) -> None:
    done = ids(memory.reflect())
    run = memory.history.log(limit=1)[0].id
    memory.history.undo(run)
    memory.history.redo(run)
    scratch = next(note for note in memory.snapshot.notes if note.title == "tmp")
    memory.change("back", partial(unhide_note, id=scratch.id))
    (hide,) = [id for id in done if id.startswith("hide")]
    assert hide in ids(memory.reflect(dry_run=True, unattended=True))


def test_what_was_never_taken_back_stands_in_nobodys_way(memory: Memory) -> None:
    proposed = memory.reflect(dry_run=True).changes
    sure = {change.id for change in proposed if not change.doubtful}
    assert ids(memory.reflect(dry_run=True, unattended=True)) == sure
    memory.reflect()
    assert ids(memory.reflect(dry_run=True, unattended=True)) == ids(memory.reflect(dry_run=True))
