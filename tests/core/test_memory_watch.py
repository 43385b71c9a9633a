"""Watching: what another program writes reaches a listener by itself, whatever becomes of the folder."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import GRAPH, graph_of, note_object, replace_bytes, write_graph

from core import Memory
from core.errors import BrokenFileError, NuggetsError
from core.graph.edits import edit_note
from core.model.snapshot import Snapshot
from core.storage.files import watch

FIRST = "note-memory-00000001"
PATIENCE = 30


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_CHECK_MS", 100)
    monkeypatch.setattr(watch, "_LOOK_SECONDS", 0.02)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "memory"
    write_graph(home, [note_object(1)])
    return home


@asynccontextmanager
async def _listening(memory: Memory) -> AsyncIterator[asyncio.Queue[Snapshot | NuggetsError]]:
    """A queue of what the memory's watch tells, in order."""
    stop, queue = asyncio.Event(), asyncio.Queue[Snapshot | NuggetsError]()
    events = memory.watch_events(stop)

    async def listen() -> None:
        async for event in events:
            queue.put_nowait(event)

    task = asyncio.create_task(listen())
    try:
        yield queue
    finally:
        stop.set()
        await asyncio.wait_for(task, PATIENCE)


async def _told(queue: asyncio.Queue[Snapshot | NuggetsError]) -> Snapshot | NuggetsError:
    return await asyncio.wait_for(queue.get(), PATIENCE)


def _write(home: Path, content: str) -> None:
    write_graph(home, [note_object(1, content=content)])


@pytest.mark.slow
async def test_another_programs_write_is_told_of(home: Path) -> None:
    memory = Memory.open(home)
    async with _listening(memory) as queue:
        for content in ("One.", "Two."):
            _write(home, content)
            told = await _told(queue)
            assert isinstance(told, Snapshot)
            assert told.note(FIRST).content == content
            assert memory.snapshot is told
    assert [entry.change_set.kind for entry in memory.history.log()] == ["outside", "outside"]


@pytest.mark.slow
async def test_a_folder_that_is_deleted_and_made_again_is_still_watched(home: Path) -> None:
    memory = Memory.open(home)
    async with _listening(memory) as queue:
        shutil.rmtree(home)
        told = await _told(queue)
        assert isinstance(told, Snapshot)
        assert told.notes == ()
        _write(home, "Back.")
        told = await _told(queue)
        assert isinstance(told, Snapshot)
        assert told.note(FIRST).content == "Back."
        _write(home, "Again.")
        told = await _told(queue)
        assert isinstance(told, Snapshot)
        assert told.note(FIRST).content == "Again."


@pytest.mark.slow
async def test_a_file_that_cannot_be_read_is_told_of_once_and_when_it_is_well_again(home: Path) -> None:
    memory = Memory.open(home)
    whole = (home / GRAPH).read_bytes()
    async with _listening(memory) as queue:
        replace_bytes(home / GRAPH, whole[:50])
        told = await _told(queue)
        assert isinstance(told, BrokenFileError)
        assert memory.snapshot.note(FIRST).content == "Content of note 1."
        _write(home, "Well.")
        told = await _told(queue)
        assert isinstance(told, Snapshot)
        assert told.note(FIRST).content == "Well."
        assert queue.empty()


@pytest.mark.slow
async def test_what_another_program_wrote_is_told_of_before_what_it_took_back_is_restored(home: Path) -> None:
    memory = Memory.open(home)
    stale = graph_of(home)
    # Without anything new it would be a file that somebody restored on purpose.
    stale["notes"].append(note_object(9))
    memory.change("edit", lambda draft: edit_note(draft, FIRST, content="Ours."))
    async with _listening(memory) as queue:
        # Nobody has written since: it could be put back at the first look.
        saved = home / "saved.tmp"
        saved.write_text(json.dumps(stale))
        a_second_ago = time.time() - 1
        os.utime(saved, (a_second_ago, a_second_ago))
        saved.replace(home / GRAPH)
        for content in ("Content of note 1.", "Ours."):
            told = await _told(queue)
            assert isinstance(told, Snapshot)
            assert told.note(FIRST).content == content
    assert graph_of(home)["notes"][0]["content"] == "Ours."


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), RuntimeError("Too many open files")]
)
async def test_where_the_system_gives_no_watches_the_files_are_looked_at_until_it_does(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    import watchfiles

    free, real = asyncio.Event(), watchfiles.awatch

    def refused(*arguments: Any, **named: Any) -> object:
        if not free.is_set():
            raise error
        return real(*arguments, **named)

    monkeypatch.setattr(watchfiles, "awatch", refused)
    memory = Memory.open(home)
    async with _listening(memory) as queue:
        await _told(queue)
        assert memory.polling
        _write(home, "Seen.")
        told = await _told(queue)
        assert isinstance(told, Snapshot)
        assert told.note(FIRST).content == "Seen."
        free.set()
        await _told(queue)
        assert not memory.polling


@pytest.mark.parametrize(("name", "counts"), [
    ("graph/graph.json", True), ("memory.nugget.json", True), ("memory.donna.json", True), ("settings.toml", True),
    ("graph", True), (".nuggets.lock", False), (".graph.json.1-a.tmp", False), ("graph/graph.json.tmp", False),
    (".x.nugget.json", False), ("notes.txt", False), ("MEMORY.md", False),
])  # fmt: skip
def test_only_the_memorys_own_files_wake_the_listener(name: str, counts: bool) -> None:
    assert watch.is_memory_file(f"/somewhere/{name}") is counts
