"""Names of MEMORY.md: of the file, and of the folder that Claude Code keeps for a project."""

from __future__ import annotations

import re
from typing import Final

MEMORY_FILE: Final = "MEMORY.md"
_NOT_ALPHANUMERIC: Final = re.compile(r"[^A-Za-z0-9]")


def project_folder(cwd: str) -> str:
    """Name of the folder that Claude Code gives a project: all but ASCII letters and digits become "-".

    A character outside the basic plane counts twice, as in the UTF-16 text of JavaScript.
    """
    return _NOT_ALPHANUMERIC.sub(lambda found: "--" if ord(found[0]) > 0xFFFF else "-", cwd)
