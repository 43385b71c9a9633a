"""The quick scan: the newest titles and the counts of a memory, or nothing at all."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest
from kits.app_kit import small_memory

from core.memory import Memory
from nuggets_tui import opening as module
from nuggets_tui.opening import begin_quick_scan, quick_scan
from nuggets_tui.view import listed


def test_it_agrees_with_what_loading_brings(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    scan = quick_scan(home, at_least=0)
    snapshot = Memory.open(home).snapshot
    assert scan is not None
    assert (scan.visible, scan.hidden) == (len(snapshot.visible), len(snapshot.notes) - len(snapshot.visible))
    whole = listed(snapshot, "newest", False)
    assert [(note.id, note.title) for note in scan.newest] == [(note.id, note.title) for note in whole]
    assert scan.nuggets == snapshot.nuggets
    assert scan.nugget_count == len(snapshot.nugget_names)


def test_it_agrees_on_a_memory_that_the_original_wrote(store: Path) -> None:
    scan = quick_scan(store, at_least=0, newest=5)
    snapshot = Memory.open(store).snapshot
    assert scan is not None
    assert [note.id for note in scan.newest] == [note.id for note in listed(snapshot, "newest", False)[:5]]
    assert [nugget.name for nugget in scan.nuggets] == [nugget.name for nugget in snapshot.nuggets]


def test_a_small_memory_is_not_worth_it(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    assert quick_scan(home) is None


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
    assert quick_scan(tmp_path, at_least=0) is None
    assert (tmp_path / "graph" / "graph.json").read_bytes() == data


def test_a_folder_that_is_not_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    assert quick_scan(tmp_path / "none", at_least=0) is None
    assert not (tmp_path / "none").exists()


# What a process says that begins to look as the app does: what it saw, and whether it left a process behind.
_BEGIN = """
import os, sys
from pathlib import Path
from nuggets_tui.opening import begin_quick_scan, quick_scan
home = Path(sys.argv[1])
scan = begin_quick_scan(home, at_least=0)()
try:
    os.waitpid(-1, 0)
    print("somebody is left")
except ChildProcessError:
    print(scan == quick_scan(home, at_least=0), scan is not None and len(scan.newest))
"""


@pytest.mark.slow
def test_begun_in_a_copy_of_the_process_it_sees_the_same_and_leaves_no_process(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    done = subprocess.run(
        [sys.executable, "-c", _BEGIN, str(home)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["True", "4"]


def test_begun_beside_other_threads_it_makes_no_copy_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, end = tmp_path / "memory", threading.Event()
    small_memory(home)
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a copy was made"), raising=False)
    threading.Thread(target=end.wait, daemon=True).start()
    try:
        assert begin_quick_scan(home, at_least=0)() == quick_scan(home, at_least=0)
    finally:
        end.set()
    assert begin_quick_scan(tmp_path / "none")() is None


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="no copies of the process are made elsewhere")
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_an_answer_that_is_cut_off_is_none(tmp_path: Path, share: float) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    scan = quick_scan(home, at_least=0)
    said = msgspec.msgpack.encode(scan)
    answer, answering = os.pipe()
    os.write(answering, said[: int(len(said) * share)])
    os.close(answering)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert module._answered(ended.pid, answer) == (scan if share == 1.0 else None)
