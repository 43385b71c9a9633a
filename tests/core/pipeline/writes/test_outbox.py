"""What was accepted becomes notes, each once; what a person did to a note stands."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
from kits.memory_files import note_object, notes_of, write_graph
from kits.outbox_kit import NOW, Handed, decided, events, learned, outbox_rows, status_of

from core import Memory
from core.errors import LockTimeoutError, NotFoundError
from core.facts.edits import remember
from core.graph.edits import create_note, delete_note, edit_note, hide_note, unhide_note
from core.graph.merging import merge_notes
from core.model.change import Author
from core.model.note import Note, replace
from core.pipeline.database.connection import Database
from core.pipeline.database.outbox_lock import outbox_lock
from core.pipeline.intake.normalisation import normalise
from core.pipeline.records import ProposalReason
from core.pipeline.transaction_guard import CallInsideTransactionError
from core.pipeline.writes.note_of import note_id_of
from core.pipeline.writes.note_sync import sync_from_notes
from core.pipeline.writes.outbox import FlushResult, flush_outbox
from core.storage.files.atomic import locked

DARK = "The user prefers dark mode."
FRIDAY = "Deploys run on Friday."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_graph(tmp_path, [note_object(number) for number in range(3)])
    return tmp_path


@pytest.fixture
def database(home: Path) -> Iterator[Database]:
    opened = Database.open(home)
    yield opened
    opened.close()


@pytest.fixture
def memory(home: Path, clock: Callable[[], datetime], ids: Callable[[], str]) -> Memory:
    return Memory.open(home, clock=clock, ids=ids)


def _over(database: Database, memory: Memory, **more: object) -> FlushResult:
    done = flush_outbox(database, memory, now=NOW + 1, **more)  # type: ignore[arg-type]
    assert done.problem is None
    return done


def _as_if_killed_before_marking(database: Database) -> None:
    with database.write() as writer:
        writer.connection.execute("UPDATE graph_outbox SET status = 'pending', done_at = NULL, entry_id = ''")


# Bringing over


@pytest.mark.slow
def test_many_facts_become_notes_in_one_entry_of_the_log_by_the_pipeline(
    database: Database, memory: Memory
) -> None:
    handed = [
        learned(database, f"Service {number} listens on port {number}.") for number in range(8000, 8020)
    ]
    before = len(memory.history.log(limit=None))
    done = _over(database, memory)
    assert done.written == tuple(one.proposal for one in handed)
    assert (done.unchanged, done.conflicts, done.failed, done.waiting, done.busy) == ((), (), (), 0, False)
    entry = memory.history.log(limit=1)[0]
    assert len(memory.history.log(limit=None)) == before + 1
    assert (entry.change_set.author, entry.change_set.reason) == (Author("pipeline"), "learned 20 facts")
    assert {change.id for change in entry.change_set.notes} == {one.note for one in handed}
    notes = notes_of(memory.home)
    assert len(notes) == 23
    assert notes[handed[3].note]["content"] == "Service 8003 listens on port 8003."
    rows = database.reading.connection.execute(
        "SELECT DISTINCT status, entry_id, done_at, attempts FROM graph_outbox"
    )
    assert [tuple(row) for row in rows] == [("done", entry.id, NOW + 1, 1)]
    assert events(database, handed[3].note) == [("written", "")]


def test_a_batch_takes_the_oldest_and_says_how_many_wait(database: Database, memory: Memory) -> None:
    handed = [learned(database, f"Service {number} listens.") for number in range(5)]
    done = _over(database, memory, most=2)
    assert (done.written, done.waiting) == (tuple(one.proposal for one in handed[:2]), 3)
    while done.waiting:
        done = _over(database, memory, most=2)
    assert len(notes_of(memory.home)) == 8
    assert database.reading.outbox.counts() == {"pending": 0, "done": 5, "conflict": 0, "failed": 0}


def test_only_what_is_asked_for_is_brought_over(database: Database, memory: Memory) -> None:
    learned(database, DARK)
    wanted = learned(database, FRIDAY)
    done = _over(database, memory, proposals=[wanted.proposal])
    assert (done.written, done.waiting) == ((wanted.proposal,), 0)
    assert database.reading.outbox.count_waiting() == 1


def test_nothing_that_waits_writes_nothing(database: Database, memory: Memory) -> None:
    before = (memory.home / "graph" / "graph.json").read_bytes()
    assert _over(database, memory) == FlushResult()
    assert (memory.home / "graph" / "graph.json").read_bytes() == before


def test_what_waits_is_told_with_its_age(database: Database, memory: Memory) -> None:
    assert database.reading.outbox.oldest_pending() is None
    learned(database, FRIDAY, now=NOW + 5)
    learned(database, DARK, now=NOW + 9)
    assert database.reading.outbox.oldest_pending() == NOW + 5
    _over(database, memory)
    assert database.reading.outbox.oldest_pending() is None


def test_undo_without_a_name_takes_back_what_a_person_accepted_and_passes_over_what_came_by_itself(
    database: Database, memory: Memory
) -> None:
    memory.change("mine", lambda draft: edit_note(draft, "note-memory-00000000", content="Mine."))
    by_itself = learned(database, FRIDAY)
    _over(database, memory)
    memory.history.undo()
    assert notes_of(memory.home)["note-memory-00000000"]["content"] == "Content of note 0."
    assert by_itself.note in notes_of(memory.home)
    accepted = learned(database, DARK, by="person")
    _over(database, memory, asked=True)
    assert accepted.note in notes_of(memory.home)
    memory.history.undo()
    assert accepted.note not in notes_of(memory.home)
    memory.history.redo()
    assert notes_of(memory.home)[accepted.note]["confidence"] == 0.9


def test_a_graph_may_not_be_changed_while_the_database_is_being_written(
    database: Database, memory: Memory
) -> None:
    learned(database, DARK)
    with database.write(), pytest.raises(CallInsideTransactionError):
        flush_outbox(database, memory, now=NOW)


# Once and never twice


def test_doing_it_all_again_changes_nothing(database: Database, memory: Memory) -> None:
    added = learned(database, DARK)
    changed = decided(
        database, "update", "note-memory-00000000", "Content of note 0.", "Content that is better."
    )
    hidden = decided(database, "hide", "note-memory-00000001", "Content of note 1.")
    assert _over(database, memory).written == (added.proposal, changed.proposal, hidden.proposal)
    graph, entries = (memory.home / "graph" / "graph.json").read_bytes(), len(memory.history.log(limit=None))
    _as_if_killed_before_marking(database)
    again = _over(database, memory)
    assert (again.written, again.change_set) == ((), None)
    assert again.unchanged == (added.proposal, changed.proposal, hidden.proposal)
    assert (memory.home / "graph" / "graph.json").read_bytes() == graph
    assert len(memory.history.log(limit=None)) == entries


@pytest.mark.parametrize("undone", [False, True])
def test_a_note_that_a_person_took_out_is_not_made_again_even_after_a_crash(
    database: Database, memory: Memory, undone: bool
) -> None:
    added = learned(database, DARK)
    done = _over(database, memory)
    if undone:
        assert done.change_set is not None
        memory.history.undo(done.change_set)
    else:
        memory.change("out", lambda draft: delete_note(draft, added.note))
    _as_if_killed_before_marking(database)
    again = _over(database, memory)
    assert again.conflicts == ((added.proposal, ProposalReason.WRITTEN, "the note was deleted"),)
    assert added.note not in notes_of(memory.home)


def test_a_note_that_a_person_hid_stays_hidden_after_a_crash(database: Database, memory: Memory) -> None:
    added = learned(database, DARK)
    _over(database, memory)
    memory.change("hide", lambda draft: hide_note(draft, added.note))
    _as_if_killed_before_marking(database)
    assert _over(database, memory).unchanged == (added.proposal,)
    assert notes_of(memory.home)[added.note]["hidden"] is True


def test_a_note_that_a_person_changed_is_left_alone_after_a_crash(database: Database, memory: Memory) -> None:
    added = learned(database, DARK)
    _over(database, memory)
    memory.change("edit", lambda draft: edit_note(draft, added.note, content="Light mode, since last week."))
    _as_if_killed_before_marking(database)
    again = _over(database, memory)
    assert again.conflicts == ((added.proposal, ProposalReason.WRITTEN, "the note has changed since"),)
    assert notes_of(memory.home)[added.note]["content"] == "Light mode, since last week."
    assert outbox_rows(database) == [("add", added.note, "conflict")]


def test_an_addition_and_a_change_of_its_note_that_wait_together_are_done_one_after_the_other(
    database: Database, memory: Memory
) -> None:
    added = learned(database, FRIDAY)
    changed = decided(database, "update", added.note, FRIDAY, "Deploys run on Monday.")
    first = _over(database, memory)
    assert (first.written, first.waiting) == ((added.proposal,), 1)
    assert _over(database, memory, proposals=[changed.proposal]).written == (changed.proposal,)
    note = notes_of(memory.home)[added.note]
    assert (note["title"], note["content"]) == ("Deploys run on Monday", "Deploys run on Monday.")


def test_asking_for_a_change_alone_brings_the_addition_before_it(database: Database, memory: Memory) -> None:
    added = learned(database, FRIDAY)
    changed = decided(database, "update", added.note, FRIDAY, "Deploys run on Monday.")
    done = _over(database, memory, proposals=[changed.proposal])
    assert (done.written, done.waiting) == ((added.proposal,), 1)


def test_one_row_a_proposal_is_kept(database: Database) -> None:
    added = learned(database, DARK)
    with database.write() as writer:
        same = writer.outbox.enqueue(
            op="add", proposal_id=added.proposal, fact_id="f", note_id="n", payload={}, now=NOW
        )
    assert same == 1
    assert outbox_rows(database) == [("add", added.note, "pending")]


# Ids that others have


def _another(database: Database, memory: Memory, id: str) -> None:
    def make(draft: object) -> Note:
        made = create_note(draft, "memory", "Of a person", "Something else.")  # type: ignore[arg-type]
        draft.remove(made.id)  # type: ignore[attr-defined]
        return draft.put(replace(made, id=id))  # type: ignore[attr-defined, no-any-return]

    memory.change("another", make)


def test_an_id_that_a_note_had_when_it_was_accepted_is_passed_over(
    database: Database, memory: Memory
) -> None:
    taken = note_id_of("memory", normalise(DARK).content_hash, lambda id: False)
    _another(database, memory, taken)
    added = learned(database, DARK, taken=memory.snapshot.by_id)
    assert added.note != taken
    _over(database, memory)
    notes = notes_of(memory.home)
    assert (notes[taken]["content"], notes[added.note]["content"]) == ("Something else.", DARK)


def test_an_id_that_was_taken_meanwhile_is_chosen_again_and_kept_everywhere(
    database: Database, memory: Memory
) -> None:
    added = learned(database, DARK)
    changed = decided(database, "update", added.note, DARK, "The user prefers light mode.")
    _another(database, memory, added.note)
    assert _over(database, memory).written == (added.proposal,)
    chosen = database.reading.connection.execute("SELECT note_id FROM facts").fetchone()[0]
    assert chosen != added.note
    assert {row[1] for row in outbox_rows(database)} == {chosen}
    ids = database.reading.connection.execute("SELECT DISTINCT note_id FROM proposals").fetchall()
    assert [tuple(row) for row in ids] == [(chosen,)]
    assert _over(database, memory).written == (changed.proposal,)
    notes = notes_of(memory.home)
    assert notes[added.note]["content"] == "Something else."
    assert notes[chosen]["content"] == "The user prefers light mode."


def test_an_id_that_was_chosen_again_is_found_again_after_a_crash(database: Database, memory: Memory) -> None:
    added = learned(database, DARK)
    _another(database, memory, added.note)
    _over(database, memory)
    with database.write() as writer:
        writer.connection.execute("UPDATE graph_outbox SET status = 'pending', note_id = ?", (added.note,))
        writer.connection.execute("UPDATE facts SET note_id = ?", (added.note,))
    assert _over(database, memory).unchanged == (added.proposal,)
    assert len(notes_of(memory.home)) == 5
    assert database.reading.connection.execute("SELECT note_id FROM facts").fetchone()[0] != added.note


# Changes and hiding


def test_a_change_is_written_only_over_the_text_that_it_was_decided_on(
    database: Database, memory: Memory
) -> None:
    changed = decided(database, "update", "note-memory-00000000", "Content of note 0.", "New words.")
    memory.change("mine", lambda draft: edit_note(draft, "note-memory-00000000", content="My own words."))
    done = _over(database, memory)
    assert done.conflicts == (
        (changed.proposal, ProposalReason.TARGET_CHANGED, "the note has changed since"),
    )
    assert notes_of(memory.home)["note-memory-00000000"]["content"] == "My own words."
    row = database.reading.connection.execute("SELECT status, reason FROM proposals").fetchone()
    assert tuple(row) == ("review", "target_changed")
    assert events(database, "note-memory-00000000") == [("conflict", "target_changed")]


def test_a_change_leaves_the_title_that_a_person_gave(database: Database, memory: Memory) -> None:
    decided(database, "update", "note-memory-00000000", "Content of note 0.", "New words.")
    _over(database, memory)
    note = notes_of(memory.home)["note-memory-00000000"]
    assert (note["title"], note["content"]) == ("Title 0", "New words.")


@pytest.mark.parametrize("away", [delete_note, hide_note])
def test_a_change_of_a_note_that_went_is_not_written(
    database: Database, memory: Memory, away: Callable[..., object]
) -> None:
    changed = decided(database, "update", "note-memory-00000000", "Content of note 0.", "New words.")
    memory.change("away", lambda draft: away(draft, "note-memory-00000000"))
    assert [one[:2] for one in _over(database, memory).conflicts] == [
        (changed.proposal, ProposalReason.TARGET_GONE)
    ]


def test_a_deletion_hides_and_undo_brings_it_back(database: Database, memory: Memory) -> None:
    decided(database, "hide", "note-memory-00000000", "Content of note 0.")
    done = _over(database, memory, asked=True)
    note = notes_of(memory.home)["note-memory-00000000"]
    assert (note["hidden"], note["content"], "archivedAt" in note) == (True, "Content of note 0.", True)
    assert done.change_set is not None
    memory.history.undo(done.change_set)
    assert notes_of(memory.home)["note-memory-00000000"]["hidden"] is False


def test_a_deletion_of_what_a_person_changed_since_leaves_note_and_fact(
    database: Database, memory: Memory
) -> None:
    added = learned(database, DARK)
    _over(database, memory)
    hidden = decided(database, "hide", added.note, DARK)
    assert status_of(database, added.fact) == "denied"
    memory.change("mine", lambda draft: edit_note(draft, added.note, content="Dark mode at night."))
    assert [one[:2] for one in _over(database, memory).conflicts] == [
        (hidden.proposal, ProposalReason.TARGET_CHANGED)
    ]
    assert notes_of(memory.home)[added.note]["hidden"] is False
    assert status_of(database, added.fact) == "active"


def test_the_note_of_a_fact_carries_a_change_into_its_fact(database: Database, memory: Memory) -> None:
    note, _ = memory.change("fact", lambda draft: remember(draft, "memory", "port", "8080"))
    decided(database, "update", note.id, "8080", "9090")
    _over(database, memory)
    nugget = memory.snapshot.nugget("memory")
    assert [(fact.key, fact.value) for fact in nugget.facts] == [("port", "9090")]


# What cannot be written


def test_a_graph_that_is_locked_leaves_everything_waiting(
    database: Database, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = learned(database, DARK)
    memory.change("a log is there", lambda draft: edit_note(draft, "note-memory-00000000", content="Mine."))
    monkeypatch.setattr("core.storage.files.atomic.LOCK_SECONDS", 0.01)
    monkeypatch.setattr("core.services.repository._SYNC_SECONDS", 0.01)
    with locked(memory.home):
        done = flush_outbox(database, memory, now=NOW)
    assert isinstance(done.problem, LockTimeoutError)
    assert (done.waiting, done.written) == (1, ())
    row = database.reading.connection.execute(
        "SELECT status, attempts, error <> '' FROM graph_outbox"
    ).fetchone()
    assert tuple(row) == ("pending", 1, 1)
    assert _over(database, memory).written == (added.proposal,)


def test_a_graph_that_cannot_be_read_leaves_everything_waiting(database: Database, memory: Memory) -> None:
    added = learned(database, DARK)
    path = memory.home / "graph" / "graph.json"
    good = path.read_bytes()
    path.write_bytes(b'{"version": 3, "notes": [')
    assert flush_outbox(database, memory, now=NOW).problem is not None
    assert path.read_bytes() == b'{"version": 3, "notes": ['
    path.write_bytes(good)
    assert _over(database, memory).written == (added.proposal,)


def test_a_row_that_can_never_be_written_fails_alone(database: Database, memory: Memory) -> None:
    bad = learned(database, DARK, nugget="../outside")
    good = learned(database, FRIDAY)
    done = _over(database, memory)
    assert done.written == (good.proposal,)
    assert [one[0] for one in done.failed] == [bad.proposal]
    assert "not a valid nugget name" in done.failed[0][2]
    assert database.reading.outbox.counts()["failed"] == 1


def test_a_payload_that_cannot_be_read_fails_alone(database: Database, memory: Memory) -> None:
    bad, good = learned(database, DARK), learned(database, FRIDAY)
    with database.write() as writer:
        writer.connection.execute(
            "UPDATE graph_outbox SET payload = '[1' WHERE proposal_id = ?", (bad.proposal,)
        )
    done = _over(database, memory)
    assert (done.written, [one[0] for one in done.failed]) == ((good.proposal,), [bad.proposal])


def test_while_another_is_at_it_nothing_is_done(database: Database, memory: Memory) -> None:
    learned(database, DARK)
    with outbox_lock(memory.home, 0) as mine:
        assert mine
        done: list[FlushResult] = []
        thread = threading.Thread(target=lambda: done.append(flush_outbox(database, memory, now=NOW)))
        thread.start()
        thread.join()
    assert (done[0].busy, done[0].waiting, done[0].problem) == (True, 1, None)
    assert len(_over(database, memory).written) == 1


# Where it came from


def test_a_note_says_which_sentence_of_what_it_came_from(database: Database, memory: Memory) -> None:
    said = f"We talked for long. {DARK} That was all."
    added = learned(database, DARK, said=said)
    _over(database, memory)
    origin = database.reading.outbox.origin_of(added.note)
    assert origin is not None
    assert origin.span is not None
    assert origin.content[slice(*origin.span)] == DARK
    assert (origin.raw_id, origin.model, origin.author) == (added.raw, "qwen3:4b", "agent:claude")
    assert database.reading.outbox.origin_of("note-memory-00000000") is None


def test_a_change_moves_the_origin_to_its_own_words_once_it_is_written(
    database: Database, memory: Memory
) -> None:
    added = learned(database, DARK)
    changed = decided(database, "update", added.note, DARK, "The user prefers light mode.")
    assert _raw(database, added) == added.raw
    _over(database, memory)
    _over(database, memory)
    assert _raw(database, added) == changed.raw


def _raw(database: Database, of: Handed) -> str:
    origin = database.reading.outbox.origin_of(of.note)
    assert origin is not None
    return origin.raw_id


# Following what a person does


def test_what_a_person_takes_out_or_hides_is_kept_as_taken_back_until_it_is_back(
    database: Database, memory: Memory
) -> None:
    out, away = learned(database, DARK), learned(database, FRIDAY)
    done = _over(database, memory)
    assert sync_from_notes(database, memory, now=NOW + 2) == 0
    memory.change("out", lambda draft: delete_note(draft, out.note))
    memory.change("away", lambda draft: hide_note(draft, away.note))
    assert sync_from_notes(database, memory, now=NOW + 2) == 2
    assert sync_from_notes(database, memory, now=NOW + 3) == 0
    assert (status_of(database, out.fact), status_of(database, away.fact)) == ("retracted", "retracted")
    assert events(database, out.note)[1:] == [("retracted", "its note was deleted")]
    memory.change("back", lambda draft: unhide_note(draft, away.note))
    assert sync_from_notes(database, memory, now=NOW + 4) == 1
    assert status_of(database, away.fact) == "active"
    assert done.change_set is not None
    who = database.reading.connection.execute(
        "SELECT changed_by FROM history WHERE event = 'restored'"
    ).fetchone()
    assert who[0] == "person"


def test_a_fact_takes_over_the_words_that_a_person_gave_its_note_and_keeps_its_hash(
    database: Database, memory: Memory
) -> None:
    added = learned(database, DARK)
    _over(database, memory)
    memory.change("mine", lambda draft: edit_note(draft, added.note, content="Dark mode\n\nat night."))
    assert sync_from_notes(database, memory, now=NOW + 2) == 1
    assert sync_from_notes(database, memory, now=NOW + 3) == 0
    row = database.reading.connection.execute("SELECT content, content_hash, status FROM facts").fetchone()
    assert tuple(row) == ("Dark mode at night.", normalise(DARK).content_hash, "active")


def test_a_fact_whose_note_was_merged_into_another_stands_with_it(database: Database, memory: Memory) -> None:
    added = learned(database, DARK)
    _over(database, memory)
    other = "note-memory-00000001"
    memory.change("merge", lambda draft: merge_notes(draft, other, added.note))
    assert notes_of(memory.home)[added.note]["hidden"] is True
    sync_from_notes(database, memory, now=NOW + 2)
    assert status_of(database, added.fact) == "active"
    memory.change("away", lambda draft: hide_note(draft, other))
    sync_from_notes(database, memory, now=NOW + 3)
    assert status_of(database, added.fact) == "retracted"


def test_what_waits_to_be_written_is_not_followed(database: Database, memory: Memory) -> None:
    added = learned(database, DARK)
    assert sync_from_notes(database, memory, now=NOW + 2) == 0
    assert status_of(database, added.fact) == "active"


def test_a_graph_that_cannot_be_read_takes_no_fact_back(database: Database, memory: Memory) -> None:
    added = learned(database, DARK)
    _over(database, memory)
    path = memory.home / "graph" / "graph.json"
    path.write_bytes(b"{")
    with pytest.raises(Exception, match="graph"):
        sync_from_notes(database, memory, now=NOW + 2)
    assert status_of(database, added.fact) == "active"


def test_many_changed_notes_are_taken_over_some_at_a_time_and_one_that_is_cut_short_goes_on(
    database: Database, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed = [
        learned(database, f"Service {number} listens on port {number}.") for number in range(8000, 8005)
    ]
    _over(database, memory)
    for one in handed:
        memory.change("out", partial(delete_note, id=one.note))
    plain, held = Database.write, 0

    def third_refused(self: Database, **named: bool) -> object:
        nonlocal held
        held += 1
        if held == 3:
            raise LockTimeoutError("another process writes")
        return plain(self, **named)

    monkeypatch.setattr(Database, "write", third_refused)
    # Each look at the clock is a second later: one fact at a time.
    sync = partial(sync_from_notes, database, memory, timer=itertools.count().__next__)
    with pytest.raises(LockTimeoutError, match="writes") as refused:
        sync(now=NOW + 2)
    assert refused.value.kept == "some of the changed notes are taken over, and the rest follows"
    taken = [status_of(database, one.fact) for one in handed].count("retracted")
    assert taken == 2
    assert sync(now=NOW + 3) == 3
    assert {status_of(database, one.fact) for one in handed} == {"retracted"}
    assert held == 6
    for one in handed:
        assert events(database, one.note) == [("written", ""), ("retracted", "its note was deleted")]


@pytest.mark.parametrize("change", ["status", "content"])
def test_what_is_said_of_an_entity_follows_its_fact_without_a_look_at_what_came_of_no_fact(
    database: Database, change: str
) -> None:
    with database.write() as writer:
        writer.connection.execute(
            "INSERT INTO entities (id, name, canonical_name, type, created_at, updated_at)"
            " VALUES (1, 'Anna', 'anna', 'person', 1, 1)"
        )

    def steps(fact: str) -> int:
        """Steps of SQLite's machine for changing one fact, a multiple of ten."""
        with database.write() as writer:
            count = 0

            def step() -> int:
                nonlocal count
                count += 10
                return 0

            writer.connection.set_progress_handler(step, 10)
            value = "retracted" if change == "status" else "Something else."
            writer.connection.execute(f"UPDATE facts SET {change} = ? WHERE id = ?", (value, fact))
            writer.connection.set_progress_handler(None, 0)
        return count

    first, second = learned(database, DARK), learned(database, FRIDAY)
    few = steps(first.fact)
    with database.write() as writer:
        writer.connection.executemany(
            "INSERT INTO attributes (entity_id, raw_id, fact_id, kind, content, normalised_content, confidence,"
            " importance, status, created_at, updated_at)"
            " VALUES (1, '', '', 'attribute', ?1, ?1, 1, 1, 'active', 1, 1)",
            ((f"says {number}",) for number in range(2_000)),
        )
    assert steps(second.fact) < few + 200


def test_undoing_an_unknown_entry_is_an_error_as_ever(memory: Memory) -> None:
    with pytest.raises(NotFoundError):
        memory.history.undo()
