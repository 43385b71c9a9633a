"""Random edits of a small memory, one after the other, and what must hold after each of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import strategies as st

from core import Memory
from core.errors import NuggetsError
from core.facts.edits import clear, forget, record_hit, remember
from core.graph.edits import (
    create_note,
    delete_note,
    edit_note,
    hide_note,
    link_notes,
    unhide_note,
    unlink_notes,
)
from core.graph.merging import merge_notes
from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.infer import MetaInput
from core.model.note import normalised_note, sound_links
from core.model.snapshot import Snapshot
from kits.memory_files import fact_object, note_object, write_graph, write_nugget

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


def make_folder(home: Path) -> Memory:
    """A memory of two plain notes and four facts, with unknown fields, its clock and ids counting upwards."""
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


def take_step(memory: Memory, step: Step) -> ChangeSet | None:
    """Takes a step on the newest files; what was applied, or None when it was refused."""
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


def assert_facts_and_notes_are_one(snapshot: Snapshot) -> None:
    """Every fact has one visible note that says the same, and every visible fact note its fact."""
    visible = [n for n in snapshot.notes if n.is_fact and not n.hidden]
    stored = [(nugget.name, fact.key, fact.value) for nugget in snapshot.nuggets for fact in nugget.facts]
    assert sorted((n.nugget_name, n.key, n.content) for n in visible) == sorted(stored)
    assert len(set(stored)) == len(stored)


def assert_touched_notes_are_sound(snapshot: Snapshot, done: ChangeSet) -> None:
    """Tags, links and vector of what was touched are right, links go both ways, and no link anywhere dangles."""
    ids = set(snapshot.by_id)
    for change in done.notes:
        found = snapshot.by_id.get(change.id)
        if found is not None:
            assert found == normalised_note(found, ids.__contains__)
            for link in found.links:
                assert any(back.to == found.id for back in snapshot.note(link.to).links)
    for found in snapshot.notes:
        assert sound_links(found, ids.__contains__) == found.links
