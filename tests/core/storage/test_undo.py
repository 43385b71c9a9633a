"""Any sequence of edits: facts and notes stay one thing, every step repeats without effect, and all is taken back."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_files import fact_object, note_object, tree, write_graph, write_nugget

from core import Memory
from core.errors import NuggetsError
from core.facts.edits import clear, forget, record_hit, remember
from core.graph.edits import (
    create_note,
    delete_note,
    edit_note,
    hide_note,
    link_notes,
    merge_notes,
    unhide_note,
    unlink_notes,
)
from core.model.basis import settled, sound_links
from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.infer import MetaInput
from core.model.snapshot import Snapshot

KEYS = ["a", "b", "c", "d"]
EXTRA = {"later": {"deep": [1.5, "\ud800", None]}, "extra": 5}
Step = tuple[str, int, int, str]

STEPS: dict[str, Callable[[Draft, str, str, str], object]] = {
    "create": lambda draft, one, two, word: create_note(draft, word[:1], f"New {word}", word),
    "content": lambda draft, one, two, word: edit_note(draft, one, content=f"{word}\n\n    {word}"),
    "title": lambda draft, one, two, word: edit_note(draft, one, title=word),
    "tags": lambda draft, one, two, word: edit_note(draft, one, add_tags=[word], remove_tags=["a"]),
    "meta": lambda draft, one, two, word: edit_note(draft, one, meta=MetaInput(scope="self", confidence=0.3)),
    "hide": lambda draft, one, two, word: hide_note(draft, one),
    "unhide": lambda draft, one, two, word: unhide_note(draft, one),
    "link": lambda draft, one, two, word: link_notes(draft, one, two, word),
    "unlink": lambda draft, one, two, word: unlink_notes(draft, one, two),
    "merge": lambda draft, one, two, word: merge_notes(draft, one, two),
    "delete": lambda draft, one, two, word: delete_note(draft, one),
    "remember": lambda draft, one, two, word: remember(draft, "memory", word, f"{word} {word}"),
    "elsewhere": lambda draft, one, two, word: remember(draft, f"other-{word}", word, word),
    "forget": lambda draft, one, two, word: forget(draft, "memory", word),
    "clear": lambda draft, one, two, word: clear(draft, "memory"),
    "hit": lambda draft, one, two, word: record_hit(draft, "memory", word, one, f"s-{word}"),
    "hide and unhide": lambda draft, one, two, word: (hide_note(draft, one), unhide_note(draft, one)),
    "swap": lambda draft, one, two, word: (hide_note(draft, one), unhide_note(draft, two)),
    "delete two": lambda draft, one, two, word: (delete_note(draft, one), delete_note(draft, two)),
    "rename away": lambda draft, one, two, word: (
        edit_note(draft, one, title="z"), remember(draft, "memory", word, "y")),
    "forget, remember": lambda draft, one, two, word: (
        forget(draft, "memory", word), remember(draft, "memory", word, "x")),
}  # fmt: skip
SEQUENCES = st.lists(
    st.tuples(st.sampled_from(list(STEPS)), st.integers(0, 40), st.integers(0, 40), st.sampled_from(KEYS)),
    min_size=1,
    max_size=10,
)


def _folder(home: Path) -> Memory:
    notes = [note_object(number) | EXTRA for number in (1, 2)]
    notes += [
        note_object(
            number, kind="fact", id=f"fact-memory-{number:08x}", sourceKey=key, title=key, content=key
        )
        | EXTRA
        for number, key in enumerate(KEYS, 0x10)
    ]
    write_graph(home, [note | {"vector": {"seed": 0, "basis": []}} for note in notes])
    write_nugget(home, "memory", [fact_object(key, key) | EXTRA for key in KEYS])
    counter, moments = itertools.count(), itertools.count()
    start = datetime(2026, 5, 5, tzinfo=UTC)
    return Memory.open(
        home, clock=lambda: start + timedelta(seconds=next(moments)), ids=lambda: f"{next(counter):08x}"
    )


def _take(memory: Memory, step: Step) -> ChangeSet | None:
    kind, one, two, word = step
    notes = memory.snapshot.notes
    if not notes:
        return None
    first, second = notes[one % len(notes)].id, notes[two % len(notes)].id
    try:
        edit = lambda draft: STEPS[kind](draft, first, second, word)  # noqa: E731
        return memory.change(kind, edit, kind="hit" if kind == "hit" else "edit")[1]
    except NuggetsError:
        return None


def _assert_facts_and_notes_are_one(snapshot: Snapshot) -> None:
    visible = [n for n in snapshot.notes if n.is_fact and not n.hidden]
    stored = [(nugget.name, fact.key, fact.value) for nugget in snapshot.nuggets for fact in nugget.facts]
    assert sorted((n.nugget_name, n.key, n.content) for n in visible) == sorted(stored)
    assert len(set(stored)) == len(stored)


def _assert_touched_notes_are_sound(snapshot: Snapshot, done: ChangeSet) -> None:
    ids = set(snapshot.by_id)
    for change in done.notes:
        found = snapshot.by_id.get(change.id)
        if found is not None:
            assert found == settled(found, ids.__contains__)
            for link in found.links:
                assert any(back.to == found.id for back in snapshot.note(link.to).links)
    for found in snapshot.notes:
        assert sound_links(found, ids.__contains__) == found.links


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=SEQUENCES)
def test_facts_and_notes_stay_one_and_all_is_taken_back(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as name:
        memory = _folder(Path(name))
        done: list[tuple[ChangeSet, Snapshot, dict[str, bytes]]] = []
        for step in steps:
            before, files = memory.snapshot, tree(memory.home)
            change_set = _take(memory, step)
            if change_set is None or change_set.empty:
                assert tree(memory.home) == files
                continue
            done.append((change_set, before, files))
            _assert_facts_and_notes_are_one(memory.snapshot)
            _assert_touched_notes_are_sound(memory.snapshot, change_set)
            assert Memory.open(memory.home).snapshot.notes == memory.snapshot.notes
            assert Memory.open(memory.home).snapshot.nuggets == memory.snapshot.nuggets
            assert memory.apply(change_set).empty
        for change_set, before, files in reversed(done):
            memory.undo(change_set)
            assert memory.snapshot.notes == before.notes
            assert memory.snapshot.nuggets == before.nuggets
            assert tree(memory.home).keys() == files.keys()
        assert Memory.open(memory.home).snapshot.notes == memory.snapshot.notes


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=SEQUENCES)
def test_what_was_taken_back_can_be_done_again(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as name:
        memory = _folder(Path(name))
        for step in steps:
            change_set = _take(memory, step)
            if change_set is None or change_set.empty:
                continue
            after = memory.snapshot
            undone = memory.undo(change_set)
            memory.undo(undone)
            assert memory.snapshot.notes == after.notes
            assert memory.snapshot.nuggets == after.nuggets


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=SEQUENCES)
def test_many_edits_in_one_change_set_are_as_good_as_one_after_the_other(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        single, several = _folder(Path(one)), _folder(Path(other))
        before = single.snapshot
        for step in steps:
            several.change("step", lambda draft, step=step: _quietly(draft, step))

        def all_of_them(draft: Draft) -> None:
            for step in steps:
                _quietly(draft, step)

        _, done = single.change("all", all_of_them)
        _assert_facts_and_notes_are_one(single.snapshot)
        assert _facts(single) == _facts(several)
        assert [(n.title, n.content, n.hidden) for n in single.snapshot.notes] == [
            (n.title, n.content, n.hidden) for n in several.snapshot.notes
        ]
        single.undo(done)
        assert single.snapshot.notes == before.notes
        assert single.snapshot.nuggets == before.nuggets


def _quietly(draft: Draft, step: Step) -> None:
    kind, one, two, word = step
    notes = list(draft.notes())
    if kind == "hit" or not notes:
        return
    try:
        STEPS[kind](draft, notes[one % len(notes)].id, notes[two % len(notes)].id, word)
    except NuggetsError:
        if kind in ("hide and unhide", "swap", "delete two", "rename away", "forget, remember", "merge"):
            return


def _facts(memory: Memory) -> object:
    return [
        (nugget.name, sorted((f.key, f.value) for f in nugget.facts)) for nugget in memory.snapshot.nuggets
    ]


@pytest.mark.parametrize("kind", STEPS)
def test_every_kind_of_step_does_something_here(tmp_path: Path, kind: str) -> None:
    memory = _folder(tmp_path)
    if kind in ("unhide", "unlink", "swap"):
        memory.change("first", lambda draft: (link_notes(draft, "fact-memory-00000010", "fact-memory-00000011"),
                                              hide_note(draft, "fact-memory-00000011"),
                                              hide_note(draft, "fact-memory-00000013")))  # fmt: skip
    change_set = _take(memory, (kind, {"unhide": 3, "title": 0}.get(kind, 2), 3, "b"))
    assert change_set is not None
    assert not change_set.empty
