"""The process behind a page: it ends with its server, and takes no more memory than it may."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from kits.app_kit import small_memory

_PATIENCE = 30.0
_NOBODY = "1"


def _python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], stdin=subprocess.PIPE, capture_output=True, text=True, timeout=_PATIENCE
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no process there tells that its parent is gone")
def test_an_app_whose_server_was_killed_before_it_stood_does_not_stay(tmp_path: Path) -> None:
    small_memory(tmp_path)
    _python("-m", "nuggets_tui.web.page", str(tmp_path), _NOBODY)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no process there tells that its parent is gone")
def test_an_app_too_busy_to_leave_ends_all_the_same_when_its_server_is_gone() -> None:
    busy = (
        "import signal, threading; from nuggets_tui.web import page; page._TO_LEAVE = 1\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"threading.Thread(target=page._end_with, args=({_NOBODY},), daemon=True).start()\n"
        "while True: sum(range(1000))"
    )
    assert _python("-c", busy).returncode != 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems bound no memory of a process")
def test_an_app_that_would_take_all_memory_is_refused_it() -> None:
    greedy = (
        "from nuggets_tui.web.page import bound_memory\n"
        "bound_memory(1 << 28)\n"
        "try: held = bytearray(1 << 30)\n"
        "except MemoryError: print('refused')"
    )
    assert _python("-c", greedy).stdout == "refused\n"
