"""The ingestion pipeline without its model: taking texts in, and draining the queue, beside plain durable writes; a
long run through an outage; looking after a large one; and how long others wait while old rows are deleted.

Run from the root of the repository: python tests/benchmarks/pipeline.py [PART] [COUNT]
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1]), str(Path(__file__).parent)]

# Each part is a module `pipeline_<part>` with `run(count) -> str`: how many it is run with, what missed its bar or "".
PARTS = {"intake": 10_000, "drain": 1_000, "soak": 10_000, "health": 100_000, "retention": 100_000}


def main() -> None:
    words = sys.argv[1:]
    named = [word for word in words if word in PARTS] or list(PARTS)
    count = next((int(word) for word in words if word.isdigit()), None)
    missed = [import_module(f"pipeline_{part}").run(count or PARTS[part]) for part in named]
    if any(missed):
        sys.exit("; ".join(filter(None, missed)))


if __name__ == "__main__":
    main()
