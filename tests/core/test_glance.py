"""The first look: the newest titles and the counts of a memory, or nothing at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from app_kit import small_memory

from core.glance import glance
from core.memory import Memory
from nuggets_tui.view import listed


def test_it_agrees_with_what_loading_brings(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    look = glance(home, at_least=0)
    snapshot = Memory.open(home).snapshot
    assert look is not None
    assert (look.visible, look.hidden) == (len(snapshot.visible), len(snapshot.notes) - len(snapshot.visible))
    whole = listed(snapshot, "newest", False)
    assert [(note.id, note.title) for note in look.newest] == [(note.id, note.title) for note in whole]
    assert look.nuggets == snapshot.nuggets


def test_it_agrees_on_a_memory_that_the_original_wrote(store: Path) -> None:
    look = glance(store, at_least=0, newest=5)
    snapshot = Memory.open(store).snapshot
    assert look is not None
    assert [note.id for note in look.newest] == [note.id for note in listed(snapshot, "newest", False)[:5]]
    assert [nugget.name for nugget in look.nuggets] == [nugget.name for nugget in snapshot.nuggets]


def test_a_small_memory_is_not_worth_it(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    assert glance(home) is None


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b'{"notes": 5}', b'{"notes": [{"id": 1, "title": "x"}]}', b'{"notes": [null]}',
        b'{"notes": [{"id": "a"}]}', b"\xff\xfe", b'{"notes": [' + b"[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_not_quite_right_is_left_to_the_loading(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "graph.json").write_bytes(data)
    assert glance(tmp_path, at_least=0) is None
    assert (tmp_path / "graph" / "graph.json").read_bytes() == data


def test_a_folder_that_is_not_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    assert glance(tmp_path / "none", at_least=0) is None
    assert not (tmp_path / "none").exists()
