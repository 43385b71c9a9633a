"""Changes from outside: found by comparing the files with what the ledger last saw, logged, and mended."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, NamedTuple

import msgspec

from core.model.change import OURSELVES, PROGRAM, ChangeSet
from core.model.compare import Differences, differences
from core.model.entry import Conflict
from core.model.snapshot import Snapshot
from core.storage.format.documents import Document, changed_graph, changed_nugget
from core.storage.format.reading import Loaded
from core.storage.journal.baseline import (
    forget_file,
    kept_names,
    look,
    look_again,
    look_at_few,
    numbered,
)
from core.storage.journal.codec import concerned, fact_item, items_of, note_item
from core.storage.journal.ledger import Ledger
from core.storage.journal.origins import OUTSIDE, OVERWRITTEN, RESTORED, RESTORED_IN_PASSING, Maker, by
from core.storage.journal.session import JournalSession
from core.storage.merge.compare import outside_changes
from core.storage.reconcile.claims import facts_of
from core.storage.reconcile.lost_updates import same
from core.storage.reconcile.overwritten import overwritten, ways_back
from core.storage.reconcile.own import item_names, own_changes
from core.storage.reconcile.repairs import Repairs, find_repairs
from core.storage.reconcile.restoring import Restoration, came_back, fights, restoration_of

# A restoration waits until nobody has written for so long: a program that saves without a lock and is at it
# would take it back at once.
QUIET_SECONDS: Final = 0.25
# What was taken back again after it was restored: that time it was not quiet for long enough.
_LONGER: Final = 4
_LONGEST_SECONDS: Final = 2.0
# What was restored so often is restored without a word each further time, and is a conflict while it has to wait.
_TURNS: Final = 2


class Due(NamedTuple):
    """What is to be written now. white_space: what the original squeezed, put back; no change that a log tells of.
    outside: all that came from outside, restored or not. made_by: how the ledger is to know the restorations.
    silent: nobody needs to be told of them again.
    """

    restorations: tuple[ChangeSet, ...] = ()
    white_space: ChangeSet | None = None
    outside: tuple[ChangeSet, ...] = ()
    made_by: Maker = RESTORED
    silent: bool = False

    def taken_back(self, restoration: ChangeSet) -> tuple[ChangeSet, ...]:
        """What another program did to the things that this restores."""
        names = frozenset(items_of(restoration))
        found = (_only(change_set, names) for change_set in self.outside)
        return tuple(change_set for change_set in found if not change_set.empty)


def note_outside(trace: JournalSession, loaded: Loaded, urgent: frozenset[str] = frozenset()) -> Due:
    """Finds what changed in the files without us, logs it, and returns what restores that which was taken back.

    While another program is saving again and again, restoring waits for whoever looks when the files are quiet, but
    for the things named in `urgent`, which are about to be changed.
    """
    ledger = trace.ledger
    if ledger is None:
        return Due()
    if not trace.baseline.moved(loaded, ledger):
        return Due()
    seen = trace.baseline.seen(ledger, loaded)
    found = differences(seen.snapshot, loaded.snapshot)
    due = _lost_updates(trace, ledger, seen, loaded, found, urgent)
    if due is not None:
        return due
    repairs = _repairs(trace, ledger, seen, loaded, found)
    if not (repairs.restorations or repairs.white_space is not None):
        _put_down(trace, ledger, seen, loaded, repairs, found)
        return Due()
    trace.quiet_seconds = QUIET_SECONDS * (_LONGER if repairs.tried else 1)
    sets = _as_sets(trace, seen, loaded, found)
    if is_quiet(loaded, trace.quiet_seconds):
        return Due(repairs.restorations, repairs.white_space, sets)
    if not urgent:
        return Due()
    return Due(
        _repairs(trace, ledger, seen, loaded, found, urgent).restorations, None, sets, RESTORED_IN_PASSING
    )


# Lost updates


def _lost_updates(
    trace: JournalSession,
    ledger: Ledger,
    seen: Loaded,
    loaded: Loaded,
    found: Differences,
    urgent: frozenset[str],
) -> Due | None:
    """Logs what was really meant by a save that took something back unseen, and says what restores the rest.

    None when nothing is surely lost.
    """
    made = restoration_of(ledger, seen, loaded, found, trace.ids, trace.at())
    if made is None or made.restoring.empty:
        return None
    _log_what_was_meant(trace, ledger, seen, loaded, made)
    _keep_conflicts(trace, ledger, made.conflicts)
    turns = max((ledger.restored(name) for name in item_names(made.lost)), default=0)
    trace.quiet_seconds = min(QUIET_SECONDS * 2**turns, _LONGEST_SECONDS)
    silent = turns >= _TURNS
    if is_quiet(loaded, trace.quiet_seconds):
        return Due((made.restoring,), silent=silent)
    if urgent & (concerned(made.restoring) | item_names(made.apart)):
        return Due((made.restoring,), made_by=RESTORED_IN_PASSING, silent=silent)
    if silent:
        _keep_conflicts(trace, ledger, fights(made.restoring, lambda name: ledger.restored(name) >= _TURNS))
    return Due()


def _log_what_was_meant(
    trace: JournalSession, ledger: Ledger, seen: Loaded, loaded: Loaded, made: Restoration
) -> None:
    """Puts down what another program wanted and what it took back, and remembers the former as seen."""
    newest = _newest(loaded)
    waiting = item_names(made.lost)
    with ledger.transaction(durable=True) as connection:
        # A recall of what was taken back is told by what the program saved: once.
        told = (one for one in made.merged if one.kind != "hit")
        for change_set in (*made.wishes, *told):
            ledger.record(connection, change_set, OUTSIDE, written_ns=newest)
        _see_all(connection, trace, seen, loaded, waiting | item_names(made.left))
        _see_merged(connection, trace, seen, made)
        _log_what_came_back(connection, trace, ledger, loaded, waiting)
        for change_set in made.stale:
            _, kept = ledger.record(connection, change_set, OVERWRITTEN, written_ns=newest)
            connection.executemany(
                "INSERT OR REPLACE INTO pending_restore (item, entry) VALUES (?, ?)",
                [(name, kept.id) for name in items_of(kept) if name in waiting],
            )


def _log_what_came_back(
    connection: sqlite3.Connection,
    trace: JournalSession,
    ledger: Ledger,
    loaded: Loaded,
    waiting: frozenset[str],
) -> None:
    """What does not wait to be restored any more, since another program put it back, is logged and forgotten."""
    if loaded.broken() or loaded.snapshot.problems:
        return
    gone = ledger.pending_restores().keys() - waiting
    if gone:
        back = came_back(ledger, gone, loaded.snapshot, trace.ids, trace.at())
        if not back.empty:
            ledger.record(connection, back, OVERWRITTEN, written_ns=_newest(loaded))
        connection.executemany("DELETE FROM pending_restore WHERE item = ?", [(name,) for name in gone])


def _see_merged(
    connection: sqlite3.Connection, trace: JournalSession, seen: Loaded, made: Restoration
) -> None:
    """Remembers what both changed as it is to be; no file shows it so yet."""
    for change_set in made.merged:
        names = frozenset(items_of(change_set))
        documents: list[Document | None] = [changed_graph(seen.graph, change_set.notes)]
        for document in seen.nuggets.values():
            facts = [change for change in change_set.facts if change.nugget == document.meta.name]
            documents.append(changed_nugget(document, facts) if facts else None)
        for one in documents:
            if one is not None:
                look(connection, trace.baseline.name(one.path), one, None, fingerprint=None, only=names)


def _keep_conflicts(
    trace: JournalSession, ledger: Ledger, conflicts: Iterable[tuple[ChangeSet, Conflict]]
) -> None:
    """One conflict a thing: one that was withdrawn before waits again, a later text takes the place of an earlier."""
    for change_set, conflict in conflicts:
        for earlier in ledger.conflicts_gone_beyond(conflict):
            ledger.settle(earlier, "settled")
        known = ledger.conflict_about(conflict)
        if known is None:
            trace.keep_conflict(change_set, RESTORED, conflict)
        elif known.state == "settled":
            ledger.settle(known.id, "conflict")


def _withdraw_conflicts(ledger: Ledger, loaded: Loaded) -> None:
    """Nobody is asked any more about a change that stands in the files again."""
    for id, change_set in ledger.restorations_in_conflict():
        if _stands(change_set, loaded.snapshot):
            ledger.settle(id, "settled")


def _stands(change_set: ChangeSet, snapshot: Snapshot) -> bool:
    return all(same(snapshot.by_id.get(change.id), change.after) for change in change_set.notes) and all(
        same(facts_of(snapshot, change.nugget).get(change.key), change.after) for change in change_set.facts
    )


# Other changes


def _repairs(
    trace: JournalSession,
    ledger: Ledger,
    seen: Loaded,
    loaded: Loaded,
    found: Differences,
    only: frozenset[str] | None = None,
) -> Repairs:
    """only: names of things of which each restoration is to concern one."""
    return find_repairs(
        seen.snapshot,
        loaded.snapshot,
        own_changes(ledger, loaded),
        ids=trace.ids,
        at=trace.at(),
        author=OURSELVES,
        wanted=None if only is None else lambda items: bool(item_names(items) & only),
        found=found,
    )


def _as_sets(
    trace: JournalSession, seen: Loaded, loaded: Loaded, found: Differences
) -> tuple[ChangeSet, ...]:
    """What came from outside, as change sets."""
    return outside_changes(
        seen.snapshot, loaded.snapshot, ids=trace.ids, at=trace.at(), author=PROGRAM, found=found
    )


def _put_down(
    trace: JournalSession, ledger: Ledger, seen: Loaded, loaded: Loaded, repairs: Repairs, found: Differences
) -> None:
    """Puts the differences into the log and remembers the files as they are now."""
    sets = _as_sets(trace, seen, loaded, found)
    made_by, mine = OUTSIDE, trace.attribution
    if mine is not None:
        made_by = by(mine.author.signature)
        sets = tuple(
            msgspec.structs.replace(one, author=mine.author, kind=mine.kind, reason=mine.reason)
            for one in sets
        )
    if mine is not None and sets:
        sets = (*sets[:-1], msgspec.structs.replace(sets[-1], mends=mine.mends))
        trace.attribution = replace(mine, mends=())
    written_over = frozenset() if mine is not None else overwritten(ledger, sets, loaded)
    newest = _newest(loaded)
    said: list[str] = []
    with ledger.transaction(durable=True) as connection:
        for change_set in sets:
            _, kept = ledger.record(connection, change_set, made_by, written_ns=newest)
            said += ways_back(kept, written_over) if written_over else ()
        _see_all(connection, trace, seen, loaded)
        _log_what_came_back(connection, trace, ledger, loaded, frozenset())
    for notice in said:
        trace.notices.say(notice)
    trace.baseline.remember(loaded)
    _withdraw_conflicts(ledger, loaded)
    _keep_conflicts(trace, ledger, repairs.conflicts)


def _see_all(
    connection: sqlite3.Connection,
    trace: JournalSession,
    seen: Loaded,
    loaded: Loaded,
    but: frozenset[str] = frozenset(),
) -> None:
    """Remembers all files as they are now, but for the things named in `but`, which stay remembered as they were."""
    was, now = seen.documents(), loaded.documents()
    for path, document in now.items():
        _see(connection, trace.baseline.name(path), was.get(path), document, but)
    there = {trace.baseline.name(path) for path in {*now, *loaded.broken()}}
    for (file,) in connection.execute("SELECT file FROM seen_file").fetchall():
        if file not in there:
            forget_file(connection, file)


def _see(
    connection: sqlite3.Connection,
    file: str,
    was: Document | None,
    document: Document,
    but: frozenset[str] = frozenset(),
) -> None:
    """Remembers a file as it is now, that was last seen as `was`."""
    if was is not None and but:
        before, names = numbered(was), numbered(document)
        if but & ({*before} | {*names}):
            only = {*before, *names} - but - kept_names(document, before)
            look(connection, file, document, before, fingerprint=None, only=only)
            return
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


# Waiting for quiet


def is_quiet(loaded: Loaded, seconds: float) -> bool:
    """Whether nobody has written to the files for so long."""
    return not 0 <= time.time_ns() - _newest(loaded) < seconds * 1e9


def _newest(loaded: Loaded) -> int:
    return max((made.mtime_ns for made in loaded.fingerprints().values() if made is not None), default=0)
