"""Changes from outside: found by comparing the files with what the ledger last saw, logged, and judged."""

from __future__ import annotations

import sqlite3
import time
from typing import Final, NamedTuple

import msgspec

from core.model.change import PERSON, PROGRAM, Author, ChangeSet
from core.model.compare import Differences, differences
from core.storage.compare import outside_changes
from core.storage.documents import Document
from core.storage.ledger import IN_PASSING, RESTORER, Ledger
from core.storage.ledger_codec import fact_item, items_of, note_item
from core.storage.ledger_seen import (
    forget_file,
    kept_names,
    look,
    look_again,
    look_at_few,
    numbered,
)
from core.storage.own import item_names, known_versions, newest_entry, own_changes
from core.storage.reading import Loaded
from core.storage.stale import Verdict, judge
from core.storage.tracing import Trace

# A restoration waits until nobody has written for so long: a program that saves without a lock and is at it
# would take it back at once.
QUIET_SECONDS: Final = 0.25
# What was taken back again after it was restored: that time it was not quiet for long enough.
_LONGER: Final = 4
_OURSELVES: Final = Author("program", "nuggets")


class Due(NamedTuple):
    """What is to be written now. white_space: what the original squeezed, put back; no change that a log tells of.
    outside: all that came from outside, restored or not. made_by: how the ledger is to know the restorations.
    """

    restorations: tuple[ChangeSet, ...] = ()
    white_space: ChangeSet | None = None
    outside: tuple[ChangeSet, ...] = ()
    made_by: str = RESTORER

    def taken_back(self, restoration: ChangeSet) -> tuple[ChangeSet, ...]:
        """What another program did to the things that this restores."""
        names = frozenset(items_of(restoration))
        found = (_only(change_set, names) for change_set in self.outside)
        return tuple(change_set for change_set in found if not change_set.empty)


def note_outside(
    trace: Trace, loaded: Loaded, urgent: frozenset[str] = frozenset(), *, give_up: bool = False
) -> Due:
    """Finds what changed in the files without us. Returns what restores that which was taken back from us; when
    there is nothing to restore, the changes are logged.

    While another program is saving again and again, restoring waits for whoever looks when the files are quiet, but
    for the things named in `urgent`, which are about to be changed. give_up: restores nothing, logs all.
    """
    ledger = trace.ledger
    if ledger is None or not trace.moved(loaded, ledger):
        return Due()
    seen = trace.seen(loaded)
    found = differences(seen.snapshot, loaded.snapshot)
    verdict = _judged(trace, ledger, seen, loaded, found)
    if give_up or not (verdict.restorations or verdict.white_space is not None):
        _put_down(trace, ledger, seen, loaded, verdict, found)
        return Due()
    trace.quiet_seconds = QUIET_SECONDS * (_LONGER if verdict.tried else 1)
    sets = _as_sets(trace, seen, loaded, found)
    if is_quiet(loaded, trace.quiet_seconds):
        _owe(ledger, item_names(verdict.disputed))
        return Due(verdict.restorations, verdict.white_space, sets)
    _owe(ledger, item_names(verdict.owed | verdict.disputed))
    if not urgent:
        return Due()
    return Due(_judged(trace, ledger, seen, loaded, found, urgent).restorations, None, sets, IN_PASSING)


def _judged(
    trace: Trace,
    ledger: Ledger,
    seen: Loaded,
    loaded: Loaded,
    found: Differences,
    only: frozenset[str] | None = None,
) -> Verdict:
    """only: names of things of which each restoration is to concern one."""
    return judge(
        seen.snapshot,
        loaded.snapshot,
        own_changes(ledger, loaded),
        ids=trace.ids,
        at=trace.at(),
        author=_OURSELVES,
        known=known_versions(ledger),
        wanted=None if only is None else lambda items: bool(item_names(items) & only),
        found=found,
    )


def _as_sets(trace: Trace, seen: Loaded, loaded: Loaded, found: Differences) -> tuple[ChangeSet, ...]:
    """What came from outside, as change sets."""
    return outside_changes(
        seen.snapshot, loaded.snapshot, ids=trace.ids, at=trace.at(), author=PROGRAM, found=found
    )


def _put_down(
    trace: Trace, ledger: Ledger, seen: Loaded, loaded: Loaded, verdict: Verdict, found: Differences
) -> None:
    """Puts the differences into the log and remembers the files as they are now."""
    sets = _as_sets(trace, seen, loaded, found)
    made_by, mine = "", trace.attribution
    if mine is not None:
        made_by = mine.made_by
        sets = tuple(
            msgspec.structs.replace(one, author=PERSON, kind=mine.kind, reason=mine.reason) for one in sets
        )
    newest = _newest(loaded)
    was, now = seen.documents(), loaded.documents()
    with ledger.transaction(durable=True) as connection:
        for change_set in sets:
            ledger.record(connection, change_set, made_by, written_ns=newest)
        for path, document in now.items():
            _see(connection, trace.name(path), was.get(path), document)
        there = {trace.name(path) for path in {*now, *loaded.broken()}}
        for (file,) in connection.execute("SELECT file FROM seen_file").fetchall():
            if file not in there:
                forget_file(connection, file)
        connection.execute("DELETE FROM owed")
    trace.remember(loaded)
    for change_set, conflict in verdict.conflicts:
        trace.keep_conflict(change_set, RESTORER, conflict)


def _see(connection: sqlite3.Connection, file: str, was: Document | None, document: Document) -> None:
    """Remembers a file as it is now, that was last seen as `was`."""
    if document is was:
        look_again(connection, file, document)
        return
    whole = was is not None and not (was.problems or document.problems)
    if was is not None and whole and look_at_few(connection, file, was, document):
        return
    before = numbered(was) if was is not None else {}
    kept = kept_names(document, before)
    look(connection, file, document, before, fingerprint=document.fingerprint, keep=kept)


def _only(change_set: ChangeSet, names: frozenset[str]) -> ChangeSet:
    return msgspec.structs.replace(
        change_set,
        notes=tuple(c for c in change_set.notes if note_item(c.id) in names),
        facts=tuple(c for c in change_set.facts if fact_item(c.nugget, c.key) in names),
        nuggets=(),
    )


def _owe(ledger: Ledger, names: frozenset[str]) -> None:
    """Remembers what was seen taken back and is to be restored, however late that will be."""
    known = ledger.owed() if names else {}
    due = {name: newest_entry(ledger, name) for name in sorted(names)}
    new = [(name, entry) for name, entry in due.items() if known.get(name) != entry]
    if new:
        with ledger.transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO owed (item, entry) VALUES (?, ?)", new)


# Waiting for quiet


def is_quiet(loaded: Loaded, seconds: float) -> bool:
    """Whether nobody has written to the files for so long."""
    return not 0 <= time.time_ns() - _newest(loaded) < seconds * 1e9


def _newest(loaded: Loaded) -> int:
    return max((made.mtime_ns for made in loaded.fingerprints().values() if made is not None), default=0)
