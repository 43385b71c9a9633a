"""Tables and notes in one transaction: all of it or nothing, whoever is killed, in the way, or quicker."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from kits.faults import failing
from kits.memory_files import note_object, notes_of, write_graph
from kits.writes_kit import SHADOW, Writes, decision, found

from core.errors import NuggetsError
from core.graph.edits import edit_note
from core.memory import Memory
from core.pipeline.database.connection import Database
from core.pipeline.writes.deciding import accept
from core.pipeline.writes.following import drift
from core.storage.files.atomic import locked
from core.storage.writing import Write

FRIDAY = "Deploys run on Friday."
GREEN = "The kitchen is painted green."


@pytest.fixture
def writes(tmp_path: Path) -> Iterator[Writes]:
    write_graph(tmp_path, [note_object(0)])
    with Writes(tmp_path, SHADOW) as opened:
        yield opened


def waiting(writes: Writes, *texts: str) -> list[str]:
    """Ids of proposals that wait, one for each text."""
    for text in texts:
        writes.learn(text, found(text), decision("add"))
    return [one.id for one in reversed(writes.proposals(all=False))]


def said(home: Path) -> set[str]:
    """The words of the notes that came of texts."""
    return {note["content"] for note in notes_of(home).values() if "origin" in note}


def state(writes: Writes) -> tuple[object, ...]:
    """What the tables tell, and the notes."""
    rows = {id: one.status for one in writes.proposals() if (id := one.id)}
    return rows, writes.rows("facts"), writes.rows("note_edits"), said(writes.memory.home)


def test_what_is_accepted_is_in_tables_notes_and_one_entry_and_one_undo_takes_it_back(writes: Writes) -> None:
    done = writes.accept(*waiting(writes, FRIDAY, GREEN))
    assert done.change_set is not None
    assert len(done.written) == 2
    assert said(writes.memory.home) == {FRIDAY, GREEN}
    assert [entry.id for entry in writes.memory.history.log()][:1] == [done.change_set.id]
    assert drift(writes.memory) == ()
    writes.memory.history.undo()
    assert said(writes.memory.home) == set()


def test_where_the_memory_is_locked_nothing_is_accepted(
    writes: Writes, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, before = waiting(writes, FRIDAY), state(writes)
    monkeypatch.setattr("core.storage.files.atomic.LOCK_SECONDS", 0.05)
    with locked(writes.memory.home), pytest.raises(NuggetsError):
        writes.accept(*ids)
    assert state(writes) == before
    assert writes.accept(*ids).written == tuple(ids)


def test_a_write_that_fails_at_any_step_leaves_all_of_it_or_nothing(tmp_path: Path) -> None:
    write_graph(tmp_path / "whole", [note_object(0)])
    with Writes(tmp_path / "whole", SHADOW) as writes, failing(None) as calls:
        before = calls.count
        writes.accept(*waiting(writes, FRIDAY))
        steps = calls.count - before
    for step in range(0, steps, max(1, steps // 12)):
        home = tmp_path / str(step)
        write_graph(home, [note_object(0)])
        with Writes(home, SHADOW) as writes:
            ids = waiting(writes, FRIDAY)
            with failing(step, more=steps), suppress(NuggetsError, OSError):
                writes.accept(*ids)
        with Writes(home, SHADOW) as again:
            again.memory.refresh()
            (proposal,) = again.proposals()
            applied = proposal.status == "applied"
            assert (said(home) == {FRIDAY}) is applied is (again.rows("facts") == 1), step
            assert drift(again.memory) == ()


def test_what_another_process_accepted_in_between_is_not_written_twice(
    writes: Writes, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, brings = waiting(writes, FRIDAY, GREEN), Memory.change
    home = writes.memory.home

    def overtaken(memory: Memory, *given: Any, **named: Any) -> Any:
        monkeypatch.undo()
        other = Database.open(home)
        accept(other, Memory.open(home), SHADOW, ids[:1], by="other", now=writes.now)
        other.close()
        return brings(memory, *given, **named)

    monkeypatch.setattr(Memory, "change", overtaken)
    done = writes.accept(*ids)
    assert (done.written, [id for id, _ in done.skipped]) == (tuple(ids[1:]), ids[:1])
    assert said(home) == {FRIDAY, GREEN}
    assert writes.rows("facts") == 2


@pytest.mark.parametrize("same_note", [False, True])
def test_a_file_that_moves_on_after_the_transaction_leaves_no_half(
    writes: Writes, monkeypatch: pytest.MonkeyPatch, same_note: bool
) -> None:
    """same_note: with other words for the very note that is replaced."""
    home = writes.memory.home
    writes.accept(*waiting(writes, FRIDAY))
    writes.learn("Deploys run on Monday.", found("Deploys run on Monday."), decision("update", "C1"))
    (change,) = [one.id for one in writes.proposals(all=False)]
    carries = Write.carry_out

    def moves_on(write: Write, **named: Any) -> Any:
        monkeypatch.undo()
        graph = home / "graph" / "graph.json"
        before, after = (FRIDAY, "Never.") if same_note else ("Content of note 0.", "Theirs.")
        text = graph.read_text()
        assert before in text
        graph.write_text(text.replace(before, after))
        return carries(write, **named)

    monkeypatch.setattr(Write, "carry_out", moves_on)
    done = writes.accept(change)
    assert (*done.written, *done.waiting) == (change,)
    writes.memory.refresh()
    assert writes.rows("note_edits") == len(
        writes.database.reading.connection.execute(
            "SELECT DISTINCT proposal_id, op FROM note_edits"
        ).fetchall()
    )
    journal = writes.memory.store.journal
    assert journal is not None
    assert journal.pending() == []
    assert "Deploys run on Monday." in said(home)
    assert ("Never." if same_note else "Theirs.") in {note["content"] for note in notes_of(home).values()}


def test_a_note_that_moved_on_leaves_its_proposal_waiting(writes: Writes) -> None:
    writes.accept(*waiting(writes, FRIDAY))
    ((note, _),) = [(id, one) for id, one in notes_of(writes.memory.home).items() if "origin" in one]
    writes.learn("Deploys run on Monday.", found("Deploys run on Monday."), decision("update", "C1"))
    (change,) = [one.id for one in writes.proposals(all=False)]
    Memory.open(writes.memory.home).change("mine", lambda draft: edit_note(draft, note, content="Never."))
    done = writes.accept(change)
    assert done.written == ()
    assert said(writes.memory.home) == {"Never."}
    assert [one.open for one in writes.proposals() if one.id == change] == [True]


_KILLED = """
import os, signal, sys
from pathlib import Path
from core.memory import Memory
from core.pipeline.database.connection import Database
from core.pipeline.writes.deciding import accept
from core.settings import Settings
from core.storage.writing import Write
home, ids, when = Path(sys.argv[1]), sys.argv[3:], sys.argv[2]
carry_out, stage = Write.carry_out, Write.stages
def killed(*given, **named):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(Write, when, killed)
accept(Database.open(home), Memory.open(home), Settings().pipeline, ids, by="person", now=1_790_000_000_000)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no such signal there")
@pytest.mark.parametrize(("when", "written"), [("stages", False), ("carry_out", True)])
def test_a_kill_before_the_transaction_leaves_nothing_and_one_after_it_all(
    writes: Writes, when: str, written: bool
) -> None:
    ids, home = waiting(writes, FRIDAY, GREEN), writes.memory.home
    writes.memory.close()
    run = subprocess.run(
        [sys.executable, "-c", _KILLED, str(home), when, *ids], cwd=Path(__file__).parents[4]
    )
    assert run.returncode < 0
    assert said(home) == set()
    with Writes(home, SHADOW) as again:
        assert [one.status == "applied" for one in again.proposals()] == [written] * 2
        again.memory.refresh()
        assert said(home) == ({FRIDAY, GREEN} if written else set())
        assert drift(again.memory) == ()
        assert bool(again.accept(*ids).written) is not written
        assert said(home) == {FRIDAY, GREEN}
