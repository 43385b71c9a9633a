"""What the commands print for people, as one transcript: `tests/golden/command_line.txt`.

A line "$ nuggets ..." is run in a memory that begins empty, with what stands behind " << " on standard input; below it
is what it prints, standard error marked by "! ", and its exit code where that is not 0. Ids, times and paths are the
same in every run. NUGGETS_GOLDEN=1 writes the file anew: read the difference before it is committed.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Every test has the environment of its own alone.
RENEW = os.environ.get("NUGGETS_GOLDEN") == "1"
GOLDEN = Path(__file__).parents[2] / "golden" / "command_line.txt"
_SAME = (
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?Z?"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d(T\d+Z)?"), "DATE"),
    (re.compile(r"\b(note|fact|raw|doc|proposal)(-[a-z]+)?-[0-9a-f]{8,16}\b"), r"\1\2-ID"),
    (re.compile(r"\b[0-9a-f]{8}\b"), "ENTRY"),
    (re.compile(r"\b(merge|hide|link|new|tidy|tag|scope)-[0-9a-f]{6,10}\b"), r"\1-ID"),
    (re.compile(r"due (now|TIME)"), "due WHEN"),
    (re.compile(r"\d+ B$"), "SIZE"),
    (re.compile(r"\b(now|\d+ (s|min) ago)\b(?=,|\)| by| ·|$)"), "AGE"),
    (re.compile(r"certainty \d?\.\d\d"), "certainty C"),
    (re.compile(r"cli-DATE-[0-9a-f]+"), "SESSION"),
)


def said(nuggets: Any, folder: Path, line: str) -> Iterator[str]:
    """What a line of the transcript prints."""
    words, _, given = line.removeprefix("$ nuggets ").partition(" << ")
    done = nuggets(*shlex.split(words), input=given + "\n" if given else None)
    for text, mark in ((done.stdout, ""), (done.stderr, "! ")):
        for printed in text.splitlines():
            for pattern, name in _SAME:
                printed = pattern.sub(name, printed.replace(str(folder), "~"))
            # What fills a column differs with the width of an age.
            yield re.sub(r"(?<=\S) {3,}", "   ", f"{mark}{printed}").rstrip()
    if done.exit_code:
        yield f"exit code {done.exit_code}"


@pytest.mark.slow
def test_the_commands_print_what_the_transcript_says(nuggets: Any, tmp_path: Path) -> None:
    before = GOLDEN.read_text(encoding="utf-8")
    lines: list[str] = []
    for line in before.splitlines():
        if line.startswith("# "):
            lines += ["", line] if lines else [line]
        elif line.startswith("$ "):
            lines += ["", line, *said(nuggets, tmp_path, line)]
    now = "\n".join(lines) + "\n"
    if RENEW:
        GOLDEN.write_text(now, encoding="utf-8")
    assert now == before
