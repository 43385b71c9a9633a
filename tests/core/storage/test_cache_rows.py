"""The growing cache file of rows: every row that is found is the one that was written for its digest."""

from __future__ import annotations

import errno
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.forked import Forked

from core.storage.cache.rows import RowFile, Rows

ROOT = Path(__file__).parents[3]
ROW = 64

# What all programs below share: the row of a digest follows from it, so that a wrong one shows.
SHARED = """
import hashlib, os, sys
from pathlib import Path
from core.storage.cache.rows import RowFile
def digest_of(number): return hashlib.blake2b(b"%d" % number, digest_size=16).digest()
def row_of(digest): return hashlib.blake2b(digest, digest_size=64).digest()
rows = RowFile(Path(sys.argv[1]), "1", 64)
def add(numbers):
    digests = [digest_of(number) for number in numbers]
    return rows.append(digests, b"".join(map(row_of, digests)))
"""

APPENDING = (
    SHARED
    + """
start, count, drops = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "drops"
print("ready", flush=True)
sys.stdin.readline()
for number in range(start, start + count, 3):
    print(number if add(range(number, min(number + 3, start + count))) else "no", flush=True)
    if drops and number % 5 == 0:
        rows.prune([digest_of(other) for other in range(max(number - 9, start), number + 3)])
"""
)

# Ends the process, as kill -9 would, right before the nth step that reaches the disk.
AT_STEP = (
    SHARED
    + """
left = int(sys.argv[2])
def stepping(work):
    def carried_out(*given, **named):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return work(*given, **named)
    return carried_out
short = os.write
os.write = stepping(lambda handle, data: short(handle, data[: 50]))
os.replace, os.unlink = stepping(os.replace), stepping(os.unlink)
assert add([100, 101])
assert rows.prune([digest_of(100), digest_of(1)])
assert add([102])
print("done", flush=True)
"""
)


def _digest(number: int) -> bytes:
    return hashlib.blake2b(b"%d" % number, digest_size=16).digest()


def _row(digest: bytes) -> bytes:
    return hashlib.blake2b(digest, digest_size=ROW).digest()


def _open(path: Path, version: str = "1") -> RowFile:
    return RowFile(path, version, ROW)


def _add(file: RowFile, numbers: Iterable[int]) -> bool:
    digests = [_digest(number) for number in numbers]
    return file.append(digests, b"".join(_row(digest) for digest in digests))


def _sound(rows: Rows) -> set[bytes]:
    """The digests that have a row; holds that each row is the one that belongs to it."""
    for digest, number in rows.numbers.items():
        assert rows.matrix[number * ROW : (number + 1) * ROW] == _row(digest)
    return set(rows.numbers)


def _digests(numbers: Iterable[int]) -> set[bytes]:
    return {_digest(number) for number in numbers}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vectors.table"


def test_rows_are_found_by_their_digests_at_once_and_after_opening_anew(path: Path) -> None:
    file = _open(path)
    assert len(file.rows.numbers) == 0
    assert _add(file, range(5))
    assert _add(file, range(3, 9))
    for rows in (file.rows, _open(path).rows):
        assert _sound(rows) == _digests(range(9))
        assert rows.total == 9
        assert rows.matrix.readonly
        assert _digest(9) not in rows.numbers
        matrix = np.frombuffer(rows.matrix, dtype=np.uint64).reshape(-1, ROW // 8)
        assert matrix.ctypes.data % 64 == 0
        assert matrix[rows.numbers[_digest(4)]].tobytes() == _row(_digest(4))
    if os.name != "nt":
        assert {one.stat().st_mode & 0o777 for one in path.parent.glob("vectors*")} == {0o600}


def test_adding_a_row_leaves_the_others_where_they_are(path: Path) -> None:
    file = _open(path)
    _add(file, range(50))
    before = {one: (one.stat().st_ino, one.read_bytes()) for one in path.parent.glob("vectors*")}
    _add(file, [50])
    for one, (inode, data) in before.items():
        assert one.stat().st_ino == inode
        assert one.read_bytes()[: len(data)] == data
        assert len(one.read_bytes()) - len(data) <= ROW
    assert len(before) == 2


def test_what_somebody_holds_stays_as_it_is(path: Path) -> None:
    file, other = _open(path), _open(path)
    _add(file, range(10))
    held = file.rows
    assert _add(other, range(10, 20))
    assert _sound(other.rows) == _digests(range(20))
    assert _sound(file.refresh()) == _digests(range(20))
    assert other.prune(_digests([1]))
    assert _sound(other.rows) == _digests([1])
    assert _sound(held) == _digests(range(10))
    shutil.rmtree(path.parent)
    assert _sound(held) == _digests(range(10))
    assert _sound(file.refresh()) == set()


def test_digests_and_rows_that_do_not_fit_are_refused(path: Path) -> None:
    file = _open(path)
    for digests, rows in (([_digest(1)], b""), ([b"short"], bytes(ROW)), ([_digest(1)], bytes(ROW + 1))):
        with pytest.raises(ValueError, match="do not fit"):
            file.append(digests, rows)
    assert file.append([], b"")
    assert not path.exists()
    assert file.append([_digest(1)] * 2, _row(_digest(1)) * 2)
    assert file.rows.total == 1


@pytest.mark.parametrize(("version", "row_bytes"), [("2", ROW), ("1", ROW * 2), ("", ROW)])
def test_rows_of_another_version_or_length_are_not_read_and_go(
    path: Path, version: str, row_bytes: int
) -> None:
    _add(_open(path), range(5))
    other = RowFile(path, version, row_bytes)
    assert len(other.rows.numbers) == 0
    assert other.append([_digest(1)], bytes(row_bytes))
    assert len(other.rows.numbers) == 1
    assert len(list(path.parent.glob("*.rows"))) == 1
    assert len(_open(path).rows.numbers) == 0


def test_stale_rows_go_once_they_are_more_than_half(path: Path) -> None:
    file = _open(path)
    _add(file, range(20))
    assert not file.prune(_digests(range(10)))
    assert file.rows.total == 20
    assert file.prune(_digests(range(9)))
    assert file.rows.total == 9
    for rows in (file.rows, _open(path).rows):
        assert _sound(rows) == _digests(range(9))
    assert len(list(path.parent.glob("*.rows"))) == 1
    assert _add(file, range(30))
    assert _sound(_open(path).rows) == _digests(range(30))
    assert file.prune([])
    assert not file.prune([])


def test_rows_that_others_added_meanwhile_are_not_dropped(path: Path) -> None:
    file, other = _open(path), _open(path)
    _add(file, range(10))
    _add(other, range(10, 15))
    assert file.prune([_digest(1)])
    assert _sound(file.rows) == _digests([1, *range(10, 15)])
    # Who looked before has another generation before it, and drops nothing of it unseen.
    assert not other.prune([])
    assert _add(other, [20])
    assert _sound(other.rows) == _digests([1, 20, *range(10, 15)])


def test_a_cache_that_is_taken_away_is_written_anew_with_what_is_known(path: Path) -> None:
    file = _open(path)
    _add(file, range(5))
    shutil.rmtree(path.parent)
    assert _add(file, [7])
    assert _sound(_open(path).rows) == _digests([*range(5), 7])
    next(path.parent.glob("*.rows")).unlink()
    assert _sound(_open(path).rows) == set()
    assert _add(file, [8])
    assert _sound(_open(path).rows) == _digests([*range(5), 7, 8])


@pytest.mark.timeout(20)
@pytest.mark.parametrize("which", ["table", "rows"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "link"])
def test_what_is_no_regular_file_is_not_read_and_nothing_hangs(path: Path, which: str, kind: str) -> None:
    _add(_open(path), range(5))
    one = path if which == "table" else next(path.parent.glob("*.rows"))
    moved = one.rename(one.with_name("moved"))
    match kind:
        case "folder":
            one.mkdir()
        case "link":
            one.symlink_to(moved)
        case _:
            if not hasattr(os, "mkfifo"):
                pytest.skip("needs named pipes")
            os.mkfifo(one)
    file = _open(path)
    assert _sound(file.rows) == set()
    assert _add(file, [1]) is not (which == "table" and kind == "folder")
    assert _sound(_open(path).rows) == _sound(file.rows)


def _damage_checked(path: Path) -> None:
    """Holds that a damaged file gives right rows or none, and that it can be added to."""
    file = _open(path)
    held = _sound(file.rows)
    assert held <= _digests(range(4))
    assert _add(file, range(3, 6))
    assert _sound(_open(path).rows) == held | _digests(range(3, 6))


@pytest.mark.parametrize("which", ["table", "rows"])
def test_a_byte_that_is_another_never_gives_another_row_wherever_it_stands(path: Path, which: str) -> None:
    _add(_open(path), range(4))
    one = path if which == "table" else next(path.parent.glob("*.rows"))
    with one.open("r+b", buffering=0) as file:
        for place, byte in enumerate(one.read_bytes()):
            for other in (byte ^ 1 << place % 8, byte ^ 0xFF, byte):
                file.seek(place)
                file.write(bytes([other]))
                assert _sound(_open(path).rows) <= _digests(range(4))
    assert _sound(_open(path).rows) == _digests(range(4))


@pytest.mark.slow
@given(
    which=st.sampled_from(["table", "rows"]),
    cut=st.none() | st.integers(0, 260),
    pieces=st.lists(st.tuples(st.integers(0, 260), st.binary(min_size=1, max_size=70)), max_size=3),
)
def test_a_damaged_file_gives_right_rows_or_none_and_grows_again(
    tmp_path_factory: pytest.TempPathFactory, which: str, cut: int | None, pieces: list[tuple[int, bytes]]
) -> None:
    path = tmp_path_factory.mktemp("cache") / "vectors.table"
    _add(_open(path), range(4))
    one = path if which == "table" else next(path.parent.glob("*.rows"))
    data = bytearray(one.read_bytes()[:cut])
    for place, piece in pieces:
        data[place : place + len(piece)] = piece
    one.write_bytes(data)
    _damage_checked(path)


@given(st.binary(max_size=300))
def test_garbage_gives_no_rows(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("cache") / "vectors.table"
    path.write_bytes(data)
    assert _sound(_open(path).rows) == set()
    _damage_checked(path)


def test_a_full_disk_keeps_what_there_was_and_room_is_used_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _open(path)
    _add(file, range(5))
    plain = os.write
    for room in range(2, 4 * (ROW + 20), 7):
        left = room

        def full(handle: int, data: memoryview) -> int:
            nonlocal left
            if not left:
                raise OSError(errno.ENOSPC, "no space")
            taken = min(len(data), left)
            left -= taken
            return plain(handle, data[:taken])

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            assert not _add(file, range(4 * room, 4 * room + 4))
            assert not file.prune([_digest(1), _digest(2)])
        assert _sound(file.rows) >= _digests(range(5))
        assert _sound(_open(path).rows) >= _digests(range(5))
        assert len(list(path.parent.glob("vectors*"))) == 2
    assert _add(file, [-1])
    assert _sound(_open(path).rows) >= _digests(range(-1, 5))


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    file = _open(tmp_path / "file" / "vectors.table")
    assert _sound(file.rows) == set()
    assert not _add(file, [1])
    assert not file.prune([])


@pytest.mark.slow
def test_threads_that_read_see_whole_rows_while_others_add_and_drop(path: Path) -> None:
    file = _open(path)
    done = threading.Event()
    failed: list[BaseException] = []

    def read() -> None:
        try:
            while not done.is_set():
                _sound(file.rows)
        except BaseException as error:
            failed.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(0, 60, 3):
        assert _add(file, range(number, number + 3))
        file.prune(_digests(range(number, number + 3)))
    done.set()
    for reader in readers:
        reader.join()
    assert failed == []


def _start(script: str, *given: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", script, *map(str, given)]
    pipe = subprocess.PIPE
    return Forked(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe)


@pytest.mark.slow
def test_processes_that_add_at_once_lose_no_row(path: Path) -> None:
    workers = [_start(APPENDING, path, 100 * number, 60, "keeps") for number in range(3)]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(b"go\n")
        worker.stdin.flush()
    reader = _open(path)
    while any(worker.poll() is None for worker in workers):
        _sound(reader.refresh())
    for worker in workers:
        told, errors = worker.communicate()
        assert errors == b""
        assert b"no" not in told.split()
    assert _sound(_open(path).rows) == _digests([*range(60), *range(100, 160), *range(200, 260)])
    assert reader.refresh().total == 180


@pytest.mark.slow
def test_a_process_killed_at_any_moment_leaves_right_rows(path: Path) -> None:
    chance = random.Random(11)
    kept = _open(path)
    for turn in range(5):
        worker = _start(APPENDING, path, 1000 * turn, 10**6, "drops" if turn % 2 else "keeps")
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(b"go\n")
        worker.stdin.flush()
        told = [worker.stdout.readline() for _ in range(chance.randrange(2, 30))]
        worker.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        rest, errors = worker.communicate()
        assert errors == b""
        # It may have gone on far, and dropped what it wrote before, since the line that was read last.
        whole = [line for line in (*told, *rest.splitlines(keepends=True)) if line.endswith(b"\n")]
        last = int(whole[-1]) if whole[-1].strip().isdigit() else 0
        there = _sound(_open(path).rows)
        assert not last or _digest(last) in there
        assert _add(kept, [-turn])
        assert _digest(-turn) in _sound(_open(path).rows)


@pytest.mark.slow
def test_a_process_killed_before_any_step_leaves_right_rows(path: Path) -> None:
    _add(_open(path), range(1, 5))
    step = 0
    while True:
        copy = path.parent.with_name(f"copy-{step}")
        shutil.copytree(path.parent, copy)
        worker = _start(AT_STEP, copy / path.name, step)
        told, errors = worker.communicate()
        assert errors == b""
        file = _open(copy / path.name)
        there = _sound(file.rows)
        assert _digest(1) in there
        assert there <= _digests([1, 2, 3, 4, 100, 101, 102])
        assert _add(file, [200])
        assert not list(copy.glob(".*.tmp"))
        if told == b"done\n":
            assert there == _digests([1, 100, 102])
            assert step > 8
            break
        step += 1
