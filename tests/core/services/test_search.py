"""Search keeps its index between starts: used when it fits, made anew when not, and nowhere in the memory's folder."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kits.memory_files import tree

from core.memory import Memory
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.search import Hit
from core.services.search import SearchQuery, SearchService
from core.settings import SearchSettings
from core.storage.cache.rows import Numbers

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


def service(home: Path, **settings: int) -> SearchService:
    return SearchService(home, lambda: SearchSettings(**settings), lambda: datetime(2026, 11, 1, tzinfo=UTC))  # type: ignore[arg-type]


def _hits(asked: SearchService, snapshot: Snapshot, text: str, limit: int) -> tuple[Hit, ...]:
    return asked.result(snapshot, SearchQuery(text), limit).hits


@pytest.fixture
def cache() -> Path:
    return Path(os.environ["NUGGETS_CACHE"])


def files(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file()) if cache.exists() else []


def test_the_next_start_reads_no_note_and_makes_no_vector_again(tmp_path: Path, cache: Path) -> None:
    snapshot = snapshot_of()
    first = service(tmp_path)
    assert first.prepare(snapshot) == COUNT
    hits = _hits(first, snapshot, "gateway retries", 5)
    again = service(tmp_path)
    assert again.index(snapshot).read_anew == 0
    assert again.prepare(snapshot) == 0
    assert [(hit.note.id, hit.breakdown) for hit in _hits(again, snapshot, "gateway retries", 5)] == [
        (hit.note.id, hit.breakdown) for hit in hits
    ]
    assert tree(tmp_path) == {}
    assert files(cache)


def test_only_what_changed_is_read_at_the_next_start(tmp_path: Path) -> None:
    snapshot = snapshot_of()
    service(tmp_path).prepare(snapshot)
    changed = replace(snapshot.notes[7], content="volcano")
    newer = Snapshot(notes=(*snapshot.notes[:7], changed, *snapshot.notes[9:]))
    again = service(tmp_path)
    assert again.index(newer).read_anew == 1
    assert [hit.note.id for hit in _hits(again, newer, "volcano", 5)] == [changed.id]
    assert _hits(again, newer, snapshot.notes[8].title, 1)[0].note.id != snapshot.notes[8].id
    assert again.prepare(newer) == 1


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["empty", "garbage", "folder", "cut"])
def test_a_broken_cache_is_made_anew(tmp_path: Path, cache: Path, damage: str) -> None:
    snapshot = snapshot_of()
    service(tmp_path).prepare(snapshot)
    for path in files(cache):
        if path.suffix not in (".cache", ".table", ".rows"):
            continue
        data = path.read_bytes()
        path.unlink()
        if damage == "folder":
            path.mkdir()
        else:
            path.write_bytes({"empty": b"", "garbage": b"\xff" * 5000, "cut": data[: len(data) // 2]}[damage])
    again = service(tmp_path)
    assert again.index(snapshot).read_anew == COUNT
    again.prepare(snapshot)
    assert len(_hits(again, snapshot, "kettle", 500)) == COUNT // len(TEXTS)
    if damage != "folder":
        assert service(tmp_path).index(snapshot).read_anew == 0


def _rows(cache: Path) -> Path:
    return next(path for path in files(cache) if path.suffix == ".rows")


def test_a_damaged_vector_is_never_used_and_made_anew_once_a_search_wants_it(
    tmp_path: Path, cache: Path
) -> None:
    snapshot = snapshot_of()
    service(tmp_path).prepare(snapshot)
    rows = _rows(cache)
    rows.write_bytes(bytes(len(rows.read_bytes())))
    again = service(tmp_path)
    assert again.prepare(snapshot) == 0
    found = _hits(again, snapshot, "title 8", 1)[0]
    assert not found.breakdown.measured
    assert again.prepare(snapshot) > 0
    assert _hits(again, snapshot, "title 8", 1)[0].breakdown.measured


def test_vectors_that_were_cut_off_are_made_anew_at_once(tmp_path: Path, cache: Path) -> None:
    snapshot = snapshot_of()
    service(tmp_path).prepare(snapshot)
    rows = _rows(cache)
    rows.write_bytes(rows.read_bytes()[: rows.stat().st_size // 3])
    again = service(tmp_path)
    assert COUNT // 2 < again.prepare(snapshot) < COUNT
    assert all(hit.breakdown.measured for hit in _hits(again, snapshot, "kettle", 50))


def test_a_start_reads_no_vector_that_it_finds_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = snapshot_of()
    service(tmp_path).prepare(snapshot)
    read: list[bytes] = []
    plain = Numbers.__getitem__

    def counted(self: Numbers, digest: bytes) -> int:
        read.append(digest)
        return plain(self, digest)

    monkeypatch.setattr(Numbers, "__getitem__", counted)
    again = service(tmp_path)
    assert again.prepare(snapshot) == 0
    assert read == []
    _hits(again, snapshot, "kettle", 5)
    assert read


def test_vectors_of_another_dimension_are_not_taken(tmp_path: Path) -> None:
    snapshot = snapshot_of(COUNT)
    service(tmp_path, dimension=1024).prepare(snapshot)
    other = service(tmp_path, dimension=2048)
    assert other.prepare(snapshot) == COUNT
    assert _hits(other, snapshot, "kettle", 1)[0].breakdown.measured


@pytest.mark.parametrize("where", ["off", "inside"])
def test_without_a_place_for_a_cache_everything_works_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("NUGGETS_CACHE", "off" if where == "off" else str(tmp_path / "cache"))
    snapshot = snapshot_of()
    one = service(tmp_path)
    assert one.prepare(snapshot) == COUNT
    assert not one.keep(0)
    assert _hits(one, snapshot, "kettle", 1)[0].breakdown.measured
    assert tree(tmp_path) == {}


def test_preparing_stops_when_it_is_asked_to(tmp_path: Path) -> None:
    assert service(tmp_path).prepare(snapshot_of(), stopped=lambda: True) == 0


def test_a_small_memory_leaves_no_cache_of_its_index(tmp_path: Path, cache: Path) -> None:
    memory = Memory.open(tmp_path / "memory")
    memory.search("kettle")
    assert not memory.keep_index()
    assert files(cache) == []


def test_another_dimension_in_the_settings_counts_from_the_next_search_on_and_other_settings_keep_the_index(
    tmp_path: Path,
) -> None:
    snapshot, present = snapshot_of(), [SearchSettings(dimension=1024)]
    one = SearchService(tmp_path, lambda: present[0], lambda: datetime(2026, 11, 1, tzinfo=UTC))
    assert one.prepare(snapshot) == COUNT
    index = one.index(snapshot)
    present[0] = SearchSettings(dimension=1024, text_weight=0.2)
    assert one.index(snapshot) is index
    present[0] = SearchSettings(dimension=2048)
    assert one.index(snapshot) is not index
    assert one.prepare(snapshot) == COUNT


def test_what_is_told_to_forget_holds_no_index(tmp_path: Path) -> None:
    snapshot, one = snapshot_of(), service(tmp_path)
    index = one.index(snapshot)
    one.forget()
    assert not one.keep(0)
    assert one.index(snapshot) is not index
