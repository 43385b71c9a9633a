"""Where what this program keeps of a memory lies: in the memory's folder, but for pages that another program keeps."""

from __future__ import annotations

import os
from pathlib import Path

from core.folder import GRAPH_FILE, MEMORY_PAGE, PAGES_HOME, PLACE_FILE, PROJECTS_FOLDER, pages_of
from core.user_folders import TEAM_NOTES


def home_of(folder: Path) -> Path:
    """The home of the memory in a folder: that folder, or a place outside of it where it is one of pages.

    Raises StorageError for pages where there is no such place.
    """
    # All but a few are no such folder, and who starts the app waits for this.
    by_name = (
        folder.parent.parent.name == PROJECTS_FOLDER
        or folder.parts[-2:] == Path(TEAM_NOTES).parts
        or os.path.lexists(folder / MEMORY_PAGE)
    )
    if not by_name and not _has_home_outside(folder):
        return folder
    from core.storage.files.atomic import absolute_path
    from core.storage.personal.page_homes import home_and_pages

    home, pages = home_and_pages(absolute_path(folder))
    return folder if pages is None else home


def _has_home_outside(folder: Path) -> bool:
    # A memory with a note graph of its own is none of pages.
    if os.path.lexists(folder / GRAPH_FILE):
        return False
    from core.user_folders import state_folder

    state = state_folder(os.fspath(folder))
    return state is not None and os.path.lexists(os.path.join(state, PAGES_HOME, PLACE_FILE))


def folder_of(home: Path) -> Path:
    """The folder that a person knows a memory by: that of its pages where it has such, else its home."""
    return pages_of(home) or home
