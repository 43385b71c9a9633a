"""What of the audit log can be asked for: by whom, what was done, when, which note or run, which words."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from core.model.change import ChangeKind
from core.model.entry import Entry
from core.model.names import iso
from nuggets_tui.words import deeds_of

if TYPE_CHECKING:
    from core.memory import Memory


_PAGE: Final = 500


class Deeds(msgspec.Struct, frozen=True):
    """A sort of change that can be asked for: by kinds of change sets, or by the verbs of what they did."""

    name: str
    label: str
    kinds: tuple[ChangeKind, ...] = ()
    verbs: tuple[str, ...] = ()


DEEDS: Final = (
    Deeds("added", "added, remembered", verbs=("added", "remembered")),
    Deeds(
        "edited", "edited, renamed, tagged",
        verbs=("edited", "renamed", "changed", "tagged", "moved", "pinned", "unpinned"),
    ),
    Deeds("linked", "linked, unlinked", verbs=("linked", "unlinked")),
    Deeds("hid", "hid, forgot, brought back", verbs=("hid", "forgot", "brought back")),
    Deeds("merged", "merged", verbs=("merged away",)),
    Deeds("deleted", "deleted", verbs=("deleted",)),
    Deeds("reflection", "reflection runs", kinds=("reflection",)),
    Deeds("promotion", "promotions to MEMORY.md", kinds=("promotion",)),
    Deeds("undo", "taken back, done again", kinds=("undo", "redo")),
    Deeds("import", "imported", kinds=("import",)),
    Deeds("restore", "restored", kinds=("restore",)),
    Deeds("repair", "repaired", kinds=("repair",)),
    Deeds("mask", "secrets masked", kinds=("mask",)),
    Deeds("outside", "made by other programs", kinds=("outside",)),
    Deeds("hit", "recalls", kinds=("hit",)),
)  # fmt: skip
BY_NAME: Final = {deeds.name: deeds for deeds in DEEDS}
AUTHORS: Final = {
    "person": "you",
    "agent": "agents",
    "reflection": "reflection",
    "pipeline": "the pipeline",
    "program": "other programs",
}
# Days back from today, today included, with what they are called; 0 for all of them.
DAYS: Final = {1: "today", 2: "since yesterday", 7: "last 7 days", 30: "last 30 days", 365: "last 365 days"}


class Scope(msgspec.Struct, frozen=True):
    """What of the log is wanted. Of one field any of its values will do; what several fields ask for holds at once.

    recalls: these too. note_id: what concerns this note. authors: kinds or names. deeds: names of DEEDS. run: the id of
    an entry, with what became of it. text: words. since: an ISO time; `since_said` is how it is told.
    """

    recalls: bool = False
    note_id: str = ""
    authors: tuple[str, ...] = ()
    deeds: tuple[str, ...] = ()
    run: str = ""
    text: str = ""
    since: str = ""
    since_said: str = ""

    def asked(self) -> dict[str, Any]:
        """What the ledger itself narrows by, as `Memory.log` takes it."""
        asked: dict[str, Any] = {
            "author": self.authors or None,
            "note": self.note_id or None,
            "run": self.run or None,
            "text": self.text or None,
            "since": self.since or None,
        }
        wanted = [BY_NAME[name] for name in self.deeds]
        if wanted and not any(deeds.verbs for deeds in wanted):
            asked["kind"] = [kind for deeds in wanted for kind in deeds.kinds]
        return {name: value for name, value in asked.items() if value is not None}

    def admits(self, entry: Entry) -> bool:
        """Whether an entry that the ledger found is listed."""
        kind = entry.change_set.kind
        if not self.deeds:
            return self.recalls or kind != "hit"
        wanted = [BY_NAME[name] for name in self.deeds]
        if any(kind in deeds.kinds for deeds in wanted):
            return True
        verbs = {verb for deeds in wanted for verb in deeds.verbs}
        if not verbs or (kind == "hit" and not self.recalls):
            return False
        return any(deed.verb in verbs for deed in deeds_of(entry.change_set))

    @property
    def lists_recalls(self) -> bool:
        """Whether recalls may be among what is listed."""
        return self.recalls or "hit" in self.deeds

    @property
    def slow(self) -> bool:
        """Whether entries have to be looked through one by one, so that what is found may lie far back."""
        return bool(self.text) or any(BY_NAME[name].verbs for name in self.deeds)

    @property
    def filtered(self) -> bool:
        """Whether anything but the note and the recalls narrows the log."""
        return self != Scope(recalls=self.recalls, note_id=self.note_id)

    def cleared(self) -> Scope:
        """The same without filters."""
        return Scope(recalls=self.recalls, note_id=self.note_id)

    def told(self) -> str:
        """The filters in words: "by reflection · last 7 days"; "" for none."""
        said = []
        if self.authors:
            said.append(f"by {' or '.join(AUTHORS.get(author, author) for author in self.authors)}")
        if self.deeds:
            said.append(" or ".join(BY_NAME[name].label.split(",")[0] for name in self.deeds))
        if self.run:
            said.append("one run")
        if self.since:
            said.append(self.since_said or f"since {self.since}")
        if self.text:
            said.append(f"“{self.text}”")
        return " · ".join(said)


def listed(memory: Memory, scope: Scope, limit: int, until: str | None = None) -> list[Entry]:
    """The newest entries that a scope admits, at most so many. until: an ISO time. Raises StorageError."""
    found: list[Entry] = []
    before: int | None = None
    while len(found) < limit:
        page = memory.log(limit=_PAGE, before=before, until=until, **scope.asked())
        found += [entry for entry in page if scope.admits(entry)]
        if len(page) < _PAGE:
            break
        before = page[-1].seq
    return found[:limit]


def since_days(scope: Scope, days: int, now: datetime) -> Scope:
    """The scope narrowed to so many days, today included, as the local clock has them; 0: to none."""
    if not days:
        return replace(scope, since="", since_said="")
    midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    begun = (midnight - timedelta(days=days - 1)).replace(tzinfo=None).astimezone()
    return replace(scope, since=iso(begun), since_said=DAYS.get(days, f"last {days} days"))
