"""A recall as a whole process, beside what Python itself takes to start: the same machine, the same run, in turns.

Run from the root of the repository: python tests/benchmarks/process.py [--check]

--check: exit code 1 where a recall takes more than 1.8 times the processor time of `import numpy` for a key, or 3 times
for a question.
"""

from __future__ import annotations

import os
import resource
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

FACTS, TURNS = 512, 15
PROGRAM = Path(sys.executable).with_name("nuggets")
QUESTION = "which command deploys service 7"
# Times the processor time of `import numpy`.
MOST = {"recall, counted already": 1.8, "recall of a question": 3.0}


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


def seconds(words: list[str], **more: str) -> tuple[float, float]:
    """How long a whole process takes, with its output read to the end, as `$(...)` waits for it; and its processor
    time.
    """
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.PIPE, env=os.environ | more)
    taken, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return taken, used


def main() -> int:
    """Prints medians in ms, and ratios; the bar is of processor time, which other programs change least."""
    taken: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "memory")
        os.environ["NUGGETS_CACHE"] = str(Path(folder, "caches"))
        for name in ("NUGGETS_SESSION", "PYTHONDONTWRITEBYTECODE"):
            os.environ.pop(name, None)
        # As of a program that is installed: nothing is compiled while somebody waits.
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder, "bytecode"))
        write_memory(home)
        program = [str(PROGRAM)] if PROGRAM.exists() else [sys.executable, "-m", "nuggets_tui"]
        recall = [*program, "recall", "--home", str(home)]
        # What stands compiled from then on is compiled now.
        seconds([sys.executable, "-c", "import numpy"])
        seconds([*recall, _key(0), "--session", "one"])
        seconds([*recall, QUESTION])
        for turn in range(TURNS):
            rows = {
                "python -c pass": [sys.executable, "-c", "pass"],
                'python -c "import numpy"': [sys.executable, "-c", "import numpy"],
                "recall, counted already": [*recall, _key(0), "--session", "one"],
                "recall of another key, counted": [*recall, _key(turn + 1), "--json"],
                "recall of a question": [*recall, QUESTION],
            }
            for name, words in rows.items():
                taken.setdefault(name, []).append(seconds(words))
        for words in (
            ["--version"],
            ["--help"],
            ["notes", "--facts", "--nugget", "project"],
            ["status"],
            ["status"],
        ):
            command = (
                [*program, *words] if words[0].startswith("--") else [*program, "--home", str(home), *words]
            )
            seconds(command)
            taken[f"nuggets {words[0]}"] = [seconds(command) for _ in range(3)]
    middle = {name: tuple(map(statistics.median, zip(*found, strict=True))) for name, found in taken.items()}
    arrays = middle['python -c "import numpy"']
    for name, (wall, used) in middle.items():
        print(
            f"{name:42} {1000 * wall:7.1f} ms {wall / arrays[0]:6.2f} x numpy"
            f"   processor {1000 * used:7.1f} ms {used / arrays[1]:6.2f} x numpy"
        )
    kept = all(middle[name][1] <= most * arrays[1] for name, most in MOST.items())
    print("the bar is", "kept" if kept else "missed")
    return 0 if kept or "--check" not in sys.argv else 1


if __name__ == "__main__":
    sys.exit(main())
