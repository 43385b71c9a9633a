"""A file of the cache: what is read is what was written, or nothing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.storage.cache import read_cache, write_cache

ROOT = Path(__file__).parents[3]
BLOCKS = {"words": bytes(range(200)), "empty": b"", "numbers": b"\x07" * 64, "one": b"x"}

# Writes the same container over and over, each time with blocks of another content; both blocks always agree.
WRITER = """
import sys
from pathlib import Path
from core.storage.cache import write_cache
print("ready", flush=True)
for turn in range(int(sys.argv[2])):
    text = b"%s %d " % (sys.argv[3].encode(), turn)
    done = write_cache(Path(sys.argv[1]), "1", {"first": text * 40_000, "second": text * 10_000})
    print("wrote" if done else "did not", flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "index.cache"


def _plain(found: Mapping[str, memoryview] | None) -> dict[str, bytes] | None:
    return None if found is None else {name: bytes(block) for name, block in found.items()}


def _written(path: Path, blocks: Mapping[str, bytes | memoryview] = BLOCKS) -> bytes:
    assert write_cache(path, "1", blocks)
    return path.read_bytes()


@given(
    st.dictionaries(st.text("abcé/\n", max_size=5), st.binary(max_size=300), max_size=6),
    st.text("0ab", max_size=9),
)
def test_what_was_written_is_read_in_its_order(
    tmp_path_factory: pytest.TempPathFactory, blocks: dict[str, bytes], version: str
) -> None:
    path = tmp_path_factory.mktemp("cache") / "index.cache"
    assert write_cache(path, version, blocks)
    found = read_cache(path, version)
    assert _plain(found) == blocks
    assert found is not None
    assert list(found) == list(blocks)
    assert all(block.readonly for block in found.values())
    assert read_cache(path, version + "1") is None


def test_a_file_cut_off_anywhere_or_with_something_after_it_gives_nothing(path: Path) -> None:
    whole = _written(path)
    for size in reversed(range(len(whole))):
        os.truncate(path, size)
        assert read_cache(path, "1") is None
    for more in (b"\0", b"\0" * 64, whole):
        path.write_bytes(whole + more)
        assert read_cache(path, "1") is None


@given(st.lists(st.tuples(st.integers(0, 600), st.binary(min_size=1, max_size=80)), min_size=1, max_size=4))
def test_pieces_overwritten_anywhere_never_give_other_data(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[tuple[int, bytes]]
) -> None:
    path = tmp_path_factory.mktemp("cache") / "index.cache"
    data = bytearray(_written(path))
    for place, piece in pieces:
        data[place : place + len(piece)] = piece
    path.write_bytes(data)
    assert _plain(read_cache(path, "1")) in (None, BLOCKS)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["nothing", "folder", "pipe", "link", "loop", "no folder"])
def test_what_is_no_regular_file_is_not_read_and_nothing_hangs(path: Path, kind: str) -> None:
    real = path.with_name("real")
    _written(real)
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            if not hasattr(os, "mkfifo"):
                pytest.skip("needs named pipes")
            os.mkfifo(path)
        case "link":
            path.symlink_to(real)
        case "loop":
            path.symlink_to(path)
        case "no folder":
            path = real / "index.cache"
    assert read_cache(path, "1") is None
    # A folder is not ours to take away; everything else gives place to the file.
    kept = kind in ("folder", "no folder")
    assert write_cache(path, "1", BLOCKS) is not kept
    assert (_plain(read_cache(path, "1")) == BLOCKS) is not kept
    assert _plain(read_cache(real, "1")) == BLOCKS


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners of files")
def test_a_file_of_somebody_else_is_not_read_and_is_replaced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _written(path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
        assert read_cache(path, "1") is None
    assert read_cache(path, "1") is not None


def _sound(path: Path) -> None:
    """Holds that a file of WRITER is one that it wrote, and whole."""
    found = read_cache(path, "1")
    assert found is not None
    text = bytes(found["second"][: len(found["second"]) // 10_000])
    assert found["second"] == text * 10_000
    assert found["first"] == text * 40_000


def _writer(path: Path, turns: int, name: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WRITER, str(path), str(turns), name]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.slow
def test_two_processes_that_write_at_once_leave_a_whole_file_at_every_moment(path: Path) -> None:
    assert write_cache(path, "1", {"first": b"x" * 40_000, "second": b"x" * 10_000})
    writers = [_writer(path, 20, name) for name in ("one", "other")]
    while any(writer.poll() is None for writer in writers):
        _sound(path)
    for writer in writers:
        told, errors = writer.communicate()
        assert errors == b""
        assert told.split().count(b"wrote") == 20
    _sound(path)
    assert not list(path.parent.glob(".*.tmp"))


@pytest.mark.slow
def test_a_writer_killed_at_any_moment_leaves_a_whole_file(path: Path) -> None:
    assert write_cache(path, "1", {"first": b"x" * 40_000, "second": b"x" * 10_000})
    chance = random.Random(5)
    for _ in range(5):
        writer = _writer(path, 1_000_000, "killed")
        assert writer.stdout is not None
        for _ in range(chance.randrange(1, 9)):
            assert writer.stdout.readline()
        writer.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        assert writer.communicate()[1] == b""
        _sound(path)
    # What they left half written goes when the next one writes.
    path.with_name(f".index.cache.{writer.pid}-0123abcd.tmp").write_bytes(b"half")
    _written(path)
    assert os.listdir(path.parent) == [path.name]
