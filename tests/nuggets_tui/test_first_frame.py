"""What the first frame waits for: the modules that are loaded before it, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from kits.app_kit import small_memory

from nuggets_tui.widgets.panes import PANE_TITLES, PANES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# What the first frame does without; it is loaded afterwards, or when somebody asks for it.
LATER = (
    "numpy", "orjson", "watchfiles", "sqlite3", "filelock", "rapidfuzz", "snowballstemmer", "tomllib",
    "tomlkit", "click", "httpx2", "mcp", "markdown_it", "rich.markdown", "selectolax", "netext",
    "multiprocessing", "json", "hypothesis", "pytest",
    "textual.widgets._markdown", "textual.widgets._text_area", "textual.widgets._data_table",
    "core.memory", "core.services", "core.storage", "core.search", "core.facts", "core.graph", "core.text", "core.fhrr",
    "core.reflection", "core.promotion", "core.verify", "core.pipeline", "core.daily", "core.timeline", "core.unsaved",
    "nuggets_tui.cli", "nuggets_tui.demo", "nuggets_tui.palette", "nuggets_tui.why", "nuggets_tui.widgets.results",
    "nuggets_tui.widgets.graph",
)  # fmt: skip
# A frame may wait for so many modules of ours. Each costs about half a millisecond of the two hundred and more that an
# empty app takes: look for what can be loaded later before making room for more.
MOST = 98
_RUN = """
import os, sys, threading
from pathlib import Path
from nuggets_tui.opening import quick_scan
from nuggets_tui.opening import Opening
from nuggets_tui.application import NuggetsApp

class Shown(threading.Event):
    def set(self):
        frame = "\\n".join("".join(segment.text for segment in line) for line in app.screen._compositor.render_strips())
        loaded = sorted(sys.modules)
        import json
        Path(sys.argv[2]).write_text(json.dumps([loaded, frame]))
        os._exit(0)

home = Path(sys.argv[1])
opening = Opening(home)
opening.frame_shown = Shown()
opening.quick_scan.set_result(quick_scan(home, at_least=0))
app = NuggetsApp(opening)
app.run(headless=True, size=(120, 40))
"""


def test_the_first_frame_shows_the_newest_notes_and_loads_nothing_that_can_wait(tmp_path: Path) -> None:
    home, told = tmp_path / "memory", tmp_path / "told.json"
    small_memory(home)
    subprocess.run(
        [sys.executable, "-c", _RUN, str(home), str(told)],
        cwd=ROOT,
        check=True,
        timeout=60,
        capture_output=True,
    )
    loaded, frame = json.loads(told.read_text())
    for said in (
        *(PANE_TITLES[pane] for pane in PANES if pane != "graph"),
        "Deploy day",
        "Session store",
        "test command",
        "● live",
    ):
        assert said.lower() in frame.lower()
    # What makes two spellings of a name one is a leaf of ten lines.
    leaves = ("core.text", "core.text.exact")
    assert [name for name in loaded if name.startswith(LATER) and name not in leaves] == []
    dialogs = [name for name in loaded if name.startswith("nuggets_tui.screens.")]
    assert [name for name in dialogs if not name.startswith("nuggets_tui.screens.main")] == []
    ours = [name for name in loaded if name.startswith(("core", "nuggets_tui"))]
    assert len(ours) <= MOST
