"""Quarantine: what cannot be read is kept to the byte, once, with its reason, and listed whatever lies around it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ReadOnlyError, StorageError
from core.folder import QUARANTINE
from core.storage.safety import Record, record_bytes, records, set_aside

AT = "2026-11-22T01:37:06.123Z"


def _put(home: Path, data: bytes = b'{"broken', **given: Any) -> Record:
    told = {
        "file": "graph/graph.json",
        "reason": "it is cut off",
        "where": "note 3",
        "at": AT,
        "whole": False,
    }
    return set_aside(home, data=data, **(told | given))


def test_the_exact_bytes_are_kept_with_where_they_stood_and_why(tmp_path: Path) -> None:
    data = bytes(range(256)) * 3
    record = _put(tmp_path, data, whole=True)
    assert record.path.name == f"2026-11-22T013706Z-{record.sha256[:8]}-graph.json"
    assert record_bytes(record) == record.path.read_bytes() == data
    assert (record.file, record.where, record.reason) == ("graph/graph.json", "note 3", "it is cut off")
    assert (record.at, record.whole, record.size) == (AT, True, 768)
    assert records(tmp_path) == [record]
    beside = json.loads(record.path.with_name(record.path.name + ".record.json").read_bytes())
    assert beside == {
        "file": "graph/graph.json",
        "where": "note 3",
        "reason": "it is cut off",
        "at": AT,
        "whole": True,
        "sha256": record.sha256,
    }
    if os.name != "nt":
        assert {path.stat().st_mode & 0o777 for path in record.path.parent.iterdir()} == {0o600}
        assert record.path.parent.stat().st_mode & 0o777 == 0o700


def test_the_same_bytes_of_the_same_file_are_kept_once(tmp_path: Path) -> None:
    first = _put(tmp_path)
    again = _put(tmp_path, at="2027-01-01T00:00:00.000Z", reason="another")
    assert again == first
    other_file = _put(tmp_path, file="memory.nugget.json")
    other_folder = _put(tmp_path, file="old/graph.json", at="2026-11-23T00:00:00.000Z")
    other_bytes = _put(tmp_path, b"other")
    assert {record.path for record in records(tmp_path)} == {
        record.path for record in (first, other_file, other_folder, other_bytes)
    }


@given(name=st.text(max_size=300), data=st.binary())
def test_any_name_and_any_bytes_are_kept(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes
) -> None:
    home = tmp_path_factory.mktemp("any")
    record = _put(home, data, file=name)
    assert _put(home, data, file=name) == record
    assert records(home) == [record]
    assert record_bytes(record) == data


def test_a_quarantine_that_leads_out_of_the_memory_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    (home / QUARANTINE).symlink_to(outside)
    with pytest.raises(ReadOnlyError, match="outside the memory's folder"):
        _put(home)
    assert list(outside.iterdir()) == []


def test_nothing_half_written_counts_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def full_at_the_second_file(handle: int) -> None:
        calls.append(handle)
        if len(calls) > 2:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full_at_the_second_file)
        with pytest.raises(StorageError, match="No space left"):
            _put(tmp_path)
    assert records(tmp_path) == []
    assert _put(tmp_path).reason == "it is cut off"
