"""What another program wrote over right after us: its version stands, and a person is told how to bring theirs back.

A program that holds its facts in memory may not have seen our text; one that was told something new has. A note that is
again as it was before us may be somebody's wish, or a copy from before us. Where the rest of what was saved does not
tell the one from the other, the newer version stays and nobody is left unaware.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Final

from core.model.change import ChangeSet
from core.model.change_parts import change_parts
from core.storage.format.reading import Loaded
from core.storage.journal.journal import Journal
from core.storage.reconcile.item_repairs import ItemKey
from core.storage.reconcile.lost_updates import HELD_SECONDS, same
from core.storage.reconcile.own import own_changes

# The original reads the graph before each operation, so it holds one for less long than its facts.
_GRAPH_HELD_SECONDS: Final = 30.0


def overwritten(journal: Journal, found: Iterable[ChangeSet], loaded: Loaded) -> frozenset[ItemKey]:
    """The notes and facts that changed in `found`, which is of another program and not in the log yet, so soon after we
    changed them that it may not have seen ours.
    """
    own_change = own_changes(journal, loaded)
    found = tuple(found)
    changed = {("fact", fact.nugget, fact.key): fact for one in found for fact in one.facts}
    names: set[ItemKey] = set()
    for item, fact in changed.items():
        # To forget a fact is to know of it.
        own = own_change(item) if fact.after is not None else None
        if own is None or own.fact is None or not 0 <= own.seconds <= HELD_SECONDS:
            continue
        ours_was_there = same(own.fact.after, fact.before) and not same(fact.before, fact.after)
        if ours_was_there and not _knew_of_later(journal, own.entry, item[1], changed.keys()):
            names.add(item)
    for note in (note for one in found if one.kind != "hit" for note in one.notes if not note.note.is_fact):
        own = own_change(("note", note.id)) if note.after is not None else None
        if own is None or own.note is None or not 0 <= own.seconds <= _GRAPH_HELD_SECONDS:
            continue
        if same(own.note.after, note.before) and same(own.note.before, note.after):
            names.add(("note", note.id))
    return frozenset(names)


def _knew_of_later(journal: Journal, entry: str, nugget: str, changed: Iterable[ItemKey]) -> bool:
    """Whether something of the nugget that we changed after that entry stands in the file: its program had seen it."""
    passed_over = frozenset(changed)
    later = takewhile(lambda past: past.change_set.id != entry, journal.past())
    return any(
        fact.nugget == nugget and ("fact", nugget, fact.key) not in passed_over
        for past in later
        if past.made_by
        for fact in past.change_set.facts
    )


def ways_back(logged: ChangeSet, overwritten: frozenset[ItemKey]) -> Iterator[str]:
    """One line for each of these things that an entry of the log changed: what happened, and what to undo."""
    for part in change_parts(logged):
        told = [
            *(
                f'changed "{f.key}" in {f.nugget}'
                for f in part.facts
                if ("fact", f.nugget, f.key) in overwritten
            ),
            *(f'changed "{n.note.title}" back' for n in part.notes if ("note", n.id) in overwritten),
        ]
        for what in told:
            yield (f"another program {what} right after you did; to restore yours, undo {part.id}")
