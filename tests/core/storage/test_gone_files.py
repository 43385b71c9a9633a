"""Files that are gone: for a moment, while an editor saves them anew, or for good. Nothing that they held is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from kits.beside import NUGGET, make_home, values_of
from kits.memory_files import GRAPH, graph_of, notes_of, tree, write_graph

from core import Memory
from core.errors import StorageError
from core.facts.edits import remember
from core.graph.edits import create_note
from core.model.change import ChangeSet
from core.storage import store

FILES = [str(GRAPH), NUGGET]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = make_home(tmp_path)
    Memory.open(made).close()
    return made


def _change(memory: Memory) -> None:
    memory.change("new", lambda draft: create_note(draft, "memory", "Ours", "Our text."))
    memory.change("new", lambda draft: remember(draft, "memory", "user:ours", "our value"))


def _save_as_vim_does(path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Begins to save a file and ends when somebody waits for it; what it saves is what it read at its start."""
    old, aside = path.read_bytes(), path.with_name(f"{path.name}~")

    def begin() -> None:
        os.replace(path, aside)

        def end(_: float) -> None:
            if aside.exists():
                path.write_bytes(old)
                aside.unlink()

        monkeypatch.setattr(store.time, "sleep", end)

    return begin


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("already_open", [False, True])
def test_a_change_in_the_moment_of_a_save_deletes_nothing_and_is_kept(
    home: Path, file: str, already_open: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    before, facts, entries = notes_of(home), values_of(home), len(memory.history.log(limit=None))
    _save_as_vim_does(home / file, monkeypatch)()
    _change(memory if already_open else Memory.open(home))
    assert before.items() <= notes_of(home).items()
    assert values_of(home) == facts | {"user:ours": "our value"}
    assert len(Memory.open(home).history.log(limit=None)) == entries + 2


@pytest.mark.parametrize("file", FILES)
def test_a_reader_in_that_moment_sees_the_whole_memory(
    home: Path, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Memory.open(home).snapshot
    _save_as_vim_does(home / file, monkeypatch)()
    read = Memory.open(home, reconcile=False)
    assert (read.snapshot.notes, read.snapshot.nuggets) == (whole.notes, whole.nuggets)
    assert read.take_notices() == ()


@pytest.mark.parametrize("gone", [FILES[:1], FILES[1:], FILES])
def test_a_file_that_stays_gone_comes_back_byte_for_byte_and_is_said(
    home: Path, gone: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_GONE_SECONDS", 0.0)
    write_graph(home, graph_of(home)["notes"], ours={"unknown": [1]})
    Memory.open(home).close()
    before = tree(home)
    for name in gone:
        (home / name).unlink()
    memory = Memory.open(home)
    assert tree(home) == before
    assert len(memory.take_notices()) == len(gone)
    newest: list[ChangeSet] = [entry.change_set for entry in memory.history.log(limit=2)]
    assert [one.kind for one in newest] == ["restore", "outside"]
    assert memory.history.conflicts() == ()


def test_undoing_the_return_of_a_file_deletes_what_it_held(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_GONE_SECONDS", 0.0)
    (home / NUGGET).unlink()
    memory = Memory.open(home)
    memory.history.undo(memory.history.log(limit=1)[0].id)
    assert memory.snapshot.nuggets == ()
    assert Memory.open(home).snapshot.nuggets == ()


def test_what_cannot_be_written_again_is_not_logged_as_deleted(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_GONE_SECONDS", 0.0)
    entries = len(Memory.open(home).history.log(limit=None))
    (home / GRAPH).unlink()

    def full(*_: object) -> None:
        raise StorageError("cannot be written (No space left on device)", where="graph.json")

    with monkeypatch.context() as patch:
        patch.setattr(store, "stage_file", full)
        memory = Memory.open(home)
        with pytest.raises(StorageError):
            _change(memory)
    assert not (home / GRAPH).exists()
    assert len(Memory.open(home).snapshot.notes) == len(notes_of(home)) > 2
    assert len(Memory.open(home).history.log(limit=None)) == entries + 2


def test_a_fact_file_under_another_name_is_waited_for_by_nobody(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(_: float) -> None:
        raise AssertionError("waited")

    monkeypatch.setattr(store.time, "sleep", never)
    os.replace(home / NUGGET, home / "memory.donna.json")
    _change(Memory.open(home))
    assert not (home / NUGGET).exists()
