"""The log: what it keeps outlives restarts, is found again, and is shared by all who write."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kits.beside import ONE, THREE, TWO, edit_text
from kits.hostile import HOSTILE
from kits.memory_files import (
    fact_object,
    facts_of,
    note_object,
    notes_of,
    tree,
    write_graph,
    write_nugget,
)

from core import Memory
from core.errors import AmbiguousError, NotFoundError, NuggetsError
from core.facts.edits import forget, remember
from core.folder import DATABASE_FILE
from core.graph.edits import create_note, edit_note
from core.model.change import Author
from core.model.entry import Origin
from core.storage.journal.journal import Journal
from core.text.exact import encodable

ROOT = Path(__file__).parents[3]


# What is kept


def test_the_first_look_puts_nothing_into_the_log(home: Path) -> None:
    before = tree(home)
    memory = Memory.open(home)
    assert memory.history.log() == ()
    assert memory.take_notices() == ()
    assert tree(home) == before
    assert Memory.open(home).history.log() == ()


@pytest.mark.parametrize("made", [True, False])
def test_opening_a_memory_that_is_not_there_yet_makes_no_file(tmp_path: Path, made: bool) -> None:
    folder = tmp_path / "new"
    if made:
        folder.mkdir()
    memory = Memory.open(folder)
    memory.refresh()
    assert memory.history.log() == memory.history.conflicts() == ()
    assert folder.exists() is made
    assert not made or list(folder.iterdir()) == []
    with pytest.raises(NotFoundError):
        memory.history.undo()
    with pytest.raises(NotFoundError):
        memory.history.entry("a")
    first = memory.change("new", lambda draft: create_note(draft, "memory", "New", "Text."))[1]
    assert [entry.change_set for entry in Memory.open(folder).history.log()] == [first]
    memory.history.undo()
    assert memory.snapshot.notes == ()


def test_entries_outlive_restarts_whole(home: Path) -> None:
    memory = Memory.open(home)
    done = [
        memory.change("edit", lambda draft: edit_note(draft, ONE, content="Other.", add_tags=["x"]))[1],
        memory.change("fact", lambda draft: remember(draft, "fresh", "user:b", "value"))[1],
        memory.change("gone", lambda draft: forget(draft, "memory", "user:a"))[1],
    ]
    again = Memory.open(home)
    assert [entry.change_set for entry in reversed(again.history.log())] == done
    assert [entry.seq for entry in again.history.log()] == [3, 2, 1]
    assert all(entry.state == "done" and not entry.undone for entry in again.history.log())
    assert again.history.entry(done[1].id).change_set == done[1]


def test_what_another_program_did_while_nobody_looked_is_in_the_log_once(home: Path) -> None:
    Memory.open(home)
    write_graph(
        home, [note_object(1, content="Theirs.", updatedAt="2026-06-01T00:00:00.000Z"), note_object(2)]
    )
    for _ in range(2):
        entries = Memory.open(home).history.log()
        assert [(e.change_set.kind, str(e.change_set.author)) for e in entries] == [
            ("outside", "another program")
        ]
        assert entries[0].origin is Origin.OUTSIDE
        assert entries[0].change_set.reason == "-1 note, ~1 note" or entries[0].change_set.reason


def test_a_change_set_that_is_applied_again_gets_an_id_of_its_own(home: Path) -> None:
    memory = Memory.open(home)
    done = memory.change("edit", lambda draft: edit_note(draft, ONE, content="Other."))[1]
    assert memory.apply(done).empty
    ids = {done.id}
    for _ in range(3):
        edit_text(memory, "Content of note 1.")
        ids.add(memory.apply(done).id)
    assert len(ids) == 4
    assert {entry.id for entry in memory.history.log()} >= ids
    assert len({entry.id for entry in memory.history.log()}) == len(memory.history.log()) == 7
    memory.history.undo(f"{done.id}-2" if f"{done.id}-2" in ids else max(ids))


@pytest.mark.slow
@pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip()])
def test_any_text_comes_back_from_the_log(home: Path, text: str) -> None:
    memory = Memory.open(home, author=Author("agent", "an agent"))
    memory.change(text, lambda draft: edit_note(draft, ONE, title=text, content=text))
    memory.change(text, lambda draft: remember(draft, "memory", text, text))
    written = memory.snapshot.note(ONE)
    again = Memory.open(home, author=Author("agent", "an agent"))
    assert [entry.change_set.reason for entry in again.history.log()] == [encodable(text)] * 2
    assert again.history.log()[1].change_set.notes[0].after == written
    again.history.undo()
    again.history.undo()
    assert tree(home).keys() == {"graph/graph.json", "memory.nugget.json"}
    assert notes_of(home)[ONE]["content"] == "Content of note 1."
    assert [fact["key"] for fact in facts_of(home, "memory.nugget.json")] == ["user:a"]


def test_an_author_of_any_name_finds_his_own_changes(home: Path) -> None:
    strange = Author("agent", "a\x00b \ud800 'c'\n")
    memory = Memory.open(home, author=strange)
    edit_text(memory, "Other.")
    again = Memory.open(home, author=strange)
    assert again.history.log()[0].change_set.author.name == "a\x00b \ufffd 'c'\n"
    again.history.undo()
    assert notes_of(home)[ONE]["content"] == "Content of note 1."


# Recalls


def test_recalls_of_one_caller_are_one_entry_and_undo_passes_over_them(home: Path) -> None:
    memory = Memory.open(home)
    edit_text(memory, "Ours.")
    for turn in range(4):
        memory.recall("user:a", session=f"session-{turn % 2}")
    for turn in range(3):
        memory.recall("user:a", session=f"other-{turn}")
    hits = [entry for entry in memory.history.log() if entry.change_set.kind == "hit"]
    assert len(hits) == 7
    assert facts_of(home, "memory.nugget.json")[0]["hits"] == 7
    memory.history.undo()
    assert notes_of(home)[ONE]["content"] == "Content of note 1."
    assert facts_of(home, "memory.nugget.json")[0]["hits"] == 7


def test_recalls_of_one_session_stand_in_the_log_once_and_are_taken_back_by_name(home: Path) -> None:
    write_nugget(home, "memory", [fact_object("user:a"), fact_object("user:b", "another")])
    memory = Memory.open(home)
    memory.recall("user:a", session="s")
    memory.recall("user:b", session="s")
    (entry,) = memory.history.log()
    assert entry.change_set.reason == "recalled 2 notes"
    memory.history.undo(entry.id)
    assert [fact["hits"] for fact in facts_of(home, "memory.nugget.json")] == [0, 0]


def test_recalls_of_another_program_are_batched_too(home: Path) -> None:
    memory = Memory.open(home)
    for hits in range(1, 4):
        write_nugget(home, "memory", [fact_object("user:a", hits=hits, last_hit_session=f"s-{hits}")])
        memory.refresh()
    assert [entry.change_set.kind for entry in memory.history.log()] == ["hit"]
    assert memory.history.log()[0].change_set.facts[0].before.hits == 0  # type: ignore[union-attr]


# Several at once

OPENER = """
import sys
from core import Memory
from core.graph.edits import edit_note
print("ready", flush=True)
sys.stdin.readline()
memory = Memory.open(sys.argv[1])
memory.change("edit", lambda draft: edit_note(draft, sys.argv[2], content="by " + sys.argv[2]))
print(len(memory.snapshot.notes), memory.take_notices())
"""


@pytest.mark.slow
def test_processes_that_open_a_new_log_at_the_same_moment_share_one(home: Path) -> None:
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(home), note], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for note in (ONE, TWO, THREE)
    ]  # fmt: skip
    for opener in openers:
        assert opener.stdout is not None
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    assert [opener.communicate() for opener in openers] == [("3 ()\n", "")] * 3
    memory = Memory.open(home)
    assert {entry.change_set.notes[0].id for entry in memory.history.log()} == {ONE, TWO, THREE}
    assert all(entry.change_set.kind == "edit" for entry in memory.history.log())
    assert not (home / "quarantine").exists()


def test_a_change_of_another_object_on_the_same_folder_is_seen_with_its_entry(home: Path) -> None:
    one, other = Memory.open(home), Memory.open(home, author=Author("agent", "claude"))
    edit_text(one, "One.")
    assert other.refresh()
    assert [entry.change_set.reason for entry in other.history.log()] == ["wrote One."]
    edit_text(other, "Other.", TWO)
    one.refresh()
    assert [str(entry.change_set.author) for entry in one.history.log()] == ["claude", "you"]


# Looking things up


def test_the_log_is_read_by_author_note_time_and_in_pieces(home: Path, clock: Callable[[], object]) -> None:
    memory = Memory.open(home, clock=clock)  # type: ignore[arg-type]
    agent = Memory.open(home, author=Author("agent", "claude"), clock=clock)  # type: ignore[arg-type]
    first = edit_text(memory, "A.", ONE)
    second = edit_text(agent, "B.", TWO)
    third = edit_text(memory, "C.", TWO)
    memory.refresh()
    at = memory.history.entry(second).change_set.at

    def ids(**filters: object) -> list[str]:
        return [entry.id for entry in memory.history.log(**filters)]  # type: ignore[arg-type]

    assert ids() == ids(limit=None) == [third, second, first]
    assert ids(limit=2) == [third, second]
    assert ids(limit=0) == ids(limit=-5) == []
    assert ids(limit=10**30) == ids(before=10**30) == [third, second, first]
    assert ids(author="\ud800") == ids(note="a\x00b") == ids(since="\udcff") == []
    assert ids(author="agent") == ids(author="claude") == [second]
    assert ids(author="person") == [third, first]
    assert ids(author="nobody") == []
    assert ids(note=TWO) == [third, second]
    assert ids(note="note-memory-ffffffff") == []
    assert ids(since=at) == [third, second]
    assert ids(since=at, note=TWO, author="person") == [third]
    assert ids(before=memory.history.entry(third).seq) == [second, first]
    assert ids(before=memory.history.entry(third).seq, limit=1) == [second]


def test_an_entry_is_found_by_the_beginning_of_its_id(home: Path) -> None:
    numbers = iter(["aaaa0001", "aaaa0002", "bbbb0001", "aaaa00020"])
    memory = Memory.open(home, ids=lambda: next(numbers))
    for turn in range(4):
        edit_text(memory, f"Turn {turn}.")
    assert memory.history.entry("bb").id == "bbbb0001"
    assert memory.history.entry(" bbbb0001 ").id == "bbbb0001"
    assert memory.history.entry("aaaa0002").id == "aaaa0002"
    with pytest.raises(AmbiguousError, match="aaaa0001"):
        memory.history.entry("aaaa")
    for nothing in ("c", "bbbb00011", "%", "_", "aaaa000_", "\udcff", "a\x00"):
        with pytest.raises(NotFoundError):
            memory.history.entry(nothing)
    for empty in ("", "  "):
        with pytest.raises(NuggetsError):
            memory.history.entry(empty)


def test_a_journal_knows_when_its_file_was_exchanged(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    journal, other = Journal(tmp_path), Journal(tmp_path / "other")
    for one in (journal, other):
        one.connect()
    assert not journal.replaced
    other.close()
    os.replace(tmp_path / "other" / DATABASE_FILE, tmp_path / DATABASE_FILE)
    assert journal.replaced
    journal.close()


def test_a_change_is_logged_at_the_time_it_was_made_however_long_its_preview_was_looked_at(
    home: Path,
) -> None:
    begun = datetime(2026, 11, 18, 12, tzinfo=UTC)
    times = itertools.count()
    memory = Memory.open(home, clock=lambda: begun + timedelta(minutes=next(times)))
    draft = memory.draft()
    edit_note(draft, ONE, content="looked at for long")
    previewed = draft.change_set("edit")
    memory.change("meanwhile", lambda draft: edit_note(draft, TWO, content="quicker"))
    applied = memory.apply(previewed)
    assert [entry.change_set.reason for entry in memory.history.log()] == ["edit", "meanwhile"]
    assert memory.history.log()[0].change_set.at == applied.at > memory.history.log()[1].change_set.at


@pytest.mark.slow
def test_closing_waits_for_who_reads_the_log_in_another_thread(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    closing = threading.Thread(target=journal.close)

    def midway() -> int:
        if closing.ident is None:
            closing.start()
        return 0

    journal.connect().set_progress_handler(midway, 100)
    many = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100000)"
    assert len(journal.rows(f"{many} SELECT n FROM number")) == 100_000
    closing.join()
