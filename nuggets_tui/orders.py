"""The orders in which notes are listed, and what a note lacks; for the app and the command line alike."""

from __future__ import annotations

from typing import Final, Literal

from core.model.note import Note
from core.model.snapshot import Snapshot

Order = Literal["newest", "recalls", "title", "care"]
ORDERS: Final[tuple[Order, ...]] = ("newest", "recalls", "title", "care")
ORDER_NAMES: Final[dict[Order, str]] = {
    "newest": "newest first",
    "recalls": "most recalled",
    "title": "by title",
    "care": "needs care",
}
_DULL_TAGS: Final = ("scope:", "type:")


def care_reasons(note: Note, snapshot: Snapshot) -> tuple[str, ...]:
    """What a note lacks, worst first: tags of its own, links, or ever having been recalled."""
    reasons = []
    if not own_tags(note):
        reasons.append("untagged")
    if not note.links and not snapshot.links_in.get(note.id):
        reasons.append("unlinked")
    if not note.hits:
        reasons.append("never recalled")
    return tuple(reasons)


def own_tags(note: Note) -> tuple[str, ...]:
    """The tags that say more than nugget, scope and type do."""
    nugget = note.nugget_name.lower()
    return tuple(tag for tag in note.tags if tag != nugget and not tag.startswith(_DULL_TAGS))
