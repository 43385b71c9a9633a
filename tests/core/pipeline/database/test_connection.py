"""What stands where the pipeline's database belongs: other things, broken ones, and several who find it so at once."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from kits.faults import failing
from kits.service_kit import configure, drain, open_pipeline

from core.errors import BrokenFileError, ErrorCode, NuggetsError, ReadOnlyError
from core.memory import Memory
from core.pipeline.database.connection import Database, open_read_only
from core.pipeline.database.schema import VERSION
from core.pipeline.service import Pipeline
from core.pipeline.writes.verify import drift
from core.storage.files import sqlite

_NUMBERS = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 10000)"
COUNTING = f"{_NUMBERS} SELECT count(*) FROM number"
TEXT = "Caroline chose PostgreSQL over MongoDB."


def _folder(path: Path) -> None:
    path.mkdir()


def _fifo(path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(path)


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def _link_out(path: Path) -> None:
    path.symlink_to(path.parent.parent / "elsewhere.db")


@pytest.mark.parametrize("make", [_folder, _fifo, _link_to_itself, _link_out])
def test_what_is_no_file_is_told_and_left_alone(tmp_path: Path, make: Callable[[Path], None]) -> None:
    home = configure(tmp_path / "home")
    make(home / "pipeline.db")
    # Nobody takes it for a memory to which nothing was handed in.
    assert Pipeline.exists(home)
    (finding,) = drift(Memory.open(home), now=0)
    assert finding.kind == "unreadable-pipeline"
    with pytest.raises(NuggetsError, match=r"pipeline\.db: is (a|not) .*; .*; move "):
        Pipeline.open(home)
    assert sorted(one.name for one in home.iterdir()) == ["pipeline.db", "settings.toml"]
    assert not (tmp_path / "elsewhere.db").exists()


@pytest.mark.parametrize("version", [0, -5, 1])
def test_a_database_of_another_program_is_set_aside_whatever_its_version(
    tmp_path: Path, version: int
) -> None:
    configure(tmp_path)
    with sqlite3.connect(tmp_path / "pipeline.db") as other:
        other.execute("CREATE TABLE theirs (a)")
        other.execute(f"PRAGMA user_version = {version}")
    other.close()
    with open_pipeline(tmp_path) as pipeline:
        assert "the file is now in" in pipeline.notice
        assert pipeline.ingest(TEXT).status == "queued"
    (aside,) = (tmp_path / "quarantine").iterdir()
    with sqlite3.connect(aside) as kept:
        assert kept.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    kept.close()


def test_a_newer_database_is_refused_with_one_error_and_not_a_byte_of_it_changes(tmp_path: Path) -> None:
    with open_pipeline(tmp_path) as pipeline:
        pipeline.ingest(TEXT)
    with contextlib.closing(sqlite3.connect(tmp_path / "pipeline.db")) as newer:
        newer.execute(f"PRAGMA user_version = {VERSION + 1}")
        newer.execute("ALTER TABLE facts RENAME TO statements")
        newer.commit()
        # Somebody else has it open, so that what was written last lies in the log beside it.
        files = {one.name: one.read_bytes() for one in tmp_path.iterdir() if not one.name.endswith("-shm")}
        with pytest.raises(ReadOnlyError) as refused:
            Database.open(tmp_path)
        assert refused.value.code is ErrorCode.NEWER_VERSION
        with pytest.raises(ReadOnlyError) as refused, open_read_only(tmp_path):
            pass
        assert refused.value.code is ErrorCode.NEWER_VERSION
        assert files == {
            one.name: one.read_bytes() for one in tmp_path.iterdir() if not one.name.endswith("-shm")
        }


def test_who_has_it_open_while_it_becomes_a_newer_one_writes_no_more(tmp_path: Path) -> None:
    with open_pipeline(tmp_path) as pipeline:
        pipeline.ingest(TEXT)
        with contextlib.closing(sqlite3.connect(tmp_path / "pipeline.db", isolation_level=None)) as newer:
            newer.execute(f"PRAGMA user_version = {VERSION + 1}")
        with pytest.raises(ReadOnlyError) as refused:
            pipeline.ingest(f"{TEXT} Later.")
        assert refused.value.code is ErrorCode.NEWER_VERSION
        assert pipeline.status().raw == 1


@pytest.mark.slow
def test_a_broken_database_that_several_find_at_once_is_set_aside_once_and_no_text_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(tmp_path)
    (tmp_path / "pipeline.db").write_bytes(b"no database at all" * 1000)
    all_found, connect, first = threading.Barrier(4), Database._connect, threading.local()

    def found_together(database: Database) -> None:
        try:
            connect(database)
        except BrokenFileError:
            if not getattr(first, "over", False):
                first.over = True
                all_found.wait(20)
            raise

    monkeypatch.setattr(Database, "_connect", found_together)
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
    path = tmp_path / "pipeline.db"
    with sqlite3.connect(path) as damaged:
        (page,) = damaged.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entities'").fetchone()
        (size,) = damaged.execute("PRAGMA page_size").fetchone()
    damaged.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x55" * size)
    with (
        open_pipeline(tmp_path) as pipeline,
        pytest.raises(BrokenFileError, match=r"the file is unchanged, .*; restore a copy of it, or"),
    ):
        pipeline.entities()
    (finding,) = drift(Memory.open(tmp_path), now=0)
    assert (finding.kind, finding.where) == ("unreadable-pipeline", str(path))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be taken away there")
@pytest.mark.parametrize("sides", [("",), ("", "-wal", "-shm")], ids=["alone", "with its side files"])
def test_a_database_taken_away_while_it_is_open_takes_no_later_text_with_it(
    tmp_path: Path, sides: tuple[str, ...]
) -> None:
    configure(tmp_path)
    with open_pipeline(tmp_path) as pipeline:
        pipeline.ingest(TEXT)
        assert pipeline.status().raw == 1
        for side in sides:
            (tmp_path / f"pipeline.db{side}").unlink(missing_ok=True)
        later = pipeline.ingest(f"{TEXT} Later.").raw_id
        # Another process works on what stands there now, and so does this one.
        with open_pipeline(tmp_path, name="other") as other:
            assert other.raw(later).content == f"{TEXT} Later."
            third = other.ingest(f"{TEXT} Much later.").raw_id
        assert pipeline.raw(third).id == third
        drain(pipeline)
        assert pipeline.status().jobs.get("completed") == 2


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be taken away there")
def test_a_database_put_back_from_a_copy_is_worked_on_from_then_on(tmp_path: Path) -> None:
    configure(tmp_path)
    with open_pipeline(tmp_path) as pipeline:
        first = pipeline.ingest(TEXT).raw_id
    copy = (tmp_path / "pipeline.db").read_bytes()
    with open_pipeline(tmp_path) as pipeline:
        pipeline.ingest(f"{TEXT} Later.")
        for side in ("-wal", "-shm"):
            (tmp_path / f"pipeline.db{side}").unlink(missing_ok=True)
        (tmp_path / "copy").write_bytes(copy)
        (tmp_path / "copy").replace(tmp_path / "pipeline.db")
        assert [job.target for job in pipeline.jobs()] == [first]


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be taken away there")
def test_a_folder_that_was_removed_is_not_made_again_by_who_had_it_open(tmp_path: Path) -> None:
    home = configure(tmp_path / "home")
    with open_pipeline(home) as pipeline:
        pipeline.ingest(TEXT)
        shutil.rmtree(home)
        for asked in (pipeline.status, pipeline.tick, lambda: pipeline.ingest(f"{TEXT} Later.")):
            with pytest.raises(NuggetsError, match=r"pipeline\.db"):
                asked()
    assert not home.exists()


def test_closing_while_another_thread_reads_lets_it_read_to_the_end(tmp_path: Path) -> None:
    database = Database.open(tmp_path)
    reads, closed, numbers = threading.Event(), threading.Event(), []

    def midway() -> int:
        reads.set()
        return not closed.wait(30)

    def read() -> None:
        reader = database.reading.connection
        reader.set_progress_handler(midway, 1_000)
        numbers.extend(reader.execute(COUNTING).fetchone())

    reading = threading.Thread(target=read)
    reading.start()
    assert reads.wait(30)
    database.close()
    closed.set()
    reading.join()
    assert numbers == [10_000]


def test_a_disk_that_fills_while_the_database_is_made_leaves_nothing_to_clear_away(tmp_path: Path) -> None:
    with failing(None) as calls:
        Database.open(tmp_path / "counted").close()
    for step in range(0, calls.count, 9):
        home = tmp_path / str(step)
        with failing(step, errno.ENOSPC, more=calls.count), pytest.raises(NuggetsError):
            Database.open(home)
        if not home.exists():
            continue
        with contextlib.closing(Memory.open(home)) as memory:
            assert drift(memory, now=0) == ()
        with open_pipeline(home) as pipeline:
            assert (pipeline.notice, pipeline.jobs()) == ("", ())
            pipeline.ingest("The office cat is called Turing.")


@pytest.mark.parametrize("logged", [False, True], ids=["whole", "with changes beside it"])
def test_where_nothing_may_be_written_the_pipeline_is_looked_at_and_no_file_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: bool
) -> None:
    home = tmp_path / "home"
    with open_pipeline(tmp_path / "first") as pipeline:
        if logged:
            pipeline.database.reading.jobs.jobs()  # a reader keeps the log from being written back
        pipeline.ingest("The office cat is called Turing.")
        if logged:
            shutil.copytree(tmp_path / "first", home)
            (home / "pipeline.db-shm").unlink()
    if not logged:
        shutil.copytree(tmp_path / "first", home)
    assert (home / "pipeline.db-wal").exists() is logged
    monkeypatch.setattr(sqlite.os, "access", lambda path, mode: mode != os.W_OK)
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    with open_pipeline(home) as pipeline:
        assert len(pipeline.jobs()) == 1
        assert pipeline.status().raw == 1
        with pytest.raises(ReadOnlyError):
            pipeline.ingest("Not this one.")
    with contextlib.closing(Memory.open(home, reconcile=False)) as memory:
        assert drift(memory, now=0) == ()
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
