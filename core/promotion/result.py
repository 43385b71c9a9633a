"""The result of a promotion: its entries, the text it changes and one change set."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from core.model.change import ChangeSet
from core.model.promoted import Target
from core.promotion.page import split_lines

_SURROGATE: Final = re.compile("[\ud800-\udfff]")

EntryStatus = Literal["new", "updated", "unchanged", "removed", "edited"]


@dataclass(frozen=True)
class PromotionEntry:
    """One bullet of MEMORY.md that stands for a note.

    id: follows from the file and the text, so that it is the same in a preview and in the promotion that accepts it.
    status: "removed" when the note is no longer to stand there, "edited" when a person changed our bullet: it stays
    unless it is accepted by name. text: what the bullet says after, "" for one that goes; before: what it says now, ""
    for a new one; both without line ends at their ends. reason: why, where the status alone does not say it. hits:
    recalls of the note. line: where the bullet begins in the file as it becomes, from 1 on, 0 for nowhere.
    """

    id: str
    section: str
    title: str
    note_id: str
    status: EntryStatus
    hits: int = 0
    text: str = ""
    before: str = ""
    reason: str = ""
    line: int = 0

    @property
    def proposed(self) -> bool:
        """Whether it can be accepted or refused."""
        return self.status != "unchanged"

    def to_dict(self) -> dict[str, Any]:
        """The entry as JSON of the command line."""
        return {
            "id": self.id,
            "section": self.section,
            "title": self.title,
            "noteId": self.note_id,
            "status": self.status,
            "hits": self.hits,
            "text": self.text,
            "reason": self.reason,
            "line": self.line,
        }


@dataclass(frozen=True)
class LeftOut:
    """A note that does not come to stand in the file. section: where it would. hits: its recalls."""

    note_id: str
    title: str
    section: str
    hits: int

    def to_dict(self) -> dict[str, Any]:
        """The note as JSON of the command line."""
        return {
            "noteId": self.note_id,
            "title": self.title,
            "section": self.section,
            "hits": self.hits,
        }


@dataclass(frozen=True)
class Below(LeftOut):
    """A note just under the threshold. missing: how many recalls it lacks."""

    missing: int

    def to_dict(self) -> dict[str, Any]:
        """The note as JSON of the command line."""
        return super().to_dict() | {"missing": self.missing}


@dataclass(frozen=True)
class HeldBack(LeftOut):
    """A note that is recalled often and kept out: it is temporary, looks to hold a secret, or comes from elsewhere and
    was not accepted. reason: which.
    """

    reason: str
    secret: bool

    def to_dict(self) -> dict[str, Any]:
        """The note as JSON of the command line."""
        return super().to_dict() | {"reason": self.reason}


@dataclass(frozen=True)
class Length:
    """Lines of the page now and after, and how many of them agents read."""

    now: int
    after: int
    limit: int

    @property
    def over(self) -> int:
        """Lines that agents do not read, after."""
        return max(0, self.after - self.limit)

    def to_dict(self) -> dict[str, int]:
        """The length as JSON of the command line."""
        return {"now": self.now, "after": self.after, "limit": self.limit, "over": self.over}


@dataclass(frozen=True)
class PromotionResult:
    """A promotion: the file, its entries, the difference as unified diff, and the change set that writes it.

    entries: what is done or, in a preview, would be, with what stays as it is; in the order of the sections.
    refused: what was refused, now or before; accepting it by id takes that back. unknown: ids that were accepted or
    refused and fit nothing. below: notes just under the threshold, the nearest first. target: what is to be remembered
    of the file.
    """

    path: str
    entries: tuple[PromotionEntry, ...]
    diff: str
    change_set: ChangeSet
    length: Length
    target: Target
    refused: tuple[PromotionEntry, ...] = ()
    unknown: tuple[str, ...] = ()
    below: tuple[Below, ...] = ()
    held_back: tuple[HeldBack, ...] = ()

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

    @property
    def count(self) -> int:
        """Bullets of ours in the file."""
        return sum(bool(entry.text) and entry.status != "edited" for entry in self.entries)

    @property
    def edited(self) -> tuple[PromotionEntry, ...]:
        """Entries that a person edited in the file, and that stay as they are."""
        return tuple(entry for entry in self.entries if entry.status == "edited")

    @property
    def withheld(self) -> tuple[str, ...]:
        """Ids of notes that would be promoted but look as if they held a secret."""
        return tuple(note.note_id for note in self.held_back if note.secret)

    @property
    def unread(self) -> tuple[PromotionEntry, ...]:
        """Entries that stand below the lines that agents read."""
        return tuple(entry for entry in self.entries if entry.line > self.length.limit)

    def _count(self, status: EntryStatus) -> int:
        return sum(entry.status == status for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON of the command line."""
        return {
            "promoted": self.promoted,
            "updated": self.updated,
            "removed": self.removed,
            "path": self.path,
            "entries": [entry.to_dict() for entry in self.entries],
            "refused": [entry.to_dict() for entry in self.refused],
            "below": [note.to_dict() for note in self.below],
            "heldBack": [note.to_dict() for note in self.held_back],
            "length": self.length.to_dict() | {"unread": [entry.id for entry in self.unread]},
            "diff": self.diff,
        }


def unified_diff(before: str, after: str, path: str) -> str:
    """The difference of two texts as unified diff; bytes that are no UTF-8 show as U+FFFD."""
    old, new = ([line.rstrip("\r\n") for line in split_lines(text)] for text in (before, after))
    lines = difflib.unified_diff(old, new, path, path, lineterm="")
    return shown("".join(f"{line}\n" for line in lines))


def shown(text: str) -> str:
    """A text of the file with bytes that are no UTF-8 as U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)
