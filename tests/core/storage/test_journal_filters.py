"""Filters of the ledger: an index, and words found however they are written in the bytes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from kits.drafts import make_note
from kits.memory_files import note_object, write_graph

from core.graph.edits import create_note
from core.memory import Memory
from core.model.change import PERSON, ChangeSet, FactChange, FileChange, NoteChange
from core.model.fact import Fact
from core.storage.journal.codec import names_words, write_change_set
from core.storage.journal.journal import Journal


def journal_of(home: Path) -> Path:
    """A journal with two entries."""
    write_graph(home, [note_object(1)])
    memory = Memory.open(home)
    for title in ("One", "Two"):
        memory.change(f"added {title}", partial(create_note, nugget="memory", title=title, content="x"))
    memory.close()
    return home / "nuggets.db"


def test_lists_are_narrowed_without_reading_the_entries(tmp_path: Path) -> None:
    path = journal_of(tmp_path)
    journal = Journal(path.parent)
    plan = journal.rows(
        "EXPLAIN QUERY PLAN SELECT seq FROM entry WHERE state <> 'pending' AND kind IN ('edit') "
        "ORDER BY seq DESC LIMIT 5"
    )
    assert any("COVERING INDEX entry_listed" in row[3] for row in plan)
    journal.close()


def change_set(title: str, reason: str = "why") -> ChangeSet:
    """A change set that renames a note, changes a fact and writes a file."""
    fact = Fact(key="deploy command", value="make ship")
    return ChangeSet(
        id="1", at="2026-01-01T00:00:00.000Z", author=PERSON, reason=reason,
        notes=(NoteChange(id="n", before=make_note(1, title="Former"), after=make_note(1, title=title)),),
        facts=(FactChange(nugget="memory", key=fact.key, before=None, after=fact),),
        files=(FileChange(path="/home/a/MEMORY.md", before=None, after=b"text"),),
    )  # fmt: skip


def test_words_of_titles_keys_paths_and_reason_are_found() -> None:
    for title, words in [
        ("Auth middleware", "auth MIDDLE"),
        ("Auth middleware", "former"),
        ("Auth middleware", "deploy memory.md why"),
        ('say "hello" \\ there', '"hello" \\'),
        ("Straße", "STRASSE"),
        ("日本語のノート", "日本語"),
        ("x " * 3000 + "end", "end"),
    ]:
        assert names_words(write_change_set(change_set(title)), words.casefold())


@pytest.mark.parametrize("words", ["nowhere", "auth nowhere", "ship", "2026-01-01"])
def test_words_that_stand_elsewhere_are_not(words: str) -> None:
    assert not names_words(write_change_set(change_set("Auth middleware")), words)


@pytest.mark.parametrize("body", [b"", b"\x78broken", b"{", b"null"])
def test_bytes_that_are_no_change_set_say_nothing(body: bytes) -> None:
    assert not names_words(body, "word")
