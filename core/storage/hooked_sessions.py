"""The sessions that agents named to their hooks, in the memory's folder for state: one small file for each agent that
runs. An agent waits for it, so it loads nothing.
"""

from __future__ import annotations

import os

from core.user_folders import name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FOLDER: Final = "sessions"
_MOST: Final = 100
_LONGEST: Final = 1_000


def session_of(state: str, process: str) -> str:
    """The session of an agent, "" for none. state: the memory's folder for state; process: of the agent, told from any
    other. Never raises.
    """
    try:
        with open(_path(state, process), encoding="utf-8") as file:
            name = file.read(_LONGEST + 1).strip()
    except (OSError, ValueError):
        return ""
    return name if name.isprintable() and len(name) <= _LONGEST else ""


def keep(state: str, process: str, session: str) -> None:
    """Takes over the session of an agent. Where that cannot be, its commands count for one of their own."""
    if session_of(state, process) == session:
        return
    path = _path(state, process)
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        _make_room(os.path.dirname(path))
        new = f"{path}.{os.getpid()}"
        with open(new, "w", encoding="utf-8") as file:
            file.write(session)
        os.replace(new, path)
    except (OSError, ValueError):
        return


def drop(state: str, process: str) -> None:
    """The session of an agent is over. Never raises."""
    try:
        os.unlink(_path(state, process))
    except (OSError, ValueError):
        return


def _path(state: str, process: str) -> str:
    return os.path.join(state, FOLDER, name_of(process.encode()))


def _make_room(folder: str) -> None:
    """Agents that were killed leave their sessions behind."""
    paths = [os.path.join(folder, name) for name in os.listdir(folder)]
    if len(paths) >= 2 * _MOST:
        for path in sorted(paths, key=os.path.getmtime)[:-_MOST]:
            os.unlink(path)
