"""What an agent waits for: `nuggets hook` as a whole process, beside starting Python and importing numpy."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 15
PROMPT = "Fix the failing test in the parser, then run the linter."


def main() -> None:
    """Prints the median of each, in turns, and how often the start of Python fits into it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        environ = {
            name: value for name, value in os.environ.items() if not name.startswith(("NUGGETS_", "XDG_"))
        }
        environ |= {"HOME": folder, "NUGGETS_HOME": str(home / "memory")}
        project = home / "project"
        (project / ".git").mkdir(parents=True)
        program = [str(Path(sys.executable).with_name("nuggets"))]
        (project / "a.py").touch()
        for title, text in (("Deploy", "With make ship."), ("Made", "Never edit a.py by hand.")):
            words = [*program, "note", "add", title, text]
            subprocess.run(words, cwd=project, env=environ, check=True, capture_output=True)
        about = {"session_id": "s", "cwd": str(project)}
        file = {"file_path": str(project / "a.py")}
        events = {
            "prompt": {**about, "hook_event_name": "UserPromptSubmit", "prompt": PROMPT},
            "prompt that is kept": {
                **about, "hook_event_name": "UserPromptSubmit", "prompt": "Remember that the port is 5433.",
            },
            "edit": {**about, "hook_event_name": "PostToolUse", "tool_input": file},
            "before an edit": {**about, "hook_event_name": "PreToolUse", "tool_input": file},
            "session start": {**about, "hook_event_name": "SessionStart"},
            "end of the turn": {**about, "hook_event_name": "Stop"},
        }  # fmt: skip
        calls: dict[str, tuple[list[str], bytes]] = {
            "python -c pass": ([sys.executable, "-c", "pass"], b""),
            "import numpy": ([sys.executable, "-c", "import numpy"], b""),
        }
        for name, event in events.items():
            calls[name] = ([*program, "hook", "claude"], json.dumps(event).encode())
        took: dict[str, list[float]] = {name: [] for name in calls}
        for number in range(ROUNDS + 1):
            for name, (words, data) in calls.items():
                begun = time.perf_counter()
                subprocess.run(words, input=data, env=environ, check=True, capture_output=True)
                if number:
                    took[name].append(time.perf_counter() - begun)
                if words[0] == program[0]:
                    time.sleep(0.3)
        base = statistics.median(took["python -c pass"])
        for name, times in took.items():
            median = statistics.median(times)
            print(f"{name:20} {median * 1000:7.1f} ms  {median / base:5.2f} x python -c pass")


if __name__ == "__main__":
    main()
