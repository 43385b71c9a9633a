"""Where the notes of a team lie: in a folder of the project's repository, found from the working directory upwards."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from core.errors import InvalidInputError
from core.folder import DATABASE_FILE, GRAPH_FILE, USUAL_HOME
from core.home import OFF, TEAM_NOTES, TEAM_VARIABLE, lies_in

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
