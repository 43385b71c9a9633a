"""Which folders are pages of another program, and where what this program keeps about them lies: never among them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from core.errors import ErrorCode, InvalidInputError, NuggetsError, StorageError
from core.folder import (
    DATABASE_FILE,
    DONNA_HOME,
    FACT_SUFFIXES,
    GRAPH_FILE,
    MEMORY_FOLDER,
    MEMORY_PAGE,
    NOWHERE,
    PAGES_HOME,
    PLACE_FILE,
    PROJECTS_FOLDER,
    USUAL_HOME,
    is_team_folder,
    note_pages_of,
    pages_of,
)
from core.storage.files.atomic import make_folder, replace_file
from core.storage.personal.unsaved_files import unsaved_folder
from core.user_folders import STATE_VARIABLE, lies_in, name_of

_OURS: Final = (DATABASE_FILE, "settings.toml", "searches.toml")
_OWN_HOMES: Final = tuple(Path(home).name for home in (USUAL_HOME, DONNA_HOME))


def home_and_pages(folder: Path) -> tuple[Path, Path | None]:
    """The home of the memory in a folder, and the folder of its pages where its notes are such; None where not.

    The notes of a team can be read without a place for a home, on a machine for tests say: it is in `NOWHERE` then.
    Raises StorageError for other pages where there is none, InvalidInputError where a link leads out of the team's
    project: whoever pushes could point one at any folder.
    """
    known = pages_of(folder)
    pages = known or folder
    if is_team_folder(pages) and not lies_in(str(pages), str(pages.parent.parent)):
        raise InvalidInputError(
            "is a link that leads out of the project", code=ErrorCode.LINK_OUT_OF_FOLDER, where=str(pages),
            kept="nothing was read or written", todo="put a folder in its place, or name the one that it leads to",
        )  # fmt: skip
    if known is not None:
        return folder, known
    state = unsaved_folder(folder, os.environ)
    # Who writes the pages may take their index away, for a moment or for good: a folder once known stays one.
    team = is_team_folder(folder)
    if not (team or is_page_folder(folder) or (state is not None and _was_page_folder(folder, state))):
        return folder, None
    if team and (state is None or not _is_possible(state)):
        home = NOWHERE / name_of(os.fsencode(folder))
        note_pages_of(home, folder)
        return home, folder
    if state is None:
        raise StorageError(
            "Claude Code's pages need a folder outside of them for history and backups, and there is none",
            code=ErrorCode.NO_PLACE,
            where=str(folder),
            kept="nothing was written",
            todo=f"set {STATE_VARIABLE} to a folder outside of it",
        )
    home = state / PAGES_HOME
    try:
        # Whoever opens the home finds the pages by this.
        if pages_of(home) != folder:
            make_folder(home)
            replace_file(home / PLACE_FILE, json.dumps({"folder": str(folder)}).encode())
    except NuggetsError:
        note_pages_of(home, folder)
    return home, folder


def _is_possible(state: Path) -> bool:
    """Whether a folder is one or could be made, by the places above it."""
    try:
        return next(place for place in (state, *state.parents) if os.path.lexists(place)).is_dir()
    except (OSError, StopIteration):
        return False


def _was_page_folder(folder: Path, state: Path) -> bool:
    try:
        return pages_of(state / PAGES_HOME) is not None and not _is_ours(folder)
    except OSError:
        return False


def is_page_folder(folder: Path) -> bool:
    """Whether a folder is one of Claude Code's memory, and none that this program keeps its files in."""
    by_place = folder.name == MEMORY_FOLDER and folder.parent.parent.name == PROJECTS_FOLDER
    try:
        if by_place or (folder.name not in _OWN_HOMES and (folder / MEMORY_PAGE).is_file()):
            return not _is_ours(folder)
        return False
    except OSError:
        return by_place and not folder.exists() and folder.parent.is_dir()


def _is_ours(folder: Path) -> bool:
    """Whether files of ours lie in a folder, of which some may be missing. Raises OSError."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries]
    ours = any(
        name in _OURS or name.endswith(FACT_SUFFIXES) or name.startswith(".nuggets.") for name in names
    )
    return ours or (folder / GRAPH_FILE).exists()


def folders_called(name: str, called: Callable[[str], str], above: str = os.sep) -> Iterator[str]:
    """The folders for which Claude Code has a folder of this name. called: the name that it gives to a text."""
    rest = name.removeprefix(called(os.sep)) if above == os.sep else name
    try:
        with os.scandir(above) as entries:
            near = [(one.path, called(one.name)) for one in entries if rest.startswith(called(one.name))]
    except OSError:
        return
    for path, own in near:
        if rest == own:
            yield path
        elif rest.startswith(f"{own}-") and os.path.isdir(path):
            yield from folders_called(rest[len(own) + 1 :], called, path)
