"""What a program without a lock does to the files beside us: merged, put back or taken over, and told."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kits.beside import (
    NUGGET,
    ONE,
    TWO,
    content_of,
    kinds,
    make_home,
    never_quiet,
    save_stale,
    values_of,
    write_later,
)
from kits.memory_files import GRAPH, note_object, notes_of, replace_bytes
from kits.original_writer import Original, read_graph
from kits.steps import assert_facts_and_notes_are_one

from core import Memory
from core.errors import ConflictError, NuggetsError
from core.facts.edits import forget, remember
from core.graph.edits import create_note, delete_note, edit_note, hide_note
from core.model.draft import Draft
from core.model.snapshot import Snapshot

NEW = "note-memory-00000009"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path)


def _save_copy(home: Path, graph: dict[str, Any], number: int = 9, seconds: float = 1.0) -> None:
    """A program adds a note to what it read some time ago, and saves all of it."""
    graph["notes"].append(note_object(number))
    save_stale(home, graph, seconds)


def _without_times(snapshot: Snapshot) -> object:
    """All that a snapshot says but for times and for what the other program added."""
    notes = [
        (n.id, n.title, n.content, n.tags, n.hidden, n.source_key, [(one.to, one.reason) for one in n.links])
        for n in snapshot.notes
        if n.id != NEW
    ]
    facts = [(f.key, f.value) for nugget in snapshot.nuggets for f in nugget.facts]
    return sorted(notes), sorted(facts)


# A copy with something new


def test_a_change_that_an_old_copy_reverts_is_put_back_once_and_said(home: Path) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    _save_copy(home, stale)
    assert content_of(home) == "Content of note 1."
    again = Memory.open(home)
    assert content_of(home) == "Ours."
    assert NEW in notes_of(home)
    assert kinds(again) == [("edit", "done"), ("outside", "done"), ("restore", "done")]
    restored, meant = (entry.change_set for entry in again.history.log()[:2])
    assert [change.id for change in restored.notes] == [ONE]
    assert [change.id for change in meant.notes] == [NEW]
    (said,) = again.take_notices()
    assert said.endswith(f"undo {restored.id}")
    for _ in range(2):
        assert Memory.open(home).take_notices() == ()
    assert len(Memory.open(home).history.log()) == 3
    again.history.undo(restored.id)
    assert content_of(home) == Memory.open(home).snapshot.note(ONE).content == "Content of note 1."


def test_what_is_reverted_again_and_again_is_put_back_each_time_as_one_entry_that_counts(home: Path) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    said: list[str] = []
    for number in range(9, 14):
        _save_copy(home, stale, number)
        memory.refresh()
        assert content_of(home) == "Ours."
        said += memory.take_notices()
    assert len(said) == 1
    (entry,) = memory.history.log(limit=None, kind="restore")
    assert "5 times" in entry.change_set.reason
    # What was put back before is a copy also when nothing new comes with it.
    save_stale(home, stale)
    memory.refresh()
    assert content_of(home) == "Ours."
    assert memory.history.conflicts() == ()


def test_nothing_is_put_back_while_another_program_keeps_saving_but_for_a_change(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    with monkeypatch.context() as patch:
        never_quiet(patch)
        for number in range(9, 12):
            _save_copy(home, stale, number, 0.02)
            memory.refresh(patient=False)
            assert content_of(home) == "Content of note 1."
            assert not memory.store.reconciled
        assert len(memory.history.log(kind="restore")) == 1
        memory.change("edit", lambda draft: edit_note(draft, TWO, content="Ours too."))
        assert (content_of(home), content_of(home, TWO)) == ("Ours.", "Ours too.")
    assert memory.store.reconciled
    assert {f"note-memory-{number:08x}" for number in range(9, 12)} <= set(notes_of(home))


def test_a_recall_of_what_is_to_be_put_back_counts_and_loses_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    with monkeypatch.context() as patch:
        never_quiet(patch)
        for note in stale["notes"]:
            if note["id"] == TWO:
                note["content"] = "Theirs."
        _save_copy(home, stale)
        for id in (ONE, TWO):
            memory.recalls.count(memory.snapshot, id, "s")
        assert content_of(home) == "Content of note 1."
        memory.change("edit", lambda draft: edit_note(draft, NEW, content="More."))
    assert (content_of(home), content_of(home, TWO)) == ("Ours.", "Theirs.")
    assert [notes_of(home)[id]["hits"] for id in (ONE, TWO)] == [1, 1]
    assert memory.history.conflicts() == ()


@pytest.mark.parametrize(
    "edit",
    [
        lambda draft: create_note(draft, "memory", "Made", "Text."),
        lambda draft: delete_note(draft, TWO),
        lambda draft: hide_note(draft, TWO),
        lambda draft: edit_note(draft, TWO, title="Other", add_tags=["x"]),
        lambda draft: remember(draft, "memory", "user:new", "value"),
        lambda draft: remember(draft, "memory", "user:a", "another value"),
        lambda draft: forget(draft, "memory", "user:a"),
    ],
    ids=["create", "delete", "hide", "edit", "new fact", "changed fact", "forgotten fact"],
)
@pytest.mark.parametrize("files", ["graph", "facts", "both"])
def test_every_kind_of_change_outlives_an_old_copy_of_either_file(
    home: Path, edit: Callable[[Draft], object], files: str
) -> None:
    memory = Memory.open(home)
    held, stale = Original(home, load=False), read_graph(home)
    memory.change("edit", edit)
    after = _without_times(memory.snapshot)
    if files != "graph":
        held.facts[1] |= {"hits": 1, "last_hit_session": "s-1"}
        write_later(home / NUGGET, held.save_facts)
    if files != "facts":
        _save_copy(home, stale)
    memory.refresh()
    hits = {fact.key: fact.hits for fact in memory.snapshot.nugget("memory").facts}["user:b"]
    assert (hits, NEW in memory.snapshot.by_id) == (files != "graph", files != "facts")
    assert _without_times(memory.snapshot) == after
    assert len(memory.take_notices()) <= 1
    assert_facts_and_notes_are_one(memory.snapshot)
    assert memory.maintenance.verify() == ()


def test_a_change_older_than_a_day_gives_way_to_an_old_copy(home: Path) -> None:
    from datetime import UTC, datetime, timedelta

    now = [datetime(2026, 5, 5, tzinfo=UTC)]
    memory = Memory.open(home, clock=lambda: now[0])
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    now[0] += timedelta(hours=25)
    _save_copy(home, stale)
    memory.refresh()
    assert content_of(home) == "Content of note 1."
    memory.history.undo(memory.history.log(author="program", text="older version")[0].id)
    assert content_of(home) == "Ours."


def test_white_space_that_a_save_squeezed_is_put_back_without_a_word(home: Path) -> None:
    memory = Memory.open(home)
    code = "- a\n  - b\n\n    code()"
    memory.change("edit", lambda draft: edit_note(draft, ONE, content=code))
    _save_copy(home, read_graph(home))
    assert content_of(home) != code
    memory.refresh()
    assert content_of(home) == code
    assert memory.take_notices() == ()
    assert [kind for kind, _ in kinds(memory)] == ["edit", "outside"]
    assert Memory.open(home).store.reconciled


def test_recalls_of_a_program_that_keeps_its_facts_in_memory_are_counted_on_ours(home: Path) -> None:
    memory = Memory.open(home)
    held = Original(home, load=False)
    memory.change("edit", lambda draft: remember(draft, "memory", "user:a", "Ours."))
    for number in range(1, 4):
        write_later(home / NUGGET, lambda number=number: held.recall("user:a", f"s-{number}"))
        memory.refresh()
        fact = memory.snapshot.nugget("memory").find("user:a")
        assert fact is not None
        assert (fact[1].value, fact[1].hits) == ("Ours.", number)
    assert_facts_and_notes_are_one(memory.snapshot)
    assert memory.history.conflicts() == ()
    assert len(memory.take_notices()) <= 3


# Something new in what we changed


def test_an_edit_of_what_we_did_not_change_merges_with_ours(home: Path) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours.", title="Ours"))
    stale["notes"][0] |= {"confidence": 0.25}
    save_stale(home, stale)
    memory.refresh()
    assert (content_of(home), notes_of(home)[ONE]["confidence"]) == ("Ours.", 0.25)


def test_a_text_that_both_changed_is_a_conflict_where_it_is_plain_what_it_was_based_on(home: Path) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change(
        "edit", lambda draft: edit_note(draft, ONE, content="Ours.", title="Ours", add_tags=["ours"])
    )
    for text in ("Theirs.", "Theirs again."):
        stale["notes"][0] |= {"content": text}
        save_stale(home, stale)
        memory.refresh()
        assert content_of(home) == "Ours."
    (entry,) = memory.history.conflicts()
    assert entry.conflict is not None
    assert (entry.conflict.where, entry.conflict.ours, entry.conflict.theirs) == (
        ONE,
        "Theirs again.",
        "Ours.",
    )
    memory.history.resolve_conflict(entry.id, "ours")
    assert (content_of(home), notes_of(home)[ONE]["title"]) == ("Theirs again.", "Ours")


def test_an_edit_that_may_not_have_seen_ours_stands_and_a_notice_brings_ours_back(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    write_later(home / GRAPH, lambda: Original(home, load=False).edit_note(ONE, content="Theirs."))
    memory.refresh()
    assert content_of(home) == "Theirs."
    (said,) = memory.take_notices()
    memory.history.undo(re.findall(r"undo (\S+)", said)[0])
    assert content_of(home) == "Ours."


# Nothing new


@pytest.mark.parametrize("seconds", [1, 60, 3600])
def test_a_file_that_somebody_restores_is_taken_as_it_is_and_a_notice_brings_ours_back(
    home: Path, seconds: float
) -> None:
    memory = Memory.open(home)
    old = (home / GRAPH).read_bytes()
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    memory.change("new", lambda draft: create_note(draft, "memory", "Made", "Text."))
    write_later(home / GRAPH, lambda: replace_bytes(home / GRAPH, old), seconds)
    memory.refresh()
    assert (home / GRAPH).read_bytes() == old
    (said,) = memory.take_notices()
    memory.history.undo(re.findall(r"undo (\w+)", said)[0])
    assert content_of(home) == "Ours."
    assert "Made" in {note["title"] for note in notes_of(home).values()}


def test_an_old_list_of_facts_that_is_saved_a_moment_before_the_graph_is_one_save_with_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    held, stale = Original(home, load=False), read_graph(home)
    memory.change("new", lambda draft: remember(draft, "memory", "user:new", "value"))
    held.save_facts()
    memory.refresh(patient=False)
    assert "user:new" not in values_of(home)
    stale["notes"].append(note_object(9))
    save_stale(home, stale, 0.01)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    assert values_of(home)["user:new"] == "value"
    assert_facts_and_notes_are_one(memory.snapshot)


def test_a_fact_that_another_program_forgets_stays_forgotten(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("new", lambda draft: remember(draft, "memory", "user:new", "value"))
    agent = Original(home, load=False)
    write_later(home / GRAPH, lambda: write_later(home / NUGGET, lambda: agent.forget("user:new")))
    memory.refresh()
    assert "user:new" not in values_of(home)
    assert_facts_and_notes_are_one(memory.snapshot)
    assert len(memory.take_notices()) == 1


# Edits that meet


@pytest.mark.parametrize("field", ["value", "content"])
def test_a_persons_own_text_stands_in_a_fact_and_in_its_note(home: Path, field: str) -> None:
    memory = Memory.open(home)
    draft = memory.draft()
    note = draft.present().fact_notes["memory", "user:a"]
    if field == "value":
        remember(draft, "memory", "user:a", "ours")
    else:
        edit_note(draft, note.id, content="ours")
    Original(home, load=False).remember("user:a", "theirs")
    with pytest.raises(ConflictError) as caught:
        memory.apply(draft.change_set("edit"))
    memory.history.resolve_conflict(caught.value.entry, "ours", "both")
    assert values_of(home)["user:a"] == content_of(home, note.id) == "both"
    assert_facts_and_notes_are_one(memory.snapshot)


# Files that break


def test_a_file_that_breaks_between_two_looks_takes_nothing_out_of_the_log(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    whole = (home / GRAPH).read_bytes()
    write_later(home / GRAPH, lambda: replace_bytes(home / GRAPH, whole[:-30]), -10)
    for look in (memory.refresh, lambda: Memory.open(home)):
        with pytest.raises(NuggetsError):
            look()
    replace_bytes(home / GRAPH, whole)
    memory.refresh()
    assert kinds(memory) == [("edit", "done")]
    memory.history.undo()
    assert content_of(home) == "Content of note 1."


def test_a_fact_file_that_breaks_takes_no_fact_out_of_the_log(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("fact", lambda draft: remember(draft, "memory", "user:ours", "ours"))
    whole = (home / NUGGET).read_bytes()
    write_later(home / NUGGET, lambda: replace_bytes(home / NUGGET, whole[:-30]), -10)
    memory.refresh()
    memory.change("note", lambda draft: edit_note(draft, ONE, content="Ours."))
    replace_bytes(home / NUGGET, whole)
    again = Memory.open(home)
    assert [kind for kind, _ in kinds(again)] == ["edit", "edit"]
    again.history.undo()
    again.history.undo()
    assert values_of(home) == {"user:a": "a value", "user:b": "a value"}


def test_a_note_that_a_program_shows_again_and_again_is_shown_whatever_old_copy_came_between(
    home: Path,
) -> None:
    memory = Memory.open(home)
    memory.change("hide", lambda draft: hide_note(draft, ONE))
    hidden = (home / GRAPH).read_bytes()

    def show(minute: int) -> None:
        graph = read_graph(home)
        for note in graph["notes"]:
            if note["id"] == ONE:
                note |= {"hidden": False, "updatedAt": f"2030-01-01T00:{minute:02}:00.000Z"}
        save_stale(home, graph)
        memory.refresh()

    show(1)
    assert not memory.snapshot.note(ONE).hidden
    write_later(home / GRAPH, lambda: replace_bytes(home / GRAPH, hidden), 5.0)
    memory.refresh()
    assert memory.snapshot.note(ONE).hidden
    show(2)
    assert not memory.snapshot.note(ONE).hidden
