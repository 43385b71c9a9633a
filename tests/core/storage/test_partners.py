"""Programs without a lock that go on and on: what a person did stays done, and what they did is there too.

The runs of several processes are short here; NUGGETS_FOREIGN_SECONDS=60 makes them the full test.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from kits.beside import NUGGET, values_of
from kits.memory_files import (
    GRAPH,
    fact_object,
    note_object,
    notes_of,
    write_graph,
    write_nugget,
)
from kits.original_writer import Original, read_graph, save_graph
from kits.partners import Change, changes_of, missing, start

from core import Memory
from core.facts.edits import remember
from core.graph.edits import create_note, edit_note, hide_note
from core.storage.files import exchange

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("NUGGETS_FOREIGN_SECONDS", "3"))
ROUNDS = 100 if SECONDS >= 20 else 25


def _age(home: Path, seconds: float = 10.0) -> None:
    """The files as they are when nobody has written for so long."""
    for path in (home / GRAPH, home / NUGGET):
        found = path.stat()
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns - int(seconds * 1e9)))


# A program that keeps facts in memory and saves all of them


def _after_quiet(memory: Memory) -> None:
    _age(memory.home)
    for _ in range(5):
        memory.refresh()


@pytest.mark.parametrize("reopened", [0, 10, 1], ids=["never", "every tenth round", "every round"])
@pytest.mark.timeout(300)
def test_no_edit_and_no_hide_is_undone_by_a_partner_that_saves_all_facts_for_a_hundred_rounds(
    tmp_path: Path, reopened: int
) -> None:
    write_graph(tmp_path, [note_object(number) for number in range(3)])
    keys = [f"user:k{number}" for number in range(40)]
    write_nugget(tmp_path, "memory", [fact_object(key, f"old {key}") for key in keys])
    memory = Memory.open(tmp_path)
    memory.maintenance.repair()
    partner = Original(tmp_path, load=True)
    memory.refresh()
    chance, own = random.Random(reopened), {key: f"old {key}" for key in keys}
    ours, theirs = iter(keys[:20]), itertools.cycle(keys[20:])
    gone: list[str] = []
    for turn in range(ROUNDS):
        if reopened and turn % reopened == 0:
            partner = Original(tmp_path, load=True)
            memory.refresh(patient=False)
        if turn % 5 == 0:
            key = next(ours, "")
            if key and turn % 2:
                note = memory.snapshot.fact_notes["memory", key]
                memory.change("hide", partial(hide_note, id=note.id))
                own.pop(key)
                gone.append(key)
            elif key:
                memory.change("edit", partial(remember, nugget="memory", key=key, value=f"ours {turn}"))
                own[key] = f"ours {turn}"
        if turn % 3 == 0:
            key, value = f"user:theirs {turn}", f"theirs {turn}"
            partner.remember(key, value)
            own[key] = value
        else:
            partner.recall(next(theirs), f"s-{turn}")
        if chance.random() < 0.8:
            _age(tmp_path, chance.uniform(0, 3))
            memory.refresh(patient=False)
    _after_quiet(memory)
    assert values_of(tmp_path) == own
    assert all(memory.snapshot.fact_notes["memory", key].hidden for key in gone)
    places = [entry.conflict.where for entry in memory.history.conflicts() if entry.conflict]
    assert len(places) == len(set(places))
    assert memory.maintenance.verify() == ()
    assert Memory.open(tmp_path).store.reconciled


# Several programs at once


def _run(home: Path, writers: Sequence[tuple[str, ...]], seconds: float) -> tuple[list[Change], list[Change]]:
    """Three writers of ours beside programs without a lock, and the app open; what ours and what the others did."""
    write_graph(home, [note_object(number * 1000 + own) for number in range(3) for own in range(40)])
    facts = [fact_object(f"user:kept {number * 100 + own}") for number in range(3) for own in range(60)]
    write_nugget(home, "memory", facts)
    memory = Memory.open(home)
    memory.maintenance.repair()
    own = [start(home, "ours", number, seconds, "0.2") for number in range(3)]
    others = [start(home, role, number, seconds, *options) for number, (role, *options) in enumerate(writers)]
    while any(process.poll() is None for process in (*own, *others)):
        memory.refresh(patient=False)
        time.sleep(0.02)
    made = [change for process in own for change in changes_of(process)]
    theirs = [change for process in others for change in changes_of(process)]
    _after_quiet(memory)
    return made, theirs


@pytest.mark.parametrize(
    "writers",
    [
        [("rename", "1"), ("holding", "1")],
        [("slow", "1"), ("holding", "1")],
        [("vim", "1"), ("holding", "1", "vim")],
    ],
    ids=["rename", "slowly in place", "as vim saves"],
)
@pytest.mark.timeout(300)
def test_every_change_of_ours_stands_beside_programs_without_a_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writers: list[tuple[str, ...]]
) -> None:
    monkeypatch.setattr(exchange, "SETTLING_SECONDS", 2.0)
    made, theirs = _run(tmp_path, writers, SECONDS)
    memory = Memory.open(tmp_path)
    waiting = {
        name
        for entry in memory.history.conflicts()
        for name in (
            *(change.id for change in entry.change_set.notes),
            *(fact.key for fact in entry.change_set.facts),
        )
    }
    gone = missing(tmp_path, made)
    assert [change for change in gone if not {change.get("id"), change.get("key")} & waiting] == []
    # What one of them wrote over the other before anybody could see it is not ours to keep.
    seen = {change.id for entry in memory.history.log(limit=None) for change in entry.change_set.notes}
    keys = {fact.key for entry in memory.history.log(limit=None) for fact in entry.change_set.facts}
    lost = missing(tmp_path, theirs)
    assert [change for change in lost if change.get("id") in seen or change.get("key") in keys] == []
    if [role for role, *_ in writers].count("rename") < 2:
        assert lost == []
    ours = {change.get("key", "") for change in made} | {f"user:kept {number}" for number in range(300)}
    findings = [f for f in memory.maintenance.verify() if any(key in f.where for key in ours if key)]
    assert [f for f in findings if f.kind != "conflict"] == []
    assert memory.store.reconciled


# Files that are written in place


def test_what_is_written_into_a_file_after_we_replaced_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "SETTLING_SECONDS", 2.0)
    write_graph(tmp_path, [note_object(number) for number in range(3)])
    memory = Memory.open(tmp_path)
    notes = [*notes_of(tmp_path).values(), note_object(9)]
    with (tmp_path / GRAPH).open("r+b") as handle:
        memory.change("new", lambda draft: create_note(draft, "memory", "Ours", "Text."))
        handle.write(json.dumps({"version": 3, "notes": notes}, indent=2).encode())
        handle.truncate()
    memory.refresh()
    titles = sorted(note["title"] for note in notes_of(tmp_path).values())
    assert titles == ["Ours", "Title 0", "Title 1", "Title 2", "Title 9"]
    assert memory.history.conflicts() == ()


def test_a_file_that_is_being_written_in_place_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "SETTLING_SECONDS", 2.0)
    write_graph(tmp_path, [note_object(number) for number in range(3)])
    whole = (tmp_path / GRAPH).read_bytes()
    memory = Memory.open(tmp_path)
    handle = (tmp_path / GRAPH).open("wb")
    handle.write(whole[: len(whole) // 2])
    handle.flush()

    def go_on(seconds: float) -> None:
        if not handle.closed:
            handle.write(whole[len(whole) // 2 :].replace(b"Content of note 2.", b"Theirs."))
            handle.close()

    monkeypatch.setattr(exchange.time, "sleep", go_on)
    memory.change("edit", lambda draft: edit_note(draft, "note-memory-00000001", content="Ours."))
    assert {n["content"] for n in notes_of(tmp_path).values()} == {"Content of note 0.", "Ours.", "Theirs."}
    assert not (tmp_path / "quarantine").exists()


def test_a_restoration_that_the_system_refuses_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.errors import StorageError
    from core.storage import store

    write_graph(tmp_path, [note_object(number) for number in range(3)])
    one = "note-memory-00000001"
    memory = Memory.open(tmp_path)
    old = read_graph(tmp_path)
    memory.change("edit", lambda draft: edit_note(draft, one, content="Ours."))
    save_graph(tmp_path, old | {"notes": [*old["notes"], note_object(9)]})
    os.utime(tmp_path / GRAPH, (1, 1))
    with monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise StorageError("cannot be written (No space left on device)", where="graph.json")

        patch.setattr(store, "prepare", full)
        memory.refresh()
        assert notes_of(tmp_path)[one]["content"] != "Ours."
        assert "No space left" in "".join(memory.take_notices())
    memory.refresh()
    assert notes_of(tmp_path)[one]["content"] == "Ours."
