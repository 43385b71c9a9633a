"""A sync that is killed before any of its steps: the folder opens, git is sound, and the next sync finishes.

Few kills here; NUGGETS_KILLS=100 makes it the full test.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kits.forked import Forked
from kits.synced import Machine, files, git, titled

from core import Memory
from core.facts.edits import remember
from core.graph.edits import create_note, edit_note

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
KILLS = int(os.environ.get("NUGGETS_KILLS", "4"))
# Ends the process before a run of git, right after it, or before a step that reaches the disk.
AT_STEP = """
import os, subprocess, sys
sys.path.insert(0, "tests")
from kits.faults import end_before_step
from core import Memory
from core.sync import Sync
memory, step, late = Memory.open(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "late"
plain, runs = subprocess.Popen, 0
def popen(*given, **named):
    global runs
    runs += 1
    if runs > step and not late:
        os._exit(9)
    made = plain(*given, **named)
    if runs > step:
        made.communicate()
        os._exit(9)
    return made
if sys.argv[3] == "disk":
    end_before_step(step)
else:
    subprocess.Popen = popen
Sync(memory).run()
print(runs, flush=True)
"""


@pytest.mark.timeout(60 + 20 * KILLS)
def test_a_sync_killed_before_any_step_loses_nothing_and_the_next_one_finishes(
    machine: Callable[[str], Machine],
) -> None:
    chance = random.Random(11)
    laptop, desk = machine("laptop"), machine("desk")
    laptop.memory.change("add", lambda draft: create_note(draft, "web", "Deploy", "make deploy"))
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "8080"))
    laptop.sync()
    desk.sync()
    id = titled(laptop.memory, "Deploy").id
    recalls = 0
    for turn in range(KILLS):
        for one in (laptop, desk):
            one.memory.recall("port", session=f"{one.name} {turn}")
            recalls += 1
        desk.memory.change("edit", lambda draft, turn=turn: edit_note(draft, id, content=f"desk {turn}"))
        desk.memory.change("store", lambda draft, turn=turn: remember(draft, "web", f"desk {turn}", "x"))
        desk.sync()
        laptop.memory.change("store", lambda draft, turn=turn: remember(draft, "web", f"laptop {turn}", "x"))
        laptop.memory.close()
        how = str(chance.randrange(30)), chance.choice(["late", "early", "disk"])
        killed = Forked(
            [sys.executable, "-c", AT_STEP, str(laptop.home), *how],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        _, errors = killed.communicate()
        assert (killed.returncode, errors) in ((9, b""), (0, b""))
        laptop.memory = Memory.open(laptop.home)
        assert laptop.memory.snapshot.problems == ()
        git(laptop.home, "fsck", "--no-dangling", "--connectivity-only")
        assert not (laptop.home / ".git" / "MERGE_HEAD").exists()
        for each in (laptop, desk, laptop, desk):
            each.sync()
        assert laptop.state() == desk.state()
        assert files(laptop.home).keys() == files(desk.home).keys()
        assert git(laptop.home, "status", "--porcelain") == git(desk.home, "status", "--porcelain") == ""
        assert [*laptop.memory.maintenance.verify(), *desk.memory.maintenance.verify()] == []
    facts = {fact.key: fact for fact in desk.memory.snapshot.nugget("web").facts}
    assert facts.keys() >= {f"{name} {turn}" for name in ("laptop", "desk") for turn in range(KILLS)}
    assert facts["port"].hits == recalls
    assert desk.memory.snapshot.by_id[id].content == f"desk {KILLS - 1}"
