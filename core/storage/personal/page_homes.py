"""Which folders are pages of another program, and where what this program keeps about them lies: never among them."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from core.errors import ErrorCode, NuggetsError, StorageError
from core.folder import (
    FACT_SUFFIXES,
    GRAPH_FILE,
    MEMORY_FOLDER,
    MEMORY_PAGE,
    PLACE_FILE,
    PROJECTS_FOLDER,
    pages_of,
)
from core.storage.files.atomic import make_folder, replace_file
from core.storage.personal.unsaved_files import unsaved_folder
from core.user_folders import STATE_VARIABLE

_HOME: Final = "pages"


def home_and_pages(folder: Path, environ: Mapping[str, str] | None = None) -> tuple[Path, Path | None]:
    """The home of the memory in a folder, and the folder of its pages where its notes are such; None where not.

    Raises StorageError for a folder of pages where there is no place for a home.
    """
    known = pages_of(folder)
    if known is not None:
        return folder, known
    if not is_page_folder(folder):
        return folder, None
    state = unsaved_folder(folder, os.environ if environ is None else environ)
    if state is None:
        raise StorageError(
            "Claude Code's pages need a folder outside of them for history and backups, and there is none",
            code=ErrorCode.NO_PLACE,
            where=str(folder),
            kept="nothing was written",
            todo=f"set {STATE_VARIABLE} to a folder outside of it",
        )
    home = state / _HOME
    with contextlib.suppress(NuggetsError):
        # Whoever opens the home finds the pages by this.
        if pages_of(home) != folder:
            make_folder(home)
            replace_file(home / PLACE_FILE, json.dumps({"folder": str(folder)}).encode())
    return home, folder


def is_page_folder(folder: Path) -> bool:
    """Whether a folder is one of Claude Code's memory, and none that this program keeps its files in."""
    by_place = folder.name == MEMORY_FOLDER and folder.parent.parent.name == PROJECTS_FOLDER
    try:
        if not (by_place or (folder / MEMORY_PAGE).is_file()) or (folder / GRAPH_FILE).exists():
            return False
        with os.scandir(folder) as entries:
            return not any(
                entry.name.endswith(FACT_SUFFIXES) or entry.name == "ledger.db" for entry in entries
            )
    except OSError:
        return by_place and not folder.exists() and folder.parent.is_dir()
