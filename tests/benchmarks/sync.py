"""A sync of 10,000 notes of which 100 changed, beside plain git add, commit, pull and push of the same bytes.

Both in the same run, each with a bare repository of its own on the same disk, in turns. A machine that takes the same
100 changes in is timed beside plain git pull. Run from the root of the repository: python tests/benchmarks/sync.py
[NOTES]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.storage import make_note
from kits.memory_files import GRAPH, write_graph
from kits.synced import Machine, bare, git

from core.graph.edits import edit_note
from core.model.note import to_file_dict

NOTES, CHANGED, TURNS, BAR = 10_000, 100, 5, 3.0


def timed(work: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    """Prints seconds and ratios of each turn, then the medians."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else NOTES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = folder / "gitconfig"
        settings.write_text("[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n")
        os.environ |= {"GIT_CONFIG_GLOBAL": str(settings), "GIT_CONFIG_NOSYSTEM": "1", "NUGGETS_CACHE": "off"}
        home, remote = folder / "laptop", bare(folder)
        write_graph(home, [to_file_dict(make_note(number, count)) for number in range(count)])
        laptop = Machine(home, remote, "laptop")
        laptop.sync()
        desk = Machine(folder / "desk", remote, "desk")
        desk.sync()
        plain, other = folder / "plain", folder / "other"
        subprocess.run(["git", "init", "--bare", "--quiet", str(folder / "plain.git")], check=True)
        git(folder, "clone", "-q", str(folder / "plain.git"), str(plain))
        copy(home, plain)
        by_hand(plain, "the first one")
        git(folder, "clone", "-q", str(folder / "plain.git"), str(other))
        sent: list[float] = []
        taken: list[float] = []
        ids = [note.id for note in laptop.memory.snapshot.notes[:CHANGED]]
        for turn in range(TURNS):
            laptop.memory.change(
                "edit", lambda draft, turn=turn: [edit_note(draft, id, content=f"turn {turn}") for id in ids]
            )
            copy(home, plain)
            mine, theirs = timed(laptop.sync), timed(lambda: by_hand(plain, "another"))
            came, pulled = timed(desk.sync), timed(lambda: git(other, "pull", "-q"))
            assert desk.state() == laptop.state()
            sent.append(mine / theirs)
            taken.append(came / pulled)
            print(
                f"{CHANGED} of {count:,} notes: sync {mine:.2f} s, plain git {theirs:.2f} s, {sent[-1]:.1f} x; "
                f"taking them in {came:.2f} s, plain pull {pulled:.2f} s, {taken[-1]:.1f} x"
            )
        ratio = sorted(sent)[TURNS // 2]
        print(
            f"median: {ratio:.1f} x plain git (at most {BAR:.0f} x), taking in {sorted(taken)[TURNS // 2]:.1f} x a pull"
        )
        for machine in (laptop, desk):
            machine.memory.close()


def copy(home: Path, plain: Path) -> None:
    """The same bytes for plain git."""
    (plain / GRAPH).parent.mkdir(exist_ok=True)
    shutil.copyfile(home / GRAPH, plain / GRAPH)


def by_hand(folder: Path, words: str) -> None:
    """What somebody types."""
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", words)
    git(folder, "pull", "-q", code=0) if git(folder, "branch", "-r") else None
    git(folder, "push", "-q", "-u", "origin", "HEAD")


if __name__ == "__main__":
    main()
