"""Whatever byte of nuggets.db is damaged: no command calls it a bug, and the memory is served."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import fact_object, note_object, tree, write_graph, write_nugget
from kits.service_kit import configure, drain, open_pipeline

from core import Memory
from core.folder import DATABASE_FILE
from core.graph.edits import create_note, edit_note
from core.model.draft import Draft

pytestmark = pytest.mark.slow

_EXPLORES = bool(os.environ.get("NUGGETS_EXPLORE"))
_ROUNDS = 400 if _EXPLORES else 24
_TEXT = (
    "We chose PostgreSQL over MongoDB because the reports need joins. Anna owns billing. We ship on Tuesday."
)
_NOTE = "note-memory-00000001"
_PAGE = 4096
_VERSION = range(60, 64)
# What needs neither database is answered whatever became of them.
_SERVED = (
    ("search", "theirs"), ("recall", "user:k1", "--session", "s"), ("status",),
    ("notes", "--facts", "--nugget", "memory"),
    ("note", "show", _NOTE), ("note", "edit", _NOTE, "--content", "new words"), ("remember", "memory", "zz", "yy"),
    ("searches",), ("notes",),
)  # fmt: skip
_OTHERS = (
    ("log",), ("log", "--json"), ("undo",), ("redo",), ("verify",), ("verify", "--repair"), ("resolve",),
    ("reflect", "--dry-run"), ("promote", "--dry-run", "--memory-dir", "."), ("secrets",),
    ("secrets", "--mask", "--yes"), ("restore",), ("restore", "2026-11-20T10:00:00Z", "--dry-run"), ("pipeline",),
    ("pipeline", "jobs"), ("pipeline", "proposals", "--all"), ("pipeline", "accept", "--above", "0.1", "--yes"),
    ("pipeline", "pause"), ("pipeline", "resume"), ("pipeline", "retry", "--all"), ("ingest", "-"),
)  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with entries of all kinds in its log, and with texts in all states of its pipeline."""
    home = tmp_path_factory.mktemp("sound") / "memory"
    write_graph(home, [note_object(number) for number in (1, 2, 3)])
    write_nugget(home, "memory", [fact_object(f"user:k{number}", f"value {number}") for number in range(5)])
    configure(home, "shadowMode = true")
    memory = Memory.open(home)
    for turn in range(8):
        text = f"Before {turn}. " + "word " * turn * 90
        memory.change("edit", partial(_reworded, text=text))
    memory.change("new", lambda draft: create_note(draft, "memory", "New", "Some text of it."))
    memory.recall("user:k1")
    memory.history.undo()
    write_graph(home, [note_object(number, content=f"Theirs {number}.") for number in (1, 2, 3, 4)])
    memory.refresh()
    memory.close()
    pipeline = open_pipeline(home)
    pipeline.ingest(_TEXT, session="s1", transcript=_TEXT * 3)
    drain(pipeline)
    first, second, *_ = [proposal.id for proposal in pipeline.proposals()]
    pipeline.accept([first])
    pipeline.refuse([second])
    pipeline.ingest("A text that waits.", project="shop")
    pipeline.close()
    with closing(sqlite3.connect(home / DATABASE_FILE)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return home


def _reworded(draft: Draft, text: str) -> object:
    return edit_note(draft, _NOTE, content=text)


def _damage(data: bytearray, chance: random.Random) -> None:
    """Changes one byte: in the header, in the tables' own words, at the beginning of a page, or anywhere."""
    page = chance.randrange(len(data) // _PAGE) * _PAGE
    place = chance.choice(
        (
            chance.randrange(100),
            chance.randrange(_PAGE),
            page + chance.randrange(16),
            chance.randrange(len(data)),
        )
    )
    # Most of a small database is zeros that nobody reads. A version that looks like a newer one is left alone as such.
    place = next((found for found in range(place, len(data)) if data[found] and found not in _VERSION), place)
    former = data[place]
    while data[place] == former:
        data[place] = chance.choice((0xFF, 0, former ^ (1 << chance.randrange(8)), chance.randrange(256)))


def test_one_damaged_byte_is_never_a_bug_and_the_memory_is_served(nuggets: Any, sound: Path) -> None:
    chance, name = random.Random(None if _EXPLORES else 1), DATABASE_FILE
    whole = (sound / name).read_bytes()
    for _ in range(_ROUNDS):
        shutil.rmtree(nuggets.home, ignore_errors=True)
        shutil.copytree(sound, nuggets.home)
        data = bytearray(whole)
        _damage(data, chance)
        (nuggets.home / name).write_bytes(data)
        what = [(place, data[place]) for place in range(len(data)) if data[place] != whole[place]]
        served = chance.sample(_SERVED, 2)
        for command in (*served, *chance.sample(_OTHERS, 2)):
            result = nuggets(*command, input="Zoe likes tea." if command[0] == "ingest" else None)
            said = result.stdout + result.stderr
            assert "bug" not in said, (what, command, said)
            assert "Traceback" not in said, (what, command, said)
            assert result.exit_code in ((0,) if command in served else (0, 1, 2, 3)), (what, command, said)
        assert (nuggets.home / name).exists() or list((nuggets.home / "quarantine").glob(f"*{name}")), what


_READS = (("search", "theirs"), ("status",), ("status",), ("notes",), ("log",), ("verify",), ("restore",))


def test_reading_beside_a_damaged_database_changes_no_note_and_no_fact(nuggets: Any, sound: Path) -> None:
    chance, name = random.Random(None if _EXPLORES else 2), DATABASE_FILE
    files = {file: data for file, data in tree(sound).items() if file.endswith(".json")}
    for _ in range(_ROUNDS):
        shutil.rmtree(nuggets.home, ignore_errors=True)
        shutil.copytree(sound, nuggets.home)
        data = bytearray((sound / name).read_bytes())
        _damage(data, chance)
        (nuggets.home / name).write_bytes(data)
        for command in chance.sample(_READS, 3):
            nuggets(*command)
        assert {file: tree(nuggets.home).get(file) for file in files} == files


def test_a_log_whose_tables_are_damaged_is_set_aside_with_its_bytes_by_any_command(
    nuggets: Any, sound: Path
) -> None:
    whole = (sound / "nuggets.db").read_bytes()
    damaged = whole.replace(b"CREATE TABLE touched", b"CREATE TABLE to\xffched", 1)
    assert damaged != whole
    for command in _SERVED:
        shutil.rmtree(nuggets.home, ignore_errors=True)
        shutil.copytree(sound, nuggets.home)
        (nuggets.home / "nuggets.db").write_bytes(damaged)
        result = nuggets(*command)
        assert result.exit_code == 0, (command, result.stderr)
        assert "the database is damaged" in result.stderr, command
        (kept,) = (nuggets.home / "quarantine").glob("*nuggets.db")
        assert kept.read_bytes() == damaged
