"""A recall as a whole process, beside what Python itself takes to start: the same machine, the same run, in turns.

Run from the root of the repository: python tests/benchmarks/process.py [--check]

--check: exit code 1 where a recall takes more than six times `python -c pass`, or as long as `import numpy`.
"""

from __future__ import annotations

import fcntl
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from core import Memory
from core.facts import edits
from core.quick_recall import cache_of

FACTS, TURNS = 512, 15
PROGRAM = Path(sys.executable).with_name("nuggets")
MOST_STARTS = 6.0


def write_memory(home: Path) -> None:
    """One nugget of 512 facts, and their notes."""
    memory = Memory.open(home)

    def remember(draft: object) -> None:
        for number in range(FACTS):
            edits.remember(
                draft, "project", _key(number), f"run make deploy-{number} in region eu-{number % 7}"
            )  # type: ignore[arg-type]

    memory.change("remembered", remember)
    memory.close()


def _key(number: int) -> str:
    return f"service {number} deploy command"


def seconds(words: list[str], **more: str) -> float:
    """How long a whole process takes, with its output read to the end, as `$(...)` waits for it."""
    begun = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.PIPE, env=os.environ | more)
    return time.perf_counter() - begun


def wait_for_the_other(home: Path) -> None:
    """Until the process that counts and makes answers is done."""
    folder = cache_of(str(home))
    assert folder is not None
    with open(os.path.join(folder, "answers.lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


def main() -> int:
    """Prints medians in ms, and ratios."""
    taken: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "memory")
        os.environ["NUGGETS_CACHE"] = str(Path(folder, "caches"))
        for name in ("NUGGETS_QUICK", "NUGGETS_SESSION", "PYTHONDONTWRITEBYTECODE"):
            os.environ.pop(name, None)
        # As of a program that is installed: nothing is compiled while somebody waits.
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder, "bytecode"))
        write_memory(home)
        program = [str(PROGRAM)] if PROGRAM.exists() else [sys.executable, "-m", "nuggets_tui"]
        recall = [*program, "recall", "--home", str(home)]
        # What stands compiled from then on is compiled now.
        seconds([sys.executable, "-c", "import numpy"])
        taken["the first recall, which opens the memory"] = [seconds([*recall, _key(0)])]
        wait_for_the_other(home)
        seconds([*recall, _key(0)])
        wait_for_the_other(home)
        for turn in range(TURNS):
            rows = {
                "python -c pass": [sys.executable, "-c", "pass"],
                'python -c "import numpy"': [sys.executable, "-c", "import numpy"],
                "recall, counted already": [*recall, _key(0), "--session", "one"],
                "recall of another key, counted": [*recall, _key(turn + 1), "--json"],
                "recall right after it, counted": [*recall, _key(turn + 1), "--session", f"two {turn}"],
            }
            for name, words in rows.items():
                taken.setdefault(name, []).append(seconds(words))
            # Otherwise the next turn is measured beside the counting of this one, which uses another core.
            wait_for_the_other(home)
        off = [seconds([*recall, _key(turn), "--session", "usual"], NUGGETS_QUICK="off") for turn in range(3)]
        taken["recall with NUGGETS_QUICK=off"] = off
        for words in (["--version"], ["--help"], ["facts", "project"], ["list"], ["status"]):
            command = (
                [*program, *words] if words[0].startswith("--") else [*program, "--home", str(home), *words]
            )
            seconds(command)
            taken[f"nuggets {words[0]}"] = [seconds(command) for _ in range(3)]
    start = statistics.median(taken["python -c pass"])
    arrays = statistics.median(taken['python -c "import numpy"'])
    worst = 0.0
    for name, found in taken.items():
        middle = statistics.median(found)
        print(
            f"{name:42} {1000 * middle:7.1f} ms {middle / start:6.1f} x pass {middle / arrays:6.2f} x numpy"
        )
        if name.startswith("recall") and "off" not in name:
            worst = max(worst, middle)
    kept = worst <= MOST_STARTS * start and worst < arrays
    print("the bar is", "kept" if kept else "missed")
    return 0 if kept or "--check" not in sys.argv else 1


if __name__ == "__main__":
    sys.exit(main())
