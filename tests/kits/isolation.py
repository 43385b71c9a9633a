"""A home of its own for every test, where no variable of the user's counts, and no waiting for the disk."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from core.storage import database
from nuggets_tui.cli.calling_agent import AGENTS

_FOREIGN: Final = ("NUGGETS_", "MEMORY_", "XDG_", "TEXTUAL", "OLLAMA_")
_OF_AGENTS: Final = (variable.partition("=")[0] for agent in AGENTS for variable in agent.variables)
_FOREIGN_NAMES: Final = frozenset(
    (
        "NO_COLOR",
        "FORCE_COLOR",
        "VISUAL",
        "EDITOR",
        "COLORTERM",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "PI_CODING_AGENT_DIR",
        "GEMINI_CLI_HOME",
        "SIGNET_NO_HOOKS",
        "AI_AGENT",
        *_OF_AGENTS,
    )
)
_HOMES: Final = pytest.StashKey[Iterator[Path]]()
_MEMORY: Final = Path("/dev/shm")
_ROOM: Final = 4 << 30
_fsync, _durable, _relaxed = os.fsync, database.DURABLE, database.RELAXED


def in_memory() -> Path | None:
    """A folder of the system's that no disk holds, where there is one with room for all that tests write at once."""
    if not os.access(_MEMORY, os.W_OK | os.X_OK) or shutil.disk_usage(_MEMORY).free < _ROOM:
        return None
    return _MEMORY


@contextmanager
def isolated(item: pytest.Item) -> Iterator[None]:
    """A test in a new home, and all variables after it as they were before."""
    before = dict(os.environ)
    _wait_for_the_disk("durable" in getattr(item, "originalname", ""))
    _enter(next(_homes(item.config)))
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        for name, value in before.items():
            if os.environ.get(name) != value:
                os.environ[name] = value


def _homes(config: pytest.Config) -> Iterator[Path]:
    """Folders to be. Pytest's own way to a new one looks through all that there are already."""
    if _HOMES not in config.stash:
        folder = config._tmp_path_factory.mktemp("homes")  # type: ignore[attr-defined]
        config.stash[_HOMES] = (folder / str(number) for number in itertools.count())
    return config.stash[_HOMES]


def open_files() -> int:
    """How many files this process has open; 0 where the system does not tell."""
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return 0


def _enter(home: Path) -> None:
    home.mkdir(mode=0o700)
    for name in list(os.environ):
        if name.startswith(_FOREIGN) or name in _FOREIGN_NAMES:
            del os.environ[name]
    os.environ |= {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        # Where the user's folder for caches does not depend on HOME.
        "NUGGETS_CACHE": str(home / ".cache" / "nuggets"),
        "NUGGETS_STATE": str(home / ".local" / "state" / "nuggets"),
        "TZ": "UTC",
        # Tests run in a checkout, and what they ask is asked from no project.
        "NUGGETS_PROJECT": "off",
    }


def _wait_for_the_disk(wanted: bool) -> None:
    """Tests write thousands of small files; whether the disk has them is the business of those named "durable"."""
    os.fsync = _fsync if wanted else _no_fsync
    database.DURABLE = _durable if wanted else "OFF"  # type: ignore[misc]
    database.RELAXED = _relaxed if wanted else "OFF"  # type: ignore[misc]


def _no_fsync(handle: int) -> None:
    pass
