"""Where hooks keep what they caught and what they say, found without loading the engine: an agent waits for it."""

from __future__ import annotations

import os

from core.caught import add_to_log
from core.home import TEAM_NOTES, home_as_named, team_near
from core.projects import FILE as PROJECTS
from core.projects import project_at, project_root
from core.user_folders import configuration_files, name_of, state_folder, trust_signs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

BRIEFING: Final = "briefing.json"


def memory_folder(named: str = "") -> str:
    """The memory's folder: as named, else NUGGETS_HOME, else ~/.nuggets."""
    return os.path.abspath(os.path.expanduser(named or home_as_named()))


def project_here() -> str:
    """The folder of the project that this process runs in, without links; "" where there is none any more."""
    try:
        return project_root(os.getcwd())
    except OSError:
        return ""


def nugget_of(folder: str) -> str:
    """The nugget of the project that a folder belongs to; "" where there is none."""
    found = project_at(folder) if folder else None
    return found.nugget if found is not None else ""


# Facts, and pages where those are the notes.
_FILES = (".nugget.json", ".donna.json", ".md")
# A team's notes lie no deeper in their folder.
_DEPTH = 3


def version_of(home: str) -> list[list[object]]:
    """What tells one state of a memory from another without reading its files; [] for no memory."""
    graph = os.path.join("graph", "graph.json")
    names = [graph, "settings.toml", PROJECTS]
    if os.path.isdir(home):
        names += sorted(name for name in os.listdir(home) if name.endswith(_FILES))
    found: list[list[object]] = []
    for name in names:
        try:
            held = os.stat(os.path.join(home, name))
        except OSError:
            continue
        found.append([name, held.st_ino, held.st_size, held.st_mtime_ns])
    if found and home.endswith(TEAM_NOTES):
        found.append(trust_signs(home))
    return found


def briefing_name(nugget: str, near: str, session: str = "") -> str:
    """Under which name a briefing is kept: of a project's nugget, and of the team's notes near a folder as they are.
    session: that goes on with it, "" for a new one.
    """
    if session:
        return f"{briefing_name(nugget, near)}\0{session}"
    team = team_near(near) if near else ""
    if not team:
        return f"{nugget}\0{project_root(near)}" if near else nugget
    state = state_folder(team)
    home = os.path.join(state, "pages") if state else ""
    seen: list[object] = [
        *_files_in(team, _DEPTH), *(version_of(home) if home else ()), *trust_signs(team)
    ]  # fmt: skip
    return f"{nugget}\0{team}\0{name_of(repr(seen).encode())}"


def _files_in(folder: str, depth: int) -> list[list[object]]:
    found: list[list[object]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                held = entry.stat()
                found.append([entry.path, held.st_ino, held.st_size, held.st_mtime_ns])
                if depth > 1 and entry.is_dir(follow_symlinks=False):
                    found += _files_in(entry.path, depth - 1)
    except OSError:
        found.append([folder])
    return sorted(found, key=repr)


def own_settings() -> list[list[object]]:
    """What tells one state of the user's own settings from another; they may put a briefing in another order."""
    found: list[list[object]] = []
    for path in configuration_files():
        try:
            held = os.stat(path)
        except OSError:
            continue
        found.append([held.st_ino, held.st_size, held.st_mtime_ns])
    return found


def write_log(home: str, agent: str, event: str, what: str) -> None:
    """Adds a line to the log of hooks, which `nuggets doctor` shows. No text of anybody's is in it. Never raises."""
    import time

    try:
        folder = state_folder(home)
        if not folder:
            return
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {agent or '-'} {event or '-'}: {what}\n"
        add_to_log(folder, line)
    except (OSError, ValueError):
        return
