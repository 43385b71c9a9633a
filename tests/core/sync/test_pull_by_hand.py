"""`git pull` by hand: what the merge driver leaves undecided waits until a person decides."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from kits.synced import Machine, git, titled

from core.facts.edits import remember
from core.graph.edits import edit_note

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def _change(machine: Machine, word: str) -> None:
    note = titled(machine.memory, "Deploy").id
    machine.memory.change("edit", lambda draft: edit_note(draft, note, content=f"make {word}"))
    machine.memory.change("store", lambda draft: remember(draft, "web", "port", word))


@pytest.mark.parametrize("take", ["theirs", "ours"])
def test_a_conflict_met_by_git_pull_and_the_merge_driver_waits_until_somebody_decides(
    pair: tuple[Machine, Machine], take: Literal["theirs", "ours"]
) -> None:
    laptop, desk = pair
    run = f"PYTHONPATH={ROOT} {sys.executable} -m nuggets_tui.cli merge-file %O %A %B %P"
    git(desk.home, "config", "merge.nuggets.driver", run)
    _change(laptop, "theirs")
    laptop.sync()
    _change(desk, "mine")
    git(desk.home, "commit", "-qam", "by hand")
    words = ["git", "pull", "--no-rebase", "-q", "origin", "main"]
    assert subprocess.run(words, cwd=desk.home, capture_output=True, check=False).returncode == 1
    git(desk.home, "commit", "-qam", "merged")
    desk.memory.refresh()
    desk.send(laptop)
    desk.sync()
    waiting = desk.memory.history.conflicts()
    found = {
        entry.conflict.field: (entry.conflict.theirs, entry.conflict.ours)
        for entry in waiting
        if entry.conflict
    }
    assert found == {"content": ("make mine", "make theirs"), "value": ("mine", "theirs")}
    desk.memory.history.resolve_all_conflicts(take)
    word = "mine" if take == "theirs" else "theirs"
    assert titled(desk.memory, "Deploy").content == f"make {word}"
    assert desk.facts == {"web": {"port": word}}
    assert desk.memory.history.conflicts() == ()
    assert desk.memory.maintenance.verify() == ()
    desk.send(laptop)
    assert laptop.facts == {"web": {"port": word}}
