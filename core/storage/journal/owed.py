"""What changes that were cut off have still to write of the pages that are a memory's notes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from core.errors import NuggetsError
from core.folder import DATABASE_FILE
from core.storage.format.page_writes import Unfinished, owed_pages
from core.storage.format.pages import PageSet
from core.storage.journal.codec import Pending
from core.storage.journal.journal import Journal
from core.storage.journal.schema import BrokenJournalError


def pages_owed(home: Path, pages: PageSet) -> dict[str, str | None]:
    """The pages by name, None for one that is to go; nothing where no log can be read."""
    path = home / DATABASE_FILE
    if not path.is_file():
        return {}
    owed: dict[str, str | None] = {}
    try:
        with closing(Journal(path, read_only=True)) as journal:
            for pending in journal.pending():
                owed |= owed_pages(pages, pages_of(home, pending))
    except (NuggetsError, BrokenJournalError):
        return {}
    return owed


def pages_of(home: Path, pending: Pending) -> Unfinished:
    """A pending entry, with the files that it was to write as they were then."""
    return Unfinished(pending.change_set, {home / file: stage.read for file, stage in pending.stages.items()})
