"""How files are replaced: in one step, private, inside the folder, under the lock, and whole after a crash."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kits.forked import Forked
from kits.memory_files import (
    GRAPH,
    facts_of,
    graph_of,
    note_object,
    notes_of,
    tree,
    write_graph,
    write_nugget,
)

from core import Memory
from core.errors import LockTimeoutError, NuggetsError, ReadOnlyError, StorageError
from core.facts.edits import remember
from core.graph.edits import create_note, edit_note, hide_note
from core.storage import writing
from core.storage.files import atomic as files
from core.storage.files import exchange

FIRST = "note-memory-00000001"
ROOT = Path(__file__).parents[3]
windows = os.name == "nt"


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(windows, reason="needs POSIX modes")
def test_what_is_written_is_private(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    former = os.umask(0o022)
    try:
        memory = Memory.open(home)
        memory.change("add", lambda draft: create_note(draft, "", "T", "c"))
        memory.change("add", lambda draft: remember(draft, "memory", "k", "v"))
    finally:
        os.umask(former)
    modes = {path.name: _mode(path) for path in home.rglob("*") if path.is_file()}
    assert modes.keys() >= {
        ".nuggets.lock",
        "graph.json",
        "memory.nugget.json",
        "nuggets.db",
        "nuggets.db-wal",
    }
    assert set(modes.values()) == {0o600}
    assert {_mode(path) for path in (home, *home.rglob("*")) if path.is_dir()} == {0o700}


@pytest.mark.skipif(windows, reason="needs POSIX modes")
def test_a_folder_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(1)])
    tmp_path.chmod(0o755)
    Memory.open(tmp_path).change("edit", lambda draft: edit_note(draft, FIRST, content="Other."))
    assert _mode(tmp_path) == 0o755


def test_a_new_fact_file_has_the_documented_shape(tmp_path: Path) -> None:
    Memory.open(tmp_path).change("add", lambda draft: remember(draft, "work", "k", "v"))
    assert (tmp_path / "work.nugget.json").read_text() == (
        '{"version":4,"name":"work","D":16384,"banks":4,"ensembles":1,"max_facts":0,'
        '"facts":[{"key":"k","value":"v","hits":0,"last_hit_session":""}],'
        '"config":{"sharpen_p":1,"corvacs_a":0,"temp_T":0.9,"orth_iters":1}}'
    )


def test_a_new_graph_file_has_the_documented_shape(tmp_path: Path) -> None:
    Memory.open(tmp_path).change("add", lambda draft: create_note(draft, "work", "T", "c"))
    lines = (tmp_path / GRAPH).read_text().split("\n")
    assert lines[:5] == [
        "{",
        '  "version": 3,',
        '  "notes": [',
        "    {",
        f'      "id": "{graph_of(tmp_path)["notes"][0]["id"]}",',
    ]
    assert lines[-5:] == ['      "stability": "durable"', "    }", "  ]", "}", ""]


def test_a_graph_file_linked_from_inside_the_folder_is_written_through_the_link(tmp_path: Path) -> None:
    path = write_graph(tmp_path, [note_object(1)])
    real = tmp_path / "real.json"
    path.rename(real)
    path.symlink_to(real)
    Memory.open(tmp_path).change("edit", lambda draft: edit_note(draft, FIRST, content="Other."))
    assert path.is_symlink()
    assert notes_of(tmp_path)[FIRST]["content"] == "Other."


@pytest.mark.parametrize("linked", [GRAPH, Path("graph"), Path("memory.nugget.json")])
def test_a_link_that_leads_out_of_the_folder_is_read_and_never_written(tmp_path: Path, linked: Path) -> None:
    home, outside = tmp_path / "memory", tmp_path / "outside"
    note = note_object(1, kind="fact", sourceKey="k", title="k")
    write_graph(home, [note])
    write_nugget(home, "memory", [{"key": "k", "value": "v"}])
    (home / linked).rename(outside)
    (home / linked).symlink_to(outside)
    before = tree(home), tree(tmp_path)
    memory = Memory.open(home)
    assert memory.snapshot.notes[0].title == "k"
    with pytest.raises(ReadOnlyError, match=r"is a link to .*, outside the memory's folder"):
        memory.change("hide", lambda draft: hide_note(draft, FIRST))
    assert (tree(home), tree(tmp_path)) == before


def test_a_folder_that_is_itself_a_link_is_fine(tmp_path: Path) -> None:
    write_graph(tmp_path / "real", [note_object(1)])
    (tmp_path / "link").symlink_to(tmp_path / "real")
    Memory.open(tmp_path / "link").change("edit", lambda draft: edit_note(draft, FIRST, content="Other."))
    assert notes_of(tmp_path / "real")[FIRST]["content"] == "Other."


@pytest.mark.parametrize("step", ["open", "write", "replace"])
def test_a_write_that_the_system_refuses_changes_nothing_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    write_graph(tmp_path, [note_object(1)])
    before = tree(tmp_path)
    memory = Memory.open(tmp_path)
    with monkeypatch.context() as patch:
        _refuse(patch, step)
        with pytest.raises(StorageError, match="No space left") as caught:
            memory.change("edit", lambda draft: edit_note(draft, FIRST, content="Other."))
    assert str(tmp_path / GRAPH) in caught.value.message
    assert tree(tmp_path) == before
    assert memory.snapshot.note(FIRST).content == "Content of note 1."
    memory.change("edit", lambda draft: edit_note(draft, FIRST, content="Other."))
    assert notes_of(tmp_path)[FIRST]["content"] == "Other."


def _refuse(patch: pytest.MonkeyPatch, step: str) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    real_open = os.open

    def open_(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if str(path).endswith(".tmp"):
            full()
        return real_open(path, flags, *more, **named)

    if step == "open":
        patch.setattr(os, "open", open_)
    else:
        patch.setattr(exchange, "_swap", lambda *_: False)
        patch.setattr(os, "fsync" if step == "write" else "replace", full)


def test_a_durable_write_reaches_the_disk_before_and_after_the_replace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(handle: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        real_fsync(handle)

    def replace(source: Any, target: Any) -> None:
        steps.append("replace")
        assert Path(source).parent == Path(target).parent
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    files.replace_file(tmp_path / "f", b"x")
    assert steps == (["file", "replace"] if windows else ["file", "replace", "folder"])


def test_leftovers_of_a_crash_are_neither_read_nor_in_the_way(tmp_path: Path) -> None:
    write_graph(tmp_path, [note_object(1)])
    for name in (".graph.json.1-aaaaaaaa.tmp", "graph.json.tmp", "graph.json~", ".graph.json.swp"):
        (tmp_path / "graph" / name).write_text("{ half")
    for name in (".memory.nugget.json.1-a.tmp", "memory.nugget.json.tmp", ".hidden.nugget.json", "x.json"):
        (tmp_path / name).write_text("{ half")
    memory = Memory.open(tmp_path)
    assert not memory.snapshot.problems
    assert not memory.snapshot.nuggets
    memory.change("edit", lambda draft: edit_note(draft, FIRST, content="Other."))
    assert notes_of(tmp_path)[FIRST]["content"] == "Other."


HOLDER = """
import sys
from pathlib import Path
from core.storage.files.atomic import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_a_lock_that_another_process_holds_is_an_error_in_due_time_and_free_when_it_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_graph(tmp_path, [note_object(1)])
    before = tree(tmp_path)
    memory = Memory.open(tmp_path)
    holder = Forked(
        [sys.executable, "-c", HOLDER, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.05)
    try:
        with pytest.raises(LockTimeoutError, match=r"\.nuggets\.lock"):
            memory.change("edit", lambda draft: edit_note(draft, FIRST, content="Other."))
        assert tree(tmp_path) == before
        assert not memory.refresh()
    finally:
        holder.kill()
        holder.communicate()
    memory.change("edit", lambda draft: edit_note(draft, FIRST, content="Other."))
    assert notes_of(tmp_path)[FIRST]["content"] == "Other."


def test_a_crash_between_the_two_files_of_a_hidden_fact_loses_no_fact(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(store)
    real_replace, calls = os.replace, iter([False, True])

    def replace(source: Any, target: Any) -> None:
        if next(calls):
            raise OSError(5, "Input/output error")
        real_replace(source, target)

    memory.change(
        "first of the day", lambda draft: edit_note(draft, "note-memory-0000000e", content="Other.")
    )
    with monkeypatch.context() as patch:
        patch.setattr(exchange, "_swap", lambda *_: False)
        patch.setattr(os, "replace", replace)
        with pytest.raises(StorageError):
            memory.change("hide", lambda draft: hide_note(draft, "fact-memory-00000002"))
    assert notes_of(store)["fact-memory-00000002"]["hiddenFact"]["value"] == "dark green"
    assert facts_of(store, "memory.donna.json")[1]["value"] == "dark green"
    # The change was put down before the first file was replaced: whoever opens the memory next finishes it.
    Memory.open(store)
    assert notes_of(store)["fact-memory-00000002"]["hidden"]
    assert "dark green" not in {fact["value"] for fact in facts_of(store, "memory.donna.json")}


@pytest.mark.parametrize(
    "name", ["../evil", "..", ".x", "a/b", "a\\b", "CON", "nul.txt", "x" * 65, "é", "a b", "x.", ""]
)
def test_no_name_of_a_nugget_reaches_a_path_outside_the_folder(tmp_path: Path, name: str) -> None:
    home = tmp_path / "memory"
    memory = Memory.open(home)
    if name:
        with pytest.raises(NuggetsError):
            memory.change("add", lambda draft: remember(draft, name, "k", "v"))
        with pytest.raises(NuggetsError):
            memory.change("add", lambda draft: create_note(draft, name, "T", "c"))
        assert list(tmp_path.iterdir()) == []
    else:
        memory.change("add", lambda draft: remember(draft, name, "k", "v"))
        assert (home / "memory.nugget.json").exists()


def test_a_write_that_comes_while_ours_is_being_prepared_is_not_replaced(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = store / "graph" / "graph.json"
    memory = Memory.open(store)
    real = files.stage_file
    theirs: list[bytes] = []

    def interrupted(path: Path, *parts: bytes, mode: int = 0o600) -> files.Staged:
        staged = real(path, *parts, mode=mode)
        if not theirs:
            theirs.append(graph.read_bytes().replace(b"raised beds along", b"RAISED beds along"))
            beside = graph.with_name("theirs.tmp")
            beside.write_bytes(theirs[0])
            os.replace(beside, graph)
        return staged

    monkeypatch.setattr(writing, "stage_file", interrupted)
    memory.change("hid a note", lambda draft: hide_note(draft, "note-memory-0000000e"))
    written = Memory.open(store).snapshot
    assert written.note("note-memory-00000018").content.startswith("RAISED")
    assert written.note("note-memory-0000000e").hidden
