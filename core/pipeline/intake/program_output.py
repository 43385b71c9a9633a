"""Tells what a program printed from what somebody wrote: logs, stack traces, listings, code between fences."""

from __future__ import annotations

import re
from typing import Final

_FENCE: Final = re.compile(r"^[ \t]{0,3}(```|~~~)[^\n]*\n(?:.*\n)*?[ \t]{0,3}\1[ \t]*$", re.MULTILINE)
_INDENTED: Final = re.compile(r"(?:\t| {4})\s*\S")
_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_PRINTED: Final = re.compile(
    r"""\s*(?:
    [\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | [\[(]?\d\d:\d\d:\d\d\b | \[\s*\d{1,3}%\] | \$\s\S | >>>\s
    | (?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|PASS|FAIL|SKIP|PASSED|FAILED)\b(?!\s*:\s*[a-z]+\s)
    | (?:error|warning)(?:\[[A-Z]\d+\])?:\s | Traceback\s\(most\srecent | File\s"[^"]+",\sline\s\d
    | at\s[\w.$<>]+\( | Caused\sby:\s | [\w.$]+(?:Exception|Error)(?::\s|$) | thread\s'[^']*'\spanicked
    | [{\[]["'{] | (?:---|\+\+\+)\s[ab]/ | @@\s-\d | diff\s--git\s | Benchmark\w+(?:-\d+)?\s+\d
    | (?:goos|goarch|pkg|cpu):\s | ok\s{2,}\S | (?:commit|tree|index)\s[0-9a-f]{7,}
    | (?:GET|POST|PUT|DELETE|PATCH|HEAD)\s/\S*\s | \#\s(?:module|resource|data)\.\S+\s
    )""",
    re.VERBOSE,
)


def without_output(text: str) -> str:
    """A text with all that a program seems to have printed blanked out, each other character in its place.

    Code between fences; lines that look like a log, a stack trace or a difference; and lines indented by four, where
    others are not and they belong to no list.
    """
    text = _FENCE.sub(lambda found: _blank(found[0]), text)
    lines = text.split("\n")
    some_are_not = any(line.strip() and not _INDENTED.match(line) for line in lines)
    listed = False
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        listed = _ITEM.match(line) is not None or (listed and line[:1].isspace())
        if (some_are_not and not listed and _INDENTED.match(line)) or _PRINTED.match(line):
            lines[number] = _blank(line)
    return "\n".join(lines)


def _blank(text: str) -> str:
    return "".join(char if char in "\n\r" else " " for char in text)
