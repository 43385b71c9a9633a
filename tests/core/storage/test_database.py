"""The one class for SQLite files: what it opens, refuses, sets aside, and what outlives a kill, a full disk, others."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kits.faults import failing

from core.errors import ErrorCode, LockTimeoutError, NuggetsError, ReadOnlyError, StorageError
from core.storage import database as module
from core.storage.database import (
    VERSION,
    BrokenDatabaseError,
    Database,
    ForeignDatabaseError,
    Part,
    damage_in,
)

_TABLES = """
CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TRIGGER spoken AFTER INSERT ON word BEGIN
    UPDATE word SET text = upper(text) WHERE id = new.id;
END;
CREATE TABLE named (id INTEGER NOT NULL REFERENCES word (id)) STRICT;
"""
_NUMBERS = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 10000)"
_PAGE = 4096


@pytest.fixture
def schema(tmp_path: Path) -> Part:
    script = tmp_path / "schema.sql"
    script.write_text(_TABLES)
    return Part(script, ("SELECT id FROM word LIMIT 1",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home" / "words.db"


@pytest.fixture
def words(path: Path, schema: Part) -> Iterator[Database]:
    database = Database(path, schema)
    _say(database, "one")
    yield database
    database.close()


def _say(database: Database, text: str) -> None:
    with database.transaction() as connection:
        connection.execute("INSERT INTO word (text) VALUES (?)", (text,))


def _said(database: Database) -> list[str]:
    return [text for (text,) in database.reader().execute("SELECT text FROM word ORDER BY id")]


def _read_and_say(database: Database) -> None:
    with database.errors():
        database.reader().execute("SELECT sum(length(text)) FROM word").fetchone()
        _say(database, "more")


def _files(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir() if not one.name.endswith("-shm")}


def _filled(path: Path, schema: Part) -> bytes:
    with closing(Database(path, schema)) as database:
        for number in range(400):
            _say(database, f"word {number} " * 20)
    return path.read_bytes()


# What stands there


def test_a_new_database_is_for_its_owner_alone_and_bears_the_version(words: Database) -> None:
    assert words.path.stat().st_mode & 0o077 == 0
    assert words.connect().execute("PRAGMA user_version").fetchone()[0] == VERSION
    assert words.connect().execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert _said(words) == ["ONE"]
    with pytest.raises(sqlite3.OperationalError):
        words.reader().execute("DELETE FROM word")


def _cut(data: bytearray) -> None:
    del data[len(data) // 2 :]


def _scramble(data: bytearray) -> None:
    for place in range(_PAGE, len(data), 7):
        data[place] ^= 0x55


def _no_words(data: bytearray) -> None:
    data[:] = data.replace(b"CREATE TABLE word", b"CREATE TABLE wo\xffd", 1)


def _no_version(data: bytearray) -> None:
    data[60:64] = b"\x7f\xff\xff\xff"


def _no_database(data: bytearray) -> None:
    data[:] = b"no database at all " * 400


def _of_the_future(data: bytearray) -> None:
    data[18] = 9


@pytest.mark.parametrize("damage", [_cut, _scramble, _no_words, _no_version, _no_database, _of_the_future])
def test_a_damaged_database_is_known_as_such_and_set_aside_with_its_bytes(
    path: Path, schema: Part, damage: Callable[[bytearray], None]
) -> None:
    data = bytearray(_filled(path, schema))
    damage(data)
    path.write_bytes(data)
    database = Database(path, schema)
    with pytest.raises(BrokenDatabaseError) as refused:
        _read_and_say(database)
    assert database.begin_anew(refused.value)
    (kept,) = (path.parent / "quarantine").glob("*-words.db")
    assert kept.read_bytes() == data
    _say(database, "anew")
    assert _said(database) == ["ANEW"]
    database.close()


def test_values_that_make_other_code_stumble_are_told_from_a_fault_of_that_code(words: Database) -> None:
    with pytest.raises(ZeroDivisionError), words.errors():
        raise ZeroDivisionError
    with pytest.raises(sqlite3.IntegrityError), words.transaction() as connection:
        connection.execute("INSERT INTO word VALUES (1, 'again')")
    with closing(sqlite3.connect(words.path)) as other:
        # As a damaged byte would have it: no text any more, and a row that is gone.
        other.execute("PRAGMA writable_schema = ON")
        other.execute("UPDATE sqlite_master SET sql = replace(sql, 'STRICT', '') WHERE name = 'word'")
        other.commit()
    with closing(sqlite3.connect(words.path)) as other:
        other.execute("UPDATE word SET text = x'00ff'")
        other.execute("PRAGMA writable_schema = ON")
        other.execute("UPDATE sqlite_master SET sql = sql || ' STRICT' WHERE name = 'word'")
        other.commit()
    assert damage_in(words.path)
    with pytest.raises(BrokenDatabaseError), words.errors():
        raise ZeroDivisionError


@pytest.mark.parametrize("version", [0, -5, VERSION])
def test_a_database_of_another_program_is_recognised_and_not_a_byte_of_it_changes(
    path: Path, schema: Part, version: int
) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE theirs (a)")
        other.execute(f"PRAGMA user_version = {version}")
        other.commit()
    before = _files(path.parent)
    with pytest.raises(ForeignDatabaseError):
        Database(path, schema).connect()
    assert _files(path.parent) == before


@pytest.mark.parametrize("version", [VERSION + 1, 99])
def test_another_version_is_refused_with_one_error_and_not_a_byte_of_it_changes(
    words: Database, schema: Part, version: int
) -> None:
    # Somebody else has it open, so that what was written last lies in the log beside it.
    with closing(sqlite3.connect(words.path, isolation_level=None)) as newer:
        newer.execute(f"PRAGMA user_version = {version}")
        newer.execute("ALTER TABLE word RENAME TO words")
        before = _files(words.path.parent)
        for read_only in (False, True):
            with pytest.raises(ReadOnlyError) as refused:
                Database(words.path, schema, read_only=read_only).connect()
            assert refused.value.code is ErrorCode.NEWER_VERSION
        # Nor does who had it open before.
        with pytest.raises(ReadOnlyError) as refused:
            _say(words, "more")
        assert refused.value.code is ErrorCode.NEWER_VERSION
        assert _files(words.path.parent) == before


def test_an_interrupted_statement_and_one_that_is_wrong_are_no_damage(words: Database) -> None:
    def interrupted() -> None:
        connection = words.connect()
        connection.set_progress_handler(lambda: 1, 1)
        try:
            connection.execute(f"{_NUMBERS} SELECT count(*) FROM number").fetchone()
        finally:
            connection.set_progress_handler(None, 0)

    for fail in (interrupted, lambda: words.connect().execute("SELECT nothing FROM nowhere")):
        with pytest.raises(StorageError), words.errors():
            fail()
    assert _said(words) == ["ONE"]


def test_what_another_process_began_anew_is_not_set_aside_a_second_time(path: Path, schema: Part) -> None:
    path.write_bytes(b"no database at all " * 400)
    late, first = Database(path, schema), Database(path, schema)
    with pytest.raises(BrokenDatabaseError) as found:
        late.connect()
    with pytest.raises(BrokenDatabaseError):
        first.connect()
    assert first.begin_anew(found.value)
    _say(first, "one")
    assert late.begin_anew(found.value) == ""
    assert _said(late) == ["ONE"]
    for database in (late, first):
        database.close()


def _folder(path: Path) -> None:
    path.mkdir()


def _fifo(path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(path)


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("make", [_folder, _fifo, _link_to_itself])
def test_what_is_no_file_is_no_database(path: Path, schema: Part, make: Callable[[Path], None]) -> None:
    make(path)
    with pytest.raises(BrokenDatabaseError):
        Database(path, schema).connect()


def test_a_link_out_of_the_folder_is_not_followed(path: Path, schema: Part) -> None:
    path.symlink_to(path.parent.parent / "elsewhere.db")
    with pytest.raises(ReadOnlyError) as refused:
        Database(path, schema).connect()
    assert refused.value.code is ErrorCode.LINK_OUT_OF_FOLDER
    assert not (path.parent.parent / "elsewhere.db").exists()


# Others at once


def test_another_writer_is_waited_for_and_then_named_while_readers_go_on(
    words: Database, schema: Part
) -> None:
    impatient = Database(words.path, schema, seconds=0.05)
    impatient.connect()
    with words.transaction() as connection:
        connection.execute("INSERT INTO word (text) VALUES ('two')")
        assert _said(impatient) == ["ONE"]
        with pytest.raises(LockTimeoutError):
            _say(impatient, "three")
    _say(impatient, "three")
    assert _said(words) == ["ONE", "TWO", "THREE"]
    impatient.close()


_WRITES = """
    import sys
    from pathlib import Path
    from core.storage.database import Database, Part
    database = Database(Path(sys.argv[1]), Part(Path(sys.argv[2])), seconds=60)
    for number in range(40):
        with database.transaction(lasting=False) as connection:
            connection.execute("INSERT INTO word (text) VALUES (?)", (f"{sys.argv[3]} {number}",))
"""
_IS_KILLED = """
    import os, signal, sys
    from pathlib import Path
    from core.storage.database import Database, Part
    database = Database(Path(sys.argv[1]), Part(Path(sys.argv[2])))
    for number in range(100):
        with database.transaction() as connection:
            connection.execute("INSERT INTO word (text) VALUES ('first half')")
            if number == int(sys.argv[3]):
                os.kill(os.getpid(), signal.SIGKILL)
            connection.execute("INSERT INTO word (text) VALUES ('second half')")
"""


def _process(script: str, path: Path, schema: Part, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", textwrap.dedent(script), str(path), str(schema.script), *words]
    return subprocess.Popen(command, cwd=Path(__file__).parents[3])


@pytest.mark.slow
def test_two_processes_that_begin_and_write_at_once_lose_nothing(path: Path, schema: Part) -> None:
    running = [_process(_WRITES, path, schema, name) for name in ("A", "B")]
    assert [one.wait(60) for one in running] == [0, 0]
    with closing(Database(path, schema)) as database:
        assert sorted(_said(database)) == sorted(f"{name} {n}" for name in ("A", "B") for n in range(40))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no such signal there")
@pytest.mark.parametrize("turn", [0, 3])
def test_a_kill_in_the_midst_of_a_transaction_leaves_all_of_it_or_nothing(
    path: Path, schema: Part, turn: int
) -> None:
    assert _process(_IS_KILLED, path, schema, str(turn)).wait(60) < 0
    with closing(Database(path, schema)) as database:
        assert _said(database) == ["FIRST HALF", "SECOND HALF"] * turn
        assert damage_in(path) == ""
        _say(database, "more")


@pytest.mark.parametrize("sides", [("",), ("", "-wal", "-shm")], ids=["alone", "with its side files"])
@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be taken away there")
def test_a_database_taken_away_or_put_back_is_followed_and_not_written_to_unseen(
    words: Database, schema: Part, sides: tuple[str, ...]
) -> None:
    words.vacuum()
    words.empty_log()
    copy = words.path.read_bytes()
    for side in sides:
        words.path.with_name(words.path.name + side).unlink(missing_ok=True)
    assert words.replaced
    words.follow()
    _say(words, "later")
    with closing(Database(words.path, schema)) as other:
        assert _said(other) == _said(words) == ["LATER"]
    words.path.with_name("copy").write_bytes(copy)
    words.path.with_name("copy").replace(words.path)
    for side in ("-wal", "-shm"):
        words.path.with_name(words.path.name + side).unlink(missing_ok=True)
    words.follow()
    assert _said(words) == ["ONE"]


def test_closing_while_another_thread_reads_lets_it_read_to_the_end(words: Database) -> None:
    reads, closed, numbers = threading.Event(), threading.Event(), []

    def midway() -> int:
        reads.set()
        return not closed.wait(30)

    def read() -> None:
        reader = words.reader()
        reader.set_progress_handler(midway, 1_000)
        numbers.extend(reader.execute(f"{_NUMBERS} SELECT count(*) FROM number").fetchone())

    reading = threading.Thread(target=read)
    reading.start()
    assert reads.wait(30)
    words.close()
    closed.set()
    reading.join()
    assert numbers == [10_000]


# What the system refuses


def test_a_durable_transaction_waits_for_the_disk_also_after_one_that_need_not(words: Database) -> None:
    def synchronous(lasting: bool) -> int:
        with words.transaction(lasting=lasting) as connection:
            return int(connection.execute("PRAGMA synchronous").fetchone()[0])

    full, normal = 2, 1
    order = (True, False, False, True, False)
    assert [synchronous(lasting) for lasting in order] == [full, normal, normal, full, normal]
    words.close()
    assert synchronous(True) == full


@pytest.mark.parametrize("logged", [False, True], ids=["whole", "with changes beside it"])
def test_where_nothing_may_be_written_all_is_read_and_no_file_is_made(
    path: Path, schema: Part, monkeypatch: pytest.MonkeyPatch, logged: bool
) -> None:
    first = path.parent / "first.db"
    with closing(Database(first, schema)) as database:
        _say(database, "one")
        if not logged:
            database.empty_log()
        for side in ("", "-wal"):
            shutil.copy(f"{first}{side}", f"{path}{side}")
    assert bool(path.with_name("words.db-wal").stat().st_size) is logged
    with monkeypatch.context() as patch:
        patch.setattr(module.os, "access", lambda path, mode: mode != os.W_OK)
        before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
        with closing(Database(path, schema)) as database:
            assert database.read_only
            assert _said(database) == ["ONE"]
            with pytest.raises(ReadOnlyError):
                _say(database, "two")
        assert {one.name: one.read_bytes() for one in path.parent.iterdir()} == before


def test_who_opens_it_to_read_makes_no_file_and_none_stays_beside_it(path: Path, schema: Part) -> None:
    with pytest.raises(StorageError):
        Database(path, schema, read_only=True).connect()
    assert not path.exists()
    _filled(path, schema)
    before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
    with closing(Database(path, schema, read_only=True)) as database:
        assert len(_said(database)) == 400
    assert {one.name: one.read_bytes() for one in path.parent.iterdir()} == before


def test_a_disk_that_fills_while_the_database_is_made_leaves_nothing_to_clear_away(
    tmp_path: Path, schema: Part
) -> None:
    (tmp_path / "counted").mkdir()
    with failing(None) as calls, closing(Database(tmp_path / "counted" / "words.db", schema)) as database:
        database.connect()
    for step in range(0, calls.count, 9):
        path = tmp_path / str(step) / "words.db"
        path.parent.mkdir()
        with failing(step, errno.ENOSPC, more=calls.count), contextlib.suppress(NuggetsError):
            Database(path, schema).connect()
        with closing(Database(path, schema)) as database:
            _say(database, "one")
            assert _said(database) == ["ONE"]


def test_nothing_that_was_deleted_stays_in_the_file_once_it_is_made_anew(words: Database) -> None:
    _say(words, "a secret wish")
    with words.transaction() as connection:
        connection.execute("DELETE FROM word WHERE text = 'A SECRET WISH'")
    words.vacuum()
    words.empty_log()
    assert b"SECRET" not in b"".join(_files(words.path.parent).values()).upper()
