"""Repairing a memory in its files: one change set that holds what was promised, and can be taken back."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.damaged import second_files, snapshots
from kits.laws import examples
from kits.memory_files import (
    GRAPH,
    fact_object,
    graph_of,
    note_object,
    replace_bytes,
    tree,
    write_graph,
    write_nugget,
)

from core import Memory
from core.facts.edits import remember
from core.model.change import ChangeSet
from core.model.fact import Fact
from core.model.note import Note, to_file_dict
from core.model.snapshot import Snapshot
from core.text.normalise import squeeze
from core.verify import Finding, findings, repair


def repaired(memory: Memory) -> ChangeSet:
    return memory.change("repaired the memory", repair, kind="repair")[1]


def repairable(memory: Memory) -> list[Finding]:
    return [found for found in findings(memory.snapshot) if found.repair]


@contextmanager
def in_files(snapshot: Snapshot) -> Iterator[Path]:
    """The folder of a damaged memory. What could not be read there cannot be read here."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        unreadable: list[object] = [{"id": id, "title": 7} for id in sorted(snapshot.set_aside)]
        write_graph(home, [*(to_file_dict(note) for note in snapshot.notes), *unreadable])
        unread = {problem.nugget for problem in snapshot.problems}
        for nugget in snapshot.nuggets:
            facts: list[object] = [fact_object(f.key, f.value, hits=f.hits) for f in nugget.facts]
            path = write_nugget(home, nugget.name, [*facts, *([7] if nugget.name in unread else [])])
            if nugget.problem:
                path.write_bytes(b"{")
        yield home


def meaning(note: Note) -> tuple[Any, ...]:
    """What a person would miss of a note: not what every write sets right, its tags, its links, its vector."""
    kept = note.hidden_fact
    waiting = (kept.key, squeeze(kept.value)) if kept is not None else None
    texts = (note.id, note.nugget_name, note.title, note.content, note.kind, note.source_key)
    return (*texts, note.hidden, note.hits, note.created_at, note.archived_at, repr(note.extra), waiting)


def whole(snapshot: Snapshot) -> tuple[Counter[Any], dict[str, Any]]:
    return Counter(map(meaning, snapshot.notes)), {n.name: n.facts for n in snapshot.nuggets}


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(snapshots())
def test_a_repaired_memory_is_sound_in_its_files_and_repairing_can_be_taken_back(damaged: Snapshot) -> None:
    with in_files(damaged) as home:
        memory = Memory.open(home)
        before = memory.snapshot
        change_set = repaired(memory)
        fresh = Memory.open(home)
        assert repairable(fresh) == []
        assert repaired(fresh).empty
        if not change_set.empty:
            memory.history.undo(change_set)
            assert whole(Memory.open(home).snapshot) == whole(before)


@pytest.mark.slow
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
@given(snapshots(), second_files())
def test_one_repair_settles_any_damage_and_keeps_every_text(
    damaged: Snapshot, second: list[Fact] | None
) -> None:
    with in_files(damaged) as home:
        if second is not None:
            shaped = [fact_object(fact.key, fact.value, hits=fact.hits) for fact in second]
            write_nugget(home, "memory", shaped, suffix=".donna.json")
        memory = Memory.open(home)
        said = _texts(memory.snapshot) | {squeeze(fact.value) for n in damaged.nuggets for fact in n.facts}
        memory.maintenance.repair()
        fresh = Memory.open(home)
        left = fresh.maintenance.verify()
        assert [found for found in left if found.repair] == []
        assert all(". " in found.detail for found in left)
        assert said - {""} <= _texts(fresh.snapshot) | _unread(fresh)
        written = tree(home)
        assert fresh.maintenance.repair().empty
        assert tree(home) == written
        memory.close()
        fresh.close()


CUT = st.tuples(st.sampled_from((str(GRAPH), "memory.nugget.json", "memory.donna.json")), st.floats(0, 1))


@pytest.mark.slow
@settings(max_examples=examples(12))
@given(cuts=st.lists(CUT, min_size=1, max_size=3), logged=st.booleans())
def test_one_repair_settles_files_that_are_cut_off_wherever_that_is(
    cuts: list[tuple[str, float]], logged: bool
) -> None:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        if logged:
            made = Memory.open(home)
            made.change("stored", lambda draft: remember(draft, "memory", "user:k", "v"))
            made.close()
        else:
            write_graph(home, [note_object(1), note_object(2)])
            write_nugget(home, "memory", [fact_object("user:k", "v"), fact_object("user:j", "w")])
        write_nugget(home, "memory", [fact_object("user:k", "other")], suffix=".donna.json")
        for file, part in cuts:
            data = (home / file).read_bytes()
            (home / file).write_bytes(data[: int(part * len(data))])
        memory = Memory.open(home, tolerant=True)
        memory.maintenance.repair()
        fresh = Memory.open(home, tolerant=True)
        assert [found for found in fresh.maintenance.verify() if found.repair] == []
        written = tree(home)
        assert fresh.maintenance.repair().empty
        assert tree(home) == written
        memory.close()
        fresh.close()


def _texts(snapshot: Snapshot) -> set[str]:
    waiting = (note.hidden_fact.value for note in snapshot.notes if note.hidden_fact is not None)
    facts = (fact.value for nugget in snapshot.nuggets for fact in nugget.facts)
    return {squeeze(text) for text in (*(note.content for note in snapshot.notes), *waiting, *facts)}


def _unread(memory: Memory) -> set[str]:
    """Values of files that are left to a person, as they lie beside the others."""
    second = [found.where for found in memory.maintenance.verify() if found.kind == "conflict-copy"]
    return {
        squeeze(fact["value"])
        for file in second
        for fact in json.loads(Path(file).read_bytes())["facts"]
        if fact != 7
    }


def test_one_broken_fact_file_does_not_keep_the_rest_from_being_repaired(tmp_path: Path) -> None:
    stuck = note_object(1, nugget="broken", kind="fact", sourceKey="k", title="k", tags=[])
    write_graph(tmp_path, [stuck, note_object(2, tags=[])])
    replace_bytes(tmp_path / "broken.nugget.json", b"{")
    memory = Memory.open(tmp_path)
    repaired(memory)
    stored = graph_of(tmp_path)["notes"]
    assert stored[0] == stuck
    assert "memory" in stored[1]["tags"]
    assert (tmp_path / "broken.nugget.json").read_bytes() == b"{"
    assert "fix that first" in " ".join(found.detail for found in findings(memory.snapshot))
