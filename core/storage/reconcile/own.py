"""What this program itself did last to a note or fact, as the journal tells it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from core.model.change import FactChange
from core.model.compare import alike
from core.model.fact import Fact
from core.model.note import Note
from core.storage.format.reading import Loaded
from core.storage.journal.codec import OwnEntry, fact_item, note_item, read_change_set
from core.storage.journal.journal import Journal
from core.storage.reconcile.item_repairs import ItemKey, OwnChange, fact_change_in, facts_of

# How far back the log is searched for what a thing said before.
_VERSIONS: Final = 200


def item_names(items: Iterable[ItemKey]) -> frozenset[str]:
    """How the journal names these things."""
    return frozenset(item_name(item) for item in items)


def item_name(item: ItemKey) -> str:
    return note_item(item[1]) if item[0] == "note" else fact_item(item[1], item[2])


def own_changes(journal: Journal, loaded: Loaded) -> Callable[[ItemKey], OwnChange | None]:
    """Tells our last change of a thing, for files that came as they are in `loaded`."""
    # It is asked for the same thing several times, and each answer takes reading several entries.
    return functools.cache(lambda item: _own_change(journal, loaded, item))


def known_versions(journal: Journal) -> Callable[[ItemKey], Iterable[Note | Fact]]:
    """Tells the versions of a thing that the journal's entries hold, newest first."""
    return lambda item: _versions(journal, item)


def _versions(journal: Journal, item: ItemKey) -> Iterator[Note | Fact]:
    rows = journal.rows(
        "SELECT body FROM entry JOIN touched USING (seq) WHERE item = ? ORDER BY touched.seq DESC LIMIT ?",
        (item_name(item), _VERSIONS),
    )
    for (body,) in rows:
        with contextlib.suppress(ValueError):
            change_set = read_change_set(body)
            of_note = (c for c in change_set.notes if item == ("note", c.id))
            found = fact_change_in(change_set, item[1], item[2]) if item[0] == "fact" else next(of_note, None)
            if found is not None:
                yield from (one for one in (found.after, found.before) if one is not None)


def _own_change(journal: Journal, loaded: Loaded, item: ItemKey) -> OwnChange | None:
    name = item_name(item)
    entries = journal.own_changes(name)
    if not entries:
        return None
    last = entries[0]
    chosen = next((entry for entry in entries if _is_back(entry, item, loaded)), last)
    return OwnChange(
        entry=chosen.change_set.id,
        note=next((c for c in last.change_set.notes if item == ("note", c.id)), None),
        fact=_fact_change(chosen, last, item),
        seconds=(written_at(loaded, item) - chosen.written_ns) / 1e9,
        restored=journal.restored(name),
    )


def _is_back(entry: OwnEntry, item: ItemKey, loaded: Loaded) -> bool:
    """Whether a fact is as it was before an entry."""
    fact = fact_change_in(entry.change_set, item[1], item[2]) if item[0] == "fact" else None
    held = facts_of(loaded.snapshot, item[1]).get(item[2]) if fact is not None else None
    was = fact.before if fact is not None else None
    return fact is not None and (held is was if held is None or was is None else alike(held.value, was.value))


def _fact_change(first: OwnEntry, last: OwnEntry, item: ItemKey) -> FactChange | None:
    if item[0] != "fact":
        return None
    start = fact_change_in(first.change_set, item[1], item[2])
    end = fact_change_in(last.change_set, item[1], item[2])
    if start is None or end is None:
        return end
    return msgspec.structs.replace(end, key=start.key, before=start.before)


def written_at(loaded: Loaded, item: ItemKey) -> int:
    """When the file that holds a thing was last written, in nanoseconds by the file system's clock."""
    if item[0] == "note":
        made = loaded.graph.fingerprint
        return made.mtime_ns if made is not None else 0
    named = (d for d in loaded.nuggets.values() if d.meta.name == item[1] and d.fingerprint is not None)
    return max((d.fingerprint.mtime_ns for d in named if d.fingerprint is not None), default=0)
