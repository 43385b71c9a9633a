"""Processes that tests start heed signals, also where the tests themselves were started with signals ignored."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")


def test_a_child_heeds_what_its_parent_was_started_to_ignore() -> None:
    asked = "import signal; print(signal.getsignal(signal.SIGHUP) is signal.SIG_DFL)"
    code = (
        "import signal, subprocess, sys; from kits.signals import heed_signals_in_children;"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN); heed_signals_in_children();"
        f"subprocess.run([sys.executable, '-c', {asked!r}], check=True)"
    )
    path = ":".join(one for one in sys.path if one)
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"
