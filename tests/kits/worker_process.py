"""A worker in a process of its own: `python worker_process.py HOME NAME NOW_MS [--hang]`, a line for each job it did.

It ends when a tick does nothing. --hang: says "asked" when its model is asked, and never answers.
"""

from __future__ import annotations

import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

from core.pipeline.models.provider import Answer, Schema
from kits.scripted_model import NamedModel
from kits.service_kit import Clock, open_pipeline
from kits.writes_kit import parrot


class _Hanging(NamedModel):
    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        print("asked", flush=True)
        threading.Event().wait()
        raise AssertionError("nobody sets it")


def main() -> None:
    home, name, now = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    clock = Clock(datetime.fromtimestamp(now / 1000, UTC))
    print("ready", flush=True)
    sys.stdin.readline()
    with open_pipeline(home, _Hanging() if "--hang" in sys.argv else parrot(), clock, name) as pipeline:
        while (ticked := pipeline.tick()).did_something:
            if ticked.job is not None and ticked.job.status == "completed":
                print(ticked.job.target, flush=True)


if __name__ == "__main__":
    main()
