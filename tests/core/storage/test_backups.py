"""Backups: the folder's files byte for byte, in archives that sort by time, read back with all their flaws told."""

from __future__ import annotations

import contextlib
import time
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.memory_files import GRAPH, fact_object, note_object, tree, write_graph, write_nugget

from core.errors import BrokenFileError, NuggetsError, ReadOnlyError, StorageError
from core.settings import InferenceSettings
from core.storage.format.documents import read_folder
from core.storage.safety import (
    BACKUPS,
    backups,
    due_today,
    make_backup,
    prune,
    read_backup,
)

NOON = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)
RULES = InferenceSettings()


def _home(home: Path) -> Path:
    write_graph(home, [note_object(1), note_object(2)])
    write_nugget(home, "memory", [fact_object("a")])
    write_nugget(home, "newer", [fact_object("b")], suffix=".donna.json")
    (home / "settings.toml").write_bytes(b"[backups]\r\nkeep = 3\r\n")
    return home


def _made(home: Path, at: datetime = NOON, reason: str = "day") -> Path:
    path = make_backup(home, at=at, reason=reason)  # type: ignore[arg-type]
    assert path is not None
    return path


def test_a_backup_holds_the_memory_files_byte_for_byte_and_nothing_else(tmp_path: Path) -> None:
    home = _home(tmp_path)
    (home / "broken.nugget.json").write_bytes(b'{"facts": [\xff')
    kept = tree(home)
    for name in (
        "notes.txt",
        "nuggets.db",
        ".hidden.nugget.json",
        "graph/other.json",
        "backups/old.nugget.json",
    ):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text("x")
    path = _made(home)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == kept


def test_pruning_keeps_the_newest_of_each_kind_apart(tmp_path: Path) -> None:
    home = _home(tmp_path)
    days = [_made(home, NOON - timedelta(days=number)) for number in range(4)]
    bulk = [_made(home, NOON + timedelta(minutes=number), "bulk") for number in range(9)]
    prune(home, 2)
    assert {backup.path for backup in backups(home)} == {*days[:2], *bulk[-2:]}
    prune(home, 0)
    assert {backup.path for backup in backups(home)} == {days[0], bulk[-1]}


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="needs time zones that a process can change")
def test_one_backup_is_due_on_each_local_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = _home(tmp_path)
    try:
        monkeypatch.setenv("TZ", "XXX-9")  # nine hours east of Greenwich
        time.tzset()
        late = datetime(2026, 11, 22, 14, 30, tzinfo=UTC)  # half past eleven in the evening there
        assert due_today(home, late)
        _made(home, late, "bulk")
        assert due_today(home, late)
        _made(home, late)
        assert not due_today(home, late)
        assert not due_today(home, late - timedelta(hours=23))
        assert due_today(home, late + timedelta(hours=1))
        assert due_today(home, (late + timedelta(hours=1)).astimezone())
        monkeypatch.setenv("TZ", "UTC")
        time.tzset()
        assert not due_today(home, late + timedelta(hours=1))
    finally:
        monkeypatch.setenv("TZ", "UTC")
        time.tzset()


def test_a_backup_reads_back_as_the_memory_that_it_was_made_of(tmp_path: Path) -> None:
    home = _home(tmp_path)
    before = read_folder(home, RULES).snapshot
    path = _made(home)
    write_graph(home, [])
    (home / "memory.nugget.json").unlink()
    found = read_backup(path, RULES)
    assert found.notes == before.notes
    assert found.nuggets == before.nuggets
    assert found.problems == ()
    assert found.home == str(home)


def test_a_file_that_cannot_be_read_is_named_in_the_backup_and_is_not_taken_for_missing(
    tmp_path: Path,
) -> None:
    home = _home(tmp_path)
    (home / "memory.nugget.json").unlink()
    (home / "memory.nugget.json").mkdir()
    found = read_backup(_made(home), RULES)
    assert "is not a regular file" in found.nugget("memory").problem
    assert found.nugget("newer").facts
    (home / GRAPH).unlink()
    (home / GRAPH).mkdir()
    with pytest.raises(BrokenFileError, match="the note graph in this backup was left out"):
        read_backup(_made(home), RULES)


@given(st.data())
def test_a_backup_damaged_anywhere_is_read_or_named_and_never_a_surprise(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    home = tmp_path_factory.mktemp("damaged")
    path = _made(_home(home))
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(whole[: data.draw(st.integers(0, len(whole))) or None]))
    with contextlib.suppress(NuggetsError):
        assert len(read_backup(path, RULES).notes) <= 2


@pytest.mark.parametrize("kind", ["outside", "file"])
def test_a_backups_folder_that_leads_out_of_the_memory_is_refused(tmp_path: Path, kind: str) -> None:
    home, outside = _home(tmp_path / "home"), tmp_path / "outside"
    outside.mkdir()
    if kind == "file":
        (home / BACKUPS).write_text("x")
        with pytest.raises(StorageError):
            make_backup(home, at=NOON, reason="day")
        assert backups(home) == []
        return
    (home / BACKUPS).symlink_to(outside)
    (outside / "2020-01-01T000000Z-day.zip").write_text("x")
    (outside / "2020-01-02T000000Z-day.zip").write_text("x")
    with pytest.raises(ReadOnlyError, match="outside the memory's folder"):
        make_backup(home, at=NOON, reason="day")
    with pytest.raises(ReadOnlyError, match="outside the memory's folder"):
        prune(home, 1)
    assert len(list(outside.iterdir())) == 2
