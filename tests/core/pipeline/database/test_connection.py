"""What stands where the pipeline's database belongs: other things, broken ones, and several who find it so at once."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from kits.service_kit import configure, open_pipeline

from core.errors import BrokenFileError, NuggetsError, ReadOnlyError
from core.graph.edits import create_note
from core.memory import Memory
from core.pipeline.database.connection import Database
from core.pipeline.service import Pipeline
from core.pipeline.writes.following import drift
from core.storage import database

TEXT = "Caroline chose PostgreSQL over MongoDB."


def _folder(path: Path) -> None:
    path.mkdir()


def _fifo(path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(path)


@pytest.mark.parametrize("make", [_folder, _fifo])
def test_what_is_no_file_is_told_and_then_set_aside(tmp_path: Path, make: Callable[[Path], None]) -> None:
    home = configure(tmp_path / "home")
    make(home / "nuggets.db")
    # Nobody takes it for a memory to which nothing was handed in.
    assert Pipeline.exists(home)
    with open_pipeline(home) as pipeline:
        assert pipeline.notice
        assert pipeline.ingest(TEXT).status == "queued"
    assert len(list((home / "quarantine").iterdir())) == 1


@pytest.mark.slow
def test_a_broken_database_that_several_find_at_once_is_set_aside_once_and_no_text_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(tmp_path)
    (tmp_path / "nuggets.db").write_bytes(b"no database at all" * 1000)
    all_found, connect, first = threading.Barrier(4), Database.connect, threading.local()

    def found_together(database: Database) -> sqlite3.Connection:
        try:
            return connect(database)
        except BrokenFileError:
            if not getattr(first, "over", False):
                first.over = True
                all_found.wait(20)
            raise

    monkeypatch.setattr(Database, "connect", found_together)
    kept: list[str] = []

    def submit(number: int) -> None:
        with open_pipeline(tmp_path, name=f"w{number}") as pipeline:
            kept.append(pipeline.ingest(f"{TEXT} For the {number}th time.").raw_id)

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    monkeypatch.undo()
    assert len(kept) == 4
    assert len(list((tmp_path / "quarantine").iterdir())) == 1
    with open_pipeline(tmp_path) as pipeline:
        assert {pipeline.raw(raw_id).id for raw_id in kept} == set(kept)


def test_a_database_damaged_in_its_midst_says_what_to_do_and_verify_finds_it(tmp_path: Path) -> None:
    configure(tmp_path)
    with open_pipeline(tmp_path) as pipeline:
        pipeline.ingest(TEXT)
    path = tmp_path / "nuggets.db"
    with sqlite3.connect(path) as damaged:
        (page,) = damaged.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entities'").fetchone()
        (size,) = damaged.execute("PRAGMA page_size").fetchone()
    damaged.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x55" * size)
    with (
        open_pipeline(tmp_path) as pipeline,
        pytest.raises(BrokenFileError, match="the file is unchanged"),
    ):
        pipeline.entities()
    (finding,) = drift(Memory.open(tmp_path))
    assert (finding.kind, finding.where) == ("unreadable-pipeline", str(path))


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be taken away there")
def test_a_folder_that_was_removed_is_not_made_again_by_who_had_it_open(tmp_path: Path) -> None:
    home = configure(tmp_path / "home")
    with open_pipeline(home) as pipeline:
        pipeline.ingest(TEXT)
        shutil.rmtree(home)
        for asked in (pipeline.status, pipeline.tick, lambda: pipeline.ingest(f"{TEXT} Later.")):
            with pytest.raises(NuggetsError, match=r"nuggets\.db"):
                asked()
    assert not home.exists()


def test_where_nothing_may_be_written_the_pipeline_is_looked_at_and_no_file_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    with open_pipeline(home) as pipeline:
        pipeline.ingest("The office cat is called Turing.")
    monkeypatch.setattr(database.os, "access", lambda path, mode: mode != os.W_OK)
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    with open_pipeline(home) as pipeline:
        assert len(pipeline.jobs()) == 1
        assert pipeline.status().raw == 1
        with pytest.raises(ReadOnlyError):
            pipeline.ingest("Not this one.")
    with contextlib.closing(Memory.open(home, reconcile=False)) as memory:
        assert drift(memory) == ()
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("kind", ["table", "view", "full", "locked", "read-only"])
def test_tables_that_cannot_be_made_now_cost_no_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    home = configure(tmp_path / "home")
    with contextlib.closing(Memory.open(home)) as memory:
        memory.change("add", lambda draft: create_note(draft, "memory", "Kept", "Text."))
    path = home / "nuggets.db"
    other = sqlite3.connect(path, isolation_level=None)
    if kind in ("table", "view"):
        other.execute(
            "CREATE TABLE jobs (theirs)" if kind == "table" else "CREATE VIEW jobs AS SELECT 1 AS theirs"
        )
    elif kind == "full":
        pages = other.execute("PRAGMA page_count").fetchone()[0]
        monkeypatch.setattr(database, "make_tables", lambda connection, parts: _fill(connection, pages))
    elif kind == "locked":
        other.execute("BEGIN IMMEDIATE")
    else:
        monkeypatch.setattr(database.os, "access", lambda path, mode: mode != os.W_OK)
    with contextlib.suppress(NuggetsError):
        Database.open(home, seconds=0.05).close()
        assert kind == "read-only"
    monkeypatch.undo()
    other.close()
    assert not (home / "quarantine").exists()
    with contextlib.closing(Memory.open(home)) as memory:
        assert [entry.change_set.reason for entry in memory.history.log()] == ["add"]


def _fill(connection: sqlite3.Connection, pages: int) -> None:
    connection.execute(f"PRAGMA max_page_count = {pages}")
    connection.execute("CREATE TABLE much AS SELECT zeroblob(10000000) AS nothing")
