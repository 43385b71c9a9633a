"""Finds the memory's folder and names its files: reading, watching and every front ask here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from core.user_folders import FACT_SUFFIXES as FACT_SUFFIXES
from core.user_folders import HOME_VARIABLE as HOME_VARIABLE
from core.user_folders import OFF, TEAM_NOTES, TEAM_VARIABLE, lies_in
from core.user_folders import USUAL_HOME as USUAL_HOME
from core.user_folders import home_as_named as home_as_named

# Where the newest build of the original keeps a memory when it is told no folder.
DONNA_HOME: Final = "~/.donna"
GRAPH_FILE: Final = Path("graph") / "graph.json"
# Of a memory whose notes are pages in another folder: which folder that is.
PLACE_FILE: Final = "pages.json"
# The home of such a memory, in the folder for its state.
PAGES_HOME: Final = "pages"
# Claude Code keeps what it remembers of a project in <its folder>/projects/<project>/memory, with this index.
PROJECTS_FOLDER: Final = "projects"
# The variable that names that folder of Claude Code's, ~/.claude without it.
CLAUDE_VARIABLE: Final = "CLAUDE_CONFIG_DIR"
MEMORY_FOLDER: Final = "memory"
MEMORY_PAGE: Final = "MEMORY.md"
# The home of pages that can only be read, since there is no place for one: never made.
NOWHERE: Final = Path("/nuggets has no state folder")
# The one database of a memory: its history, and what the pipeline holds.
DATABASE_FILE: Final = "nuggets.db"
# Keeps the exact bytes of what could not be read.
QUARANTINE: Final = "quarantine"


def is_fact_file(name: str) -> bool:
    """Whether a file of this name, in a memory's folder, holds facts."""
    return name.endswith(FACT_SUFFIXES) and not name.startswith(".")


def suffix_in_use(folder: Path, names: Iterable[str]) -> str:
    """How the fact file of a new nugget ends, so that the programs which work in a folder find it.

    names: of the fact files there are. Where one is called as the newest build of the original calls them, that build
    is at work, and would begin a second file of a nugget that is called otherwise.
    """
    newest, usual = FACT_SUFFIXES
    known = list(names)
    if any(name.endswith(newest) for name in known) or (not known and folder.name == Path(DONNA_HOME).name):
        return newest
    return usual


def default_home() -> Path:
    """The folder that is opened when none is named. Raises RuntimeError when there is no home folder."""
    return Path(home_as_named()).expanduser()


def user_configuration_folder() -> Path:
    """The folder where the user's settings for all memories lie."""
    if sys.platform == "linux":
        # What platformdirs says there, without loading it: every command asks.
        return Path(os.environ.get("XDG_CONFIG_HOME", "").strip() or "~/.config").expanduser() / "nuggets"
    from platformdirs import user_config_path

    return user_config_path("nuggets", appauthor=False)


# Of homes that cannot be written: the folder of their pages, as this process knows it.
_UNWRITTEN: Final[dict[Path, Path]] = {}


def note_pages_of(home: Path, folder: Path) -> None:
    """Remembers while this process runs which pages are the notes of a memory whose home cannot say it."""
    _UNWRITTEN[home] = folder


def pages_of(home: Path) -> Path | None:
    """The folder of the pages that are the notes of the memory in `home`; None for other memories.

    A home is believed only where it lies in the state folder of the very pages that it names. A folder that came from
    elsewhere could name any folder of this machine, and what is written to such a memory goes there.
    """
    if home in _UNWRITTEN:
        return _UNWRITTEN[home]
    try:
        text = (home / PLACE_FILE).read_bytes()
        # Most homes say nothing, and who starts the app waits for what is loaded here.
        import json

        said = json.loads(text)
    except (OSError, ValueError):
        return None
    folder = said.get("folder") if isinstance(said, dict) else None
    if not isinstance(folder, str) or not Path(folder).is_absolute():
        return None
    from core.user_folders import state_folder

    state = state_folder(folder)
    try:
        own = state is not None and home.resolve() == (Path(state) / PAGES_HOME).resolve()
    except (OSError, RuntimeError):
        return None
    return Path(folder) if own else None


# Where the notes of a team lie: in a folder of the project's repository, found from the working directory upwards

# Of the project's repository.
TEAM_FOLDER: Final = Path(TEAM_NOTES)


def team_folder(start: str | Path) -> Path | None:
    """The nearest folder of a team's notes at or above a folder; None where there is none.

    A memory of a person's own is none, whatever lies in it: where `~/.nuggets` is one, `~/.nuggets/notes` is no team's.
    Nor is one that a link leads to from the project's folder outwards: whoever pushes could point it at any folder.
    """
    at = Path(os.path.abspath(start))
    for folder in (at, *at.parents):
        found = folder / TEAM_FOLDER
        if found.is_dir() and not _is_own(found.parent) and lies_in(str(found), str(folder)):
            return found
    return None


def folder_in_reach(start: str | Path, setting: str, environ: Mapping[str, str]) -> Path | None:
    """The folder of the team's notes for who works in a folder; None for none.

    NUGGETS_TEAM in the environment says it, else the setting: a project, the folder in it, or "off"; where both are
    empty, it is looked for. Raises InvalidInputError for a name of anything else: only there are notes a team's in
    every respect.
    """
    named = name_of_team(setting, environ)
    if not named:
        return team_folder(start)
    if is_off(named):
        return None
    found = Path(os.path.abspath(Path(start, os.path.expanduser(named))))
    for folder in (found, found / TEAM_FOLDER):
        if is_team_folder(folder) and folder.is_dir():
            return folder
    from core.errors import InvalidInputError

    raise InvalidInputError(
        "is no folder of a team's notes", field="file", where=str(found),
        todo=f"name a project that has {TEAM_FOLDER.as_posix()}",
    )  # fmt: skip


def name_of_team(setting: str, environ: Mapping[str, str]) -> str:
    """What names the folder of the team's notes, as it was written; "" for nothing."""
    return environ.get(TEAM_VARIABLE, "").strip() or setting.strip()


def is_off(named: str) -> bool:
    """Whether what names the folder says that there shall be none."""
    return named.casefold() == OFF


def is_team_folder(folder: Path | None) -> bool:
    """Whether a folder is one of a team's notes, by its place; it need not be there."""
    if folder is None or folder.parts[-len(TEAM_FOLDER.parts) :] != TEAM_FOLDER.parts:
        return False
    return not _is_own(folder.parent)


def pages_named(folder: Path) -> str:
    """What the pages in a folder are called in a sentence."""
    return "the notes of a team" if is_team_folder(folder) else "the pages of Claude Code"


def _is_own(folder: Path) -> bool:
    own = (GRAPH_FILE, Path(DATABASE_FILE), Path("settings.toml"))
    try:
        usual = Path(USUAL_HOME).expanduser()
    except RuntimeError:
        # A machine for tests may have no home folder.
        usual = None
    return folder == usual or any((folder / name).exists() for name in own)
