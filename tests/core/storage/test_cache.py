"""A file of the cache: what is read is what was written, or nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.storage.cache import read_cache, write_cache

BLOCKS = {"words": bytes(range(200)), "empty": b"", "numbers": b"\x07" * 64, "one": b"x"}

# Writes the same container over and over, each time with blocks of another content; both blocks always agree.


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
