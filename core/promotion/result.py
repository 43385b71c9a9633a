"""What a promotion gives back: its entries, the text it changes and one change set."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from core.model.change import ChangeSet
from core.promotion.page import split_lines

_SURROGATE: Final = re.compile("[\ud800-\udfff]")

EntryStatus = Literal["new", "updated", "unchanged", "removed"]


@dataclass(frozen=True)
class Entry:
    """One bullet of MEMORY.md that stands for a note. "removed": the note was hidden or forgotten since."""

    section: str
    title: str
    note_id: str
    status: EntryStatus

    def to_dict(self) -> dict[str, str]:
        """The entry as JSON of the command line."""
        return {
            "section": self.section,
            "title": self.title,
            "noteId": self.note_id,
            "status": self.status,
        }


@dataclass(frozen=True)
class PromotionResult:
    """A promotion: the file, its entries, the difference as unified diff, and the change set that writes it.

    `withheld`: ids of notes that would be promoted but look as if they held a secret.
    """

    path: str
    entries: tuple[Entry, ...]
    diff: str
    change_set: ChangeSet
    withheld: tuple[str, ...] = ()

    @property
    def promoted(self) -> int:
        """Entries that are new in the file."""
        return self._count("new")

    @property
    def updated(self) -> int:
        """Entries whose text changed."""
        return self._count("updated")

    @property
    def removed(self) -> int:
        """Entries taken out."""
        return self._count("removed")

    def _count(self, status: EntryStatus) -> int:
        return sum(entry.status == status for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON of the command line."""
        return {
            "promoted": self.promoted,
            "updated": self.updated,
            "path": self.path,
            "entries": [entry.to_dict() for entry in self.entries],
            "diff": self.diff,
        }


def unified_diff(before: str, after: str, path: str) -> str:
    """The difference of two texts as unified diff; bytes that are no UTF-8 show as U+FFFD."""
    old, new = ([line.rstrip("\r\n") for line in split_lines(text)] for text in (before, after))
    lines = difflib.unified_diff(old, new, path, path, lineterm="")
    return _SURROGATE.sub("\ufffd", "".join(f"{line}\n" for line in lines))
