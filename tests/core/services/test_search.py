"""Search keeps its index between starts: used when it fits, made anew when not, and nowhere in the memory's folder."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kits.memory_files import tree

from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.search import Hit
from core.services.search import SearchQuery, SearchService
from core.settings import SearchSettings

pytestmark = pytest.mark.slow

COUNT = 300
TEXTS = ("kettle boils water", "gateway retries three times", "release plan of the week", "who is on call")


def snapshot_of(count: int = COUNT) -> Snapshot:
    return Snapshot(
        notes=tuple(
            Note(
                id=f"note-memory-{number:08x}",
                nugget_name="memory",
                title=f"title {number}",
                content=TEXTS[number % len(TEXTS)],
            )
            for number in range(count)
        )
    )


def service(home: Path) -> SearchService:
    return SearchService(home, SearchSettings, lambda: datetime(2026, 11, 1, tzinfo=UTC))


def prepare(one: SearchService, snapshot: Snapshot) -> int:
    """Reads a snapshot and keeps it; how many notes were read anew."""
    read = one.index(snapshot).read_anew
    one.keep()
    return read


def _hits(asked: SearchService, snapshot: Snapshot, text: str, limit: int) -> tuple[Hit, ...]:
    return asked.result(snapshot, SearchQuery(text), limit).hits


@pytest.fixture
def cache() -> Path:
    return Path(os.environ["NUGGETS_CACHE"])


def files(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file()) if cache.exists() else []


def test_the_next_start_reads_no_note_again(tmp_path: Path, cache: Path) -> None:
    snapshot = snapshot_of()
    first = service(tmp_path)
    assert prepare(first, snapshot) == COUNT
    hits = _hits(first, snapshot, "gateway retries", 5)
    again = service(tmp_path)
    assert prepare(again, snapshot) == 0
    assert [(hit.note.id, hit.breakdown) for hit in _hits(again, snapshot, "gateway retries", 5)] == [
        (hit.note.id, hit.breakdown) for hit in hits
    ]
    assert tree(tmp_path) == {}
    assert files(cache)


def test_only_what_changed_is_read_at_the_next_start(tmp_path: Path) -> None:
    snapshot = snapshot_of()
    prepare(service(tmp_path), snapshot)
    changed = replace(snapshot.notes[7], content="volcano")
    newer = Snapshot(notes=(*snapshot.notes[:7], changed, *snapshot.notes[9:]))
    again = service(tmp_path)
    assert again.index(newer).read_anew == 1
    assert [hit.note.id for hit in _hits(again, newer, "volcano", 5)] == [changed.id]
    assert _hits(again, newer, snapshot.notes[8].title, 1)[0].note.id != snapshot.notes[8].id


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["empty", "garbage", "folder", "cut"])
def test_a_broken_cache_is_made_anew(tmp_path: Path, cache: Path, damage: str) -> None:
    snapshot = snapshot_of()
    prepare(service(tmp_path), snapshot)
    for path in files(cache):
        if path.suffix != ".cache":
            continue
        data = path.read_bytes()
        path.unlink()
        if damage == "folder":
            path.mkdir()
        else:
            path.write_bytes({"empty": b"", "garbage": b"\xff" * 5000, "cut": data[: len(data) // 2]}[damage])
    again = service(tmp_path)
    assert again.index(snapshot).read_anew == COUNT
    again.keep()
    assert len(_hits(again, snapshot, "kettle", 500)) == COUNT // len(TEXTS)
    if damage != "folder":
        assert service(tmp_path).index(snapshot).read_anew == 0


@pytest.mark.parametrize("where", ["off", "inside"])
def test_without_a_place_for_a_cache_everything_works_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("NUGGETS_CACHE", "off" if where == "off" else str(tmp_path / "cache"))
    snapshot = snapshot_of()
    one = service(tmp_path)
    assert prepare(one, snapshot) == COUNT
    assert not one.keep(0)
    assert _hits(one, snapshot, "kettle", 1)
    assert tree(tmp_path) == {}


def test_what_is_told_to_forget_holds_no_index(tmp_path: Path) -> None:
    snapshot, one = snapshot_of(), service(tmp_path)
    index = one.index(snapshot)
    one.forget()
    assert not one.keep(0)
    assert one.index(snapshot) is not index
