"""The result of a promotion: its entries, the text it changes and one change set."""

from __future__ import annotations

import difflib
import re
from typing import Any, Final, Literal

import msgspec

from core.model.change import ChangeSet
from core.model.promoted import Target
from core.text.memory_page import split_lines

_SURROGATE: Final = re.compile("[\ud800-\udfff]")

EntryStatus = Literal["new", "updated", "unchanged", "removed", "edited"]


class PromotionEntry(msgspec.Struct, frozen=True, rename="camel"):
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

    @property
    def carried_out(self) -> PromotionEntry:
        """As it is once it is done: what a person edited and then gave up is updated or removed like any other."""
        if self.status != "edited":
            return self
        return msgspec.structs.replace(self, status="updated" if self.text else "removed")


class LeftOut(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A note that does not come to stand in the file. section: where it would. hits: its recalls.

    missing: how many recalls it lacks, 0 for none. reason: why it is kept out though it is recalled often; secret:
    whether that is a credential.
    """

    note_id: str
    title: str
    section: str
    hits: int
    missing: int = 0
    reason: str = ""
    secret: bool = False


class Length(msgspec.Struct, frozen=True):
    """Lines of the page now and after, and how many of them agents read."""

    now: int
    after: int
    limit: int

    @property
    def over(self) -> int:
        """Lines that agents do not read, after."""
        return max(0, self.after - self.limit)


class PromotionResult(msgspec.Struct, frozen=True):
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
    below: tuple[LeftOut, ...] = ()
    held_back: tuple[LeftOut, ...] = ()

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
    def edited(self) -> tuple[PromotionEntry, ...]:
        """Entries that a person edited in the file, and that stay as they are."""
        return tuple(entry for entry in self.entries if entry.status == "edited")

    @property
    def unread(self) -> tuple[PromotionEntry, ...]:
        """Entries that stand below the lines that agents read."""
        return tuple(entry for entry in self.entries if entry.line > self.length.limit)

    def _count(self, status: EntryStatus) -> int:
        return sum(entry.status == status for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON of the command line."""
        length, unread = self.length, [entry.id for entry in self.unread]
        return {
            "promoted": self.promoted, "updated": self.updated, "removed": self.removed, "path": self.path,
            "entries": msgspec.to_builtins(self.entries), "refused": msgspec.to_builtins(self.refused),
            "below": msgspec.to_builtins(self.below), "heldBack": msgspec.to_builtins(self.held_back),
            "length": msgspec.to_builtins(length) | {"over": length.over, "unread": unread},
            "diff": self.diff,
        }  # fmt: skip


def unified_diff(before: str, after: str, path: str) -> str:
    """The difference of two texts as unified diff; bytes that are no UTF-8 show as U+FFFD."""
    old, new = ([line.rstrip("\r\n") for line in split_lines(text)] for text in (before, after))
    lines = difflib.unified_diff(old, new, path, path, lineterm="")
    return shown("".join(f"{line}\n" for line in lines))


def shown(text: str) -> str:
    """A text of the file with bytes that are no UTF-8 as U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)
