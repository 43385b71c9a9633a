"""Databases of former versions: brought to the present tables with every row kept, however often that is stopped."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from kits.kill_steps import end_before_step
from kits.old_pipeline import rows_of, schema_of, version_1
from kits.service_kit import configure, open_pipeline

from core.errors import ErrorCode, NuggetsError, ReadOnlyError, StorageError
from core.memory import Memory
from core.pipeline.database import connection as opening
from core.pipeline.database import migrations
from core.pipeline.database.connection import Database, open_read_only
from core.pipeline.database.migrations import MIGRATIONS, VERSION
from core.pipeline.writes.verify import drift
from core.workspace import Workspace

TEXT = "Caroline chose PostgreSQL over MongoDB."


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def copies(home: Path) -> list[Path]:
    return sorted((home / "backups").glob("*.db"))


def assert_kept(path: Path, before: dict[str, list[tuple[object, ...]]]) -> None:
    """All rows are there still, and what belongs together does; changes that were blocked wait for a person again."""
    after = rows_of(path)
    for table, rows in before.items():
        wanted = [(*row[:-2], None, "") if "blocked" in row else row for row in rows]
        assert [row for row in after[table] if row in wanted] == wanted, table
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        found = connection.execute("SELECT rowid FROM facts_fts WHERE facts_fts MATCH 'postgresql'")
        assert found.fetchall() == [(1,)]


@pytest.fixture
def fresh(tmp_path: Path) -> set[tuple[str, ...]]:
    """The tables of a new database."""
    Database.open(tmp_path / "new").close()
    return schema_of(tmp_path / "new" / "pipeline.db")


@pytest.mark.parametrize("checkpoints", [False, True], ids=["without checkpoints", "with checkpoints"])
def test_a_database_of_version_1_gets_the_tables_of_a_new_one_and_keeps_every_row(
    tmp_path: Path, checkpoints: bool, fresh: set[tuple[str, ...]]
) -> None:
    path = version_1(tmp_path / "old", checkpoints=checkpoints)
    before = rows_of(path)
    assert all(before.values())
    Database.open(path.parent).close()
    assert schema_of(path) == fresh
    assert version_of(path) == VERSION
    assert_kept(path, before)
    with open_pipeline(path.parent) as pipeline:
        assert (pipeline.recover("s1") is not None) is checkpoints
        assert pipeline.ingest(TEXT).status == "queued"


def test_each_step_alone_leaves_what_belongs_together(tmp_path: Path) -> None:
    path = version_1(tmp_path, checkpoints=True)
    for version in range(1, VERSION):
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            migrations.Migrations(connection).take_step()
            connection.execute("COMMIT")
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert version_of(path) == version + 1


def test_a_copy_of_the_file_is_kept_before_the_first_step_and_none_for_a_present_one(tmp_path: Path) -> None:
    path = version_1(tmp_path)
    before, tables = rows_of(path), schema_of(path)
    for _ in range(2):
        Database.open(tmp_path).close()
        (copy,) = copies(tmp_path)
    assert copy.name.endswith("Z-v1-pipeline.db")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert (rows_of(copy), schema_of(copy), version_of(copy)) == (before, tables, 1)
    # Put back, it is migrated again.
    for side in ("", "-wal", "-shm"):
        (tmp_path / f"pipeline.db{side}").unlink(missing_ok=True)
    shutil.copy(copy, path)
    Database.open(tmp_path).close()
    assert_kept(path, before)
    assert len(list((tmp_path / "backups").iterdir())) <= 2


def test_the_copy_has_what_still_lies_in_the_log_of_writes(tmp_path: Path) -> None:
    path = version_1(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("UPDATE raw_memories SET content = 'Said last.' WHERE id = 'raw-3'")
        assert path.with_name("pipeline.db-wal").stat().st_size > 0
        Database.open(tmp_path).close()
    (copy,) = copies(tmp_path)
    assert "Said last." in {row[1] for row in rows_of(copy)["raw_memories"]}
    assert "Said last." in {row[1] for row in rows_of(path)["raw_memories"]}


def test_without_a_copy_nothing_is_changed(tmp_path: Path) -> None:
    path = version_1(tmp_path)
    before = path.read_bytes()
    (tmp_path / "backups").write_text("no folder")
    with pytest.raises(NuggetsError, match="backups"):
        Database.open(tmp_path)
    assert path.read_bytes() == before
    assert not (tmp_path / "quarantine").exists()


def _left_by_kills(home: Path, into: Path) -> list[Path]:
    """Opens the database of a folder; copies of the folder as kill -9 would leave it, at each moment between some steps
    of SQLite's machine at which it is another than before. Nothing of an open transaction is in the files, so that
    many moments leave the same.
    """
    plain, kept = Database._new_connection, list[Path]()
    last: list[tuple[str, int, int]] = []

    def look() -> int:
        nonlocal last
        # Not the -shm: the system writes it when it likes, and it is made anew after a kill.
        files = (one for one in home.rglob("*") if one.is_file() and not one.name.endswith("-shm"))
        now = sorted((one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in files)
        if now != last:
            last = now
            kept.append(into / str(len(kept)))
            # Another process copies: one that closes a file gives up its locks of it.
            assert _in_a_child(lambda: shutil.copytree(home, kept[-1])) == 0
        return 0

    def watched(database: Database) -> sqlite3.Connection:
        made = plain(database)
        made.set_progress_handler(look, 50)
        return made

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Database, "_new_connection", watched)
        Database.open(home).close()
    return kept


def _in_a_child(work: object) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()  # type: ignore[operator]
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _assert_done_by_the_next_opening(
    home: Path, before: dict[str, list[tuple[object, ...]]], fresh: set[tuple[str, ...]]
) -> None:
    Database.open(home).close()
    path = home / "pipeline.db"
    assert (version_of(path), schema_of(path)) == (VERSION, fresh)
    assert_kept(path, before)
    assert {version_of(copy) for copy in copies(home)} <= set(range(1, VERSION))
    assert copies(home)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_migration_that_is_killed_between_any_steps_of_a_statement_is_done_by_the_next_opening(
    tmp_path: Path, fresh: set[tuple[str, ...]]
) -> None:
    old = version_1(tmp_path / "old")
    before = rows_of(old)
    left = _left_by_kills(old.parent, tmp_path / "left")
    found = set()
    for home in left:
        # Looked at in a copy: opening may change what is beside the file.
        found.add(version_of(shutil.copytree(home, tmp_path / "look") / "pipeline.db"))
        shutil.rmtree(tmp_path / "look")
        _assert_done_by_the_next_opening(home, before, fresh)
        shutil.rmtree(home)
    # Killed within each of the scripts.
    assert found >= set(range(1, VERSION))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_migration_that_is_killed_before_any_write_to_the_disk_is_done_by_the_next_opening(
    tmp_path: Path, fresh: set[tuple[str, ...]]
) -> None:
    old = version_1(tmp_path / "old")
    before, home, codes = rows_of(old), tmp_path / "killed", [9]
    while codes[-1] == 9:
        shutil.copytree(old.parent, home)

        def opened(steps: int = len(codes) - 1) -> None:
            end_before_step(steps)
            Database.open(home).close()

        codes.append(_in_a_child(opened))
        _assert_done_by_the_next_opening(home, before, fresh)
        shutil.rmtree(home)
    assert codes[-1] == 0
    assert len(codes) > 3


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_processes_that_open_it_at_once_migrate_it_once(tmp_path: Path, fresh: set[tuple[str, ...]]) -> None:
    path = version_1(tmp_path / "old")
    before = rows_of(path)
    gate, opened = os.pipe()

    def open_and_write(number: int) -> None:
        os.close(opened)
        os.read(gate, 1)
        with open_pipeline(path.parent, name=f"w{number}") as pipeline:
            pipeline.ingest(f"{TEXT} For the {number}th time.")

    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            try:
                open_and_write(number)
            except BaseException:
                os._exit(1)
            os._exit(0)
        children.append(child)
    os.close(opened)
    os.close(gate)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    assert schema_of(path) == fresh
    assert_kept(path, before)
    assert len(rows_of(path)["raw_memories"]) == len(before["raw_memories"]) + 4
    assert len(copies(path.parent)) == 1


def test_looking_at_a_database_of_version_1_writes_nothing_and_sees_the_present_tables(
    tmp_path: Path,
) -> None:
    home = configure(tmp_path)
    path = version_1(home)
    before = path.read_bytes()
    with open_read_only(home) as reader:
        assert reader.checkpoints.count_of("s1") == 0
        assert reader.raw.raw_of("raw-1") is not None
        with pytest.raises(sqlite3.OperationalError):
            reader.connection.execute("DELETE FROM meta")
    memory = Memory.open(home)
    assert not any(one.kind == "unreadable-pipeline" for one in drift(memory, now=0))
    assert Workspace(memory).secrets() == ()
    assert path.read_bytes() == before
    assert not (home / "backups").exists()


def test_a_newer_database_is_refused_with_one_error_and_not_a_byte_of_it_changes(tmp_path: Path) -> None:
    path = version_1(tmp_path)
    with closing(sqlite3.connect(path)) as newer:
        newer.execute(f"PRAGMA user_version = {VERSION + 1}")
        newer.execute("ALTER TABLE facts RENAME TO statements")
        newer.commit()
        # Somebody else has it open, so that what was written last lies in the log beside it.
        files = {one.name: one.read_bytes() for one in tmp_path.iterdir() if not one.name.endswith("-shm")}
        with pytest.raises(ReadOnlyError, match="newer than nuggets-tui supports") as refused:
            Database.open(tmp_path)
        assert refused.value.code is ErrorCode.NEWER_VERSION
        # What is still as it is here can be looked at; of the rest it is said why it cannot be.
        with open_read_only(tmp_path) as reader:
            assert reader.raw.raw_of("raw-1") is not None
        with pytest.raises(ReadOnlyError, match="newer than"), open_read_only(tmp_path) as reader:
            reader.facts.fact_statuses()
        assert files == {
            one.name: one.read_bytes() for one in tmp_path.iterdir() if not one.name.endswith("-shm")
        }


def test_who_has_it_open_while_a_newer_version_migrates_it_writes_no_more(tmp_path: Path) -> None:
    with open_pipeline(tmp_path) as pipeline:
        pipeline.ingest(TEXT)
        with closing(sqlite3.connect(tmp_path / "pipeline.db", isolation_level=None)) as newer:
            newer.execute(f"PRAGMA user_version = {VERSION + 1}")
        with pytest.raises(ReadOnlyError, match="newer than"):
            pipeline.ingest(f"{TEXT} Later.")
        assert pipeline.status().raw == 1


def test_a_step_that_fails_leaves_the_database_as_it_was_and_sets_nothing_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = version_1(tmp_path)
    before = rows_of(path)
    for failing in (
        "CREATE TABLE more (a);\nINSERT INTO none_such VALUES (1);\n",
        "CREATE TABLE more (a);\nINSERT INTO meta VALUES ('paused', 1);\n",
    ):
        with monkeypatch.context() as patched:
            patched.setattr(migrations, "MIGRATIONS", (MIGRATIONS[0], failing))
            patched.setattr(migrations, "VERSION", 2)
            patched.setattr(opening, "VERSION", 2)
            with pytest.raises(StorageError, match=r"cannot be upgraded .*; the file is unchanged"):
                Database.open(tmp_path)
        assert (version_of(path), rows_of(path)) == (1, before)
    assert not (tmp_path / "quarantine").exists()
    Database.open(tmp_path).close()
    assert_kept(path, before)


@pytest.mark.slow
def test_what_is_masked_is_masked_in_the_copies_too(tmp_path: Path) -> None:
    home = configure(tmp_path)
    value = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
    path = version_1(home)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE raw_memories SET content = ? WHERE id = 'raw-3'", (f"The key is {value}.",)
        )
        connection.commit()
    Database.open(home).close()
    (copy,) = copies(home)
    assert value.encode() in copy.read_bytes()
    workspace = Workspace(Memory.open(home))
    masking = workspace.masking(["raw-3"])
    assert copy in {place.path for place in masking.places}
    workspace.mask_secrets(masking)
    assert workspace.masking_left(masking) == ()
    assert not any(value.encode() in one.read_bytes() for one in home.rglob("*") if one.is_file())
    masked = rows_of(copy)
    assert len(masked["raw_memories"]) == 3
    assert masked["facts"] == rows_of(path)["facts"]


def test_facts_that_nobody_decided_on_wait_for_a_person_and_nothing_else_that_was_left_out(
    tmp_path: Path,
) -> None:
    path = version_1(tmp_path)
    # content, hash, reason, confidence, by whom it was left out, when
    left_out = (
        ("wanted", "a", "undecided", 0.9, "pipeline-v2", 1),
        ("of shadow mode", "b", "undecided", 0.2, "pipeline-shadow", 2),
        ("said twice", "c", "undecided", 0.9, "pipeline-v2", 3),
        ("Said twice", "c", "undecided", 0.9, "pipeline-v2", 4),
        ("too unsure", "d", "undecided", 0.2, "pipeline-v2", 5),
        ("refused", "e", "undecided", 0.9, "pipeline-v2", 6),
        ("known", "f", "undecided", 0.9, "pipeline-v2", 7),
        (" ", "g", "undecided", 0.9, "pipeline-v2", 8),
        ("low", "h", "low_fact_confidence", 0.9, "pipeline-v2", 9),
    )
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM proposals")
        (raw,) = connection.execute("SELECT id FROM raw_memories LIMIT 1").fetchone()

        def put(number: int, content: str, hash: str, status: str, reason: str, sure: float, by: str) -> None:
            connection.execute(
                "INSERT INTO proposals (id, raw_id, job_id, place, action, content, type, fact_confidence, grounded,"
                " target_note, target_content, confidence, told, decided_by, model, prompt_version, status, reason,"
                " review_needed, contradiction, nugget, content_hash, created_at, resolved_at, resolved_by) VALUES"
                " (?, ?, 1, ?, 'add', ?, 'fact', ?, 1, '', '', ?, 'no decision', '', 'm', 'p', ?, ?, 0, '', 'n', ?,"
                " ?, 9, ?)",
                (f"proposal-{number}", raw, number, content, sure, sure, status, reason, hash, number, by),
            )

        for content, hash, reason, sure, by, number in left_out:
            put(number, content, hash, "skipped", reason, sure, by)
        put(20, "refused", "e", "rejected", "refused_by_person", 0.9, "person")
        connection.execute(
            "UPDATE facts SET nugget = 'n', content_hash = 'f', status = 'active' WHERE rowid = 1"
        )
    with open_pipeline(path.parent) as pipeline:
        waiting = pipeline.proposals()
        assert sorted(one.content for one in waiting) == ["Said twice", "of shadow mode", "wanted"]
        assert {(one.status, one.reason, one.review_needed, one.resolved_at) for one in waiting} == {
            ("review", "undecided", True, None)
        }
        assert [row.event for row in pipeline.history("proposal-1")][-1] == "reopened"
        assert pipeline.refuse(["proposal-1"]) == 1
