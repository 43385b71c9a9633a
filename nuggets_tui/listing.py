"""The notes of a memory in an order: made once a snapshot, of many notes in a thread while the list stands."""

from __future__ import annotations

import threading
from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import compress, count
from operator import attrgetter
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

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
PINNED: Final = "pinned"
"""The tag of a note that reflection leaves alone."""
_DULL_TAGS: Final = ("scope:", "type:")
_ID: Final = attrgetter("id")


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


def topics(note: Note) -> tuple[str, ...]:
    """The tags that say what a note is about: its own ones, without the sign of a pinned note."""
    return tuple(tag for tag in own_tags(note) if tag != PINNED)


MANY: Final = 20_000
"""Notes above which an order is made in a thread."""
# A sort holds the interpreter from its beginning to its end: larger ones are made of pieces of so many notes.
_PIECE: Final = 4_000
# So many new notes are put in their places one by one sooner than everything is sorted again.
_FEW: Final = 500
# Orders kept of one snapshot: the one shown, and the one that everybody comes back to.
_KEPT: Final = 2


@dataclass(frozen=True, eq=False)
class Listing:
    """Notes in an order, their ids, and the place of each by its id."""

    notes: Sequence[Note] = ()
    ids: Sequence[str] = ()
    places: Mapping[str, int] = field(default_factory=dict)


Wanted = tuple[Order, bool, bool]
_made: Final[WeakKeyDictionary[Snapshot, dict[Wanted, Listing]]] = WeakKeyDictionary()
_guard: Final = threading.Lock()


def listing_at_hand(
    snapshot: Snapshot, order: Order, show_hidden: bool, show_facts: bool = True
) -> Listing | None:
    """The listing if it need not be waited for: made before, or of so few notes that it is made at once."""
    with _guard:
        known = _made.get(snapshot, {}).get((order, show_hidden, show_facts))
    if known is not None or len(snapshot.notes) > MANY:
        return known
    return listing(snapshot, order, show_hidden, show_facts)


def listing(snapshot: Snapshot, order: Order, show_hidden: bool, show_facts: bool = True) -> Listing:
    """The notes of a memory in the order asked for; safe to call in any thread. show_facts: with the visible notes of
    facts, which Facts lists too. The hidden ones of facts that were forgotten stand nowhere else.
    """
    wanted = (order, show_hidden, show_facts)
    with _guard:
        known = _made.get(snapshot, {}).get(wanted)
    if known is None:
        known = _listing(snapshot, wanted)
        with _guard:
            kept = _made.setdefault(snapshot, {})
            kept[wanted] = known
            while len(kept) > _KEPT:
                kept.pop(next(iter(kept)))
    return known


def filtered(notes: Sequence[Note], snapshot: Snapshot, order: Order) -> Listing:
    """Some notes of a memory, given newest first, in the order asked for."""
    return _of(notes if order == "newest" else _sorted(notes, snapshot, order))


def _listing(snapshot: Snapshot, wanted: Wanted) -> Listing:
    order, show_hidden, show_facts = wanted
    notes: Sequence[Note] = snapshot.notes if show_hidden else snapshot.visible
    if not show_facts:
        notes = [note for note in notes if note.kind != "fact" or note.hidden]
    former = _former(snapshot, wanted) if order == "newest" else None
    amended = _amended(former.notes, notes) if former is not None else None
    return _of(amended if amended is not None else _sorted(notes, snapshot, order))


def _former(snapshot: Snapshot, wanted: Wanted) -> Listing | None:
    """The same listing of the newest other state of the memory, while that is shown somewhere."""
    with _guard:
        others = [
            (other.revision, made[wanted])
            for other, made in _made.items()
            if wanted in made and other is not snapshot and other.home == snapshot.home
        ]
    return max(others, key=lambda pair: pair[0])[1] if others else None


def _amended(former: Sequence[Note], notes: Sequence[Note]) -> list[Note] | None:
    """Notes newest first, made of such a list that differs in a few of them; None where it differs in many."""
    # An agent's write waits for this: loops over all notes take three times as long as these calls.
    present, known = set(map(id, notes)), set(map(id, former))
    new, gone = present - known, known - present
    fresh = list(compress(notes, map(new.__contains__, map(id, notes)))) if new else []
    oldest_first = list(reversed(former))
    if gone:
        oldest_first = list(compress(oldest_first, map(present.__contains__, map(id, oldest_first))))
    if len(fresh) > _FEW or len(oldest_first) + len(fresh) != len(notes):
        return None
    for note in fresh:
        insort(oldest_first, note, key=_newest)
    oldest_first.reverse()
    return oldest_first


def _of(ordered: Sequence[Note]) -> Listing:
    ids = tuple(map(_ID, ordered))
    return Listing(ordered, ids, dict(zip(ids, count())))


def _sorted(notes: Sequence[Note], snapshot: Snapshot, order: Order) -> list[Note]:
    if order == "newest":
        return _ordered(notes, _newest, reverse=True)
    if order == "recalls":
        return _ordered(notes, lambda note: (-note.hits, note.title.casefold()))
    if order == "title":
        return _ordered(notes, lambda note: (note.title.casefold(), note.id))
    return _ordered(
        notes, lambda note: (-len(care_reasons(note, snapshot)), note.updated_at or note.created_at)
    )


def _newest(note: Note) -> tuple[str, str]:
    return (max(note.updated_at, note.created_at), note.id)


def _ordered(notes: Sequence[Note], key: Callable[[Note], Any], *, reverse: bool = False) -> list[Note]:
    """As `sorted`, such that other threads get their turn every few milliseconds."""
    if len(notes) <= MANY:
        return sorted(notes, key=key, reverse=reverse)
    sign = -1 if reverse else 1
    # The place tells equal notes apart as a stable sort would, and keeps two notes from ever being compared.
    keyed = [(key(note), sign * place, note) for place, note in enumerate(notes)]
    pieces = [
        sorted(keyed[start : start + _PIECE], reverse=reverse) for start in range(0, len(keyed), _PIECE)
    ]
    return [note for _, _, note in merge(*pieces, reverse=reverse)]
