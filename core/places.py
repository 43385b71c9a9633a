"""Where what this program keeps of a memory lies: in the memory's folder, but for pages that another program keeps."""

from __future__ import annotations

import json
import os
from pathlib import Path

from core.folder import MEMORY_PAGE, PLACE_FILE, PROJECTS_FOLDER


def home_of(folder: Path) -> Path:
    """The home of the memory in a folder: that folder, or a place outside of it where it is one of pages.

    Raises StorageError for pages where there is no such place.
    """
    # All but a few are no such folder, and who starts the app waits for this.
    if folder.parent.parent.name != PROJECTS_FOLDER and not os.path.lexists(folder / MEMORY_PAGE):
        return folder
    from core.storage.files.atomic import absolute_path
    from core.storage.personal.page_homes import home_and_pages

    home, pages = home_and_pages(absolute_path(folder))
    return folder if pages is None else home


def folder_of(home: Path) -> Path:
    """The folder that a person knows a memory by: that of its pages where it has such, else its home."""
    return pages_of(home) or home


def pages_of(home: Path) -> Path | None:
    """The folder of the pages that are the notes of the memory in `home`; None for other memories."""
    try:
        said = json.loads((home / PLACE_FILE).read_bytes())
    except (OSError, ValueError):
        return None
    folder = said.get("folder") if isinstance(said, dict) else None
    return Path(folder) if isinstance(folder, str) and os.path.isabs(folder) else None
