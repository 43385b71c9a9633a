"""What the main screen shows at one moment: one immutable value, handed down to every pane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from core.model.note import Note
from core.model.snapshot import Snapshot
from nuggets_tui.log import Log

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.graph.neighbours import Suggestion
    from core.search import Hit

Order = Literal["newest", "recalls", "title", "care"]
ORDERS: Final[tuple[Order, ...]] = ("newest", "recalls", "title", "care")
ORDER_NAMES: Final[dict[Order, str]] = {
    "newest": "newest first",
    "recalls": "most recalled",
    "title": "by title",
    "care": "needs care",
}
_EMPTY: Final = Snapshot()
_NO_LOG: Final = Log()
_DULL_TAGS: Final = ("scope:", "type:")


@dataclass(frozen=True)
class Found:
    """What a search brought: hits best first, the answer an agent's recall would give, and the time it took.

    capped: there may be more hits.
    """

    query: str
    hits: tuple[Hit, ...] = ()
    recall: Recall | None = None
    seconds: float = 0.0
    capped: bool = False

    @property
    def weighed(self) -> bool:
        """Whether hits have scores; without words to weigh the newest comes first."""
        return not self.hits or bool(self.hits[0].breakdown.blend)


@dataclass(frozen=True, eq=False)
class View:
    """The state of the main screen.

    `note_id` is the note shown in the Note pane. `found` is None while nothing is searched. `fresh` names the
    notes that the last change touched. `busy` names long work under way, and `trouble` why the files cannot be
    read just now; "" when there is none. `reflection_due`: the daily pass waits for the person. Before a large
    memory is `loaded`, its newest titles and its facts may be there, with the counts in `glanced`.
    """

    home: str = ""
    snapshot: Snapshot = _EMPTY
    log: Log = _NO_LOG
    now: datetime | None = None
    note_id: str = ""
    order: Order = "newest"
    show_hidden: bool = False
    found: Found | None = None
    suggested: tuple[Suggestion, ...] = ()
    hops: int = 1
    fresh: frozenset[str] = field(default=frozenset())
    trouble: str = ""
    busy: str = ""
    reflection_due: bool = False
    loaded: bool = False
    glanced: tuple[int, int] | None = None

    @property
    def counts(self) -> tuple[int, int]:
        """How many notes are visible and how many hidden."""
        if self.glanced is not None:
            return self.glanced
        visible = len(self.snapshot.visible)
        return visible, len(self.snapshot.notes) - visible

    @property
    def note(self) -> Note | None:
        """The note shown in the Note pane, if there is one."""
        return self.snapshot.by_id.get(self.note_id)

    @property
    def empty(self) -> bool:
        """Whether the memory holds nothing at all."""
        return self.loaded and not self.snapshot.notes and not self.snapshot.fact_count

    def with_(self, **changes: object) -> View:
        """The view with some fields replaced."""
        return replace(self, **changes)  # type: ignore[arg-type]


def changed_between(before: View, after: View, *names: str) -> bool:
    """Whether one of the named fields is another object than before."""
    return any(getattr(before, name) is not getattr(after, name) for name in names)


def changed_notes(before: Snapshot, after: Snapshot) -> frozenset[str]:
    """Ids of notes that are new or other than before."""
    known = before.by_id
    return frozenset(
        note.id for note in after.notes if (was := known.get(note.id)) is not note and was != note
    )


def answering(recall: Recall, snapshot: Snapshot) -> Note | None:
    """The note that a recall answered from, or that mirrors the fact it answered with."""
    return snapshot.by_id.get(recall.note_id or "") or snapshot.fact_notes.get(
        (recall.nugget_name, recall.key)
    )


def prepare(snapshot: Snapshot) -> Snapshot:
    """The same snapshot, with everything made that panes look up in it; for a thread, before it is shown."""
    _ = snapshot.by_id, snapshot.by_name, snapshot.visible, snapshot.links_in, snapshot.fact_notes
    listed(snapshot, "newest", False)
    return snapshot


@lru_cache(maxsize=2)
def listed(snapshot: Snapshot, order: Order, show_hidden: bool) -> Sequence[Note]:
    """The notes of the Notes pane in the order asked for."""
    notes = snapshot.notes if show_hidden else snapshot.visible
    if order == "newest":
        return sorted(notes, key=_newest, reverse=True)
    if order == "recalls":
        return sorted(notes, key=lambda note: (-note.hits, note.title.casefold()))
    if order == "title":
        return sorted(notes, key=lambda note: (note.title.casefold(), note.id))
    return sorted(
        notes, key=lambda note: (-len(care_reasons(note, snapshot)), note.updated_at or note.created_at)
    )


def _newest(note: Note) -> tuple[str, str]:
    return (max(note.updated_at, note.created_at), note.id)


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
