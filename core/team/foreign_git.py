"""Git asked about a repository that anybody may have made: nothing that its configuration names is run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from core.errors import SyncError
from core.sync.git import Git

_SECONDS: Final = 20.0
# A missing object makes git fetch, and the configuration says how.
_PROTOCOLS: Final = ("file", "git", "ssh", "http", "https", "ext")
_OFF: Final = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    **{f"protocol.{name}.allow": "never" for name in _PROTOCOLS},
}


def ask(folder: Path, *words: str) -> bytes | None:
    """What git answers; None where it refuses or is not there."""
    return _asked(folder, words, _OFF)


def ask_status(folder: Path, *words: str) -> bytes | None:
    """As `ask`, for `git status`, which runs the filters of changed files."""
    named = ask(folder, "config", "-z", "--name-only", "--get-regexp", "^filter\\.") or b""
    names = [os.fsdecode(name) for name in named.split(b"\0") if name]
    if any("=" in name for name in names):
        # The command line can't name such a filter, so it can't be switched off.
        return None
    off = {name: "false" if name.endswith(".required") else "" for name in names}
    return _asked(folder, ("status", "--ignore-submodules=all", *words), _OFF | off)


def _asked(folder: Path, words: tuple[str, ...], off: dict[str, str]) -> bytes | None:
    settings = [word for name, value in off.items() for word in ("-c", f"{name}={value}")]
    program = ("git", "--no-optional-locks", "--no-replace-objects", *settings)
    try:
        ran = Git(folder).run(*words, seconds=_SECONDS, program=program)
    except SyncError:
        return None
    return ran.out if ran.code == 0 else None
