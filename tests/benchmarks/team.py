"""The first search in a fresh clone of a team's folder of 1,000 notes, start of the process included.

Timed beside `git grep` of the same word in the same clone, and beside a start that only prints the version. Run from
the root of the repository: python tests/benchmarks/team.py [NOTES]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.storage import make_note
from kits.synced import git

from core.exchange.dialect import TEAM
from core.model.infer import infer_meta
from core.model.note import replace

NOTES, TURNS, BAR = 1_000, 5, 2.0
WORD = "database"


def timed(folder: Path, *words: str) -> float:
    """Seconds that a process takes."""
    begun = time.perf_counter()
    subprocess.run(words, cwd=folder, check=False, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def main() -> None:
    """Prints seconds of each turn, then the medians and ratios."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else NOTES
    command = [sys.executable, "-m", "nuggets_tui.cli"]
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        settings = root / "gitconfig"
        settings.write_text("[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n")
        os.environ |= {"GIT_CONFIG_GLOBAL": str(settings), "GIT_CONFIG_NOSYSTEM": "1"}
        os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])
        write_project(root / "project", count)
        first: list[float] = []
        second: list[float] = []
        grep: list[float] = []
        start: list[float] = []
        for turn in range(TURNS):
            clone = root / f"clone {turn}"
            git(root, "clone", "-q", str(root / "project"), str(clone))
            # Another machine has neither state nor cache of it.
            os.environ |= {
                "NUGGETS_STATE": str(root / f"state {turn}"),
                "NUGGETS_CACHE": str(root / f"cache {turn}"),
            }
            search = [*command, "--home", str(clone / ".nuggets" / "notes"), "search", WORD]
            first.append(timed(clone, *search))
            second.append(timed(clone, *search))
            grep.append(timed(clone, "git", "grep", "-i", WORD))
            start.append(timed(clone, *command, "--version"))
            print(f"first search {first[-1]:.2f} s, second {second[-1]:.2f} s, git grep {grep[-1]:.3f} s")
            shutil.rmtree(clone)
        one, two, plain, begun = (sorted(each)[TURNS // 2] for each in (first, second, grep, start))
        print(
            f"median of a fresh clone with {count:,} notes: first search {one:.2f} s (at most {BAR:.0f} s), "
            f"{one / begun:.1f} x a start that prints the version ({begun:.2f} s); second {two:.2f} s; "
            f"{one / plain:.0f} x git grep ({plain:.3f} s)"
        )


def write_project(project: Path, count: int) -> None:
    """A repository with a team's folder of so many notes."""
    folder = project / ".nuggets" / "notes"
    folder.mkdir(parents=True)
    usual = infer_meta("note", "", "", (), TEAM.usual)._asdict()
    taken: set[str] = set()
    for number in range(count):
        note = replace(make_note(number, count), nugget_name=TEAM.nugget, links=(), page=None, **usual)
        note = replace(note, kind="note", source_key=None)
        file = TEAM.file_for(note.title, taken)
        taken.add(file)
        (folder / file).write_text(TEAM.new(file, note))
    git(project.parent, "init", "-q", str(project))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "notes")


if __name__ == "__main__":
    main()
