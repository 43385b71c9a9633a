"""Recall through the memory object: who is counted, when nothing is written, and the graph behind the facts."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from kits.memory_files import GRAPH, facts_of, note_object, notes_of, tree, write_graph, write_nugget

from core import Memory
from core.errors import NotFoundError
from core.facts.edits import remember
from core.graph.edits import create_note
from core.model.change import Author
from core.storage.files import atomic as files

FACT_NOTE = "fact-memory-00000001"


def _hits(store: Path) -> tuple[int, int]:
    return facts_of(store, "memory.donna.json")[0]["hits"], notes_of(store)[FACT_NOTE]["hits"]


def test_a_recall_counts_once_for_each_session(store: Path, clock: Callable[[], datetime]) -> None:
    memory = Memory.open(store, clock=clock)
    for session, hits in (("s-8", 3), ("s-8", 3), ("s-9", 4)):
        found = memory.recall("user:name", session=session)
        assert (found.answer, found.via, found.note_id) == ("Esteban", "facts", FACT_NOTE)
        assert _hits(store) == (hits, hits)
    note = notes_of(store)[FACT_NOTE]
    assert note["lastHitSession"] == "s-9"
    assert note["lastAccessedAt"][:10] == "2026-11-18"
    assert note["updatedAt"][:10] == "2026-03-01"
    done = [entry.change_set for entry in memory.history.log()]
    assert [(one.kind, one.author.kind) for one in done] == [("hit", "agent")] * 2


def test_a_look_and_a_miss_leave_every_byte(store: Path) -> None:
    before = tree(store)
    memory = Memory.open(store)
    assert memory.recall("user:name", record=False).answer == "Esteban"
    missed = memory.recall("zzz qqq entirely unknown", session="s-9")
    assert (missed.found, missed.answer, missed.match) == (False, None, None)
    assert tree(store) == before


def test_without_a_session_the_environment_names_one_else_the_process_and_day(
    store: Path, monkeypatch: pytest.MonkeyPatch, clock: Callable[[], datetime]
) -> None:
    memory = Memory.open(store, clock=clock)
    monkeypatch.setenv("NUGGETS_SESSION", "from-outside")
    memory.recall("user:name")
    assert notes_of(store)[FACT_NOTE]["lastHitSession"] == "from-outside"
    monkeypatch.delenv("NUGGETS_SESSION")
    memory.recall("user:name")
    memory.recall("user:name")
    assert notes_of(store)[FACT_NOTE]["lastHitSession"] == f"process-{os.getpid()}-2026-11-18"
    assert _hits(store) == (4, 4)


def test_an_answer_is_given_also_when_it_cannot_be_counted(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (store / GRAPH).read_text().replace('"version": 3', '"version": 9')
    (store / GRAPH).write_text(text)
    before = tree(store)
    memory = Memory.open(store)
    assert memory.recall("user:name", session="s-9").answer == "Esteban"
    assert memory.uncounted_recalls == 1
    assert tree(store) == before


@pytest.mark.slow
def test_a_locked_memory_still_answers(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.01)
    memory = Memory.open(store)
    with files.locked(store):
        assert memory.recall("user:name", session="s-9").answer == "Esteban"
    assert memory.uncounted_recalls == 1
    memory.recall("user:name", session="s-9")
    assert _hits(store) == (3, 3)


def test_what_the_facts_do_not_know_the_graph_answers_and_its_note_is_counted(tmp_path: Path) -> None:
    note = note_object(
        1, title="Rollback drill", content="Run the quarterly rollback drill with the database team."
    )
    write_graph(tmp_path, [note, note_object(2)])
    path = write_nugget(tmp_path, "memory", [{"key": "colour", "value": "green"}])
    before = path.read_bytes()
    found = Memory.open(tmp_path).recall("rollback drill", session="s-1")
    assert (found.via, found.note_id, found.found) == ("graph", note["id"], True)
    assert found.match is not None
    assert found.match.kind == "graph"
    assert notes_of(tmp_path)[note["id"]]["hits"] == 1
    assert path.read_bytes() == before


def test_a_hidden_fact_is_not_recalled_from_anywhere(store: Path) -> None:
    from core.facts.edits import forget

    memory = Memory.open(store)
    memory.change("forget", lambda draft: forget(draft, "memory", "user:favorite color"))
    assert memory.recall("user:favorite color", record=False).answer != "dark green"


def test_a_nugget_that_is_not_there_is_named(store: Path) -> None:
    with pytest.raises(NotFoundError, match="absent"):
        Memory.open(store).recall("user:name", nugget="absent")


def test_a_fact_that_its_note_answers_for_is_counted_in_both_files(tmp_path: Path) -> None:
    from core.facts.edits import remember

    memory = Memory.open(tmp_path)
    memory.change("remembered", lambda draft: remember(draft, "memory", "code freeze", "two reviews a fix"))
    found = memory.recall("how many reviews during the freeze", session="s-1")
    assert (found.via, found.key, found.answer) == ("facts", "code freeze", "two reviews a fix")
    assert found.note_id is not None
    (nugget,) = memory.snapshot.nuggets
    assert [fact.hits for fact in nugget.facts] == [1]
    assert memory.snapshot.by_id[found.note_id].hits == 1


def test_a_word_half_typed_is_completed_before_it_is_taken_for_a_typing_error(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path)
    memory.change("people", lambda draft: remember(draft, "people", "Mira", "a designer"))
    memory.change("other", lambda draft: remember(draft, "people", "test cmd", "pytest -q"))
    assert memory.recall("miras", record=False).answer == "a designer"
    assert memory.recall("migra", record=False).answer == "a designer"
    memory.change("note", lambda draft: create_note(draft, "project", "Migrations", "Run by hand."))
    assert memory.recall("migra", record=False).answer == "Run by hand."
    memory.change("key", lambda draft: remember(draft, "project", "migrate cmd", "make migrate"))
    for asked in ("migra", "migrat"):
        assert memory.recall(asked, record=False).answer == "make migrate"
    assert memory.recall("migrte cmd", record=False).answer == "make migrate"
    assert memory.recall("mirra", record=False).answer == "a designer"


def test_which_of_several_words_is_half_typed_is_not_guessed_from_notes(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path)
    for title in ("Invoices", "Investors"):
        memory.change("note", lambda draft, title=title: create_note(draft, "office", title, "x."))
    assert memory.recall("invoi", record=False).key == "Invoices"
    assert (
        not memory.recall("inve", record=False).found
        or memory.recall("inve", record=False).key == "Investors"
    )
    memory.change("note", lambda draft: create_note(draft, "office", "Invention", "x."))
    assert not memory.recall("inve", record=False).found


@pytest.mark.parametrize("value", ["[masked: GitHub token]", "'[masked: key] [masked: JWT]'"])
def test_a_masked_credential_answers_no_recall_but_stays_listed(tmp_path: Path, value: str) -> None:
    memory = Memory.open(tmp_path)
    memory.change("mask", lambda draft: remember(draft, "vault", "auth token", value))
    assert not memory.recall("auth token", record=False).found
    assert not memory.recall("auth token", "vault", record=False).found
    assert [fact.value for fact in memory.snapshot.nugget("vault").facts] == [value]
    memory.change("real", lambda draft: remember(draft, "web", "token of auth", "ask Sam"))
    assert memory.recall("auth token", record=False).answer == "ask Sam"
    memory.change("part", lambda draft: remember(draft, "vault", "auth token", f"psql -U me {value}"))
    assert memory.recall("auth token", record=False).answer == f"psql -U me {value}"


def test_who_recalled_first_is_told_by_signature_whatever_the_session(tmp_path: Path) -> None:
    person = Memory.open(tmp_path)
    person.change("fact", lambda draft: remember(draft, "web", "test command", "pytest -q"))
    assert person.history.callers() == {}
    agent = Memory.open(tmp_path, author=Author("agent", "claude"))
    agent.recall("test command", record=False)
    assert person.history.callers() == {}
    agent.recall("test command", session="one")
    told = person.history.callers()
    assert list(told) == ["agent:claude"]
    assert person.history.entry(told["agent:claude"]).change_set.kind == "hit"
    newest = person.history.newest()
    assert person.history.callers(newest) == {}
    person.recall("test command", session="two")
    assert list(person.history.callers(newest)) == ["person"]
