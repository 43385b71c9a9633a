"""Names of new pages in the folder of a team, and the ids that every machine makes of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from core.exchange import team_pages
from core.model.note import Page
from core.model.snapshot import Snapshot
from core.storage.format.pages import dialect_of, id_of


def team_names(folder: Path, snapshot: Snapshot) -> TeamFileNames | None:
    """How new notes are named in a folder of pages; None where it is none of a team."""
    return TeamFileNames(folder, snapshot) if dialect_of(folder)[0] is team_pages else None


class TeamFileNames:
    """How the new notes of one folder are named."""

    nugget = team_pages.NUGGET
    meta = team_pages.USUAL

    def __init__(self, folder: Path, snapshot: Snapshot) -> None:
        self._folder, self._snapshot = folder, snapshot
        self._given: set[str] = set()

    def place(self, title: str, exists: Callable[[str], bool]) -> tuple[str, Page]:
        """See `TeamNames`."""
        taken = {
            note.page.file.lower() for note in self._snapshot.notes if note.page is not None
        } | self._given
        while True:
            file = team_pages.file_for(title, taken)
            taken.add(file.lower())
            id = id_of(team_pages, file)
            if not exists(id) and not os.path.lexists(self._folder / file):
                self._given.add(file.lower())
                return id, Page(file=file, text="")
